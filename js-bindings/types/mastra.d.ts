/**
 * Adapter for Mastra: a sandbox and its files for a `Workspace`.
 *
 * ```js
 * import { Workspace } from "@mastra/core/workspace";
 * import { TideboxFilesystem, TideboxSandbox } from "tidebox/mastra";
 *
 * const sandbox = new TideboxSandbox({ network: { allow: ["api.example.com"] } });
 * const workspace = new Workspace({ sandbox, filesystem: new TideboxFilesystem({ sandbox }) });
 * ```
 *
 * Requires `@mastra/core` 1.55 or newer.
 */
import type { SandboxProvider } from "@mastra/core/editor";
import { MastraSandbox } from "@mastra/core/workspace";
import type { CommandResult, ExecuteCommandOptions, MastraSandboxOptions, ProviderStatus, SandboxCloneOptions, SandboxFileInput, SandboxInfo, SandboxNetworking, SandboxStartResult, WriteFilesOptions } from "@mastra/core/workspace";
import type { AgentBackend } from "./agent_backend.js";
import { TideboxProcess, TideboxProcessManager } from "./mastra_processes.js";
import type { SandboxOptions } from "./options.js";
export { TideboxFilesystem } from "./mastra_filesystem.js";
export type { MkdirOptions, TideboxFilesystemOptions } from "./mastra_filesystem.js";
export { TideboxProcess, TideboxProcessManager };
/** Options of a sandbox: those of `Sandbox`, and hooks of Mastra. */
export interface TideboxSandboxOptions extends SandboxOptions, Pick<MastraSandboxOptions, "onStart" | "onStop" | "onDestroy"> {
    /** Uses this sandbox instead of a new one. It stays open: `stop` and `destroy` have no effect on it. */
    sandbox?: AgentBackend;
    /** Timeout in milliseconds. Default: `limits.wallTimeMs` for a command, `limits.backgroundTimeMs` for a process. */
    timeoutMs?: number;
    /** Replaces the description for the instructions of an agent. */
    instructions?: string;
}
/** A sandbox for a `Workspace` of Mastra. It starts with the first command. */
export declare class TideboxSandbox extends MastraSandbox {
    #private;
    /** Id of the sandbox. */
    readonly id: string;
    /** Name of this class. */
    readonly name = "TideboxSandbox";
    /** Name of this provider. */
    readonly provider = "tidebox";
    /** State of the sandbox. */
    status: ProviderStatus;
    /** True: {@link snapshot} keeps the files. */
    readonly supportsCheckpoints = true;
    /** Addresses of servers in the sandbox. That of a local sandbox is a port of this computer's 127.0.0.1, until the sandbox stops. */
    readonly networking: SandboxNetworking;
    /** Creates a sandbox that is not started. */
    constructor(options?: TideboxSandboxOptions);
    /**
     * The sandbox of this package, for its other methods.
     *
     * @throws {SandboxNotReadyError} before the start and after the end.
     */
    get backend(): AgentBackend;
    /**
     * Runs a command, or a program with arguments that no shell expands, and waits for its end. Its standard input is empty. It ends
     * with its timeout, by default `limits.wallTimeMs`.
     */
    executeCommand(command: string, args?: string[], options?: ExecuteCommandOptions): Promise<CommandResult>;
    /** Starts the sandbox: empty, or from the snapshot of the last stop. */
    start(): Promise<SandboxStartResult>;
    /** Takes a snapshot and closes the sandbox. The next start continues with its files. */
    stop(): Promise<void>;
    /** Closes the sandbox and deletes its snapshot. */
    destroy(): Promise<void>;
    /**
     * Keeps the current files and shell session in memory, for a start after the sandbox has ended.
     *
     * @throws {SandboxUnsupportedFeatureError} for a sandbox at a cloud provider.
     * @throws {SandboxError} with copy-on-write mounts.
     */
    snapshot(): Promise<void>;
    /** Returns a sandbox with the same options, without the files of this one. */
    clone(options?: SandboxCloneOptions): TideboxSandbox;
    /** Writes files with their modes and creates missing directories. */
    writeFiles(files: SandboxFileInput[], { abortSignal }?: WriteFilesOptions): Promise<void>;
    /** Returns a description for the instructions of an agent. */
    getInstructions(): string;
    /** Returns the state of the sandbox. */
    getInfo(): SandboxInfo;
}
/** Registration for the editor of Mastra. */
export declare const tideboxSandboxProvider: SandboxProvider<SandboxOptions>;
