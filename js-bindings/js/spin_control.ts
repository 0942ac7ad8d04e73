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
/**
 * Milliseconds for which active waiting is measured unless it is quicker from the start. If both threads are on one core, the
 * scheduler moves one of them at one of its next ticks, and only while both have work.
 */
const SPREAD_MS = 8;
/** Calls before the first measurement: until then the other cores compile what the calls run. */
const FIRST_PERIOD = 32 * WINDOW;
/** Minimum number of calls between two measurements of the other way. It doubles while they confirm the choice, to the maximum. */
const MIN_PERIOD = WINDOW;
const MAX_PERIOD = 8 * WINDOW;

export class SpinControl {
  #spins = false;
  /** Calls since the way of waiting has changed. */
  #calls = 0;
  /** Milliseconds of the last of them. */
  #durations: number[] = [];
  /** Sum of all of them since the way of waiting has changed. */
  #totalMs = 0;
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
    this.#totalMs += milliseconds;
    if (this.#durations.push(milliseconds) > WINDOW) this.#durations.shift();
    if (this.#otherMs !== undefined) {
      if (this.#calls % PROBE === 1) this.#compare(this.#otherMs, this.#durations.slice(-PROBE));
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

  /** Ends a measurement if its `last` durations decide. */
  #compare(otherMs: number, last: number[]): void {
    if (median(last) < otherMs) {
      this.#period = MIN_PERIOD;
      [this.#calls, this.#durations] = [0, last];
    } else if (!this.#spins || this.#totalMs >= SPREAD_MS) {
      this.#change();
      this.#period = Math.min(2 * this.#period, MAX_PERIOD);
    } else {
      return;
    }
    this.#otherMs = undefined;
  }

  #change(): void {
    this.#spins = !this.#spins;
    this.#calls = this.#totalMs = 0;
    this.#durations = [];
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Infinity;
}
