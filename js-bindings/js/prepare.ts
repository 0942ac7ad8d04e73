/** Preparation of workers before the first sandbox needs them. */

import { checkKeys, invalidOptions } from "./check.js";
import { Connection } from "./connection.js";
import { checkOptions } from "./options.js";
import { platform } from "./platform.js";
import type { PoolWorker, Thread } from "./pool.js";
import { reserveWorkers } from "./pool.js";

/** Options of {@link prepare}. */
export interface PrepareOptions {
  /** The kind of sandboxes to prepare for: the option `thread` that they will have. Default: that of `Sandbox.create`. */
  thread?: "pool" | "own" | "caller";
  /**
   * Number of Workers, including those that are already there. Default 1. `pool` starts at most one for each core. `own` starts
   * one for each of the next sandboxes. `caller` has one kernel, in this thread.
   */
  workers?: number;
}

/**
 * Starts Workers, compiles the kernel and the shell, and runs a command, so that the first sandbox is created as quickly as a
 * later one. A prepared Worker is kept until a sandbox uses it, and does not keep the application running.
 *
 * ```js
 * await prepare(); // while the application starts
 * ```
 *
 * @throws {SandboxError} `INVALID_OPTIONS` for invalid options, `UNSUPPORTED` like `Sandbox.create`, and `SETUP_FAILED` if a
 * Worker cannot be started.
 */
export async function prepare(options: PrepareOptions = {}): Promise<void> {
  checkKeys("option", options, ["thread", "workers"]);
  const { workers = 1 } = options;
  if (!Number.isInteger(workers) || workers < 1) throw invalidOptions("workers must be a positive integer");
  const used = platform();
  const checked = checkOptions(options.thread === undefined ? {} : { thread: options.thread }, used);
  const started = reserveWorkers(used, checked.thread, workers);
  await Promise.all(started.map((worker) => warmUp(worker, checked.thread)));
}

/** Runs a command in a sandbox that is dropped: it creates the base image, and the engine compiles what commands use. */
async function warmUp(worker: PoolWorker, thread: Thread): Promise<void> {
  const used = platform();
  const connection = new Connection(used, checkOptions({ thread }, used), worker);
  try {
    await connection.open();
    await connection.execute("echo", {});
  } finally {
    await connection.close();
  }
}
