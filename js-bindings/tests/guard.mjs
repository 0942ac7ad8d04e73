// Loaded before the tests in each of their processes. Uncaught errors make the process fail, even after the test that caused
// them: Node's test runner only mentions these.

import { Worker } from "node:worker_threads";

// The default of the option `thread`, for runs of the same tests with each.
if (process.env.TIDEBOX_THREAD) globalThis[Symbol.for("tidebox.thread")] = process.env.TIDEBOX_THREAD;

// Whether instances are used again: "check" compares each reset one with a new one, "one" keeps one of each program, "off" does
// without.
if (process.env.TIDEBOX_REUSE) globalThis[Symbol.for("tidebox.reuse")] = process.env.TIDEBOX_REUSE;

function fail(what, error) {
  process.exitCode = 1;
  console.error(`# ${what}: ${error?.stack ?? error}`);
  // Not every runner keeps the code that was set.
  process.once("exit", () => (process.exitCode = 1));
}

process.on("unhandledRejection", (error) => fail("a rejection that nobody handled", error));
process.on("uncaughtExceptionMonitor", (error) => fail("an uncaught exception", error));

// A sandbox replaces a broken Worker, which hides the error from a test.
const { emit } = Worker.prototype;
Worker.prototype.emit = function (event, ...values) {
  if (event === "error") fail("a Worker that broke", values[0]);
  return Reflect.apply(emit, this, [event, ...values]);
};
