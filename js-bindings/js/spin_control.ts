/**
 * Decides whether both threads wait actively for messages that are expected soon. Waking a thread takes as long as a short command,
 * unless other work keeps all cores awake: then active waiting takes time from the other thread. So both are measured.
 */

/** Milliseconds for which the owner's event loop does not sleep after a call, and below which calls are short. */
export const AWAKE_MS = 0.3;

/** Calls of one measurement. The first of them starts in the state of the calls before it. */
const PROBE = 5;
/** Calls between two measurements of the slower way. */
const PERIOD = 64;
/** Maximum share by which a call changes an estimate, which then follows the median: a pause of the host must not decide. */
const STEP = 1 / 16;

export class SpinControl {
  /** Estimated milliseconds of a call without and with active waiting. */
  readonly #typicalMs: [sleeping: number, spinning: number] = [Infinity, Infinity];
  #calls = 0;
  #spins = false;
  /** Calls since the way of waiting has changed. */
  #since = 0;

  /** True if both threads wait actively for the next messages. */
  get spins(): boolean {
    return this.#spins;
  }

  /** Records the duration of a call that no other one overlapped, and chooses for the next one. */
  measured(milliseconds: number): void {
    this.#record(milliseconds);
    const spins = this.#choose();
    this.#since = spins === this.#spins ? this.#since + 1 : 0;
    this.#spins = spins;
  }

  #record(milliseconds: number): void {
    if (this.#since === 0) return;
    const way = this.#spins ? 1 : 0;
    const typical = this.#typicalMs[way];
    const step = typical * STEP;
    const change = Math.min(Math.max(milliseconds - typical, -step), step);
    this.#typicalMs[way] = Number.isFinite(typical) ? typical + change : milliseconds;
  }

  #choose(): boolean {
    const [sleeping, spinning] = this.#typicalMs;
    if (Math.min(sleeping, spinning) >= AWAKE_MS) return false;
    this.#calls += 1;
    const isBetter = spinning < sleeping;
    const isProbe = this.#calls % PERIOD < PROBE;
    return isProbe ? !isBetter : isBetter;
  }
}
