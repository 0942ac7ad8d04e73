/** Time and the event loop. */

/** Milliseconds that never go back. */
export function monotonic(): number {
  return performance.now();
}

type Job = () => void;

/** Runs a job after the messages and timers that are due. */
export const breathe: (job: Job) => void = makeBreathe();

function makeBreathe(): (job: Job) => void {
  const immediate = (globalThis as { setImmediate?: (job: Job) => void }).setImmediate;
  if (immediate !== undefined) return (job) => immediate(job);
  // A timer of browsers waits for four milliseconds when it is set again and again; a message does not.
  const jobs: Job[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => jobs.shift()?.();
  return (job) => {
    jobs.push(job);
    port2.postMessage(undefined);
  };
}

/** Blocks the Worker for so many milliseconds. */
export function sleep(milliseconds: number): void {
  if (milliseconds <= 0) return;
  if (typeof SharedArrayBuffer === "function") {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
    return;
  }
  // A page without cross-origin isolation has nothing to wait on.
  const until = monotonic() + milliseconds;
  while (monotonic() < until);
}
