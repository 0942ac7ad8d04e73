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

import {
  Manifest, SandboxSnapshotNotRestorableError, SandboxSnapshotPersistError, cloneManifest, isNoopSnapshotSpec,
  normalizeSandboxClientCreateArgs,
} from "@openai/agents-core/sandbox";
import type {
  ManifestInput, RemoteSnapshotSpec, SandboxArchiveLimits, SandboxClient, SandboxClientCreateArgs, SandboxClientOptions,
  SandboxClientResumeOptions, SnapshotSpec,
} from "@openai/agents-core/sandbox";
import {
  deserializeManifest, rehydratePersistedEnvironmentForRuntime, sanitizeEnvironmentForPersistence, serializeManifest,
} from "@openai/agents-core/sandbox/internal";
import { Sandbox, Snapshot } from "tidebox";

import type { AgentBackend } from "./agent_backend.js";
import { messageOf } from "./error_message.js";
import { createEntries, unsupported } from "./openai_agents_manifest.js";
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
export async function sandboxSession(
  sandbox: AgentBackend, options: OwnSessionOptions = {},
): Promise<TideboxSandboxSession> {
  const { manifest: input, ...settings } = options;
  const manifest = cloneManifest(input ?? new Manifest());
  await createEntries(sandbox, manifest);
  const environment = await manifest.resolveEnvironment();
  const state = { manifest, environment, sandboxId: sandbox.id, workspaceReady: true };
  return new TideboxSandboxSession(sandbox, state, settings);
}

/** Creates and resumes sandboxes for agents of the OpenAI Agents SDK. */
export class TideboxSandboxClient implements SandboxClient<TideboxClientOptions, TideboxSessionState> {
  /** Name of this backend in a run state. */
  readonly backendId = "tidebox";
  /** True: a run may omit options. */
  readonly supportsDefaultOptions = true;

  readonly #options: TideboxClientOptions;
  /** Running sandboxes by id. */
  readonly #sandboxes = new Map<string, Sandbox>();
  /** Snapshots of serialized sessions by the id of their sandbox. */
  readonly #snapshots = new Map<string, Snapshot>();

  /** Creates a client. No sandbox is started. */
  constructor(options: TideboxClientOptions = {}) {
    this.#options = options;
  }

