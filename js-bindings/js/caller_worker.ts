/** The owner's side of the kernel in its own thread. */

import type { WorkerInput } from "./messages.js";
import type { Listener, Platform, SandboxWorker } from "./platform.js";

/** Number of copies of the module that were started: one, and a further one after each time that the kernel has trapped. */
let copies = 0;

/** Starts the kernel in this thread. Messages wait until its module is loaded. */
export function startCaller(platform: Platform, listener: Listener): SandboxWorker {
  const waiting: WorkerInput[] = [];
  let worker: SandboxWorker | undefined;
  let hasEnded = false;
  let isHeld = false;
  platform.caller(copies++).then(({ startInCaller }) => {
    if (hasEnded) return;
    worker = startInCaller(listener);
    worker.hold(isHeld);
    for (const message of waiting.splice(0)) worker.send(message);
  }).catch((error: unknown) => listener.crashed(error));
  return {
    send(message) {
      if (worker === undefined) waiting.push(message);
      else worker.send(message);
    },
    terminate() {
      hasEnded = true;
      worker?.terminate();
    },
    hold(hold) {
      isHeld = hold;
      worker?.hold(hold);
    },
  };
}
