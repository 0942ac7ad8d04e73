/** Functions of the application as commands of a sandbox, as their authors see them. */
/** A command of the sandbox that a function of the application answers. */
export interface HostCall {
    /** The arguments; the first is the name that the tool was called by. U+FFFD for what is not UTF-8. */
    readonly argv: readonly string[];
    /** The same arguments, byte for byte. */
    readonly argvBytes: readonly Uint8Array[];
    /** The variables of the process that calls. */
    readonly env: Readonly<Record<string, string>>;
    /** Its working directory. */
    readonly cwd: string;
    /** The sandbox that calls. */
    readonly sandboxId: string;
    readonly stdin: HostInput;
    readonly stdout: HostOutput;
    readonly stderr: HostOutput;
    /** The sandbox's files, with the rights of its user. */
    readonly files: HostFiles;
    /** Aborted when the command is killed, its time is up, or the sandbox is closed: nobody waits for the answer then. */
    readonly signal: AbortSignal;
}
/** Standard input of a call. `for await (const bytes of call.stdin)` reads it in pieces. */
export interface HostInput extends AsyncIterable<Uint8Array> {
    /** Waits for bytes and answers up to `most` of them, 64 KiB at most; none at all at the end. */
    read(most?: number): Promise<Uint8Array>;
    /** Reads to the end. Rejects as soon as there are more than `most` bytes (default 16 MiB): a guest may send without end. */
    bytes(most?: number): Promise<Uint8Array>;
    /** The same as text; U+FFFD for what is not UTF-8. */
    text(most?: number): Promise<string>;
}
/** Standard output or standard error of a call. */
export interface HostOutput {
    /**
     * Writes all of it, waiting while the reader is slow. Rejects with {@link Disconnected} when nobody reads any more. A write
     * that is not awaited is done before the call ends.
     */
    write(data: string | Uint8Array): Promise<void>;
}
/** Files of the sandbox. Relative paths are below the call's working directory. No path reaches a file of the host. */
export interface HostFiles {
    /** Reads a whole file. Rejects with a sentence when it cannot be read or is longer than `most` bytes (default 64 MiB). */
    read(path: string | Uint8Array, most?: number): Promise<Uint8Array>;
    /** The same as text; U+FFFD for what is not UTF-8. */
    readText(path: string | Uint8Array, most?: number): Promise<string>;
    /** Creates or replaces a file. Rejects with a sentence when it cannot be written. */
    write(path: string | Uint8Array, content: string | Uint8Array): Promise<void>;
}
/** What a host tool may answer instead of writing by itself. */
export interface HostAnswer {
    /** Written to standard output. */
    stdout?: string | Uint8Array;
    /** Written to standard error. */
    stderr?: string | Uint8Array;
    /** 0 to 255. Default 0. */
    exitCode?: number;
}
/**
 * A function of the application as a command. It runs in the thread that made the sandbox, with the application's authority;
 * the sandbox sees its arguments, its streams and its exit code, and nothing of what it knows.
 *
 * What it answers is the exit code (a number from 0 to 255; nothing is 0), or output and exit code. When it throws, the
 * command ends with 1 and the error's message stands on its standard error; {@link Disconnected} ends it with 141 and says
 * nothing. All that arrives in the call was chosen by whoever wrote the command: treat it as you treat a web request.
 */
export type HostTool = (call: HostCall) => HostResult | Promise<HostResult>;
/** What a host tool answers. */
export type HostResult = number | HostAnswer | void;
/** Nobody reads what a host tool writes any more. A program would die of SIGPIPE; a tool that does not catch this ends with 141. */
export declare class Disconnected extends Error {
    constructor();
}