  /** Creates a sandbox and the entries of the manifest. */
  async create(
    args?: SandboxClientCreateArgs<TideboxClientOptions> | Manifest, manifestOptions?: TideboxClientOptions,
  ): Promise<TideboxSandboxSession> {
    const { manifest, options, snapshot, archiveLimits } = normalizeSandboxClientCreateArgs(args, manifestOptions);
    const merged = { ...this.#options, ...options, ...(archiveLimits === undefined ? {} : { archiveLimits }) };
    const snapshotSpec = snapshot ?? merged.snapshotSpec ?? null;
    checkSpec(snapshotSpec);
    const sandbox = await Sandbox.create(sandboxOptions(merged));
    try {
      await createEntries(sandbox, manifest);
      const environment = await manifest.resolveEnvironment();
      const state = { manifest, environment, sandboxId: sandbox.id, snapshotSpec, workspaceReady: true };
      return this.#session(sandbox, state, merged);
    } catch (error) {
      await sandbox.close();
      throw error;
    }
  }

  /**
   * Returns the session of a state: with the running sandbox of this client, or with a new one from its snapshot.
   *
   * @throws {SandboxSnapshotNotRestorableError} if neither exists.
   */
  async resume(
    state: TideboxSessionState, resumeOptions: SandboxClientResumeOptions<TideboxClientOptions> = {},
  ): Promise<TideboxSandboxSession> {
    const { clientOptions, archiveLimits } = resumeOptions;
    const options = { ...this.#options, ...clientOptions, ...(archiveLimits === undefined ? {} : { archiveLimits }) };
    const running = this.#sandboxes.get(state.sandboxId);
    if (running?.isRunning) return this.#session(running, state, options);
    const snapshot = this.#snapshots.get(state.sandboxId) ?? (await loadSnapshot(state, options));
    if (snapshot === undefined) {
      const hint = "set snapshotSpec of the client to a remote store to resume in another process";
      const message = `the sandbox ${state.sandboxId} is closed and has no snapshot; ${hint}`;
      throw new SandboxSnapshotNotRestorableError(message);
    }
    // The snapshot has the initial files.
    const { files: _, tar: __, seedDirectory: ___, ...same } = sandboxOptions(options);
    return this.#session(await Sandbox.create({ ...same, id: state.sandboxId, snapshot }), state, options);
  }

  /** Closes the sandbox of a state and deletes its snapshot. */
  async delete(state: TideboxSessionState): Promise<void> {
    await this.#sandboxes.get(state.sandboxId)?.close();
    this.#sandboxes.delete(state.sandboxId);
    this.#snapshots.delete(state.sandboxId);
    const { snapshotSpec, snapshot } = state;
    if (isRemote(snapshotSpec) && snapshot?.type === "remote") await snapshotSpec.store.delete?.({ id: snapshot.id });
  }

  /** Takes a snapshot and returns the state as JSON. */
  async serializeSessionState(state: TideboxSessionState): Promise<Record<string, unknown>> {
    state.snapshot = await this.#persist(state);
    const { sandboxId, snapshot, snapshotSpec } = state;
    return {
      sandboxId, snapshot, snapshotType: snapshotSpec?.type, manifest: serializeManifest(state.manifest),
      environment: sanitizeEnvironmentForPersistence(state),
    };
  }

  /** Reads the result of {@link serializeSessionState}. */
  async deserializeSessionState(record: Record<string, unknown>): Promise<TideboxSessionState> {
    const manifest = deserializeManifest(record.manifest as Record<string, unknown> | undefined);
    const persisted = (record.environment ?? {}) as Record<string, string>;
    const environment = {
      ...Object.fromEntries(Object.entries(persisted).filter(([name]) => !(name in manifest.environment))),
      ...(await rehydratePersistedEnvironmentForRuntime(manifest, persisted)),
    };
    const configured = this.#options.snapshotSpec;
    return {
      manifest, environment, sandboxId: String(record.sandboxId), workspaceReady: true,
      snapshot: (record.snapshot ?? null) as TideboxSessionState["snapshot"],
      // A store has functions and credentials, so a state has only the type.
      snapshotSpec: record.snapshotType === configured?.type ? configured : null,
    };
  }

  #session(sandbox: Sandbox, state: TideboxSessionState, options: TideboxClientOptions): TideboxSandboxSession {
    this.#sandboxes.set(sandbox.id, sandbox);
    const { timeoutMs, archiveLimits } = options;
    const close = async () => {
      this.#sandboxes.delete(sandbox.id);
      await sandbox.close();
    };
    return new TideboxSandboxSession(sandbox, state, { timeoutMs, archiveLimits, close });
  }

  /** Stores a snapshot of a running sandbox where the state requires it. Otherwise, keeps the last one. */
  async #persist(state: TideboxSessionState): Promise<TideboxSessionState["snapshot"]> {
    const { sandboxId, snapshotSpec: spec } = state;
    const sandbox = this.#sandboxes.get(sandboxId);
    if (spec != null && isNoopSnapshotSpec(spec)) return null;
    if (sandbox === undefined || !sandbox.isRunning) return state.snapshot ?? null;
    try {
      const snapshot = await sandbox.snapshot();
      if (!isRemote(spec)) {
        this.#snapshots.set(sandboxId, snapshot);
        return { id: sandboxId, type: "local" };
      }
      const { id, metadata } = await spec.store.save({ id: spec.id, data: snapshot.bytes, metadata: spec.metadata });
      return { id, type: "remote", ...(metadata === undefined ? {} : { metadata }) };
    } catch (error) {
      throw new SandboxSnapshotPersistError(`cannot store a snapshot of ${sandboxId}: ${messageOf(error)}`);
    }
  }
}

/** Returns the options of the sandbox. */
function sandboxOptions(clientOptions: TideboxClientOptions): SandboxOptions {
  const { timeoutMs: _, archiveLimits: __, snapshotSpec: ___, ...options } = clientOptions;
  // The SDK merges these into the options of a client.
  const { concurrencyLimits: ____, ...own } = options as SandboxOptions & { concurrencyLimits?: unknown };
  return own;
}

function isRemote(spec: SnapshotSpec | null | undefined): spec is RemoteSnapshotSpec {
  return spec?.type === "remote" && typeof (spec as Partial<RemoteSnapshotSpec>).store?.load === "function";
}

function checkSpec(spec: SnapshotSpec | null): void {
  if (spec === null || spec.type === "local" || isNoopSnapshotSpec(spec) || isRemote(spec)) return;
  throw unsupported(`snapshots of type '${spec.type}'`, "use remote with a store, local or noop");
}

async function loadSnapshot(state: TideboxSessionState, options: TideboxClientOptions): Promise<Snapshot | undefined> {
  const spec = state.snapshotSpec ?? options.snapshotSpec;
  if (state.snapshot?.type !== "remote" || !isRemote(spec)) return undefined;
  const { data } = await spec.store.load({ id: state.snapshot.id });
  return Snapshot.fromBytes(data);
}
