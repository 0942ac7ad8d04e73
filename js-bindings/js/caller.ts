/**
 * The kernel and its guests in the caller's thread: the sandboxes of `thread: "caller"`. Has the interface of a worker, so that
 * its owner does not differ. Messages are delivered in a later turn of the event loop, as between threads: neither side runs on
 * the stack of the other.
 */

import type { Listener, SandboxWorker } from "./platform.js";
import type { Call, Create, SandboxResponse, WorkerInput } from "./messages.js";
import type { SharedThread } from "./time.js";
import { endJobs, shareThread } from "./time.js";
import type { Port, Sources } from "./worker.js";
import { serve } from "./worker.js";

/** Milliseconds of work after which guests yield to the event loop: less than in a worker, where only messages wait. */
const YIELD_MS = 4;

/** The event loop of the application. */
export interface CallerLoop extends Pick<SharedThread, "nextTurn" | "unref"> {
  /** Sets whether the jobs keep the application running. */
  hold(hold: boolean): void;
}

/** Starts the kernel in this thread. Called once for each copy of this module, which has one instance of the kernel. */
export function serveCaller(listener: Listener, sources: Sources, loop: CallerLoop): SandboxWorker {
  let isRunning = true;
  let handle: (message: WorkerInput) => void = () => {};
  const deliver = (job: () => void) => loop.nextTurn(() => {
    if (isRunning) job();
  });
  const port: Port = {
    send: (report) => deliver(() => listener.report(report)),
    receive: (receiver) => void (handle = receiver),
  };
  shareThread({
    nextTurn: (job) => loop.nextTurn(job),
    unref: (timer) => loop.unref(timer),
    failed: (error) => deliver(() => listener.crashed(error)),
  });
  serve(port, { ...sources, yieldMs: YIELD_MS });
  return {
    send(message) {
      const copy = copyOf(message);
      deliver(() => {
        try {
          handle(copy);
        } catch (error) {
          listener.crashed(error);
        }
      });
    },
    terminate() {
      isRunning = false;
      endJobs();
      loop.hold(false);
    },
    hold: (hold) => loop.hold(hold),
  };
}

/** Copies what the application could change before the message is delivered, or later. Throws for what cannot be copied. */
function copyOf(message: WorkerInput): WorkerInput {
  if ("create" in message) return { ...message, options: structuredClone(message.options) } satisfies Create;
  if ("method" in message) return { ...message, args: message.args.map(copyOfValue) } satisfies Call;
  if ("response" in message) return structuredClone(message) satisfies SandboxResponse;
  return message;
}

function copyOfValue(value: unknown): unknown {
  const isShared = typeof value === "object" || typeof value === "function" || typeof value === "symbol";
  return isShared ? structuredClone(value) : value;
}
