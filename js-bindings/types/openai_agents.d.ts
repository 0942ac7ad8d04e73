/**
 * Adapter for the OpenAI Agents SDK: a client of its sandbox interface, and a session for a sandbox of your own.
 *
 * ```js
 * import { TideboxSandboxClient } from "tidebox/openai-agents";
 *
 * const agent = new SandboxAgent({ name: "coder", model });
 * await run(agent, "Count the lines.", { sandbox: { client: new TideboxSandboxClient() } });
 * ```
 *
 * Requires `@openai/agents-core` (or `@openai/agents`) 0.20.
 */
import { Manifest } from "@openai/agents-core/sandbox";
import type { ManifestInput, SandboxArchiveLimits, SandboxClient, SandboxClientCreateArgs, SandboxClientOptions, SandboxClientResumeOptions, SnapshotSpec } from "@openai/agents-core/sandbox";
import type { AgentBackend } from "./agent_backend.js";
import type { SessionSettings, TideboxSessionState } from "./openai_agents_session.js";
import { TideboxSandboxSession } from "./openai_agents_session.js";
import type { SandboxOptions } from "./options.js";
export { TideboxSandboxSession };
export type { SessionSettings, TideboxSessionState };
/** Options of a client: those of the sandboxes that it creates, and of their sessions. */
export interface TideboxClientOptions extends SandboxOptions, SandboxClientOptions {
    /** Timeout of a command in milliseconds. Default: `limits.wallTimeMs`. */
    timeoutMs?: number;
    /** Limits for archives that are unpacked. */
    archiveLimits?: SandboxArchiveLimits | null;
    /**
     * Destination of snapshots. `remote` passes snapshot files to a store of the SDK, so that another process can resume
     * a session. `noop` keeps none. Default: the memory of this client.
     */
    snapshotSpec?: SnapshotSpec;
}
/** A session of a sandbox of your own. */
export interface OwnSessionOptions extends Omit<SessionSettings, "close"> {
    /** Entries and environment. They are created before the session is returned. */
    manifest?: ManifestInput;
}
/**
 * Returns a sandbox as a session, for `run(agent, input, { sandbox: { session } })`. The sandbox stays open; close it
 * yourself.
 */
export declare function sandboxSession(sandbox: AgentBackend, options?: OwnSessionOptions): Promise<TideboxSandboxSession>;
/** Creates and resumes sandboxes for agents of the OpenAI Agents SDK. */
export declare class TideboxSandboxClient implements SandboxClient<TideboxClientOptions, TideboxSessionState> {
    #private;
    /** Name of this backend in a run state. */
    readonly backendId = "tidebox";
    /** True: a run may omit options. */
    readonly supportsDefaultOptions = true;
    /** Creates a client. No sandbox is started. */
    constructor(options?: TideboxClientOptions);
    /** Creates a sandbox and the entries of the manifest. */
    create(args?: SandboxClientCreateArgs<TideboxClientOptions> | Manifest, manifestOptions?: TideboxClientOptions): Promise<TideboxSandboxSession>;
    /**
     * Returns the session of a state: with the running sandbox of this client, or with a new one from its snapshot.
     *
     * @throws {SandboxSnapshotNotRestorableError} if neither exists.
     */
    resume(state: TideboxSessionState, resumeOptions?: SandboxClientResumeOptions<TideboxClientOptions>): Promise<TideboxSandboxSession>;
    /** Closes the sandbox of a state and deletes its snapshot. */
    delete(state: TideboxSessionState): Promise<void>;
    /** Takes a snapshot and returns the state as JSON. */
    serializeSessionState(state: TideboxSessionState): Promise<Record<string, unknown>>;
    /** Reads the result of {@link serializeSessionState}. */
    deserializeSessionState(record: Record<string, unknown>): Promise<TideboxSessionState>;
}
