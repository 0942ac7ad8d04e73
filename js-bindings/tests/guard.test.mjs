// The tests fail when something is not caught; see `guard.mjs`.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const guard = new URL("guard.mjs", import.meta.url).href;

/** How a program ends that is guarded like the tests. */
function guarded(program) {
  const file = ["--input-type=module", "--eval", program];
  const { status, stderr } = spawnSync(process.execPath, [`--import=${guard}`, ...file], {
    cwd: fileURLToPath(new URL(".", import.meta.url)), encoding: "utf8", env: {},
  });
  return { status, stderr };
}

describe("uncaught errors", () => {
  test("is looked for in these tests", () => {
    assert.ok(process.env.NODE_OPTIONS?.includes("guard.mjs"), "run them with NODE_OPTIONS=--import=./guard.mjs");
  });

  test("a program that does nothing wrong passes", () => {
    assert.deepEqual(guarded(""), { status: 0, stderr: "" });
  });

  test("a rejection fails the run, also after the tests", () => {
    const { status, stderr } = guarded(`
      import { test } from "node:test";
      test("passes", () => void setTimeout(() => Promise.reject(new Error("late")), 20));
    `);
    assert.equal(status, 1);
    assert.match(stderr, /# a rejection that nobody handled: Error: late/);
  });

  test("so does a Worker that breaks", () => {
    const { status, stderr } = guarded(`
      import { Worker } from "node:worker_threads";
      const worker = new Worker("throw new Error('broken')", { eval: true });
      worker.on("error", () => {});
    `);
    assert.equal(status, 1);
    assert.match(stderr, /# a Worker that broke: Error: broken/);
  });
});
