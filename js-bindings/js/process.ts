/** Processes that outlive the call which started them. */

import { checkArguments, checkKeys, checkRecord, invalidOptions, isContent, isCount, isText } from "./check.js";
import { SandboxError } from "./error.js";
import type { CallOptions, Command, OutputChunk } from "./options.js";
import { checkCommand, checkSignal } from "./options.js";
import type { TextChunk } from "./output.js";
import { Utf8 } from "./output.js";
import type { StopReason } from "./protocol.js";

/** Options of a process. */
export interface ProcessOptions extends CallOptions {
  /** Working directory. Default: that of the sandbox. */
  cwd?: string;
  /** Environment variables, in addition to those of the sandbox. */
  env?: Readonly<Record<string, string>>;
  /** True if {@link Process.write} can write to standard input. Default false: standard input is empty. */
  stdin?: boolean;
  /**
   * Size of a terminal that is standard input, output and error, for interactive programs. {@link Process.write} types keys, and all
   * output is in one stream. `TERM` is `xterm-256color` unless `env` sets it. Default: no terminal.
   */
  terminal?: TerminalSize;
  /** Milliseconds after which the process is killed. Default and maximum: `limits.backgroundTimeMs`. */
  timeoutMs?: number;
  /** Name that makes the start idempotent: while a process with this tag runs, `spawn` returns that process. */
  tag?: string;
}

/** Size of a terminal in characters; each number is from 1 to 1000. */
export interface TerminalSize {
  /** Number of rows. */
  readonly rows: number;
  /** Number of columns. */
  readonly columns: number;
}

/** State of a process. */
export interface ProcessState {
  /** True until it has ended. */
  readonly running: boolean;
  /** Exit code; 128 + n after signal n. `null` while it runs, and if unknown. */
  readonly exitCode: number | null;
  /** Reason if the sandbox stopped it, or the limit at which it failed. */
  readonly stoppedBy?: StopReason;
}

/** End of a process. */
export type ProcessEnd = Pick<ProcessState, "exitCode" | "stoppedBy">;

/** Properties of a process. */
export interface ProcessInfo extends ProcessState {
  /** Its id. In a local sandbox the number that `ps` shows. */
  readonly id: string;
  /** The tag that it was started with. */
  readonly tag?: string;
  /** Its command line. */
  readonly command: string;
  /** Start in milliseconds since the Unix epoch, by the sandbox's clock. */
  readonly startedMs: number;
  /** Bytes that it wrote to standard output and standard error. */
  readonly writtenBytes: number;
}

/** Output of a process, and its state. */
export interface ProcessOutput extends ProcessState {
  /** The output in the order of arrival. */
  readonly chunks: readonly OutputChunk[];
  /** The output as text. U+FFFD replaces invalid UTF-8, also of a character that is split between two pages. */
  readonly text: string;
  /** Position after the output, for {@link ProcessReadOptions.after} of the next call. */
  readonly next: number;
  /** Bytes after the requested position that are no longer kept. */
  readonly dropped: number;
}

/** Options of {@link Process.read}. */
export interface ProcessReadOptions extends CallOptions {
  /** Position at which to start: {@link ProcessOutput.next} of an earlier call. Default 0: the oldest output that is kept. */
  after?: number;
  /** Maximum milliseconds to wait for output while the process runs. Default 0. */
  waitMs?: number;
  /** Maximum number of bytes. Default 1 MiB. */
  maxBytes?: number;
}

/** Options of {@link Process.output} and {@link Process.waitForOutput}. */
export type ProcessOutputOptions = Pick<ProcessReadOptions, "after" | "signal">;

const SIGNALS = ["HUP", "INT", "QUIT", "KILL", "USR1", "USR2", "TERM", "CONT", "STOP"] as const;

/** Name of a signal without `SIG`. */
type SignalName = (typeof SIGNALS)[number];

/** Name of a signal, with or without `SIG`. */
export type ProcessSignal = SignalName | `SIG${SignalName}`;

/** Identifies a process. */
export interface ProcessKey {
  /** Its id, unique among the processes of one worker. */
  readonly id: string;
  /** Number of workers of the sandbox that had processes and have ended before. */
  readonly generation: number;
}

/** Starts and finds processes. */
export interface ProcessBackend {
  /** Maximum number of bytes for one call that writes to a process. */
  readonly maxWriteBytes: number;
  /** Starts a process. */
  spawn(command: Command, options: Omit<ProcessOptions, "signal">, signal: AbortSignal | undefined): Promise<ProcessKey>;
  /** Lists the processes. */
  processes(signal: AbortSignal | undefined): Promise<ProcessInfo[]>;
  /** Returns the key of the newest process with this id, which may not exist. */
  processKey(id: string): ProcessKey;
  /** Calls a method of the kernel's sandbox whose first argument is the id. */
  callProcess<T>(process: ProcessKey, method: string, args: readonly unknown[], signal: AbortSignal | undefined): Promise<T>;
}

