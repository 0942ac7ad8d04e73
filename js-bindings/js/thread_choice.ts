/**
 * Chooses the worker of a sandbox. One of the pool gets a separate worker for a while if it was running in a worker that failed, which
 * may have had another reason; and for ever if it uses much memory.
 */

import type { Thread } from "./pool.js";

/** Maximum number of completed calls after which a separated sandbox returns to the pool. */
const MAX_TRIAL = 1024;

export class ThreadChoice {
  /** Thread of the options. */
  readonly required: Thread;
  #thread: Thread;
  /** Calls that a separated sandbox has to complete before it returns to the pool; 0 if it does not. */
  #trial = 0;
  /** Number of them the next time: it doubles, so that a sandbox which harms others does so ever more rarely. */
  #nextTrial = 1;

  constructor(required: Thread) {
    this.required = required;
    this.#thread = required;
  }

  get thread(): Thread {
    return this.#thread;
  }

  /** Called when its worker has failed while it was running. */
  separateForTrial(): void {
    if (this.#thread !== "pool") return;
    this.#thread = "own";
    this.#trial = this.#nextTrial;
    this.#nextTrial = Math.min(2 * this.#nextTrial, MAX_TRIAL);
  }

  separateForEver(): void {
    this.#thread = "own";
    this.#trial = 0;
  }

  /** Counts a completed call of a separated sandbox. Returns true if it returns to the pool, which it does when it is movable. */
  returnsToPool(isMovable: () => boolean): boolean {
    if (this.#trial === 0) return false;
    if (this.#trial > 1) {
      this.#trial -= 1;
      return false;
    }
    if (!isMovable()) return false;
    this.#trial = 0;
    this.#thread = "pool";
    return true;
  }
}
