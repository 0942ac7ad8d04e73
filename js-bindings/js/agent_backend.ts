/// <reference lib="esnext.disposable" preserve="true" />
/** What Deep Agents takes as a backend, whatever stands behind it. */

import { checkArguments, isContent, isText } from "./check.js";
import type { CallOptions, ExecuteOptions } from "./options.js";
import { checkSignal } from "./options.js";
import type {
  DeleteResult, EditResult, ExecuteResult, FileDownloadResponse, FileUploadResponse, FilesResult, GrepResult,
  ReadRawResult, ReadResult, Refusal, WriteResult,
} from "./protocol.js";
import { codeOf, reasonOf } from "./reason.js";
import type { RunningCommand } from "./watch.js";
import { running } from "./watch.js";

/** Who runs commands and answers the calls of the file tools. */
export interface Backing {
  /** Runs a command; rejects with what goes wrong on our side. */
  execute(command: string, options: ExecuteOptions): Promise<ExecuteResult>;
  /** Calls a method of the sandbox, for as long as its caller waits. */
  callUntil<T>(signal: AbortSignal | undefined, method: string, args: readonly unknown[]): Promise<T>;
}

/**
 * The tools of an agent: commands, files and transfers. None of them ever throws: what goes wrong is in the answer. Calls may
 * overlap.
 */
export abstract class AgentBackend {
  readonly #backing: () => Backing;

  /** `backing` throws when there is nothing that could answer. */
  protected constructor(backing: () => Backing) {
    this.#backing = backing;
  }

  /** Never empty once it is started. */
  abstract get id(): string;

  /** Whether commands can be run. */
  abstract get isRunning(): boolean;

  /**
   * Runs a command line in `bash`, and answers when it has ended. It never rejects: what goes wrong on our side is in `output`,
   * with `exitCode` `null`.
   */
  async execute(command: string, options: ExecuteOptions = {}): Promise<ExecuteResult> {
    try {
      return await this.#backing().execute(command, options);
    } catch (error) {
      return { output: `tidebox: ${reasonOf(error)}\n`, exitCode: null, truncated: false, ...codeOf(error) };
    }
  }

  /**
   * Runs a command line whose output can be gone through while it runs:
   *
   * ```js
   * const running = sandbox.executeStream("make test");
   * for await (const { stream, text } of running) process[stream].write(text);
   * const { exitCode } = await running.result;
   * ```
   *
   * Leaving the loop stops the command. What nobody has gone through is kept, at most `limits.outputBytes` of it.
   */
  executeStream(command: string, options: Omit<ExecuteOptions, "onOutput" | "onStdout" | "onStderr"> = {}): RunningCommand {
    return running((watched) => this.execute(command, { ...options, ...watched }), options?.signal);
  }

  /** Lists a directory. A directory that is not there has no files. */
  async ls(path: string, options?: CallOptions): Promise<FilesResult> {
    return this.#tool(options, "ls", { path });
  }

  /** Reads `limit` lines of a text file after the first `offset`, or a whole binary file. */
  async read(filePath: string, offset = 0, limit = 500, options?: CallOptions): Promise<ReadResult> {
    return this.#tool(options, "read", { filePath }, offset, limit);
  }

  /** Reads a whole file. */
  async readRaw(filePath: string, options?: CallOptions): Promise<ReadRawResult> {
    return this.#tool(options, "readRaw", { filePath });
  }

  /** Creates or replaces a file. */
  async write(filePath: string, content: string | Uint8Array, options?: CallOptions): Promise<WriteResult> {
    return this.#tool(options, "write", { filePath }, content);
  }

  /** Replaces a string that must occur once, or all its occurrences. */
  async edit(
    filePath: string, oldString: string, newString: string, replaceAll = false, options?: CallOptions,
  ): Promise<EditResult> {
    return this.#tool(options, "edit", { filePath, oldString, newString }, replaceAll);
  }

  /** Removes a file, or a directory and what is in it. */
  async delete(filePath: string, options?: CallOptions): Promise<DeleteResult> {
    return this.#tool(options, "delete", { filePath });
  }

  /** Finds lines that hold a text, literally. */
  async grep(
    pattern: string, path: string | null = null, glob: string | null = null, maxCount: number | null = null,
    options?: CallOptions,
  ): Promise<GrepResult> {
    return this.#tool(options, "grep", { pattern, path: path ?? "/" }, glob ?? undefined, maxCount ?? undefined);
  }

  /** Finds files by name; paths are relative to `path`. */
  async glob(pattern: string, path: string | null = "/", options?: CallOptions): Promise<FilesResult> {
    return this.#tool(options, "glob", { pattern, path: path ?? "/" });
  }

  /** Puts files in, one answer for each, in the same order. Paths must be absolute. */
  async uploadFiles(
    files: readonly (readonly [string, Uint8Array])[], options?: CallOptions,
  ): Promise<FileUploadResponse[]> {
    try {
      return await this.#call<FileUploadResponse[]>(options, "uploadFiles", files);
    } catch {
      return listed(files).map((file) => ({ path: pathOf(file), error: "permission_denied" as const }));
    }
  }

  /** Takes files out, one answer for each, in the same order. Paths must be absolute. */
  async downloadFiles(paths: readonly string[], options?: CallOptions): Promise<FileDownloadResponse[]> {
    try {
      return await this.#call<FileDownloadResponse[]>(options, "downloadFiles", paths);
    } catch {
      return listed(paths).map((path) => ({ path, content: null, error: "permission_denied" as const }));
    }
  }

  /** Ends what runs. Closing twice is no error. */
  abstract close(): Promise<void>;

  /** `await using` closes it at the end of the block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #call<T>(options: CallOptions | undefined, method: string, ...args: unknown[]): Promise<T> {
    checkSignal(options?.signal);
    return this.#backing().callUntil<T>(options?.signal, method, args);
  }

  async #tool<T extends Refusal>(
    options: CallOptions | undefined, method: string, texts: Readonly<Record<string, string>>, ...rest: unknown[]
  ): Promise<T> {
    try {
      checkArguments(texts, isText, "a string");
      if (method === "write") checkArguments({ content: rest[0] }, isContent, "a string or a Uint8Array");
      return await this.#call<T>(options, method, ...Object.values(texts), ...rest);
    } catch (error) {
      return { error: reasonOf(error), ...codeOf(error) } as T;
    }
  }
}

/** What callers without types may give instead of a list has nothing in it. */
function listed<T>(list: readonly T[]): readonly T[] {
  return Array.isArray(list) ? list : [];
}

function pathOf(file: readonly [string, Uint8Array]): string {
  return Array.isArray(file) && typeof file[0] === "string" ? file[0] : "";
}
