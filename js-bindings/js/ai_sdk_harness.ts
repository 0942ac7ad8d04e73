/** Sandbox provider for `HarnessAgent` of `@ai-sdk/harness`: version `harness-sandbox-v1` of its interface. */

import { Sandbox } from "tidebox";

import { WORKSPACE } from "./adapter.js";
import type { AgentBackend } from "./agent_backend.js";
import type { AbortOptions, SandboxSession, SessionSettings } from "./ai_sdk.js";
import { sandboxSession } from "./ai_sdk.js";
import { SandboxError } from "./error.js";
import type { SandboxOptions } from "./options.js";
import type { Snapshot } from "./snapshot.js";

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

/** Life cycle of a session's sandbox. */
interface Lifecycle {
  stop(): Promise<void>;
  destroy(): Promise<void>;
}

/** The caller of a wrapped sandbox closes it. */
const CALLER_OWNS: Lifecycle = { stop: async () => {}, destroy: async () => {} };

/**
 * Returns a sandbox as a network session, for `agent.createSession({ sandboxSession })`. The sandbox stays open: `stop`
 * and `destroy` have no effect on it.
 */
export function networkSandboxSession(sandbox: AgentBackend, settings: SessionSettings = {}): NetworkSandboxSession {
  return networkSession(sandbox, settings, CALLER_OWNS);
}

function networkSession(sandbox: AgentBackend, settings: SessionSettings, lifecycle: Lifecycle): NetworkSandboxSession {
  const session = sandboxSession(sandbox, settings);
  return {
    ...session,
    ...lifecycle,
    id: sandbox.id,
    defaultWorkingDirectory: settings.workingDirectory ?? WORKSPACE,
    ports: [],
    getPortEndpoint: async (options) => portEndpoint(sandbox, options),
    getPortUrl: async (options) => {
      const { url, headers } = await portEndpoint(sandbox, options);
      if (headers !== undefined) throw unsupportedPort(options.port, "its address needs headers; use getPortEndpoint");
      return url;
    },
    restricted: () => session,
  };
}

async function portEndpoint(
  sandbox: AgentBackend, { port, protocol }: PortOptions,
): Promise<PortAddress> {
  try {
    const { url, headers } = await sandbox.portEndpoint(port);
    // The address fixes whether the connection is encrypted.
    const address = protocol === "ws" ? url.replace(/^http/, "ws") : url;
    return Object.keys(headers).length === 0 ? { url: address } : { url: address, headers: { ...headers } };
  } catch (error) {
    if (error instanceof SandboxError && error.code === "UNSUPPORTED") throw unsupportedPort(port, error.message);
    throw error;
  }
}

/** A sandbox that a session uses, or the snapshot of a stopped one. */
type State = { sandbox: Sandbox } | { snapshot: Promise<Snapshot> };

/**
 * Creates sandboxes for the sessions of a `HarnessAgent`. Stopped sessions and initial states are kept in the memory of
 * this process, so a session can be resumed by the provider that created it, and by no other process.
 */
export class TideboxSandboxProvider {
  /** Version of the interface. */
  readonly specificationVersion = "harness-sandbox-v1";
  /** Name of this provider. */
  readonly providerId = "tidebox-sandbox";

  readonly #settings: ProviderSettings;
  readonly #sessions = new Map<string, State>();
  readonly #identities = new Map<string, Promise<Snapshot | undefined>>();

  /** Creates a provider. No sandbox is started; see {@link createTideboxSandbox}. */
  constructor(settings: ProviderSettings = {}) {
    this.#settings = settings;
  }

