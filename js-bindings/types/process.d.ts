/** Processes that outlive the call which started them. */
import type { CallOptions, Command, OutputChunk } from "./options.js";
import type { TextChunk } from "./output.js";
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
declare const SIGNALS: readonly ["HUP", "INT", "QUIT", "KILL", "USR1", "USR2", "TERM", "CONT", "STOP"];
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
export declare class Process {
    #private;
    /** Private: use `spawn` or `process` of the sandbox. */
    constructor(secret: symbol, input: unknown);
    /** The id. In a local sandbox the number that `ps` shows. */
    get id(): string;
    /**
     * Returns output after a position, or waits for some. Reading takes nothing away: several readers see the same bytes. If
     * `running` is false, all output was read.
     *
     * @throws {SandboxError} `INVALID_OPTIONS` if no process has this id, and for invalid options; `CLOSED` if the sandbox is closed.
     */
    read(options?: ProcessReadOptions): Promise<ProcessOutput>;
    /**
     * Iterates over the output until the end of the process: `for await (const { stream, text } of process.output())`. Leaving the
     * loop does not stop the process.
     *
     * @throws {SandboxError} like {@link read}.
     */
    output(options?: ProcessOutputOptions): AsyncGenerator<TextChunk, void, undefined>;
    /**
     * Writes all bytes to standard input, and waits while the pipe is full. Writes run one after the other.
     *
     * @throws {SandboxError} `INVALID_OPTIONS` if the process was started without `stdin: true`, has closed its input or has ended;
     * `CLOSED` if the sandbox is closed.
     */
    write(input: string | Uint8Array, options?: CallOptions): Promise<void>;
    /**
     * Closes standard input after the writes before. In a terminal it types Ctrl-D, the end of the input. Closing twice is not an error.
     *
     * @throws {SandboxError} like {@link read}.
     */
    closeStdin(): Promise<void>;
    /**
     * Sends a signal such as `TERM` to the process and its children. A process that has ended is not an error.
     *
     * @throws {SandboxError} like {@link read}, and `INVALID_OPTIONS` for an unknown name.
     */
    signal(name: ProcessSignal): Promise<void>;
    /**
     * Changes the size of its terminal. Programs in the foreground get `SIGWINCH`.
     *
     * @throws {SandboxError} like {@link read}, and `INVALID_OPTIONS` for an invalid size and a process without a terminal.
     */
    resize(size: TerminalSize): Promise<void>;
    /**
     * Kills the process and its children.
     *
     * @throws {SandboxError} like {@link read}.
     */
    kill(): Promise<void>;
    /**
     * Waits for the end.
     *
     * @throws {SandboxError} like {@link read}; `ABORTED` if `signal` is aborted, which does not stop the process.
     */
    wait(options?: CallOptions): Promise<ProcessEnd>;
    /**
     * Waits until the output contains a text, such as the line of a server that is ready. Returns the position after the output that
     * was read, or `undefined` if the process ends before.
     *
     * @throws {SandboxError} like {@link wait}.
     */
    waitForOutput(text: string, options?: ProcessOutputOptions): Promise<number | undefined>;
}
export {};
