/**
 * Decides whether both threads wait actively for messages that are expected soon. Waking a thread takes as long as a short command,
 * unless other work keeps all cores awake: then active waiting takes time from the other thread. So both are measured.
 */

/** Milliseconds for which the owner's event loop does not sleep after a call. */
export const AWAKE_MS = 1;

/** Calls below this number of milliseconds are short: the others gain little from active waiting. */
export const SHORT_MS = 0.3;

/** Last calls whose median is compared. The scheduler can keep both threads on one core for some of them. */
const WINDOW = 31;
/** Calls of one measurement of the other way, after one that starts in the state of the calls before it. */
const PROBE = 7;
/** Calls before the first measurement: until then the other cores compile what the calls run. */
const FIRST_PERIOD = 32 * WINDOW;
/** Minimum number of calls between two measurements of the other way. It doubles while they confirm the choice. */
const MIN_PERIOD = WINDOW;
/** Maximum: threads that share a core part only while they wait actively, so that way is measured more often. */
const MAX_PERIOD = { sleeping: 2 * WINDOW, spinning: 8 * WINDOW };

export class SpinControl {
  #spins = false;
  /** Calls since the way of waiting has changed. */
  #calls = 0;
  /** Milliseconds of the last of them. */
  #durations: number[] = [];
  /** While the other way is measured: the median before that. */
  #otherMs: number | undefined;
  #period = FIRST_PERIOD;

  /** True if both threads wait actively for the next messages. */
  get spins(): boolean {
    return this.#spins;
  }

  /** Records the duration of a call that no other one overlapped, and chooses for the next one. */
  record(milliseconds: number): void {
    this.#calls += 1;
    if (this.#calls === 1) return;
    if (this.#durations.push(milliseconds) > WINDOW) this.#durations.shift();
    if (this.#otherMs !== undefined) {
      if (this.#calls > PROBE) this.#endProbe(this.#otherMs);
    } else if (this.#calls % WINDOW === 0) {
      this.#review();
    }
  }

  #review(): void {
    const typical = median(this.#durations);
    if (typical >= SHORT_MS) {
      if (this.#spins) this.#change();
    } else if (this.#calls >= this.#period) {
      this.#otherMs = typical;
      this.#change();
    }
  }

  #endProbe(otherMs: number): void {
    this.#otherMs = undefined;
    if (median(this.#durations) < otherMs) {
      this.#period = MIN_PERIOD;
    } else {
      this.#change();
      this.#period = Math.min(2 * this.#period, this.#spins ? MAX_PERIOD.spinning : MAX_PERIOD.sleeping);
    }
  }

  #change(): void {
    this.#spins = !this.#spins;
    this.#calls = 0;
    this.#durations = [];
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Infinity;
}
