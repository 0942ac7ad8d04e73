/** The files of a sandbox as a file system of Mastra. */
import { MastraFilesystem } from "@mastra/core/workspace";
import type { CopyOptions, FileContent, FileEntry, FileStat, FilesystemInfo, ListOptions, ProviderStatus, ReadOptions, RemoveOptions, WalkEntry, WalkOptions, WriteOptions } from "@mastra/core/workspace";
import type { AgentBackend } from "./agent_backend.js";
import type { TideboxSandbox } from "./mastra.js";
/** Options of a file system. */
export interface TideboxFilesystemOptions {
    /** The sandbox. A `TideboxSandbox` starts with the first operation. */
    sandbox: TideboxSandbox | AgentBackend;
    /** Directory that relative paths start in. Default: the working directory of the sandbox, or `/workspace`. */
    workingDirectory?: string;
    /** Rejects all changes with a `WorkspaceReadOnlyError`. Commands of the sandbox can still change files. */
    readOnly?: boolean;
}
/** Options of a new directory. */
export interface MkdirOptions {
    /** Creates missing parent directories. Default true. */
    recursive?: boolean;
}
/** The files of a sandbox. Absolute paths are those of the sandbox. */
export declare class TideboxFilesystem extends MastraFilesystem {
    #private;
    /** Id of the file system: that of the sandbox. */
    readonly id: string;
    /** Name of this class. */
    readonly name = "TideboxFilesystem";
    /** Name of this provider. */
    readonly provider = "tidebox";
    /** True if changes are rejected. */
    readonly readOnly: boolean;
    /** State of the file system. */
    status: ProviderStatus;
    /** Creates a file system for one sandbox. */
    constructor({ sandbox, workingDirectory, readOnly }: TideboxFilesystemOptions);
    /** Returns the state of the file system. */
    getInfo(): FilesystemInfo;
    /** Returns a description for the instructions of an agent. */
    getInstructions(): string;
    /** Reads a file as text or as a `Buffer`. */
    readFile(path: string, options?: ReadOptions): Promise<string | Buffer>;
    /** Writes a file. Missing directories are created unless `recursive` is false. */
    writeFile(path: string, content: FileContent, options?: WriteOptions): Promise<void>;
    /** Appends to a file, and creates it and its directories if it is missing. */
    appendFile(path: string, content: FileContent): Promise<void>;
    /** Deletes a file or a link. */
    deleteFile(path: string, options?: RemoveOptions): Promise<void>;
    /** Copies a file, or a directory with `recursive`. */
    copyFile(src: string, dest: string, options?: CopyOptions): Promise<void>;
    /** Moves a file or a directory. */
    moveFile(src: string, dest: string, options?: CopyOptions): Promise<void>;
    /**
     * Creates a directory, and its missing parents unless `recursive` is false. An existing directory is not an error.
     */
    mkdir(path: string, options?: MkdirOptions): Promise<void>;
    /** Removes a directory: an empty one, or any with `recursive`. */
    rmdir(path: string, options?: RemoveOptions): Promise<void>;
    /** Lists a directory. Names in subdirectories contain a slash. Links to directories are not followed. */
    readdir(path: string, options?: ListOptions): Promise<FileEntry[]>;
    /** Lists a directory and its subdirectories in one call. */
    walk(path: string, options?: WalkOptions): Promise<WalkEntry[]>;
    /** Returns whether a path exists. */
    exists(path: string): Promise<boolean>;
    /**
     * Returns the attributes of a file, with links followed. The time of creation is not recorded: it is that of the
     * change.
     */
    stat(path: string): Promise<FileStat>;
    /** Returns the path without symbolic links. */
    realpath(path: string): Promise<string>;
}
