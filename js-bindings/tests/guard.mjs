// Loaded before the tests, in every process of theirs: whatever nobody catches makes the process fail, also when it comes
// after the test that caused it, which Node's test runner would only mention.

import { Worker } from "node:worker_threads";

function fail(what, error) {
  process.exitCode = 1;
  console.error(`# ${what}: ${error?.stack ?? error}`);
  // Not every runner keeps the code that was set.
  process.once("exit", () => (process.exitCode = 1));
}

process.on("unhandledRejection", (error) => fail("a rejection that nobody handled", error));
process.on("uncaughtExceptionMonitor", (error) => fail("an exception that nobody caught", error));

// A sandbox goes on in another Worker when one breaks, so that a test would not see it.
const { emit } = Worker.prototype;
Worker.prototype.emit = function (event, ...values) {
  if (event === "error") fail("a Worker that broke", values[0]);
  return Reflect.apply(emit, this, [event, ...values]);
};
