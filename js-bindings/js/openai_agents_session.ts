/** The session of the OpenAI Agents SDK: tools for one sandbox. */

import { applyDiff } from "@openai/agents-core";
import type { Editor } from "@openai/agents-core";
import {
  SandboxApplyPatchDecodeError, SandboxApplyPatchDiffError, SandboxApplyPatchFileNotFoundError, SandboxArchiveError,
  SandboxExecTransportError, SandboxExposedPortUnavailableError, SandboxUnsupportedFeatureError,
  SandboxWorkspaceReadNotFoundError, WorkspacePathPolicy, resolveSandboxArchiveLimits,
} from "@openai/agents-core/sandbox";
import type {
  ExecCommandArgs, ExposedPortEndpoint, ListDirectoryArgs, Manifest, MaterializeEntryArgs, ReadFileArgs, SandboxArchiveLimits,
  SandboxDirectoryEntry, SandboxExecResult, SandboxSession, SandboxSessionState, SnapshotSpec, ViewImageArgs,
  WorkspaceArchiveData, WorkspaceArchiveOptions,
} from "@openai/agents-core/sandbox";
import {
  MAX_VIEW_IMAGE_BYTES, formatExecResponse, imageOutputFromBytes, mergeManifestDelta, mergeManifestEntryDelta,
  toUint8Array, truncateOutput,
} from "@openai/agents-core/sandbox/internal";

import { isMissing, list, readBytes, run, runOnPath, stat, writeBytes } from "./adapter.js";
import type { AgentBackend } from "./agent_backend.js";
import { messageOf } from "./error_message.js";
import { createEntries, createEntry, runChecked, unsupported } from "./openai_agents_manifest.js";

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

/** Name of the user that runs commands. */
const USER = "tidebox";

/** A sandbox as a session of the OpenAI Agents SDK. */
export class TideboxSandboxSession implements SandboxSession<TideboxSessionState> {
  /** State of the session. */
  state: TideboxSessionState;
  readonly #sandbox: AgentBackend;
  readonly #settings: SessionSettings;
  #archiveLimits: SandboxArchiveLimits | null | undefined;

  /** Creates a session. The entries of the manifest in the state must exist; see {@link applyManifest}. */
  constructor(sandbox: AgentBackend, state: TideboxSessionState, settings: SessionSettings = {}) {
    this.#sandbox = sandbox;
    this.state = state;
    this.#settings = settings;
    this.#archiveLimits = settings.archiveLimits;
  }

  /** Returns whether commands can be run. */
  async running(): Promise<boolean> {
    return this.#sandbox.isRunning;
  }

  /** Closes the sandbox if the client created it. A sandbox that was passed in stays open. */
  async close(): Promise<void> {
    await this.#settings.close?.();
  }

  /** Returns false: a sandbox has no pseudo-terminals, so the SDK offers no tool for writing to a running command. */
  supportsPty(): boolean {
    return false;
  }

  /**
   * Runs a command until it ends. `yieldTimeMs` has no effect, because a command does not outlive its call; the timeout
   * of the session stops it with exit code 124.
   */
  async exec(args: ExecCommandArgs): Promise<SandboxExecResult> {
    checkUser(args.runAs);
    if (args.tty) throw unsupported("pseudo-terminals (tty)", "run the command without tty");
    const started = Date.now();
    const command = [args.shell || "bash", args.login === false ? "-c" : "-lc", args.cmd];
    const options = { cwd: this.#path(args.workdir), env: this.state.environment, timeoutMs: this.#settings.timeoutMs };
    const result = await run(this.#sandbox, command, options).catch((error: unknown) => {
      throw new SandboxExecTransportError(messageOf(error), { provider: "tidebox" });
    });
    const { text, originalTokenCount } = truncateOutput(result.output, args.maxOutputTokens);
    return {
      output: text, stdout: result.stdout, stderr: result.stderr, exitCode: result.exitCode,
      wallTimeSeconds: (Date.now() - started) / 1000, originalTokenCount,
    };
  }

  /** Runs a command and formats the result for a model, including the reason why a sandbox does not support it. */
  async execCommand(args: ExecCommandArgs): Promise<string> {
    try {
      return formatExecResponse(await this.exec(args));
    } catch (error) {
      // The tool of the SDK replaces the message of an error, so a model would repeat the call.
      if (!(error instanceof SandboxUnsupportedFeatureError)) throw error;
      return formatExecResponse({ output: error.message, wallTimeSeconds: 0, exitCode: 1 });
    }
  }

