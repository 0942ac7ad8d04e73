/**
 * The order in which guests run. Sandboxes that have run little in the last moments go ahead of those that have run long, so that a
 * new command goes ahead of a loop. Among the former, those with processes go ahead of those without: commands end before others
 * start, which keeps few instances live. Within a sandbox the guests run in the order in which they became runnable.
 */

import { monotonic as now } from "./time.js";

/** The guests of a sandbox that can run. */
export interface SandboxQueue<Guest> {
  /** In order. */
  readonly queue: Guest[];
  /** The guest whose program is being compiled. Until it has started no other one of the sandbox starts or continues. */
  loading?: Guest;
  /** Number of its guests that have started and not ended. */
  live: number;
  /** Milliseconds that its guests have run, halved every `HALF_LIFE_MS`. */
  usedMs: number;
  usedAt: number;
  /** Milliseconds that its guests have run in all. */
  totalMs: number;
  /** Time since which it has waited to be scheduled. */
  waitingSince: number;
}

/** A guest in a queue. */
export interface QueuedGuest<Guest> {
  readonly execution: number;
  readonly sandbox: SandboxQueue<Guest>;
}

const HALF_LIFE_MS = 50;
/** Recent milliseconds up to which a sandbox has run little. */
const LITTLE_MS = 4;
/** Period of the turns of sandboxes without processes, so that those with processes cannot keep them from starting. */
const NEW_TURNS = 16;

/** Returns the queue of a new sandbox, with the time that its guests have run in other workers. */
export function sandboxQueue<Guest>(totalMs: number): SandboxQueue<Guest> {
  return { queue: [], live: 0, usedMs: 0, usedAt: now(), totalMs, waitingSince: 0 };
}

export class RunQueue<Guest extends QueuedGuest<Guest>> {
  /** Sandboxes with guests that can run. */
  readonly #runnable = new Set<SandboxQueue<Guest>>();
  /** Guests of paused executions that would otherwise be in a queue, by execution. */
  readonly #paused = new Map<number, Guest[]>();
  #turns = 0;
  /** The sandbox that has run last. */
  #last: SandboxQueue<Guest> | undefined;

  get isEmpty(): boolean {
    return this.#runnable.size === 0;
  }

  add(guest: Guest): void {
    const pausedGuests = this.#paused.get(guest.execution);
    if (pausedGuests !== undefined) return void pausedGuests.push(guest);
    guest.sandbox.queue.push(guest);
    this.#markRunnable(guest.sandbox);
  }

  /** Like {@link add}, before the other guests of the sandbox. */
  addFirst(guest: Guest): void {
    const pausedGuests = this.#paused.get(guest.execution);
    if (pausedGuests !== undefined) return void pausedGuests.unshift(guest);
    guest.sandbox.queue.unshift(guest);
    this.#markRunnable(guest.sandbox);
  }

  remove(guest: Guest): void {
    const { queue } = guest.sandbox;
    const at = queue.indexOf(guest);
    if (at >= 0) queue.splice(at, 1);
    if (queue.length === 0) this.#runnable.delete(guest.sandbox);
  }

  /** Guests of a paused execution do not run. `sandbox` is the one of the execution. */
  pause(execution: number, sandbox: SandboxQueue<Guest> | undefined): void {
    if (this.#paused.has(execution)) return;
    const waiting = sandbox?.queue.filter((guest) => guest.execution === execution) ?? [];
    this.#paused.set(execution, waiting);
    for (const guest of waiting) this.remove(guest);
  }

  /** Ends a pause. */
  resume(execution: number): void {
    const waiting = this.#paused.get(execution) ?? [];
    this.#paused.delete(execution);
    for (const guest of waiting) this.add(guest);
  }

  /** Forgets an execution that has ended. */
  forget(execution: number): void {
    this.#paused.delete(execution);
  }

  /** The guests of a sandbox do not run while the program of one is compiled. */
  startLoading(guest: Guest): void {
    guest.sandbox.loading = guest;
    this.#runnable.delete(guest.sandbox);
  }

  endLoading({ sandbox }: Guest): void {
    delete sandbox.loading;
    this.#markRunnable(sandbox);
  }

  /** Adds to the time that a sandbox has run. */
  charge(sandbox: SandboxQueue<Guest>, milliseconds: number): void {
    const time = now();
    sandbox.usedMs = recentMs(sandbox, time) + milliseconds;
    sandbox.usedAt = time;
    sandbox.totalMs += milliseconds;
  }

  /** Takes the next guest. Also returns the milliseconds that its sandbox has waited for others. */
  take(): [guest: Guest, waitedMs: number] | undefined {
    const time = now();
    const chosen = this.#choose(time);
    const guest = chosen?.queue.shift();
    if (chosen === undefined || guest === undefined) return undefined;
    const hasWaited = this.#runnable.size > 1 || this.#last !== chosen;
    const waitedMs = hasWaited ? time - chosen.waitingSince : 0;
    this.#last = chosen;
    // It is scheduled after the others.
    this.#runnable.delete(chosen);
    this.#markRunnable(chosen);
    return [guest, waitedMs];
  }

  #choose(time: number): SandboxQueue<Guest> | undefined {
    let started: SandboxQueue<Guest> | undefined;
    let fresh: SandboxQueue<Guest> | undefined;
    let other: SandboxQueue<Guest> | undefined;
    let least = Infinity;
    for (const sandbox of this.#runnable) {
      const used = recentMs(sandbox, time);
      if (used <= LITTLE_MS && sandbox.live > 0) started ??= sandbox;
      else if (used <= LITTLE_MS) fresh ??= sandbox;
      else if (used < least) [other, least] = [sandbox, used];
    }
    this.#turns += 1;
    const isNewTurn = this.#turns % NEW_TURNS === 0;
    return (isNewTurn ? fresh : started) ?? started ?? fresh ?? other;
  }

  #markRunnable(sandbox: SandboxQueue<Guest>): void {
    if (sandbox.loading !== undefined || sandbox.queue.length === 0 || this.#runnable.has(sandbox)) return;
    sandbox.waitingSince = now();
    this.#runnable.add(sandbox);
  }
}

function recentMs<Guest>(sandbox: SandboxQueue<Guest>, time: number): number {
  return sandbox.usedMs * 2 ** ((sandbox.usedAt - time) / HALF_LIFE_MS);
}