/** @internal Required by the constructor, which only the classes of sandboxes may call. */
export const constructorKey = Symbol("process");

/** Milliseconds for which one call waits for output or the end. */
const LONG_POLL_MS = 20_000;

const OPTIONS = ["cwd", "env", "stdin", "terminal", "timeoutMs", "tag", "signal"];

/**
 * A process of a sandbox: `await sandbox.spawn("python3 server.py")`. It is only a name: an object that is no longer used does not
 * stop the process, and several may name one process.
 *
 * ```js
 * const server = await sandbox.spawn("while read -r line; do echo \"got $line\"; done", { stdin: true });
 * await server.write("one\n");
 * await server.waitForOutput("got one");
 * await server.kill();
 * ```
 */
export class Process {
  readonly #backend: ProcessBackend;
  readonly #key: ProcessKey;
  #lastWrite: Promise<unknown> = Promise.resolve();

  /** Private: use `spawn` or `process` of the sandbox. */
  constructor(secret: symbol, input: unknown) {
    if (secret !== constructorKey) throw new SandboxError("use sandbox.spawn() or sandbox.process()", "NOT_INITIALIZED");
    const { backend, key } = input as { backend: ProcessBackend; key: ProcessKey };
    this.#backend = backend;
    this.#key = key;
  }

  /** The id. In a local sandbox the number that `ps` shows. */
  get id(): string {
    return this.#key.id;
  }

  /**
   * Returns output after a position, or waits for some. Reading takes nothing away: several readers see the same bytes. If
   * `running` is false, all output was read.
   *
   * @throws {SandboxError} `INVALID_OPTIONS` if no process has this id, and for invalid options; `CLOSED` if the sandbox is closed.
   */
  async read(options: ProcessReadOptions = {}): Promise<ProcessOutput> {
    checkKeys("option", checkObject(options), ["after", "waitMs", "maxBytes", "signal"]);
    const { signal, ...request } = options;
    for (const [name, value] of Object.entries(request)) {
      if (value !== undefined && !isCount(value)) throw invalidOptions(`${name} must be a non-negative number`);
    }
    checkSignal(signal);
    const page = await this.#call<Omit<ProcessOutput, "text">>("readProcess", [request], signal);
    return { ...page, text: textOf(page.chunks) };
  }

  /**
   * Iterates over the output until the end of the process: `for await (const { stream, text } of process.output())`. Leaving the
   * loop does not stop the process.
   *
   * @throws {SandboxError} like {@link read}.
   */
  async *output(options: ProcessOutputOptions = {}): AsyncGenerator<TextChunk, void, undefined> {
    const { signal, after: first = 0 } = checkOutputOptions(options);
    const texts = { stdout: new Utf8(), stderr: new Utf8() };
    for (let after = first, running = true; running; ) {
      const page = await this.read(withSignal({ after, waitMs: LONG_POLL_MS }, signal));
      for (const chunk of page.chunks) yield { ...chunk, text: texts[chunk.stream].next(chunk.bytes) };
      ({ next: after, running } = page);
    }
    for (const stream of ["stdout", "stderr"] as const) {
      const text = texts[stream].rest();
      if (text !== "") yield { stream, bytes: new Uint8Array(0), text };
    }
  }

  /**
   * Writes all bytes to standard input, and waits while the pipe is full. Writes run one after the other.
   *
   * @throws {SandboxError} `INVALID_OPTIONS` if the process was started without `stdin: true`, has closed its input or has ended;
   * `CLOSED` if the sandbox is closed.
   */
  async write(input: string | Uint8Array, options: CallOptions = {}): Promise<void> {
    checkArguments({ input }, isContent, "a string or a Uint8Array");
    const { signal } = checkCallOptions(options);
    const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input.slice();
    return this.#afterWrites(() => this.#writeAll(bytes, signal));
  }

