/** Processes of a Mastra sandbox. A process is a command that runs while other calls are made. */
import { ProcessHandle, SandboxProcessManager, SandboxUnsupportedFeatureError } from "@mastra/core/workspace";
import type { CommandResult, ProcessInfo, SpawnProcessOptions } from "@mastra/core/workspace";
import type { AgentBackend } from "./agent_backend.js";
import type { ExecuteOptions } from "./options.js";
import type { TideboxSandbox } from "./mastra.js";
/** Returns the error for a feature of Mastra that a sandbox lacks. */
export declare function unsupported(feature: string, hint: string): SandboxUnsupportedFeatureError;
/** A running command. */
export declare class TideboxProcess extends ProcessHandle {
    #private;
    /** Id of the process for the process manager. It is not the id inside the sandbox. */
    readonly pid: string;
    /** Exit code, or `undefined` while the process runs. */
    exitCode: number | undefined;
    /** Starts a command. */
    constructor(sandbox: AgentBackend, pid: string, command: string, execute: ExecuteOptions, options: SpawnProcessOptions);
    /**
     * Waits until the process ends.
     *
     * @throws {SandboxExecutionError} if the sandbox could not run it.
     */
    wait(): Promise<CommandResult>;
    /** Kills the process. Returns false if it has ended. */
    kill(): Promise<boolean>;
    /** Throws: standard input is empty and cannot be written to. */
    sendStdin(): Promise<void>;
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
