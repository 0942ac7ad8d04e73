/** Timers of the kernel. */

import * as kernel from "./kernel.js";
import type { Timer } from "./time.js";
import { monotonic as now, startTimeout } from "./time.js";
import { MAX_TIMER_MS } from "./timer_limit.js";

type Timers = Map<number, Timer>;

/** Timers of executions, by execution. */
const alarms: Timers = new Map();
/** Other timers of the kernel, by their numbers. */
const timers: Timers = new Map();

export function alarm(execution: number, milliseconds: number): void {
  setTimer(alarms, execution, milliseconds, () => kernel.wakeExecution(execution));
}

export function stopAlarm(execution: number): void {
  clearTimer(alarms, execution);
}

export function startTimer(timer: number, milliseconds: number): void {
  setTimer(timers, timer, milliseconds, () => kernel.timerFired(timer));
}

export function stopTimer(timer: number): void {
  clearTimer(timers, timer);
}

/** Replaces a timer. One beyond the maximum delay never fires. */
function setTimer(all: Timers, number: number, milliseconds: number, fire: () => void): void {
  clearTimer(all, number);
  if (milliseconds > MAX_TIMER_MS) return;
  const due = now() + milliseconds;
  const wait = (rest: number) => all.set(number, startTimeout(() => {
    // A timer may fire up to a millisecond early, when the kernel finds the deadline in the future. No other one follows.
    const left = due - now();
    if (left > 0) return void wait(left);
    all.delete(number);
    fire();
  }, Math.ceil(rest)));
  wait(milliseconds);
}

function clearTimer(all: Timers, number: number): void {
  clearTimeout(all.get(number));
  all.delete(number);
}
