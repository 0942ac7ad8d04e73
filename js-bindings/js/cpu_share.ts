/** Processor time of a process that outlives its call, limited by a token bucket; as in `wasi-runner/src/background_share.rs`. */

import type { Timer } from "./time.js";
import { monotonic as now, startTimeout } from "./time.js";

/** Milliseconds that may be used without a pause, such as for the start of a server. */
const BURST_MS = 10_000;
/** Milliseconds below which the process pauses. */
const LEAST_MS = 1;
/** Milliseconds that must be available after a pause, so that a process does not pause for each time slice. */
const REFILL_MS = 20;

export class CpuShare {
  /** Milliseconds that become available per millisecond. */
  readonly #rate: number;
  #availableMs = BURST_MS;
  #countedAt = now();
  /** Ends the current pause. */
  #pause: { readonly timer: Timer; readonly resume: () => void } | undefined;

  constructor(percent: number) {
    this.#rate = percent / 100;
  }

  /** Charges time. Returns the milliseconds for which the process has to pause; 0 if it may run. */
  charge(milliseconds: number): number {
    const time = now();
    const earned = (time - this.#countedAt) * this.#rate;
    this.#availableMs = Math.max(Math.min(this.#availableMs + earned, BURST_MS) - milliseconds, 0);
    this.#countedAt = time;
    return this.#availableMs >= LEAST_MS ? 0 : (REFILL_MS - this.#availableMs) / this.#rate;
  }

  /** Starts a pause. `resume` is called at its end. */
  pause(milliseconds: number, resume: () => void): void {
    this.#pause ??= { timer: startTimeout(() => this.endPause(), milliseconds), resume };
  }

  endPause(): void {
    const pause = this.#pause;
    if (pause === undefined) return;
    this.drop();
    pause.resume();
  }

  /** Ends the pause of an execution that has ended. */
  drop(): void {
    clearTimeout(this.#pause?.timer);
    this.#pause = undefined;
  }
}
