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
import { MastraSandbox, SandboxNotReadyError, validateSandboxFileMode } from "@mastra/core/workspace";
import type {
  CommandResult, ExecuteCommandOptions, MastraSandboxOptions, ProviderStatus, SandboxCloneOptions, SandboxFileInput, SandboxInfo, SandboxNetworking,
  SandboxStartResult, WriteFilesOptions,
} from "@mastra/core/workspace";
import { Sandbox } from "tidebox";

import { WORKSPACE, checkResult, resolvePath, run, writeBytes } from "./adapter.js";
import type { AgentBackend } from "./agent_backend.js";
import { SandboxError } from "./error.js";
import { messageOf } from "./error_message.js";
import type { StartOptions } from "./mastra_processes.js";
import { TideboxProcess, TideboxProcessManager, WAITED, unsupported } from "./mastra_processes.js";
import type { SandboxOptions } from "./options.js";
import type { Snapshot } from "./snapshot.js";

export { TideboxFilesystem } from "./mastra_filesystem.js";
export type { MkdirOptions, TideboxFilesystemOptions } from "./mastra_filesystem.js";
export { TideboxProcess, TideboxProcessManager };

/** Options of a sandbox: those of `Sandbox`, and hooks of Mastra. */
export interface TideboxSandboxOptions
  extends SandboxOptions, Pick<MastraSandboxOptions, "onStart" | "onStop" | "onDestroy"> {
  /** Uses this sandbox instead of a new one. It stays open: `stop` and `destroy` have no effect on it. */
  sandbox?: AgentBackend;
  /** Timeout in milliseconds. Default: `limits.wallTimeMs` for a command, `limits.backgroundTimeMs` for a process. */
  timeoutMs?: number;
  /** Replaces the description for the instructions of an agent. */
  instructions?: string;
}

