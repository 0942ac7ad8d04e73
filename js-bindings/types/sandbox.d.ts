/** The class: a sandbox in a Worker of its own. */
import type { NetworkLog } from "./network_options.js";
import type { CallOptions, ExecuteOptions, SandboxOptions } from "./options.js";
import type { Platform } from "./platform.js";
import type { DeleteResult, EditResult, ExecuteResult, FileDownloadResponse, FileUploadResponse, FilesResult, GrepResult, ReadRawResult, ReadResult, WriteResult } from "./protocol.js";
import type { SnapshotDiff } from "./snapshot.js";
import { Snapshot } from "./snapshot.js";
import type { RunningCommand } from "./watch.js";
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
    /**
     * Keeps what the sandbox is now: its files and its shell session. Commands may run meanwhile: the files are those between two
     * of their system calls. Takes time for what the sandbox has written, of which equal blocks count once.
     *
     * @throws {SandboxError} for a sandbox that is not open, and for one with copy-on-write mounts.
     */
    snapshot(options?: CallOptions): Promise<Snapshot>;
    /**
     * Puts files and shell session back to what they were. Commands that run are stopped; they answer with exit code 137 and
     * `stoppedBy` `cancelled`. The snapshot may be another sandbox's. What lies in mounts, and tools, stay as they are.
     *
     * @throws {SandboxError} as {@link snapshot}, and for bytes that are no snapshot or more than the limits hold; nothing has
     * changed then.
     */
    restore(snapshot: Snapshot, options?: CallOptions): Promise<void>;
    /**
     * A second sandbox, in a Worker of its own, that begins as this one is now: with the same options, an id of its own, and the
     * same functions as tools. From here on each goes its own way. What runs here does not run there.
     *
     * The time of a deterministic sandbox goes on in its fork, with randomness of its own that is the same in every run.
     *
     * @throws {SandboxError} as {@link create} and {@link snapshot}.
     */
    fork(options?: CallOptions): Promise<Sandbox>;
    /**
     * What changed from one snapshot to another, by default to what the sandbox is now. Either may be another sandbox's. Times,
     * owners and hard links are not compared.
     *
     * @throws {SandboxError} as {@link restore}.
     */
    diff(before: Snapshot, after?: Snapshot, options?: CallOptions): Promise<SnapshotDiff>;
    /**
     * All that the sandbox, or a snapshot, has made or changed as a tar, with names that count from `/`. It keeps modes, times of
     * change and links; not the shell session. {@link SandboxOptions.tar} reads it.
     *
     * @throws {SandboxError} as {@link restore}.
     */
    toTar(snapshot?: Snapshot, options?: CallOptions): Promise<Uint8Array>;
    /**
     * A tar as a snapshot, to begin with or to compare with. The tar is not trusted: names with `..`, devices, sparse files and
     * what lies in the place of the system's files are refused by name.
     *
     * @throws {SandboxError} for bytes that are no such tar, or more than the limits hold.
     */
    fromTar(tar: Uint8Array, options?: CallOptions): Promise<Snapshot>;
    /**
     * All requests that programs of this sandbox have sent, refused ones included. Empty without {@link SandboxOptions.network};
     * begins anew when the Worker does.
     *
     * @throws {SandboxError} for a sandbox that is not open.
     */
    networkLog(options?: CallOptions): Promise<NetworkLog>;
    /** Ends what runs, and the Worker. The files are gone. Closing twice is no error. */
    close(): Promise<void>;
    /** `await using sandbox = await Sandbox.create()` closes it at the end of the block. */
    [Symbol.asyncDispose](): Promise<void>;
}
