/** Processes of a Mastra sandbox. */
import { ProcessHandle, SandboxProcessManager, SandboxUnsupportedFeatureError } from "@mastra/core/workspace";
import type { CommandResult, ProcessInfo, SpawnProcessOptions } from "@mastra/core/workspace";
import type { TideboxSandbox } from "./mastra.js";
/** Returns the error for a feature of Mastra that a sandbox lacks. */
export declare function unsupported(feature: string, hint: string): SandboxUnsupportedFeatureError;
/** A running command or process. */
export declare class TideboxProcess extends ProcessHandle {
    #private;
    /** Id of the process for the process manager. */
    readonly pid: string;
    /** Exit code, or `undefined` while the process runs. */
    exitCode: number | undefined;
    /** Private: use `spawn` of the process manager. */
    constructor(pid: string, running: unknown, options: SpawnProcessOptions);
    /**
     * Waits until the process ends.
     *
     * @throws {SandboxExecutionError} if the sandbox could not run it, or has ended.
     */
    wait(): Promise<CommandResult>;
    /** Kills the process. Returns false if it has ended. */
    kill(): Promise<boolean>;
    /**
     * Writes to standard input, and waits while the process does not read it.
     *
     * @throws {SandboxUnsupportedFeatureError} for a process that was started with `stdinMode` `ignore`, and without JSPI.
     */
    sendStdin(data: string): Promise<void>;
    /** Closes standard input. Throws like {@link sendStdin}. */
    closeStdin(): Promise<void>;
}
/** Starts and finds the processes of a sandbox. */
export declare class TideboxProcessManager extends SandboxProcessManager<TideboxSandbox> {
    #private;
    /** Creates a manager for one sandbox. `timeoutMs` is the timeout of processes without their own. */
    constructor(timeoutMs?: number);
    /** Starts a command line in `bash` and returns without waiting for its end. */
    spawn(command: string, options?: SpawnProcessOptions): Promise<ProcessHandle>;
    /** Lists the processes that were started and not released. */
    list(): Promise<ProcessInfo[]>;
}
