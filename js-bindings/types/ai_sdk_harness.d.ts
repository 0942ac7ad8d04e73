/** Sandbox provider for `HarnessAgent` of `@ai-sdk/harness`: version `harness-sandbox-v1` of its interface. */
import type { AgentBackend } from "./agent_backend.js";
import type { AbortOptions, SandboxSession, SessionSettings } from "./ai_sdk.js";
import type { SandboxOptions } from "./options.js";
/** A port of a sandbox. */
export interface PortOptions {
    /** Number of the port. */
    port: number;
    /** Protocol of the address. */
    protocol?: "http" | "https" | "ws";
}
/** Address of a server in a sandbox. */
export interface PortAddress {
    /** URL with the requested protocol. */
    url: string;
    /** Headers that requests need, absent if they need none. */
    headers?: Record<string, string>;
}
/** A session with the life cycle of its sandbox (`HarnessV1NetworkSandboxSession`). */
export interface NetworkSandboxSession extends SandboxSession {
    /** Id of the sandbox. */
    readonly id: string;
    /** Directory that commands and relative paths start in. */
    readonly defaultWorkingDirectory: string;
    /** Empty: the ports that a sandbox has opened are not known before {@link getPortEndpoint}. */
    readonly ports: readonly number[];
    /**
     * Returns the address of a server in the sandbox, and the headers that requests need. That of a local sandbox is a port of this
     * computer's 127.0.0.1, until the sandbox is closed. Rejects with a `HarnessCapabilityUnsupportedError` where clients outside
     * do not reach the sandbox.
     */
    readonly getPortEndpoint: (options: PortOptions) => Promise<PortAddress>;
    /** Returns the URL of {@link getPortEndpoint}. Rejects if requests need headers, too. */
    readonly getPortUrl: (options: PortOptions) => Promise<string>;
    /** Closes the sandbox and keeps a snapshot, from which the provider resumes it. A second call has no effect. */
    readonly stop: () => Promise<void>;
    /** Closes the sandbox and deletes what the provider keeps of it. */
    readonly destroy: () => Promise<void>;
    /** Returns the session without its life cycle. */
    readonly restricted: () => SandboxSession;
}
/** Settings of a provider: an own sandbox, or the options of the sandboxes that it creates. */
export interface ProviderSettings extends SandboxOptions, Omit<SessionSettings, "workingDirectory"> {
    /** Uses this sandbox for every session. It stays open: `stop` and `destroy` of a session have no effect on it. */
    sandbox?: AgentBackend;
}
/** Options of a new session. */
export interface CreateSessionOptions extends AbortOptions {
    /** Name of the session, by which it is resumed. */
    sessionId?: string;
    /** Name of the initial state. Sessions with the same identity start from the same snapshot. */
    identity?: string;
    /** Called once for each identity. Its effects are part of the snapshot. */
    onFirstCreate?: (session: SandboxSession, options: AbortOptions) => Promise<void>;
}
/** A session to resume. */
export interface ResumeSessionOptions extends AbortOptions {
    /** Name that the session was created with. */
    sessionId: string;
}
/**
 * Returns a sandbox as a network session, for `agent.createSession({ sandboxSession })`. The sandbox stays open: `stop`
 * and `destroy` have no effect on it.
 */
export declare function networkSandboxSession(sandbox: AgentBackend, settings?: SessionSettings): NetworkSandboxSession;
/**
 * Creates sandboxes for the sessions of a `HarnessAgent`. Stopped sessions and initial states are kept in the memory of
 * this process, so a session can be resumed by the provider that created it, and by no other process.
 */
export declare class TideboxSandboxProvider {
    #private;
    /** Version of the interface. */
    readonly specificationVersion = "harness-sandbox-v1";
    /** Name of this provider. */
    readonly providerId = "tidebox-sandbox";
    /** Creates a provider. No sandbox is started; see {@link createTideboxSandbox}. */
    constructor(settings?: ProviderSettings);
    /**
     * Creates a session. Method of the interface.
     *
     * @throws {SandboxError} if the sandbox cannot be created, or a session with this id is active.
     */
    createSession(options?: CreateSessionOptions): Promise<NetworkSandboxSession>;
    /**
     * Returns the session with this id: its running sandbox, or a new one from the snapshot of the stopped one. Method of
     * the interface.
     *
     * @throws {SandboxError} `SANDBOX_NOT_FOUND` if this provider has no such session, and like `snapshot` of a sandbox
     * if it was stopped with copy-on-write mounts.
     */
    resumeSession({ sessionId, abortSignal }: ResumeSessionOptions): Promise<NetworkSandboxSession>;
}
/**
 * Creates a provider of sandboxes for `HarnessAgent`:
 *
 * ```js
 * const sandbox = createTideboxSandbox({ network: { allow: ["example.com"] } });
 * const agent = new HarnessAgent({ harness: createPi(), sandbox });
 * ```
 */
export declare function createTideboxSandbox(settings?: ProviderSettings): TideboxSandboxProvider;
