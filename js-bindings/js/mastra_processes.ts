/** Processes of a Mastra sandbox. A process is a command that runs while other calls are made. */

import {
  ProcessHandle, SandboxExecutionError, SandboxProcessManager, SandboxUnsupportedFeatureError,
} from "@mastra/core/workspace";
import type { CommandResult, ProcessInfo, SpawnProcessOptions } from "@mastra/core/workspace";

import { resolvePath } from "./adapter.js";
import type { AgentBackend } from "./agent_backend.js";
import type { ExecuteOptions } from "./options.js";
import type { ExecuteResult } from "./protocol.js";
import type { TideboxSandbox } from "./mastra.js";

/** Returns the error for a feature of Mastra that a sandbox lacks. */
export function unsupported(feature: string, hint: string): SandboxUnsupportedFeatureError {
  const details = { provider: "tidebox", feature };
  return new SandboxUnsupportedFeatureError(`tidebox does not support ${feature}; ${hint}`, details);
}

/** A running command. */
export class TideboxProcess extends ProcessHandle {
  /** Id of the process for the process manager. It is not the id inside the sandbox. */
  readonly pid: string;
  /** Exit code, or `undefined` while the process runs. */
  exitCode: number | undefined;
  readonly #controller = new AbortController();
  readonly #result: Promise<ExecuteResult>;
  readonly #started = Date.now();

  /** Starts a command. */
  constructor(
    sandbox: AgentBackend, pid: string, command: string, execute: ExecuteOptions, options: SpawnProcessOptions,
  ) {
    super(options);
    this.pid = pid;
    const { signal } = this.#controller;
    this.#result = sandbox.execute(command, {
      ...execute, signal, onStdout: (text) => this.emitStdout(text), onStderr: (text) => this.emitStderr(text),
    }).then((result) => {
      // A command that did not run has no exit code, and its output has the reason.
      if (result.exitCode === null) this.emitStderr(result.output);
      this.exitCode = result.exitCode ?? -1;
      return result;
    });
  }

  /**
   * Waits until the process ends.
   *
   * @throws {SandboxExecutionError} if the sandbox could not run it.
   */
  override async wait(): Promise<CommandResult> {
    const { exitCode, output, stoppedBy, truncated } = await this.#result;
    const { stdout, stderr } = this;
    if (exitCode === null) throw new SandboxExecutionError(output.trimEnd(), -1, stdout, stderr);
    return {
      success: exitCode === 0, exitCode, stdout, stderr, executionTimeMs: Date.now() - this.#started,
      timedOut: stoppedBy === "timeout", killed: stoppedBy === "cancelled", stdoutTruncated: truncated,
    };
  }

  /** Kills the process. Returns false if it has ended. */
  async kill(): Promise<boolean> {
    if (this.exitCode !== undefined) return false;
    this.#controller.abort();
    await this.#result;
    return true;
  }

  /** Throws: standard input is empty and cannot be written to. */
  async sendStdin(): Promise<void> {
    const hint = "write the input to a file and redirect it (command < file)";
    throw unsupported("writing to the standard input of a process", hint);
  }
}

/** Starts and finds the processes of a sandbox. */
export class TideboxProcessManager extends SandboxProcessManager<TideboxSandbox> {
  #next = 1;
  readonly #timeoutMs: number | undefined;

  /** Creates a manager for one sandbox. `timeoutMs` is the timeout of processes without their own. */
  constructor(timeoutMs?: number) {
    super();
    this.#timeoutMs = timeoutMs;
  }

  /** Starts a command line in `bash` and returns without waiting for its end. */
  override async spawn(command: string, options: SpawnProcessOptions = {}): Promise<ProcessHandle> {
    const base = this.sandbox.workingDirectory ?? "/";
    const cwd = options.cwd === undefined ? base : resolvePath(base, options.cwd);
    const env = definedValues(options.env ?? {});
    // Like the local sandbox of Mastra, a timeout of 0 counts as none.
    const execute = { cwd, env, timeoutMs: options.timeout || this.#timeoutMs };
    const process = new TideboxProcess(this.sandbox.backend, String(this.#next++), command, execute, options);
    this._tracked.set(process.pid, process);
    return process;
  }

  /** Lists the processes that were started and not released. */
  override async list(): Promise<ProcessInfo[]> {
    return [...this._tracked.values()].map(({ pid, command, exitCode }) => ({
      pid, command, running: exitCode === undefined, exitCode,
    }));
  }
}

function definedValues(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