/** A sandbox for a `Workspace` of Mastra. It starts with the first command. */
export class TideboxSandbox extends MastraSandbox {
  /** Id of the sandbox. */
  readonly id: string;
  /** Name of this class. */
  readonly name = "TideboxSandbox";
  /** Name of this provider. */
  readonly provider = "tidebox";
  /** State of the sandbox. */
  status: ProviderStatus = "pending";
  /** True: {@link snapshot} keeps the files. */
  override readonly supportsCheckpoints = true;
  /** Addresses of servers in the sandbox. That of a local sandbox is a port of this computer's 127.0.0.1, until the sandbox stops. */
  override readonly networking: SandboxNetworking = { getPortUrl: (port) => this.#portUrl(port) };

  readonly #options: TideboxSandboxOptions;
  readonly #created = new Date();
  readonly #processes: TideboxProcessManager;
  #sandbox: AgentBackend | undefined;
  #snapshot: Snapshot | undefined;

  /** Creates a sandbox that is not started. */
  constructor(options: TideboxSandboxOptions = {}) {
    const { cwd = WORKSPACE, env, onStart, onStop, onDestroy, timeoutMs } = options;
    const processes = new TideboxProcessManager(timeoutMs);
    super({ name: "TideboxSandbox", env, workingDirectory: cwd, onStart, onStop, onDestroy, processes });
    this.#options = options;
    this.#processes = processes;
    this.id = options.sandbox?.id ?? options.id ?? `tidebox-${crypto.randomUUID()}`;
  }

  /**
   * The sandbox of this package, for its other methods.
   *
   * @throws {SandboxNotReadyError} before the start and after the end.
   */
  get backend(): AgentBackend {
    if (this.#sandbox === undefined) throw new SandboxNotReadyError(this.id);
    return this.#sandbox;
  }

  /**
   * Runs a command, or a program with arguments that no shell expands, and waits for its end. Its standard input is empty. It ends
   * with its timeout, by default `limits.wallTimeMs`.
   */
  override async executeCommand(
    command: string, args: string[] = [], options: ExecuteCommandOptions = {},
  ): Promise<CommandResult> {
    const line = [command, ...args.map(quoted)].join(" ");
    const maxRetainedBytes = options.maxRetainedBytes ?? Infinity;
    const all: StartOptions = { ...options, maxRetainedBytes, stdinMode: "ignore", [WAITED]: true };
    const process = await this.#processes.spawn(line, all);
    try {
      return { ...(await process.wait()), command: line };
    } finally {
      this.#processes.release(process.pid);
    }
  }

  /** Starts the sandbox: empty, or from the snapshot of the last stop. */
  override async start(): Promise<SandboxStartResult> {
    const { sandbox } = this.#options;
    if (sandbox !== undefined) {
      if (!sandbox.isRunning) throw new SandboxNotReadyError(sandbox.id);
      this.#sandbox = sandbox;
    }
    if (this.#sandbox?.isRunning) return { outcome: "connected" };
    const snapshot = this.#snapshot;
    const own = sandboxOptions(this.#options, snapshot !== undefined);
    this.#sandbox = await Sandbox.create({ ...own, id: this.id, snapshot });
    return { outcome: snapshot === undefined ? "created" : "connected" };
  }

  /** Takes a snapshot and closes the sandbox. The next start continues with its files. */
  override async stop(): Promise<void> {
    if (this.#options.sandbox !== undefined || this.#sandbox === undefined) return;
    await this.snapshot();
    await this.#close();
  }

  /** Closes the sandbox and deletes its snapshot. */
  override async destroy(): Promise<void> {
    if (this.#options.sandbox !== undefined) return;
    this.#snapshot = undefined;
    await this.#close();
  }

  /**
   * Keeps the current files and shell session in memory, for a start after the sandbox has ended.
   *
   * @throws {SandboxUnsupportedFeatureError} for a sandbox at a cloud provider.
   * @throws {SandboxError} with copy-on-write mounts.
   */
  override async snapshot(): Promise<void> {
    const { backend } = this;
    if (!(backend instanceof Sandbox)) throw unsupported("snapshots of sandboxes at providers", "use a local Sandbox");
    this.#snapshot = await backend.snapshot();
  }

  /** Returns a sandbox with the same options, without the files of this one. */
  clone(options: SandboxCloneOptions = {}): TideboxSandbox {
    const { id, env, workingDirectory, checkpointName, seedCheckpointName } = options;
    if (this.#options.sandbox !== undefined) {
      throw unsupported("clones of a sandbox that was passed in", "use fork() of the sandbox");
    }
    if (checkpointName !== undefined || seedCheckpointName !== undefined) {
      throw unsupported("named checkpoints", "omit checkpointName and seedCheckpointName");
    }
    const { id: _, cwd, ...same } = this.#options;
    return new TideboxSandbox({ ...same, id, env: { ...same.env, ...env }, cwd: workingDirectory ?? cwd });
  }

  /** `null` if the sandbox does not run. */
  async #portUrl(port: number): Promise<string | null> {
    if (this.#sandbox?.isRunning !== true) return null;
    const { url, headers } = await this.#sandbox.portEndpoint(port).catch((error: unknown) => {
      if (SandboxError.isInstance(error) && error.code === "UNSUPPORTED") throw unsupported("addresses of ports here", messageOf(error));
      throw error;
    });
    if (Object.keys(headers).length > 0) throw unsupported("ports whose requests need headers", "use backend.portEndpoint()");
    return url;
  }

  /** Writes files with their modes and creates missing directories. */
  override async writeFiles(files: SandboxFileInput[], { abortSignal }: WriteFilesOptions = {}): Promise<void> {
    for (const { mode } of files) if (mode !== undefined) validateSandboxFileMode(mode);
    await this.ensureRunning();
    for (const { path, content, mode } of files) {
      const absolute = resolvePath(this.workingDirectory ?? WORKSPACE, path);
      await writeBytes(this.backend, absolute, content, abortSignal);
      if (mode === undefined) continue;
      const command = ["chmod", mode.toString(8), "--", absolute];
      const { exitCode, stderr } = await run(this.backend, command, { signal: abortSignal });
      if (exitCode !== 0) checkResult({ error: stderr.trimEnd() });
    }
  }

  /** Returns a description for the instructions of an agent. */
  override getInstructions(): string {
    return this.#options.instructions ?? [
      "Commands run in bash in an isolated sandbox with about two hundred commands.",
      `They start in ${this.workingDirectory}.`,
      "There are no package managers and no root. The standard input of a command is empty.",
    ].join(" ");
  }

  /** Returns the state of the sandbox. */
  override getInfo(): SandboxInfo {
    const { id, name, provider, status, workingDirectory } = this;
    return { id, name, provider, status, createdAt: this.#created, metadata: { workingDirectory } };
  }

  async #close(): Promise<void> {
    await this.#sandbox?.close();
    this.#sandbox = undefined;
  }
}

/** Returns an argument that the shell does not expand. */
function quoted(argument: string): string {
  return `'${argument.replaceAll("'", "'\\''")}'`;
}

/** Returns the options of the sandbox. A snapshot has the initial files. */
function sandboxOptions(options: TideboxSandboxOptions, hasSnapshot: boolean): SandboxOptions {
  // The base class passes the environment with each command.
  const { sandbox: _, timeoutMs: __, instructions: ___, onStart, onStop, onDestroy, env, ...own } = options;
  if (!hasSnapshot) return own;
  const { files, tar, seedDirectory, ...same } = own;
  return same;
}

/** Registration for the editor of Mastra. */
export const tideboxSandboxProvider: SandboxProvider<SandboxOptions> = {
  id: "tidebox",
  name: "Tidebox",
  description: "In-process sandbox for code written by language models.",
  createSandbox: (config) => new TideboxSandbox(config),
};
