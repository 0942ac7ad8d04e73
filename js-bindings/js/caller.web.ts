/** The kernel in the thread of a page. Loaded for the first sandbox that requires it. */

import type { CallerLoop } from "./caller.js";
import { serveCaller } from "./caller.js";
import { webFiles } from "./files.web.js";
import type { Listener, SandboxWorker } from "./platform.js";

type Job = () => void;

/** The event loop of a page, which ends with the page. */
function pageLoop(): CallerLoop {
  const jobs: Job[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => jobs.shift()?.();
  return {
    nextTurn(job) {
      jobs.push(job);
      port2.postMessage(undefined);
    },
    unref: () => {},
    hold: () => {},
  };
}

/** Starts the kernel in this thread. */
export function startInCaller(listener: Listener): SandboxWorker {
  return serveCaller(listener, { files: webFiles }, pageLoop());
}
