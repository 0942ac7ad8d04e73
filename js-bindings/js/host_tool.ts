/** Public types of host tools: functions of the application that are commands of a sandbox. */

/** A call of a host tool. */
export interface HostCall {
  /** The arguments; the first is the name that the tool was called by. U+FFFD replaces invalid UTF-8. */
  readonly argv: readonly string[];
  /** {@link argv} as bytes. */
  readonly argvBytes: readonly Uint8Array[];
  /** The environment of the calling process. */
  readonly env: Readonly<Record<string, string>>;
  /** Working directory of the calling process. */
  readonly cwd: string;
  /** Id of the calling sandbox. */
  readonly sandboxId: string;
  /** Standard input of the call. */
  readonly stdin: HostInput;
  /** Standard output of the call. */
  readonly stdout: HostOutput;
  /** Standard error of the call. */
  readonly stderr: HostOutput;
  /** Files of the sandbox, with the permissions of its user. */
  readonly files: HostFiles;
  /** Aborted when the command is killed, its timeout expires, or the sandbox is closed. The result is then discarded. */
  readonly signal: AbortSignal;
}

/** Standard input of a call. `for await (const bytes of call.stdin)` reads it in chunks. */
export interface HostInput extends AsyncIterable<Uint8Array> {
  /** Waits for data and returns up to `maxBytes` bytes, at most 64 KiB. Returns an empty array at the end of input. */
  read(maxBytes?: number): Promise<Uint8Array>;
  /**
   * Reads to the end. Rejects if there are more than `maxBytes` bytes (default 16 MiB), because a guest may write without end.
   */
  bytes(maxBytes?: number): Promise<Uint8Array>;
  /** Like {@link bytes}, decoded. U+FFFD replaces invalid UTF-8. */
  text(maxBytes?: number): Promise<string>;
}

/** Standard output or standard error of a call. */
export interface HostOutput {
  /**
   * Writes all data, waiting while the reader is slow. Rejects with {@link BrokenPipeError} if the stream has no reader. A write
   * that is not awaited is completed before the call ends.
   */
  write(data: string | Uint8Array): Promise<void>;
}

/** Files of the sandbox. Relative paths are resolved against the call's working directory. Host files are not accessible. */
export interface HostFiles {
  /** Reads a whole file. Rejects with a message if it cannot be read or is longer than `maxBytes` bytes (default 64 MiB). */
  read(path: string | Uint8Array, maxBytes?: number): Promise<Uint8Array>;
  /** Like {@link bytes}, decoded. U+FFFD replaces invalid UTF-8. */
  readText(path: string | Uint8Array, maxBytes?: number): Promise<string>;
  /** Creates or replaces a file. Rejects with a message if it cannot be written. */
  write(path: string | Uint8Array, content: string | Uint8Array): Promise<void>;
}

/** Output and exit code that a host tool may return instead of writing to its streams. */
export interface HostToolResponse {
  /** Written to standard output. */
  stdout?: string | Uint8Array;
  /** Written to standard error. */
  stderr?: string | Uint8Array;
  /** From 0 to 255. Default 0. */
  exitCode?: number;
}

/**
 * A function of the application as a command. It runs in the thread that created the sandbox, with the application's privileges.
 * The sandbox sees only its arguments, its streams and its exit code.
 *
 * It returns the exit code (0 to 255; `undefined` is 0), or output and exit code. If it throws, the command exits with 1 and the
 * error's message is written to standard error; {@link BrokenPipeError} makes it exit with 141 without a message. All data of the
 * call comes from the author of the command: treat it like a web request.
 */
export type HostTool = (call: HostCall) => HostToolResult | Promise<HostToolResult>;

/** Return value of a host tool. */
export type HostToolResult = number | HostToolResponse | void;

/**
 * Thrown when a host tool writes to a stream without a reader. A program would be killed by SIGPIPE; a tool that does not catch
 * this exits with 141.
 */
export class BrokenPipeError extends Error {
  /** Creates the error, for a tool that ends like a program without a reader. */
  constructor() {
    super("the stream has no reader");
    this.name = "BrokenPipeError";
  }
}