  async #writeAll(bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    const { maxWriteBytes } = this.#backend;
    for (let at = 0; at < bytes.length; ) {
      // A copy: sending a part of a buffer would copy all of it.
      at += await this.#call<number>("writeProcess", [bytes.slice(at, at + maxWriteBytes)], signal);
    }
  }

  /**
   * Closes standard input after the writes before. In a terminal it types Ctrl-D, the end of the input. Closing twice is not an error.
   *
   * @throws {SandboxError} like {@link read}.
   */
  async closeStdin(): Promise<void> {
    await this.#afterWrites(() => this.#call<number>("writeProcess", [], undefined));
  }

  #afterWrites<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastWrite.then(work);
    this.#lastWrite = done.catch(() => {});
    return done;
  }

  /**
   * Sends a signal such as `TERM` to the process and its children. A process that has ended is not an error.
   *
   * @throws {SandboxError} like {@link read}, and `INVALID_OPTIONS` for an unknown name.
   */
  async signal(name: ProcessSignal): Promise<void> {
    const short = isText(name) ? name.toUpperCase().replace(/^SIG/u, "") : "";
    if (!(SIGNALS as readonly string[]).includes(short)) {
      throw invalidOptions(`unknown signal '${String(name)}'; expected one of: ${SIGNALS.join(", ")}`);
    }
    await this.#call<void>("signalProcess", [short], undefined);
  }

  /**
   * Changes the size of its terminal. Programs in the foreground get `SIGWINCH`.
   *
   * @throws {SandboxError} like {@link read}, and `INVALID_OPTIONS` for an invalid size and a process without a terminal.
   */
  async resize(size: TerminalSize): Promise<void> {
    await this.#call<void>("resizeProcess", [checkTerminal("size", size)], undefined);
  }

  /**
   * Kills the process and its children.
   *
   * @throws {SandboxError} like {@link read}.
   */
  async kill(): Promise<void> {
    await this.signal("KILL");
  }

  /**
   * Waits for the end.
   *
   * @throws {SandboxError} like {@link read}; `ABORTED` if `signal` is aborted, which does not stop the process.
   */
  async wait(options: CallOptions = {}): Promise<ProcessEnd> {
    const { signal } = checkCallOptions(options);
    for (;;) {
      // A position after all output: only the end is of interest.
      const { running, exitCode, stoppedBy } = await this.read(withSignal({ after: Number.MAX_SAFE_INTEGER, waitMs: LONG_POLL_MS }, signal));
      if (!running) return { exitCode, ...(stoppedBy !== undefined && { stoppedBy }) };
    }
  }

  /**
   * Waits until the output contains a text, such as the line of a server that is ready. Returns the position after the output that
   * was read, or `undefined` if the process ends before.
   *
   * @throws {SandboxError} like {@link wait}.
   */
  async waitForOutput(text: string, options: ProcessOutputOptions = {}): Promise<number | undefined> {
    checkArguments({ text }, isText, "a string");
    const { signal, after: first = 0 } = checkOutputOptions(options);
    const decoder = new Utf8();
    for (let after = first, found = ""; ; ) {
      const page = await this.read(withSignal({ after, waitMs: LONG_POLL_MS }, signal));
      for (const { bytes } of page.chunks) found += decoder.next(bytes);
      after = page.next;
      if (found.includes(text)) return after;
      if (!page.running) return undefined;
      // Only an unfinished occurrence matters.
      found = found.slice(Math.max(found.length - text.length, 0));
    }
  }

  #call<T>(method: string, args: readonly unknown[], signal: AbortSignal | undefined): Promise<T> {
    return this.#backend.callProcess<T>(this.#key, method, args, signal);
  }
}

function checkTerminal(name: string, size: unknown): TerminalSize {
  const { rows, columns } = (typeof size === "object" && size !== null ? size : {}) as Partial<TerminalSize>;
  if (isTerminalLength(rows) && isTerminalLength(columns)) return { rows, columns };
  throw invalidOptions(`${name} must be an object with rows and columns, which are numbers from 1 to 1000`);
}

function isTerminalLength(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000;
}

function textOf(chunks: readonly OutputChunk[]): string {
  const decoder = new Utf8();
  return chunks.map(({ bytes }) => decoder.next(bytes)).join("") + decoder.rest();
}

function withSignal(request: ProcessReadOptions, signal: AbortSignal | undefined): ProcessReadOptions {
  return signal === undefined ? request : { ...request, signal };
}

function checkObject(options: unknown): object {
  if (typeof options !== "object" || options === null) throw invalidOptions("options must be an object");
  return options;
}

function checkCallOptions(options: CallOptions): CallOptions {
  checkKeys("option", checkObject(options), ["signal"]);
  checkSignal(options.signal);
  return options;
}

function checkOutputOptions(options: ProcessOutputOptions): ProcessOutputOptions {
  checkKeys("option", checkObject(options), ["after", "signal"]);
  checkSignal(options.signal);
  if (options.after !== undefined && !isCount(options.after)) throw invalidOptions("after must be a non-negative number");
  return options;
}

/** @internal Validates the options of a process. */
export function checkProcessOptions(options: ProcessOptions): ProcessOptions {
  checkKeys("option", checkObject(options), OPTIONS);
  const { cwd, env, stdin, terminal, timeoutMs, tag, signal } = options;
  for (const [name, value] of Object.entries({ cwd, tag })) {
    if (value !== undefined && !isText(value)) throw invalidOptions(`${name} must be a string`);
  }
  if (env !== undefined) checkRecord("env", env, isText, "a string");
  if (stdin !== undefined && typeof stdin !== "boolean") throw invalidOptions("stdin must be true or false; write the input with write()");
  if (terminal !== undefined) checkTerminal("terminal", terminal);
  if (timeoutMs !== undefined && !isCount(timeoutMs)) throw invalidOptions("timeoutMs must be a non-negative number");
  checkSignal(signal);
  return options;
}

/** @internal Validates the command of a process. */
export function checkProcessCommand(command: Command): Command {
  if (!isText(command) && !Array.isArray(command)) throw invalidOptions("a command must be a string or an array of strings");
  return checkCommand(command);
}
