/** What Deep Agents takes as a backend, whatever stands behind it. */
/// <reference lib="esnext.disposable" preserve="true" />
import type { CallOptions, ExecuteOptions } from "./options.js";
import type { DeleteResult, EditResult, ExecuteResult, FileDownloadResponse, FileUploadResponse, FilesResult, GrepResult, ReadRawResult, ReadResult, WriteResult } from "./protocol.js";
import type { RunningCommand } from "./watch.js";
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
export declare abstract class AgentBackend {
    #private;
    /** `backing` throws when there is nothing that could answer. */
    protected constructor(backing: () => Backing);
    /** Never empty once it is started. */
    abstract get id(): string;
    /** Whether commands can be run. */
    abstract get isRunning(): boolean;
    /**
     * Runs a command line in `bash`, and answers when it has ended. It never rejects: what goes wrong on our side is in `output`,
     * with `exitCode` `null`.
     */
    execute(command: string, options?: ExecuteOptions): Promise<ExecuteResult>;
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
    executeStream(command: string, options?: Omit<ExecuteOptions, "onOutput" | "onStdout" | "onStderr">): RunningCommand;
    /** Lists a directory. A directory that is not there has no files. */
    ls(path: string, options?: CallOptions): Promise<FilesResult>;
    /** Reads `limit` lines of a text file after the first `offset`, or a whole binary file. */
    read(filePath: string, offset?: number, limit?: number, options?: CallOptions): Promise<ReadResult>;
    /** Reads a whole file. */
    readRaw(filePath: string, options?: CallOptions): Promise<ReadRawResult>;
    /** Creates or replaces a file. */
    write(filePath: string, content: string | Uint8Array, options?: CallOptions): Promise<WriteResult>;
    /** Replaces a string that must occur once, or all its occurrences. */
    edit(filePath: string, oldString: string, newString: string, replaceAll?: boolean, options?: CallOptions): Promise<EditResult>;
    /** Removes a file, or a directory and what is in it. */
    delete(filePath: string, options?: CallOptions): Promise<DeleteResult>;
    /** Finds lines that hold a text, literally. */
    grep(pattern: string, path?: string | null, glob?: string | null, maxCount?: number | null, options?: CallOptions): Promise<GrepResult>;
    /** Finds files by name; paths are relative to `path`. */
    glob(pattern: string, path?: string | null, options?: CallOptions): Promise<FilesResult>;
    /** Puts files in, one answer for each, in the same order. Paths must be absolute. */
    uploadFiles(files: readonly (readonly [string, Uint8Array])[], options?: CallOptions): Promise<FileUploadResponse[]>;
    /** Takes files out, one answer for each, in the same order. Paths must be absolute. */
    downloadFiles(paths: readonly string[], options?: CallOptions): Promise<FileDownloadResponse[]>;
    /** Ends what runs. Closing twice is no error. */
    abstract close(): Promise<void>;
    /** `await using` closes it at the end of the block. */
    [Symbol.asyncDispose](): Promise<void>;
}
