/** The class: a sandbox in a Worker of its own. */
import type { ExecuteOptions, SandboxOptions } from "./options.js";
import type { Platform } from "./platform.js";
import type { DeleteResult, EditResult, ExecuteResult, FileDownloadResponse, FileUploadResponse, FilesResult, GrepResult, ReadRawResult, ReadResult, WriteResult } from "./protocol.js";
/** Says what the package runs on; the entry of each platform does, before anything else. */
export declare function usePlatform(used: Platform): void;
/**
 * A whole sandbox: files, a shell and some two hundred commands, in a Worker of its own and with nothing of the host.
 *
 * It is a backend for Deep Agents: `createDeepAgent({ backend: await Sandbox.create() })`. Its tool methods never throw:
 * what goes wrong is in the answer. Calls may overlap.
 */
export declare class Sandbox {
    #private;
    /** A sandbox that is not started yet; see {@link initialize}. */
    constructor(options?: SandboxOptions);
    /**
     * Makes a sandbox and starts it.
     *
     * @throws {SandboxError} for options that cannot be, and when no Worker can be started.
     */
    static create(options?: SandboxOptions): Promise<Sandbox>;
    /**
     * Starts a sandbox that was made by its constructor.
     *
     * @throws {SandboxError} as {@link create}, and when it was started before.
     */
    initialize(): Promise<void>;
    /** Never empty once it is started. */
    get id(): string;
    /** Whether commands can be run. */
    get isRunning(): boolean;
    /** Runs a command line in `bash`. */
    execute(command: string, options?: ExecuteOptions): Promise<ExecuteResult>;
    /** Lists a directory. A directory that is not there has no files. */
    ls(path: string): Promise<FilesResult>;
    /** Reads `limit` lines of a text file after the first `offset`, or a whole binary file. */
    read(filePath: string, offset?: number, limit?: number): Promise<ReadResult>;
    /** Reads a whole file. */
    readRaw(filePath: string): Promise<ReadRawResult>;
    /** Creates or replaces a file. */
    write(filePath: string, content: string | Uint8Array): Promise<WriteResult>;
    /** Replaces a string that must occur once, or all its occurrences. */
    edit(filePath: string, oldString: string, newString: string, replaceAll?: boolean): Promise<EditResult>;
    /** Removes a file, or a directory and what is in it. */
    delete(filePath: string): Promise<DeleteResult>;
    /** Finds lines that hold a text, literally. */
    grep(pattern: string, path?: string | null, glob?: string | null, maxCount?: number | null): Promise<GrepResult>;
    /** Finds files by name; paths are relative to `path`. */
    glob(pattern: string, path?: string | null): Promise<FilesResult>;
    /** Puts files in, one answer for each, in the same order. Paths must be absolute. */
    uploadFiles(files: readonly (readonly [string, Uint8Array])[]): Promise<FileUploadResponse[]>;
    /** Takes files out, one answer for each, in the same order. Paths must be absolute. */
    downloadFiles(paths: readonly string[]): Promise<FileDownloadResponse[]>;
    /** Ends what runs, and the Worker. The files are gone. Closing twice is no error. */
    close(): Promise<void>;
    /** `await using sandbox = await Sandbox.create()` closes it at the end of the block. */
    [Symbol.asyncDispose](): Promise<void>;
}
