/**
 * Time, timers and the event loop. In a thread that the engine shares with the application, its timers must not keep the
 * application running, and an exception of the kernel must not end it.
 */

/** Monotonic time in milliseconds. */
export function monotonic(): number {
  return performance.now();
}

/** Time since 1970 in milliseconds. */
export function realtime(): number {
  return performance.timeOrigin + performance.now();
}

type Job = () => void;

/** A timer of {@link startTimeout}. */
export type Timer = ReturnType<typeof setTimeout>;

/** The caller's thread, for an engine that runs in it. */
export interface SharedThread {
  /** Runs a job after the messages and timers that are due. */
  nextTurn(job: Job): void;
  /** Lets a timer not keep the application running. */
  unref(timer: Timer): void;
  /** Receives the exceptions of jobs. */
  failed(error: unknown): void;
}

let thread: SharedThread | undefined;
let hasEnded = false;

/** Called before the engine is configured, if it runs in the caller's thread. */
export function shareThread(shared: SharedThread): void {
  thread = shared;
}

/** No job runs any more. Called after the kernel has trapped: its functions may trap again. */
export function endJobs(): void {
  hasEnded = true;
}

/** Catches the exceptions of a job in a shared thread. In a worker they end the worker. */
function guarded(job: Job): Job {
  if (thread === undefined) return job;
  const { failed } = thread;
  return () => {
    if (hasEnded) return;
    try {
      job();
    } catch (error) {
      failed(error);
    }
  };
}

/** Like `setTimeout`. */
export function startTimeout(job: Job, milliseconds: number): Timer {
  const timer = setTimeout(guarded(job), milliseconds);
  thread?.unref(timer);
  return timer;
}

/** Like the global of this name. The generated `kernel.js` runs the kernel's futures by it. */
export function queueMicrotask(job: Job): void {
  globalThis.queueMicrotask(guarded(job));
}

/** Runs a job after the messages and timers that are due. */
export function yieldToEventLoop(job: Job): void {
  if (thread === undefined) nextTurn(job);
  else thread.nextTurn(guarded(job));
}

const nextTurn = makeNextTurn();

function makeNextTurn(): (job: Job) => void {
  const immediate = (globalThis as { setImmediate?: (job: Job) => void }).setImmediate;
  if (immediate !== undefined) return (job) => immediate(job);
  // Browsers clamp nested timers to four milliseconds, but not messages.
  const jobs: Job[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => jobs.shift()?.();
  return (job) => {
    jobs.push(job);
    port2.postMessage(undefined);
  };
}

/** Blocks the worker. */
export function sleep(milliseconds: number): void {
  if (milliseconds <= 0) return;
  if (typeof SharedArrayBuffer === "function") {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
    return;
  }
  // Without cross-origin isolation `Atomics.wait` is not available.
  const until = monotonic() + milliseconds;
  while (monotonic() < until);
}
