/** Time and the event loop. */

/** Monotonic time in milliseconds. */
export function monotonic(): number {
  return performance.now();
}

type Job = () => void;

/** Runs a job after the messages and timers that are due. */
export const yieldToEventLoop: (job: Job) => void = makeBreathe();

function makeBreathe(): (job: Job) => void {
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
