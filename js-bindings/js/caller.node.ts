/** The kernel in the caller's thread, in Node and Deno. Loaded for the first sandbox that requires it. */

import { clearInterval, setImmediate, setInterval, setTimeout } from "node:timers";

import type { CallerLoop } from "./caller.js";
import { serveCaller } from "./caller.js";
import { NodeDirectories } from "./directories.node.js";
import { files } from "./files.node.js";
import type { Listener, SandboxWorker } from "./platform.js";
import { randomBytes } from "./random.node.js";
import { REUSE, reuse } from "./reuse.node.js";
import type { Timer } from "./time.js";
import { MAX_TIMER_MS } from "./timer_limit.js";

type Job = () => void;

/** The event loop of Node. */
class NodeLoop implements CallerLoop {
  readonly #jobs: Job[] = [];
  #held: NodeJS.Timeout | undefined;

  /**
   * An immediate keeps the application running. A timer, which takes a millisecond, need not. A message to itself would be handled
   * in the same turn, a thousand times.
   */
  nextTurn(job: Job): void {
    this.#jobs.push(job);
    if (this.#held === undefined) setTimeout(() => this.#run(), 0).unref();
    else setImmediate(() => this.#run());
  }

  /** Jobs run in their order, with either way of waking. */
  #run(): void {
    this.#jobs.shift()?.();
  }

  unref(timer: Timer): void {
    if (typeof timer === "object") timer.unref();
    else (globalThis as { Deno?: { unrefTimer(timer: unknown): void } }).Deno?.unrefTimer(timer);
  }

  hold(hold: boolean): void {
    if (hold) {
      this.#held ??= setInterval(() => {}, MAX_TIMER_MS);
    } else {
      clearInterval(this.#held);
      this.#held = undefined;
    }
  }
}

/** Starts the kernel in this thread. */
export function startInCaller(listener: Listener): SandboxWorker {
  const folders = new NodeDirectories();
  return serveCaller(listener, { files, folders, randomBytes, reuse: reuse(Reflect.get(globalThis, REUSE)) }, new NodeLoop());
}
