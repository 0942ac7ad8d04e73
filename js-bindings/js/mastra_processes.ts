/** Processes of a Mastra sandbox. */

import {
  ProcessHandle, SandboxExecutionError, SandboxProcessManager, SandboxUnsupportedFeatureError,
} from "@mastra/core/workspace";
import type { CommandResult, ProcessInfo, SpawnProcessOptions } from "@mastra/core/workspace";

import { resolvePath } from "./adapter.js";
import type { AgentBackend } from "./agent_backend.js";
import { defined } from "./check.js";
import { SandboxError } from "./error.js";
import { messageOf } from "./error_message.js";
import type { ExecuteOptions } from "./options.js";
import { Utf8 } from "./output.js";
import type { Process } from "./process.js";
import { outputPages } from "./process_streams.js";
import type { ExecuteResult } from "./protocol.js";
import type { TideboxSandbox } from "./mastra.js";

/** Returns the error for a feature of Mastra that a sandbox lacks. */
export function unsupported(feature: string, hint: string): SandboxUnsupportedFeatureError {
  const details = { provider: "tidebox", feature };
  return new SandboxUnsupportedFeatureError(`tidebox does not support ${feature}; ${hint}`, details);
}

/** @internal Marks the options of a command whose caller waits for its end. */
export const WAITED = Symbol("waited");

/** @internal Options of {@link TideboxProcessManager.spawn}. */
export interface StartOptions extends SpawnProcessOptions {
  [WAITED]?: true;
}

/** Receives the output of a process. */
interface Emitter {
  stdout(text: string): void;
  stderr(text: string): void;
}

type End = Pick<ExecuteResult, "exitCode" | "output" | "stoppedBy" | "truncated">;

/** A process of the sandbox, or a command. */
interface Running {
  /** Id of the process in the sandbox; absent for a command. */
  readonly id?: string;
  /** Resolves at the end. `output` is the reason if the exit code is `null`. */
  follow(emitter: Emitter): Promise<End>;
  kill(): Promise<void>;
  write?(data: string): Promise<void>;
  closeStdin?(): Promise<void>;
}

/** A command, which ends with the call that runs it. */
function runningCommand(sandbox: AgentBackend, command: string, options: ExecuteOptions): Running {
  const controller = new AbortController();
  return {
    follow: ({ stdout, stderr }) =>
      sandbox.execute(command, { ...options, signal: controller.signal, onStdout: stdout, onStderr: stderr }),
    kill: async () => controller.abort(),
  };
}

/** A process that outlives the call which started it. */
function runningProcess(process: Process, hasStdin: boolean): Running {
  const { id } = process;
  const input = hasStdin
    ? { write: (data: string) => process.write(data), closeStdin: () => process.closeStdin() } : {};
  return { id, follow: (emitter) => follow(process, emitter), kill: () => process.kill(), ...input };
}

async function follow(process: Process, emitter: Emitter): Promise<End> {
  const texts = { stdout: new Utf8(), stderr: new Utf8() };
  let truncated = false;
  try {
    for await (const { chunks, dropped, running, exitCode, stoppedBy } of outputPages(process)) {
      truncated ||= dropped > 0;
      for (const { stream, bytes } of chunks) emitter[stream](texts[stream].next(bytes));
      if (!running) return { exitCode, stoppedBy, truncated, output: "the sandbox has ended, and the process with it" };
    }
  } catch (error) {
    return { exitCode: null, truncated, output: messageOf(error) };
  }
  return { exitCode: null, truncated, output: "the process was forgotten" };
}

/** A running command or process. */
export class TideboxProcess extends ProcessHandle {
  /** Id of the process for the process manager. */
  readonly pid: string;
  /** Exit code, or `undefined` while the process runs. */
  exitCode: number | undefined;
  readonly #running: Running;
  readonly #end: Promise<End>;
  readonly #started = Date.now();
  #isKilled = false;

  /** Private: use `spawn` of the process manager. */
  constructor(pid: string, running: unknown, options: SpawnProcessOptions) {
    super(options);
    this.pid = pid;
    this.#running = running as Running;
    const emit = (emitter: (text: string) => void) => (text: string) => void (text !== "" && emitter(text));
    const emitter = {
      stdout: emit((text) => this.emitStdout(text)), stderr: emit((text) => this.emitStderr(text)),
    };
    this.#end = this.#running.follow(emitter).then((end) => {
      // A command that did not run has no exit code, and its output has the reason.
      if (end.exitCode === null) this.emitStderr(end.output);
      this.exitCode = end.exitCode ?? -1;
      return end;
    });
  }

  /**
   * Waits until the process ends.
   *
   * @throws {SandboxExecutionError} if the sandbox could not run it, or has ended.
   */
  override async wait(): Promise<CommandResult> {
    const { exitCode, output, stoppedBy, truncated } = await this.#end;
    const { stdout, stderr } = this;
    if (exitCode === null) throw new SandboxExecutionError(output.trimEnd(), -1, stdout, stderr);
    return {
      success: exitCode === 0, exitCode, stdout, stderr, executionTimeMs: Date.now() - this.#started,
      timedOut: stoppedBy === "timeout", killed: stoppedBy === "cancelled" || this.#isKilled, stdoutTruncated: truncated,
    };
  }

  /** Kills the process. Returns false if it has ended. */
  async kill(): Promise<boolean> {
    if (this.exitCode !== undefined) return false;
    this.#isKilled = true;
    await this.#running.kill();
    await this.#end;
    return true;
  }

  /**
   * Writes to standard input, and waits while the process does not read it.
   *
   * @throws {SandboxUnsupportedFeatureError} for a process that was started with `stdinMode` `ignore`, and without JSPI.
   */
  async sendStdin(data: string): Promise<void> {
    if (this.#running.write === undefined) throw noInput();
    await this.#running.write(data);
  }

  /** Closes standard input. Throws like {@link sendStdin}. */
  override async closeStdin(): Promise<void> {
    if (this.#running.closeStdin === undefined) throw noInput();
    await this.#running.closeStdin();
  }
}

function noInput(): SandboxUnsupportedFeatureError {
  const hint = "start it with stdinMode 'pipe' where the engine can suspend WebAssembly (JSPI), or redirect a file";
  return unsupported("writing to the standard input of this process", hint);
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
    const running = await this.#start(command, { cwd, env, timeoutMs: options.timeout || this.#timeoutMs }, options);
    // A restarted sandbox may use a number again, and the one before is still listed.
    const isNew = running.id !== undefined && !this._tracked.has(running.id);
    const process = new TideboxProcess(isNew && running.id !== undefined ? running.id : `c${this.#next++}`, running, options);
    this._tracked.set(process.pid, process);
    return process;
  }

  async #start(command: string, settings: Pick<ExecuteOptions, "cwd" | "env" | "timeoutMs">, options: StartOptions): Promise<Running> {
    const { backend } = this.sandbox;
    if (options[WAITED]) return runningCommand(backend, command, settings);
    const stdin = options.stdinMode !== "ignore";
    try {
      return runningProcess(await backend.spawn(command, { ...defined(settings), stdin }), stdin);
    } catch (error) {
      // Without JSPI, and in deterministic sandboxes, a process is a command whose standard input is empty.
      if (!(error instanceof SandboxError) || error.code !== "UNSUPPORTED") throw error;
      return runningCommand(backend, command, settings);
    }
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