  /** Returns an editor for patches. */
  createEditor(runAs?: string): Editor {
    checkUser(runAs);
    return {
      createFile: async ({ path, diff }) => {
        await writeBytes(this.#sandbox, this.#path(path, true), this.#diff("", diff, path, "create"));
        return {};
      },
      updateFile: async ({ path, diff, moveTo }) => {
        const from = this.#path(path, true);
        const to = moveTo === undefined ? from : this.#path(moveTo, true);
        await writeBytes(this.#sandbox, to, this.#diff(await this.#editable(path), diff, path));
        if (to !== from) await this.#delete(path, from);
        return {};
      },
      deleteFile: async ({ path }) => {
        await this.#delete(path, this.#path(path, true));
        return {};
      },
    };
  }

  /** Reads an image of at most 10 MiB. */
  async viewImage({ path, runAs }: ViewImageArgs): Promise<ImageOutput> {
    checkUser(runAs);
    const absolute = this.#path(path);
    const found = await stat(this.#sandbox, absolute);
    if (found === undefined) throw new SandboxWorkspaceReadNotFoundError(`Image file not found: ${path}`, { path });
    if (found.kind !== "file") {
      throw new SandboxWorkspaceReadNotFoundError(`Image path is not a file: ${path}`, { path });
    }
    if (found.size > MAX_VIEW_IMAGE_BYTES) {
      throw new SandboxArchiveError(`Image file exceeds the 10 MB limit: ${path}`, { path });
    }
    return imageOutputFromBytes(path, await readBytes(this.#sandbox, absolute));
  }

  /** Reads a file, or its first `maxBytes`. */
  async readFile({ path, runAs, maxBytes }: ReadFileArgs): Promise<Uint8Array> {
    checkUser(runAs);
    const bytes = await this.#read(path);
    return maxBytes === undefined ? bytes : bytes.subarray(0, maxBytes);
  }

  /** Lists a directory. */
  async listDir({ path, runAs }: ListDirectoryArgs): Promise<SandboxDirectoryEntry[]> {
    checkUser(runAs);
    const { path: absolute, workspaceRelativePath } = this.#policy().resolve(path);
    const entries = await list(this.#sandbox, absolute);
    if (entries === undefined) throw notFound(path);
    const parent = workspaceRelativePath ?? absolute;
    return entries.map(({ name, kind }) => ({
      name, path: parent === "" ? name : `${parent}/${name}`,
      type: kind === "directory" ? "dir" : kind === "file" ? "file" : "other",
    }));
  }

  /** Returns whether a path exists. */
  async pathExists(path: string, runAs?: string): Promise<boolean> {
    checkUser(runAs);
    return (await stat(this.#sandbox, this.#path(path))) !== undefined;
  }

  /** Returns whether a path is a directory. */
  async directoryExists(path: string, runAs?: string): Promise<boolean> {
    checkUser(runAs);
    return (await stat(this.#sandbox, this.#path(path)))?.kind === "directory";
  }

  /** Creates an entry and adds it to the manifest of the session. */
  async materializeEntry({ path, entry, runAs }: MaterializeEntryArgs): Promise<void> {
    checkUser(runAs);
    const { manifest } = this.state;
    const { path: absolute, workspaceRelativePath } = this.#policy().resolve(path, { forWrite: true });
    await createEntry(this.#sandbox, absolute, entry, manifest.extraPathGrants);
    this.state.manifest = mergeManifestEntryDelta(manifest, workspaceRelativePath ?? path, entry);
  }

  /** Creates the entries of a manifest and adds them, and its environment, to the session. */
  async applyManifest(manifest: Manifest, runAs?: string): Promise<void> {
    checkUser(runAs);
    await createEntries(this.#sandbox, manifest);
    this.state.environment = { ...this.state.environment, ...(await manifest.resolveEnvironment()) };
    this.state.manifest = mergeManifestDelta(this.state.manifest, manifest);
  }

  /** Returns the workspace as a tar archive with relative names, without the ephemeral entries of the manifest. */
  async persistWorkspace(): Promise<Uint8Array> {
    const { manifest } = this.state;
    const exclude = [...manifest.ephemeralPersistencePaths()]
      .map((path) => `--exclude=./${path.replace(/[*?[\]\\]/gu, "\\$&")}`);
    const archive = temporary();
    try {
      await runChecked(this.#sandbox, ["tar", "-C", manifest.root, ...exclude, "-cf", archive, "."]);
      return await readBytes(this.#sandbox, archive);
    } finally {
      await runOnPath(this.#sandbox, ["rm", "-f", "--", archive]);
    }
  }

  /** Unpacks a tar archive into the workspace. The limits of the sandbox apply in addition to those of the SDK. */
  async hydrateWorkspace(data: WorkspaceArchiveData, options: WorkspaceArchiveOptions = {}): Promise<void> {
    const given = options.archiveLimits === undefined ? this.#archiveLimits : options.archiveLimits;
    const limits = resolveSandboxArchiveLimits(given);
    const bytes = await toUint8Array(data);
    checkLimit("input bytes", bytes.byteLength, limits?.maxInputBytes);
    const archive = temporary();
    try {
      await writeBytes(this.#sandbox, archive, bytes);
      const members = await runChecked(this.#sandbox, ["tar", "-tvf", archive]);
      const sizes = members.split("\n").slice(0, -1).map((line) => Number(/^\S+\s+\S+\s+(\d+)/u.exec(line)?.[1] ?? 0));
      checkLimit("members", sizes.length, limits?.maxMembers);
      checkLimit("extracted bytes", sizes.reduce((sum, size) => sum + size, 0), limits?.maxExtractedBytes);
      await runChecked(this.#sandbox, ["tar", "-C", this.state.manifest.root, "-xf", archive]);
    } finally {
      await runOnPath(this.#sandbox, ["rm", "-f", "--", archive]);
    }
  }

  /** Sets the limits for {@link hydrateWorkspace}. */
  setArchiveLimits(limits?: SandboxArchiveLimits | null): void {
    resolveSandboxArchiveLimits(limits);
    this.#archiveLimits = limits;
  }

  /**
   * Returns the address of a server in the sandbox, which may start later. That of a local sandbox is a port of this computer's
   * 127.0.0.1, until the sandbox is closed.
   *
   * @throws {SandboxExposedPortUnavailableError} if clients outside cannot reach the port without headers, with the reason.
   */
  async resolveExposedPort(port: number): Promise<ExposedPortEndpoint> {
    const unavailable = (reason: string) => new SandboxExposedPortUnavailableError(`port ${port} has no address: ${reason}`, { port });
    const endpoint = await this.#sandbox.portEndpoint(port).catch((error: unknown) => {
      throw unavailable(messageOf(error));
    });
    if (Object.keys(endpoint.headers).length > 0) throw unavailable("its requests need headers; use portEndpoint of the sandbox");
    const url = new URL(endpoint.url);
    const tls = url.protocol === "https:";
    return { host: url.hostname, port: url.port === "" ? (tls ? 443 : 80) : Number(url.port), tls, url: endpoint.url };
  }

  #policy(): WorkspacePathPolicy {
    const { root, extraPathGrants } = this.state.manifest;
    return new WorkspacePathPolicy({ root, extraPathGrants });
  }

  #path(path: string | undefined, forWrite = false): string {
    return this.#policy().resolve(path, { forWrite }).path;
  }

  async #read(path: string): Promise<Uint8Array> {
    return readBytes(this.#sandbox, this.#path(path)).catch((error: unknown) => {
      throw isMissing(error) ? notFound(path) : error;
    });
  }

  /** Returns the text of a file to patch. */
  async #editable(path: string): Promise<string> {
    const bytes = await readBytes(this.#sandbox, this.#path(path)).catch((error: unknown) => {
      throw isMissing(error) ? new SandboxApplyPatchFileNotFoundError(`file not found: ${path}`, { path }) : error;
    });
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new SandboxApplyPatchDecodeError(`cannot patch ${path}: it is not valid UTF-8`, { path });
    }
  }

  #diff(content: string, diff: string, path: string, mode?: "create"): string {
    try {
      return applyDiff(content, diff, mode);
    } catch (error) {
      throw new SandboxApplyPatchDiffError(`cannot apply the patch to ${path}: ${messageOf(error)}`, { path });
    }
  }

  async #delete(path: string, absolute: string): Promise<void> {
    const deleted = await runOnPath(this.#sandbox, ["rm", "--", absolute]);
    if (deleted === undefined) throw new SandboxApplyPatchFileNotFoundError(`file not found: ${path}`, { path });
  }
}

/** Throws for a user other than the one of the sandbox. */
function checkUser(runAs: string | undefined): void {
  if (runAs === undefined || runAs.trim() === "" || runAs.trim() === USER) return;
  throw unsupported(`the user '${runAs}' (runAs)`, `omit runAs: every command runs as the user ${USER}`);
}

function notFound(path: string): SandboxWorkspaceReadNotFoundError {
  return new SandboxWorkspaceReadNotFoundError(`file not found: ${path}`, { path });
}

function checkLimit(what: string, actual: number, limit: number | null | undefined): void {
  if (limit == null || actual <= limit) return;
  const message = `the archive has ${actual} ${what}, more than the limit of ${limit}`;
  throw new SandboxArchiveError(message, { actual, limit });
}

/** Path outside the workspace for an archive. */
const temporary = (): string => `/tmp/.workspace-${crypto.randomUUID()}.tar`;
