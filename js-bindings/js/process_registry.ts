/** The processes of a sandbox that its owner knows, for the case that the worker with them ends. */

import { SandboxError } from "./error.js";
import type { ProcessInfo, ProcessKey, ProcessOutput, ProcessState } from "./process.js";

/** Ended processes that are remembered; as in `core/src/process/record.rs`. */
const MAX_LOST = 64;
/** Processes of the current worker that are remembered, more than a sandbox lists. */
const MAX_KNOWN = 1024;

interface LostProcess {
  readonly generation: number;
  readonly info: ProcessInfo;
}

export class ProcessRegistry {
  /** Number of workers that have ended with processes. */
  #generation = 0;
  readonly #known = new Map<string, ProcessInfo>();
  #lost: LostProcess[] = [];

  get generation(): number {
    return this.#generation;
  }

  /** True if the worker has processes, or their output. Such a sandbox cannot continue in another one. */
  get isUsed(): boolean {
    return this.#known.size > 0;
  }

  /** Records a process that was started. */
  started(info: ProcessInfo): void {
    this.#known.delete(info.id);
    this.#known.set(info.id, info);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Records what a call has reported of a process. */
  read(id: string, { running, exitCode, stoppedBy, next }: Omit<ProcessOutput, "text">): void {
    const known = this.#known.get(id);
    if (known === undefined) return;
    const state: ProcessState = { running, exitCode, ...(stoppedBy !== undefined && { stoppedBy }) };
    this.#known.set(id, { ...known, ...state, writtenBytes: Math.max(known.writtenBytes, next) });
  }

  /** Returns the listed processes, after those of workers that have ended. */
  listed(current: readonly ProcessInfo[]): ProcessInfo[] {
    for (const info of current) if (this.#known.has(info.id)) this.#known.set(info.id, info);
    return [...this.#lost.map(({ info }) => info), ...current];
  }

  /** The worker has ended, and with it the processes. */
  workerEnded(): void {
    if (this.#known.size === 0) return;
    for (const info of this.#known.values()) {
      const ended = info.running ? { running: false, exitCode: null, stoppedBy: "cancelled" as const } : {};
      this.#lost.push({ generation: this.#generation, info: { ...info, ...ended } });
    }
    this.#lost = this.#lost.slice(-MAX_LOST);
    this.#known.clear();
    this.#generation += 1;
  }

  /** Returns the key of the newest process with this id, which may not exist. */
  key(id: string): ProcessKey {
    const lost = this.#known.has(id) ? undefined : this.#lost.filter(({ info }) => info.id === id).at(-1);
    return { id, generation: lost?.generation ?? this.#generation };
  }

  /**
   * Returns a process that has ended with its worker. `undefined` for one of the current worker.
   *
   * @throws {SandboxError} for one that was forgotten.
   */
  lost({ id, generation }: ProcessKey): ProcessInfo | undefined {
    if (generation === this.#generation) return undefined;
    const found = this.#lost.find((lost) => lost.generation === generation && lost.info.id === id);
    if (found !== undefined) return found.info;
    const message = `no process has the id '${id}'; it may have ended long ago, list the others with processes()`;
    throw new SandboxError(message, "INVALID_OPTIONS");
  }
}

/** Returns the result of a call about a process that has ended with its worker. Its output is lost. */
export function replyOfLost(info: ProcessInfo, method: string, args: readonly unknown[]): unknown {
  const { id, running, exitCode, stoppedBy, writtenBytes } = info;
  if (method === "readProcess") {
    const { after = 0 } = args[0] as { after?: number };
    const from = Math.min(after, writtenBytes);
    return { chunks: [], next: writtenBytes, dropped: writtenBytes - from, running, exitCode, ...(stoppedBy !== undefined && { stoppedBy }) };
  }
  if (method === "writeProcess" && args.length > 0) {
    throw new SandboxError(`the standard input of process ${id} is closed, because the process has ended`, "INVALID_OPTIONS");
  }
  return 0;
}
