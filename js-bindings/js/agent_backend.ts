/// <reference lib="esnext.disposable" preserve="true" />
/** The methods that Deep Agents calls on a backend, common to the local and the remote class. */

import { checkArguments, defined, invalidOptions, isContent, isText } from "./check.js";
import type { CallOptions, Command, ExecuteOptions } from "./options.js";
import { checkCommand, checkSignal } from "./options.js";
import type {
  DeleteResult, EditResult, ExecuteResult, FileDownloadResponse, FileUploadResponse, FilesResult, GrepResult,
  ReadRawResult, ReadResult, ErrorFields, WriteResult,
} from "./protocol.js";
import { errorCode, messageOf } from "./error_message.js";
import type { RunningCommand } from "./output.js";
import { runCommand } from "./output.js";
import { checkPort } from "./ports.js";
import type { ProcessBackend, ProcessInfo, ProcessOptions } from "./process.js";
import type { SandboxUsage } from "./usage.js";
import { Process, checkProcessCommand, checkProcessOptions, constructorKey } from "./process.js";

/** The address at which clients outside a sandbox reach one of its servers. */
export interface PortEndpoint {
  /** URL without a path and without a slash at its end, for HTTP; for WebSocket with the scheme `ws` or `wss` instead. */
  readonly url: string;
  /** Headers that every request must have. Empty if it needs none. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Runs commands and handles the calls of the file tools. */
export interface BackendConnection extends ProcessBackend {
  /** Runs a command. Rejects if Tidebox itself fails. */
  execute(command: Command, options: ExecuteOptions): Promise<ExecuteResult>;
  /** Calls a method of the sandbox. Rejects when `signal` is aborted. */
  callUntil<T>(signal: AbortSignal | undefined, method: string, args: readonly unknown[]): Promise<T>;
  /** Returns the address of a port. */
  portEndpoint(port: number, signal: AbortSignal | undefined): Promise<PortEndpoint>;
  /** Returns the resources in use. */
  usage(signal: AbortSignal | undefined): Promise<SandboxUsage>;
}

/** The tools of an agent: commands, files and transfers. They never throw: errors are part of the result. Calls may overlap. */
export abstract class AgentBackend {
  readonly #backend: () => BackendConnection;

  /** `backing` throws if no sandbox is open. */
  protected constructor(backend: () => BackendConnection) {
    this.#backend = backend;
  }

  /** The sandbox id. Not empty after the sandbox is started. */
  abstract get id(): string;

  /** True if commands can be run. */
  abstract get isRunning(): boolean;

  /**
   * Runs a command line in `bash`, or a program with arguments that no shell expands (`["ls", "-l", name]`), and resolves when it
   * has ended. It never rejects: if Tidebox itself fails, `output` has the message and `exitCode` is `null`.
   */
  async execute(command: Command, options: ExecuteOptions = {}): Promise<ExecuteResult> {
    try {
      return await this.#backend().execute(checkCommand(command), options);
    } catch (error) {
      return { output: `tidebox: ${messageOf(error)}\n`, exitCode: null, truncated: false, ...errorCode(error) };
    }
  }

  /**
   * Runs a command whose output can be iterated over while it runs:
   *
   * ```js
   * const running = sandbox.executeStream("make test");
   * for await (const { stream, text } of running) process[stream].write(text);
   * const { exitCode } = await running.result;
   * ```
   *
   * Leaving the loop stops the command. Output that is not consumed is buffered, at most `limits.outputBytes`.
   */
  executeStream(command: Command, options: Omit<ExecuteOptions, "onOutput" | "onStdout" | "onStderr"> = {}): RunningCommand {
    return runCommand((callbacks) => this.execute(command, { ...options, ...callbacks }), options?.signal);
  }

  /**
   * Starts a command line in `bash`, or a program with arguments, that outlives this call. It ends on its own, by a signal, at its
   * timeout, or with the sandbox: when it is closed or restored. It does not keep the application running; at a provider it ends
   * with the application. Not part of snapshots and forks.
   *
   * @throws {SandboxError} `UNSUPPORTED` if the engine cannot suspend WebAssembly (JSPI) and for deterministic sandboxes;
   * `QUOTA_EXCEEDED` at `limits.backgroundProcesses`; `INVALID_OPTIONS` for invalid options; and for a sandbox that is not open.
   */
  async spawn(command: Command, options: ProcessOptions = {}): Promise<Process> {
    const backend = this.#backend();
    const { signal, ...rest } = checkProcessOptions(options);
    const key = await backend.spawn(checkProcessCommand(command), defined(rest), signal);
    return new Process(constructorKey, { backend, key });
  }

