/** The class: a sandbox in a Worker of its own. */

import { Connection } from "./connection.js";
import { SandboxError } from "./error.js";
import type { ExecuteOptions, SandboxOptions } from "./options.js";
import { checkOptions } from "./options.js";
import type { Platform } from "./platform.js";
import type {
  DeleteResult, EditResult, ExecuteResult, FileDownloadResponse, FileUploadResponse, FilesResult, GrepResult,
  ReadRawResult, ReadResult, WriteResult,
} from "./protocol.js";

let platform: Platform | undefined;

/** Says what the package runs on; the entry of each platform does, before anything else. */
export function usePlatform(used: Platform): void {
  platform = used;
}

/**
 * A whole sandbox: files, a shell and some two hundred commands, in a Worker of its own and with nothing of the host.
 *
 * It is a backend for Deep Agents: `createDeepAgent({ backend: await Sandbox.create() })`. Its tool methods never throw:
 * what goes wrong is in the answer. Calls may overlap.
 */
export class Sandbox {
  readonly #options: SandboxOptions;
  #connection: Connection | undefined;
  #closed = false;

  /** A sandbox that is not started yet; see {@link initialize}. */
  constructor(options: SandboxOptions = {}) {
    this.#options = options;
  }

  /**
   * Makes a sandbox and starts it.
   *
   * @throws {SandboxError} for options that cannot be, and when no Worker can be started.
   */
  static async create(options: SandboxOptions = {}): Promise<Sandbox> {
    const sandbox = new Sandbox(options);
    await sandbox.initialize();
    return sandbox;
  }

  /**
   * Starts a sandbox that was made by its constructor.
   *
   * @throws {SandboxError} as {@link create}, and when it was started before.
   */
  async initialize(): Promise<void> {
    if (platform === undefined) throw new SandboxError("import the package by its name", "SETUP_FAILED");
    if (this.#connection !== undefined || this.#closed) {
      throw new SandboxError("the sandbox was started already; create another one", "ALREADY_INITIALIZED");
    }
    const connection = new Connection(platform, checkOptions(this.#options));
    this.#connection = connection;
    try {
      await connection.open();
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
  }

  /** Never empty once it is started. */
  get id(): string {
    return this.#connection?.id ?? "";
  }

  /** Whether commands can be run. */
  get isRunning(): boolean {
    return this.#connection?.isOpen ?? false;
  }

  /** Runs a command line in `bash`. */
  async execute(command: string, options: ExecuteOptions = {}): Promise<ExecuteResult> {
    try {
      return await this.#open().execute(command, options);
    } catch (error) {
      return { output: `tidebox: ${message(error)}\n`, exitCode: null, truncated: false };
    }
  }

  /** Lists a directory. A directory that is not there has no files. */
  async ls(path: string): Promise<FilesResult> {
    return this.#tool("ls", path);
  }

  /** Reads `limit` lines of a text file after the first `offset`, or a whole binary file. */
  async read(filePath: string, offset = 0, limit = 500): Promise<ReadResult> {
    return this.#tool("read", filePath, offset, limit);
  }

  /** Reads a whole file. */
  async readRaw(filePath: string): Promise<ReadRawResult> {
    return this.#tool("readRaw", filePath);
  }

  /** Creates or replaces a file. */
  async write(filePath: string, content: string | Uint8Array): Promise<WriteResult> {
    return this.#tool("write", filePath, content);
  }

  /** Replaces a string that must occur once, or all its occurrences. */
  async edit(filePath: string, oldString: string, newString: string, replaceAll = false): Promise<EditResult> {
    return this.#tool("edit", filePath, oldString, newString, replaceAll);
  }

  /** Removes a file, or a directory and what is in it. */
  async delete(filePath: string): Promise<DeleteResult> {
    return this.#tool("delete", filePath);
  }

  /** Finds lines that hold a text, literally. */
  async grep(
    pattern: string, path: string | null = null, glob: string | null = null, maxCount: number | null = null,
  ): Promise<GrepResult> {
    return this.#tool("grep", pattern, path ?? "/", glob ?? undefined, maxCount ?? undefined);
  }

  /** Finds files by name; paths are relative to `path`. */
  async glob(pattern: string, path: string | null = "/"): Promise<FilesResult> {
    return this.#tool("glob", pattern, path ?? "/");
  }

  /** Puts files in, one answer for each, in the same order. Paths must be absolute. */
  async uploadFiles(files: readonly (readonly [string, Uint8Array])[]): Promise<FileUploadResponse[]> {
    try {
      return await this.#open().call<FileUploadResponse[]>("uploadFiles", [files]);
    } catch {
      return files.map(([path]) => ({ path, error: "permission_denied" as const }));
    }
  }

  /** Takes files out, one answer for each, in the same order. Paths must be absolute. */
  async downloadFiles(paths: readonly string[]): Promise<FileDownloadResponse[]> {
    try {
      return await this.#open().call<FileDownloadResponse[]>("downloadFiles", [paths]);
    } catch {
      return paths.map((path) => ({ path, content: null, error: "permission_denied" as const }));
    }
  }

  /** Ends what runs, and the Worker. The files are gone. Closing twice is no error. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#connection?.close();
  }

  /** `await using sandbox = await Sandbox.create()` closes it at the end of the block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(): Connection {
    if (this.#closed) throw new SandboxError("the sandbox is closed; create a new one", "CLOSED");
    if (this.#connection === undefined) {
      throw new SandboxError("the sandbox is not started; call initialize() first", "NOT_INITIALIZED");
    }
    return this.#connection;
  }

  async #tool<T extends { error?: string }>(method: string, ...args: unknown[]): Promise<T> {
    try {
      return await this.#open().call<T>(method, args);
    } catch (error) {
      return { error: message(error) } as T;
    }
  }
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