  /**
   * Creates a session. Method of the interface.
   *
   * @throws {SandboxError} if the sandbox cannot be created, or a session with this id is active.
   */
  async createSession(options: CreateSessionOptions = {}): Promise<NetworkSandboxSession> {
    const { sessionId, identity, onFirstCreate, abortSignal } = options;
    abortSignal?.throwIfAborted();
    const { sandbox } = this.#settings;
    if (sandbox !== undefined) return networkSession(sandbox, this.#session(), CALLER_OWNS);
    if (sessionId !== undefined && this.#sessions.has(sessionId)) {
      throw new SandboxError(`the session '${sessionId}' exists; resume it or destroy it`, "ALREADY_INITIALIZED");
    }
    const snapshot = identity === undefined ? undefined : await this.#identity(identity, options);
    const created = await this.#create(sessionId, snapshot);
    // Without a snapshot the set-up runs in the sandbox of each session.
    if (snapshot === undefined) await this.#setUp(created, onFirstCreate, abortSignal);
    return this.#open(sessionId, created);
  }

  /**
   * Returns the session with this id: its running sandbox, or a new one from the snapshot of the stopped one. Method of
   * the interface.
   *
   * @throws {SandboxError} `SANDBOX_NOT_FOUND` if this provider has no such session, and like `snapshot` of a sandbox
   * if it was stopped with copy-on-write mounts.
   */
  async resumeSession({ sessionId, abortSignal }: ResumeSessionOptions): Promise<NetworkSandboxSession> {
    abortSignal?.throwIfAborted();
    const { sandbox } = this.#settings;
    if (sandbox !== undefined) return networkSession(sandbox, this.#session(), CALLER_OWNS);
    const state = this.#sessions.get(sessionId);
    if (state === undefined) {
      const hint = "a session can be resumed only by the provider that created it, in the same process";
      throw new SandboxError(`unknown session '${sessionId}'; ${hint}`, "SANDBOX_NOT_FOUND");
    }
    if ("sandbox" in state) return this.#open(sessionId, state.sandbox);
    return this.#open(sessionId, await this.#create(sessionId, await state.snapshot));
  }

  /** Returns the initial state with this name. The first call creates it. */
  async #identity(identity: string, options: CreateSessionOptions): Promise<Snapshot | undefined> {
    let state = this.#identities.get(identity);
    if (state === undefined) {
      state = this.#initialState(options.onFirstCreate, options.abortSignal);
      this.#identities.set(identity, state);
      // The next session tries again.
      state.catch(() => this.#identities.delete(identity));
    }
    return state;
  }

  async #initialState(
    onFirstCreate: CreateSessionOptions["onFirstCreate"], abortSignal: AbortSignal | undefined,
  ): Promise<Snapshot | undefined> {
    const hasCopyOnWrite = Object.values(this.#settings.mounts ?? {})
      .some((mount) => typeof mount === "object" && "mode" in mount && mount.mode === "copyOnWrite");
    if (hasCopyOnWrite) return undefined;
    const sandbox = await this.#create(undefined, undefined);
    await this.#setUp(sandbox, onFirstCreate, abortSignal);
    try {
      return await sandbox.snapshot({ signal: abortSignal });
    } finally {
      await sandbox.close();
    }
  }

  async #setUp(
    sandbox: Sandbox, onFirstCreate: CreateSessionOptions["onFirstCreate"], abortSignal: AbortSignal | undefined,
  ): Promise<void> {
    try {
      await onFirstCreate?.(sandboxSession(sandbox, this.#session()), { abortSignal });
      abortSignal?.throwIfAborted();
    } catch (error) {
      await sandbox.close();
      throw error;
    }
  }

  #session(): SessionSettings {
    const { cwd, description, timeoutMs } = this.#settings;
    return { workingDirectory: cwd, description, timeoutMs };
  }

  async #create(id: string | undefined, snapshot: Snapshot | undefined): Promise<Sandbox> {
    const { sandbox: _, description: __, timeoutMs: ___, ...options } = this.#settings;
    if (snapshot === undefined) return Sandbox.create(id === undefined ? options : { ...options, id });
    // The snapshot has the initial files.
    const { files: ____, tar: _____, seedDirectory: ______, ...same } = options;
    return Sandbox.create({ ...same, snapshot, ...(id === undefined ? {} : { id }) });
  }

  /** Registers a running sandbox and returns its session. */
  #open(sessionId: string | undefined, sandbox: Sandbox): NetworkSandboxSession {
    if (sessionId !== undefined) this.#sessions.set(sessionId, { sandbox });
    let stopped: Promise<void> | undefined;
    const stop = () => (stopped ??= this.#stop(sessionId, sandbox));
    const destroy = async () => {
      await stop();
      if (sessionId !== undefined) this.#sessions.delete(sessionId);
    };
    return networkSession(sandbox, this.#session(), { stop, destroy });
  }

  /** Keeps a snapshot for {@link resumeSession} and closes the sandbox. */
  async #stop(sessionId: string | undefined, sandbox: Sandbox): Promise<void> {
    if (sessionId !== undefined && sandbox.isRunning) {
      const snapshot = sandbox.snapshot();
      this.#sessions.set(sessionId, { snapshot });
      // An error is reported to the caller that resumes the session.
      await snapshot.catch(() => undefined);
    }
    await sandbox.close();
  }
}

/**
 * Creates a provider of sandboxes for `HarnessAgent`:
 *
 * ```js
 * const sandbox = createTideboxSandbox({ network: { allow: ["example.com"] } });
 * const agent = new HarnessAgent({ harness: createPi(), sandbox });
 * ```
 */
export function createTideboxSandbox(settings: ProviderSettings = {}): TideboxSandboxProvider {
  return new TideboxSandboxProvider(settings);
}

const NAME = "AI_HarnessCapabilityUnsupportedError";
const MARKERS = ["vercel.ai.error", "vercel.ai.error.AI_HarnessError", `vercel.ai.error.${NAME}`];

/**
 * Returns an error that `HarnessCapabilityUnsupportedError.isInstance` recognizes: errors of the AI SDK have markers,
 * so that they are recognized across copies of packages. An import of the class would make `@ai-sdk/harness` a
 * dependency.
 */
function unsupportedPort(port: number, reason: string): Error {
  const hint = "or use a harness that runs in this process, such as Pi";
  const error = new Error(`port ${port} has no address: ${reason}, ${hint}`);
  error.name = NAME;
  for (const marker of MARKERS) Object.defineProperty(error, Symbol.for(marker), { value: true });
  return error;
}