  /**
   * Lists the processes that {@link spawn} started or a command left with `background: "keep"`, in the order of their start. The
   * 64 that ended last are remembered.
   *
   * @throws {SandboxError} `UNSUPPORTED` like {@link spawn}, and for a sandbox that is not open.
   */
  async processes(options?: CallOptions): Promise<ProcessInfo[]> {
    checkSignal(options?.signal);
    return this.#backend().processes(options?.signal);
  }

  /**
   * Returns the process with this id. An id that no process has is an error of the first call.
   *
   * @throws {SandboxError} for a sandbox that is not open.
   */
  process(id: string): Process {
    checkArguments({ id }, isText, "a string");
    const backend = this.#backend();
    return new Process(constructorKey, { backend, key: backend.processKey(id) });
  }

  /**
   * Returns the address at which clients outside the sandbox reach a program that listens at this port. The program may start to
   * listen later. A request needs the headers of the endpoint, which may contain a credential.
   *
   * The address of a local sandbox is a free port of this computer's 127.0.0.1. It remains until the sandbox is closed, and later
   * calls return it again; `expose` of `Sandbox` opens one that can be closed.
   *
   * @throws {SandboxError} `UNSUPPORTED` for a local sandbox in a page and without JSPI, and for a provider without such addresses;
   * `UNAVAILABLE` if this computer has no free port; `INVALID_OPTIONS` for an invalid port; and for a sandbox that is not open.
   */
  async portEndpoint(port: number, options?: CallOptions): Promise<PortEndpoint> {
    checkSignal(options?.signal);
    checkPort(port);
    return this.#backend().portEndpoint(port, options?.signal);
  }

  /**
   * Returns the resources that the sandbox uses: memory of its files and processes, and processor time.
   *
   * @throws {SandboxError} `UNSUPPORTED` for a sandbox at a provider, and for a sandbox that is not open.
   */
  async usage(options?: CallOptions): Promise<SandboxUsage> {
    checkSignal(options?.signal);
    return this.#backend().usage(options?.signal);
  }

  /** Lists a directory. A missing directory has no files. */
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

  /** Removes a file, or a directory with its contents. */
  async delete(filePath: string, options?: CallOptions): Promise<DeleteResult> {
    return this.#tool(options, "delete", { filePath });
  }

  /** Finds lines that contain a literal text. */
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

  /** Uploads files. Returns one result per file, in the same order. Paths must be absolute. */
  async uploadFiles(
    files: readonly (readonly [string, Uint8Array])[], options?: CallOptions,
  ): Promise<FileUploadResponse[]> {
    try {
      checkList(files, (file) => Array.isArray(file));
      return await this.#call<FileUploadResponse[]>(options, "uploadFiles", files);
    } catch {
      return toArray(files).map((file) => ({ path: pathOf(file), error: "permission_denied" as const }));
    }
  }

  /** Downloads files. Returns one result per file, in the same order. Paths must be absolute. */
  async downloadFiles(paths: readonly string[], options?: CallOptions): Promise<FileDownloadResponse[]> {
    try {
      checkList(paths, () => true);
      return await this.#call<FileDownloadResponse[]>(options, "downloadFiles", paths);
    } catch {
      return toArray(paths).map((path) => ({ path, content: null, error: "permission_denied" as const }));
    }
  }

  /** Stops running commands. Closing twice is not an error. */
  abstract close(): Promise<void>;

  /** `await using` closes it at the end of the block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #call<T>(options: CallOptions | undefined, method: string, ...args: unknown[]): Promise<T> {
    checkSignal(options?.signal);
    return this.#backend().callUntil<T>(options?.signal, method, args);
  }

  async #tool<T extends ErrorFields>(
    options: CallOptions | undefined, method: string, texts: Readonly<Record<string, string>>, ...rest: unknown[]
  ): Promise<T> {
    try {
      checkArguments(texts, isText, "a string");
      if (method === "write") {
        checkArguments({ content: rest[0] }, isContent, "a string or a Uint8Array");
      }
      return await this.#call<T>(options, method, ...Object.values(texts), ...rest);
    } catch (error) {
      return { error: messageOf(error), ...errorCode(error) } as T;
    }
  }
}

/** Throws for what the kernel cannot iterate over: an exception inside of a method would leave its sandbox in use. */
function checkList(list: unknown, isItem: (item: unknown) => boolean): void {
  if (!Array.isArray(list) || !list.every(isItem)) throw invalidOptions("expected an array of files");
}

/** Callers without types may pass something other than an array; it counts as empty. */
function toArray<T>(list: readonly T[]): readonly T[] {
  return Array.isArray(list) ? list : [];
}

function pathOf(file: readonly [string, Uint8Array]): string {
  return Array.isArray(file) && typeof file[0] === "string" ? file[0] : "";
}
