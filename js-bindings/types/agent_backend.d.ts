/** The methods that Deep Agents calls on a backend, common to the local and the remote class. */
/// <reference lib="esnext.disposable" preserve="true" />
import type { CallOptions, Command, ExecuteOptions } from "./options.js";
import type { DeleteResult, EditResult, ExecuteResult, FileDownloadResponse, FileUploadResponse, FilesResult, GrepResult, ReadRawResult, ReadResult, WriteResult } from "./protocol.js";
import type { RunningCommand } from "./output.js";
import type { ProcessBackend, ProcessInfo, ProcessOptions } from "./process.js";
import type { SandboxUsage } from "./usage.js";
import { Process } from "./process.js";
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
export declare abstract class AgentBackend {
    #private;
    /** `backing` throws if no sandbox is open. */
    protected constructor(backend: () => BackendConnection);
    /** The sandbox id. Not empty after the sandbox is started. */
    abstract get id(): string;
    /** True if commands can be run. */
    abstract get isRunning(): boolean;
    /**
     * Runs a command line in `bash`, or a program with arguments that no shell expands (`["ls", "-l", name]`), and resolves when it
     * has ended. It never rejects: if Tidebox itself fails, `output` has the message and `exitCode` is `null`.
     */
    execute(command: Command, options?: ExecuteOptions): Promise<ExecuteResult>;
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
    executeStream(command: Command, options?: Omit<ExecuteOptions, "onOutput" | "onStdout" | "onStderr">): RunningCommand;
    /**
     * Starts a command line in `bash`, or a program with arguments, that outlives this call. It ends on its own, by a signal, at its
     * timeout, or with the sandbox: when it is closed or restored. It does not keep the application running; at a provider it ends
     * with the application. Not part of snapshots and forks.
     *
     * @throws {SandboxError} `UNSUPPORTED` if the engine cannot suspend WebAssembly (JSPI) and for deterministic sandboxes;
     * `QUOTA_EXCEEDED` at `limits.backgroundProcesses`; `INVALID_OPTIONS` for invalid options; and for a sandbox that is not open.
     */
    spawn(command: Command, options?: ProcessOptions): Promise<Process>;
    /**
     * Lists the processes that {@link spawn} started or a command left with `background: "keep"`, in the order of their start. The
     * 64 that ended last are remembered.
     *
     * @throws {SandboxError} `UNSUPPORTED` like {@link spawn}, and for a sandbox that is not open.
     */
    processes(options?: CallOptions): Promise<ProcessInfo[]>;
    /**
     * Returns the process with this id. An id that no process has is an error of the first call.
     *
     * @throws {SandboxError} for a sandbox that is not open.
     */
    process(id: string): Process;
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
    portEndpoint(port: number, options?: CallOptions): Promise<PortEndpoint>;
    /**
     * Returns the resources that the sandbox uses: memory of its files and processes, and processor time.
     *
     * @throws {SandboxError} `UNSUPPORTED` for a sandbox at a provider, and for a sandbox that is not open.
     */
    usage(options?: CallOptions): Promise<SandboxUsage>;
    /** Lists a directory. A missing directory has no files. */
    ls(path: string, options?: CallOptions): Promise<FilesResult>;
    /** Reads `limit` lines of a text file after the first `offset`, or a whole binary file. */
    read(filePath: string, offset?: number, limit?: number, options?: CallOptions): Promise<ReadResult>;
    /** Reads a whole file. */
    readRaw(filePath: string, options?: CallOptions): Promise<ReadRawResult>;
    /** Creates or replaces a file. */
    write(filePath: string, content: string | Uint8Array, options?: CallOptions): Promise<WriteResult>;
    /** Replaces a string that must occur once, or all its occurrences. */
    edit(filePath: string, oldString: string, newString: string, replaceAll?: boolean, options?: CallOptions): Promise<EditResult>;
    /** Removes a file, or a directory with its contents. */
    delete(filePath: string, options?: CallOptions): Promise<DeleteResult>;
    /** Finds lines that contain a literal text. */
    grep(pattern: string, path?: string | null, glob?: string | null, maxCount?: number | null, options?: CallOptions): Promise<GrepResult>;
    /** Finds files by name; paths are relative to `path`. */
    glob(pattern: string, path?: string | null, options?: CallOptions): Promise<FilesResult>;
    /** Uploads files. Returns one result per file, in the same order. Paths must be absolute. */
    uploadFiles(files: readonly (readonly [string, Uint8Array])[], options?: CallOptions): Promise<FileUploadResponse[]>;
    /** Downloads files. Returns one result per file, in the same order. Paths must be absolute. */
    downloadFiles(paths: readonly string[], options?: CallOptions): Promise<FileDownloadResponse[]>;
    /** Stops running commands. Closing twice is not an error. */
    abstract close(): Promise<void>;
    /** `await using` closes it at the end of the block. */
    [Symbol.asyncDispose](): Promise<void>;
}
