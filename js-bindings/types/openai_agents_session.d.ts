/** The session of the OpenAI Agents SDK: tools for one sandbox. */
import type { Editor } from "@openai/agents-core";
import type { ExecCommandArgs, ExposedPortEndpoint, ListDirectoryArgs, Manifest, MaterializeEntryArgs, ReadFileArgs, SandboxArchiveLimits, SandboxDirectoryEntry, SandboxExecResult, SandboxSession, SandboxSessionState, SnapshotSpec, ViewImageArgs, WorkspaceArchiveData, WorkspaceArchiveOptions } from "@openai/agents-core/sandbox";
import { imageOutputFromBytes } from "@openai/agents-core/sandbox/internal";
import type { AgentBackend } from "./agent_backend.js";
/** State of a session, which the SDK stores in its run state. */
export interface TideboxSessionState extends SandboxSessionState {
    /** Id of the sandbox. */
    sandboxId: string;
    /** Destination of snapshots. */
    snapshotSpec?: SnapshotSpec | null;
}
/** Image for a model: `ToolOutputImage` of the SDK. */
type ImageOutput = ReturnType<typeof imageOutputFromBytes>;
/** Settings of a session. */
export interface SessionSettings {
    /** Timeout of a command in milliseconds. Default: `limits.wallTimeMs` of the sandbox. */
    timeoutMs?: number;
    /** Limits for archives that are unpacked. */
    archiveLimits?: SandboxArchiveLimits | null;
    /** Closes the sandbox. Without it, the caller of the session closes the sandbox. */
    close?: () => Promise<void>;
}
/** A sandbox as a session of the OpenAI Agents SDK. */
export declare class TideboxSandboxSession implements SandboxSession<TideboxSessionState> {
    #private;
    /** State of the session. */
    state: TideboxSessionState;
    /** Creates a session. The entries of the manifest in the state must exist; see {@link applyManifest}. */
    constructor(sandbox: AgentBackend, state: TideboxSessionState, settings?: SessionSettings);
    /** Returns whether commands can be run. */
    running(): Promise<boolean>;
    /** Closes the sandbox if the client created it. A sandbox that was passed in stays open. */
    close(): Promise<void>;
    /** Returns false: a sandbox has no pseudo-terminals, so the SDK offers no tool for writing to a running command. */
    supportsPty(): boolean;
    /**
     * Runs a command until it ends. `yieldTimeMs` has no effect, because a command does not outlive its call; the timeout
     * of the session stops it with exit code 124.
     */
    exec(args: ExecCommandArgs): Promise<SandboxExecResult>;
    /** Runs a command and formats the result for a model, including the reason why a sandbox does not support it. */
    execCommand(args: ExecCommandArgs): Promise<string>;
    /** Returns an editor for patches. */
    createEditor(runAs?: string): Editor;
    /** Reads an image of at most 10 MiB. */
    viewImage({ path, runAs }: ViewImageArgs): Promise<ImageOutput>;
    /** Reads a file, or its first `maxBytes`. */
    readFile({ path, runAs, maxBytes }: ReadFileArgs): Promise<Uint8Array>;
    /** Lists a directory. */
    listDir({ path, runAs }: ListDirectoryArgs): Promise<SandboxDirectoryEntry[]>;
    /** Returns whether a path exists. */
    pathExists(path: string, runAs?: string): Promise<boolean>;
    /** Returns whether a path is a directory. */
    directoryExists(path: string, runAs?: string): Promise<boolean>;
    /** Creates an entry and adds it to the manifest of the session. */
    materializeEntry({ path, entry, runAs }: MaterializeEntryArgs): Promise<void>;
    /** Creates the entries of a manifest and adds them, and its environment, to the session. */
    applyManifest(manifest: Manifest, runAs?: string): Promise<void>;
    /** Returns the workspace as a tar archive with relative names, without the ephemeral entries of the manifest. */
    persistWorkspace(): Promise<Uint8Array>;
    /** Unpacks a tar archive into the workspace. The limits of the sandbox apply in addition to those of the SDK. */
    hydrateWorkspace(data: WorkspaceArchiveData, options?: WorkspaceArchiveOptions): Promise<void>;
    /** Sets the limits for {@link hydrateWorkspace}. */
    setArchiveLimits(limits?: SandboxArchiveLimits | null): void;
    /**
     * Returns the address of a server in the sandbox, which may start later. That of a local sandbox is a port of this computer's
     * 127.0.0.1, until the sandbox is closed.
     *
     * @throws {SandboxExposedPortUnavailableError} if clients outside cannot reach the port without headers, with the reason.
     */
    resolveExposedPort(port: number): Promise<ExposedPortEndpoint>;
}
export {};
