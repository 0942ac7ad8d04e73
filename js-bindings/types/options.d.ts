/** Options, and their check: a wrong one is an error that names it, never something else that happens. */
import type { HostTool } from "./host_tool.js";
import type { NetworkOptions } from "./network_options.js";
import { Snapshot } from "./snapshot.js";
/** What a sandbox may use. Sizes are in bytes; `core/src/limits.rs` gives the reasons for the defaults. */
export interface Limits {
    /** Wall time of a command that names no timeout. Default 120,000. Exit code 124. */
    wallTimeMs?: number;
    /** Linear memory of one process. Default 512 MiB. */
    processMemoryBytes?: number;
    /** Linear memory of all live processes. Default 1 GiB. */
    sandboxMemoryBytes?: number;
    /** Live processes. Default 256. */
    processes?: number;
    /** Descriptors of one process. Default 1,024. */
    descriptors?: number;
    /** Capacity of a pipe. Default 64 KiB. */
    pipeBytes?: number;
    /** Output of one command that is kept; the rest is dropped and `truncated` says so. Default 8 MiB. */
    outputBytes?: number;
    /** Bytes of all files that the sandbox wrote. Default 512 MiB. */
    fileBytes?: number;
    /** Size of one file. Default 512 MiB. */
    singleFileBytes?: number;
    /** Files, folders and links. Default 200,000. */
    inodes?: number;
    /** Length of a path. Default 4,096. */
    pathBytes?: number;
    /** Links followed in one path. Default 40. */
    symlinkDepth?: number;
    /** Arguments and environment of one process. Default 2 MiB. */
    argumentBytes?: number;
    /** Size of a WebAssembly module that a guest may start. Default 64 MiB. */
    moduleBytes?: number;
    /** Calls of shell functions in progress, and depth of nested processes. Default 1,000; at most 320 with JSPI. */
    nesting?: number;
    /** What the shell of a persistent session keeps. Default 4 MiB. */
    shellStateBytes?: number;
}
/** A folder of the host that a sandbox sees. */
export interface Mount {
    /** The folder; a relative path is below the working directory of the program. */
    folder: string | URL;
    /**
     * `readOnly` (the default): nothing can be changed. `readWrite`: changes are made in the folder, at once; the host's disk has
     * no quota of ours. `copyOnWrite`: changes stay in the sandbox and count as its files; such a sandbox has no snapshots and
     * forks, and the changes are lost when its Worker has to be started again.
     */
    mode?: "readOnly" | "readWrite" | "copyOnWrite";
}
/** How a sandbox begins. */
export interface SandboxOptions {
    /** Files by path; relative paths are below the working directory. A WebAssembly module is executable. */
    files?: Readonly<Record<string, string | Uint8Array>>;
    /** Begins with the files and the shell session of a snapshot; {@link files} come on top. */
    snapshot?: Snapshot;
    /**
     * Begins with the files of a tar, whose names count from `/`; {@link files} come on top. Names with `..`, devices and the
     * like are refused.
     */
    tar?: Uint8Array;
    /** Variables of every command, beside the defaults (`PATH`, `HOME`, `USER`, `LANG`, ...). Nothing of the host is passed. */
    env?: Readonly<Record<string, string>>;
    /** Working directory of commands that name none. Default `/workspace`. */
    cwd?: string;
    /** Bounds. */
    limits?: Limits;
    /**
     * Makes runs repeatable: the clock begins at `timeMs` (default 0) and moves only while all programs wait, and randomness
     * comes from `seed` (default 0). `true` means the defaults.
     */
    deterministic?: boolean | {
        seed?: number;
        timeMs?: number;
    };
    /** Name of the machine. Default `tidebox`. */
    hostname?: string;
    /** Default: `sb-` and 128 random bits. */
    id?: string;
    /** Whether each command starts a fresh shell (the default) or goes on in the session of the one before. */
    shellMode?: "fresh" | "persistent";
    /**
     * Commands of your own, by name; each is `/usr/local/bin/NAME` inside and comes before a command of that name in `/bin`. A
     * function runs here, with what it knows; bytes are a WebAssembly module (WASI preview1) that runs inside. In a browser
     * functions take an engine that can suspend WebAssembly (JSPI).
     */
    tools?: Readonly<Record<string, HostTool | Uint8Array>>;
    /** Which hosts programs may speak to. Default: none. In a browser it takes JSPI. */
    network?: NetworkOptions;
    /**
     * Begins with a copy of a folder of the host in the working directory; {@link files} come on top. It is read once, and neither side sees what
     * the other changes later. Modes, times and links are kept; no link is followed, so nothing outside gets in. A FIFO, a socket and a
     * device are refused. A relative path is below the working directory of the program. Node and Deno on Unix.
     */
    seedFolder?: string | URL;
    /** Folders of the host by the directory at which they show. A text is a folder that is read only. Node and Deno on Unix. */
    mounts?: Readonly<Record<string, string | URL | Mount>>;
    /**
     * Optional runtimes: `["python"]` gives the sandbox CPython with numpy and pandas, once it was added to this machine
     * (`npx tidebox pack add python`). Default: none. Node 24.20 and newer, Deno, and pages: those fetch it once from where the
     * application has it ({@link PackOption.from}) and keep it in the storage of the browser.
     */
    packs?: readonly ("python" | PackOption)[];
}
/** Which pack a sandbox has. */
export interface PackOption {
    /** Its name. */
    name: "python";
    /** The folder that packs are kept in. Default: `tidebox/packs` in the user's cache folder. Node and Deno. */
    folder?: string;
    /**
     * Where a page fetches it, when this browser does not have it: the address of a folder that `npx tidebox pack export python FOLDER`
     * has made. Relative to the page. Needs a secure context (`https` or `localhost`). Pages only.
     */
    from?: string | URL;
    /**
     * SHA-256 of `pack.json` in that folder in hexadecimal digits, which `pack export` prints; that file has the hashes of all others. Without
     * it what {@link from} delivers is whole, and trusted as the page's own scripts are. Pages only.
     */
    sha256?: string;
}
/** What every call takes beside its own arguments. */
export interface CallOptions {
    /** Gives the call up. What it has done so far is not undone. */
    signal?: AbortSignal;
}
/** A piece of the output of a command. */
export interface OutputPiece {
    readonly stream: "stdout" | "stderr";
    readonly bytes: Uint8Array;
}
/** How one command is run, for direct callers; the tool of Deep Agents passes none. */
export interface ExecuteOptions extends CallOptions {
    /**
     * Gives the command up: it and what it started are killed, nothing else is, and files stay. The answer has what was written
     * so far, exit code 137 and `stoppedBy` `cancelled`.
     */
    signal?: AbortSignal;
    /** Wall time in milliseconds. Default `limits.wallTimeMs`; 0 ends the command at once. */
    timeoutMs?: number;
    /** Working directory of this command. */
    cwd?: string;
    /** Variables of this command. */
    env?: Readonly<Record<string, string>>;
    /** What it reads from standard input. */
    stdin?: string | Uint8Array;
    /** Whether this command takes part in the session of the shell. */
    shellMode?: "fresh" | "persistent";
    /**
     * Is given pieces of output as they come, in their order. What it throws stops the command, and is told in the answer.
     */
    onOutput?: (piece: OutputPiece) => void;
    /** Is given standard output as it comes, as text; U+FFFD for what is not UTF-8. */
    onStdout?: (text: string) => void;
    /** Is given standard error as it comes, as text; U+FFFD for what is not UTF-8. */
    onStderr?: (text: string) => void;
}
