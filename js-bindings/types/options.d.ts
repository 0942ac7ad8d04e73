/** Options and their validation. An invalid option is an error that names it. */
import type { HostTool } from "./host_tool.js";
import type { NetworkOptions } from "./network_options.js";
import { Snapshot } from "./snapshot.js";
/** Resource limits of a sandbox. Sizes are in bytes. `core/src/limits.rs` explains the defaults. */
export interface Limits {
    /** Wall time of a command without a timeout. Default 120,000. Exit code 124. */
    wallTimeMs?: number;
    /** Processor time of one command, over all its processes. Default unlimited. Exit code 152. */
    cpuTimeMs?: number;
    /** Linear memory of one process. Default 512 MiB. */
    processMemoryBytes?: number;
    /** Linear memory of all live processes. Default 1 GiB. */
    sandboxMemoryBytes?: number;
    /** Live processes. Default 256. */
    processes?: number;
    /** File descriptors of one process. Default 1,024. */
    descriptors?: number;
    /** Capacity of a pipe. Default 64 KiB. */
    pipeBytes?: number;
    /** Sockets of all processes together. Default 1,024. */
    sockets?: number;
    /** Captured output of one command. Beyond it, `outputOverflow` of the command applies. Default 8 MiB. */
    outputBytes?: number;
    /** Total bytes of files written by the sandbox. Default 512 MiB. */
    fileBytes?: number;
    /** Size of one file. Default 512 MiB. */
    singleFileBytes?: number;
    /** Files, directories and links. Default 200,000. */
    inodes?: number;
    /** Length of a path. Default 4,096. */
    pathBytes?: number;
    /** Symbolic links followed in one path. Default 40. */
    symlinkDepth?: number;
    /** Arguments and environment of one process. Default 2 MiB. */
    argumentBytes?: number;
    /** Size of a WebAssembly module that a guest may start. Default 64 MiB. */
    moduleBytes?: number;
    /** Nested shell function calls, and depth of nested processes. Default 1,000; at most 320 with JSPI. */
    nesting?: number;
    /** State of a persistent shell session. Default 4 MiB. */
    shellStateBytes?: number;
    /** Processes that outlive their call. Default 16. */
    backgroundProcesses?: number;
    /** Output kept of each of them; older output is dropped. Default 1 MiB. */
    backgroundOutputBytes?: number;
    /** Linear memory of all of them together. Default 512 MiB. */
    backgroundMemoryBytes?: number;
    /** Wall time of each of them. Default 24 hours. Exit code 124. */
    backgroundTimeMs?: number;
    /** Processor time of each of them in percent of one core, beyond a burst of 10 seconds. Default 50. */
    backgroundCpuPercent?: number;
}
/** A mounted host directory. */
export interface Mount {
    /** The directory. A relative path is resolved against the working directory of the application. */
    folder: string | URL;
    /**
     * `readOnly` (default): the directory cannot be changed. `readWrite`: changes are written to the directory immediately; host
     * storage has no quota. `copyOnWrite`: changes stay in the sandbox and count as its files; such a sandbox has no snapshots and
     * forks, and loses the changes if its worker has to be restarted.
     */
    mode?: "readOnly" | "readWrite" | "copyOnWrite";
}
/** Options of a new sandbox. */
export interface SandboxOptions {
    /** Initial files by path. Relative paths are resolved against the working directory. A WebAssembly module is executable. */
    files?: Readonly<Record<string, string | Uint8Array>>;
    /** Starts from the files and the shell session of a snapshot. {@link files} are added. */
    snapshot?: Snapshot;
    /**
     * Starts from the files of a tar archive with names relative to `/`. {@link files} are added. Names with `..` and device files
     * are rejected.
     */
    tar?: Uint8Array;
    /**
     * Environment of every command, in addition to the defaults (`PATH`, `HOME`, `USER`, `LANG`, ...). Variables of the host are
     * not passed.
     */
    env?: Readonly<Record<string, string>>;
    /** Default working directory of commands. Default `/workspace`. */
    cwd?: string;
    /** Resource limits. */
    limits?: Limits;
    /**
     * Makes runs deterministic: the clock starts at `timeMs` (default 0) and advances only while all programs wait, and random
     * numbers derive from `seed` (default 0). `true` selects the defaults.
     */
    deterministic?: boolean | {
        /** Seed of the random numbers. Default 0. */
        seed?: number;
        /** Start time of the clock in milliseconds since the Unix epoch. Default 0. */
        timeMs?: number;
    };
    /** Host name of the sandbox. Default `tidebox`. */
    hostname?: string;
    /** Sandbox id. Default: `sb-` and 128 random bits. */
    id?: string;
    /** `fresh` (default) starts a new shell for each command. `persistent` continues the shell session of the previous command. */
    shellMode?: "fresh" | "persistent";
    /**
     * Custom commands by name. Each one is installed as `/usr/local/bin/NAME` and takes precedence over a command of that name in
     * `/bin`. A function is a host tool and runs in this thread. Bytes are a WebAssembly module (WASI preview1) that runs in the
     * sandbox. In a browser, functions require an engine that can suspend WebAssembly (JSPI).
     */
    tools?: Readonly<Record<string, HostTool | Uint8Array>>;
    /** Network policy. Default: no network. Requires JSPI in a browser. */
    network?: NetworkOptions;
    /**
     * Copies a host directory into the working directory. {@link files} are added. It is read once; later changes on either side
     * are not visible to the other. Modes, times and links are kept. Links are not followed, so files outside the directory are not
     * copied. FIFOs, sockets and devices are rejected. A relative path is resolved against the working directory of the
     * application. Node and Deno on Unix.
     */
    seedDirectory?: string | URL;
    /** Mounted host directories by mount point. A string or URL is a directory that is mounted read-only. Node and Deno on Unix. */
    mounts?: Readonly<Record<string, string | URL | Mount>>;
    /**
     * Optional runtimes: `["python"]` adds CPython with numpy and pandas, `["python-slim"]` CPython without them, `["git"]` Git. A
     * pack has to be installed first (`npx tidebox pack add python`). Default: none. Node 24.20 and newer, Deno, and browsers. A page downloads a
     * pack once from a server of the application ({@link PackOption.from}) and keeps it in the storage of the browser.
     */
    packs?: readonly (PackName | PackOption)[];
    /**
     * `pool` (default in Node and Deno): the sandbox shares a worker with others. It starts in about a millisecond; the commands of all sandboxes of a
     * worker share its processor time. `own`: the sandbox has a separate worker, which costs some 15 MiB and 40 ms, and shares
     * neither processor time nor the memory of the kernel with others. `own` is the default in pages, and for sandboxes with
     * {@link packs} or {@link mounts}.
     *
     * `caller`: the sandbox runs in the thread that creates it, between the turns of its event loop. It requires JSPI, has no packs,
     * and its commands start modules up to 1 MiB unless {@link Limits.moduleBytes} allows more. Nothing can terminate this thread.
     */
    thread?: "pool" | "own" | "caller";
}
/** Name of a pack. A sandbox can have one of `python` and `python-slim`. */
export type PackName = "python" | "python-slim" | "git";
/** A pack of a sandbox. */
export interface PackOption {
    /** Its name. */
    name: PackName;
    /** Directory that contains packs. Default: `tidebox/packs` in the user's cache directory. Node and Deno. */
    folder?: string;
    /**
     * URL from which a page downloads the pack if the browser does not have it: a directory written by `npx tidebox pack export
     * python DIRECTORY`. Relative to the page. Requires a secure context (`https` or `localhost`). Pages only.
     */
    from?: string | URL;
    /**
     * SHA-256 of `pack.json` in that directory in hexadecimal digits, as printed by `pack export`. `pack.json` has the hashes of
     * all other files. Without it, the content of {@link from} is trusted like the page's own scripts. Pages only.
     */
    sha256?: string;
}
/** Options of every call. */
export interface CallOptions {
    /** Aborts the call. Completed effects are not undone. */
    signal?: AbortSignal;
}
/** A chunk of the output of a command. */
export interface OutputChunk {
    /** Stream that the command wrote to. */
    readonly stream: "stdout" | "stderr";
    /** The bytes as written. A character may be split between two chunks. */
    readonly bytes: Uint8Array;
}
/** Options of one command, for direct callers; the tool of Deep Agents passes none. */
export interface ExecuteOptions extends CallOptions {
    /**
     * Cancels the command: it and the processes that it started are killed; other commands and files are not affected. The result
     * has the output up to then, exit code 137 and `stoppedBy` `cancelled`.
     */
    signal?: AbortSignal;
    /** Timeout in milliseconds. Default `limits.wallTimeMs`; 0 ends the command immediately. */
    timeoutMs?: number;
    /** Working directory of this command. */
    cwd?: string;
    /** Environment variables of this command. */
    env?: Readonly<Record<string, string>>;
    /** Standard input. */
    stdin?: string | Uint8Array;
    /** Overrides the shell mode of the sandbox for this command. */
    shellMode?: "fresh" | "persistent";
    /**
     * Action when the output exceeds `limits.outputBytes`; `truncated` is set in any case. `head` (default) keeps the first bytes and
     * `tail` the last ones, and the command continues. `stop` kills it: exit code 137 and `stoppedBy` `output`.
     */
    outputOverflow?: "head" | "tail" | "stop";
    /**
     * Treatment of processes that still run when the command has ended, such as a server started by `server &`. `end` (default)
     * kills them. `keep` lets them run on as one process, which `process` of the result names; that fails with
     * the code `UNSUPPORTED` where processes cannot outlive a call (see `spawn`), and at providers. A timeout or a
     * cancellation kills everything.
     */
    background?: "end" | "keep";
    /** Receives chunks of output as they arrive, in order. If it throws, the command is stopped and the result has the error. */
    onOutput?: (chunk: OutputChunk) => void;
    /** Receives standard output as it arrives, as text. U+FFFD replaces invalid UTF-8. */
    onStdout?: (text: string) => void;
    /** Receives standard error as it arrives, as text. U+FFFD replaces invalid UTF-8. */
    onStderr?: (text: string) => void;
}
/** A command line for `bash`, or a program and its arguments, which no shell expands. */
export type Command = string | readonly string[];
