// Time, memory, and the event loop of the caller.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Sandbox } from "tidebox";

import { isCaller, jspi } from "./engine.mjs";

describe("limits", () => {
  test("a command that spins ends with 124 when its time is up, and the files survive", async (context) => {
    const sandbox = await create(context, { files: { "kept.txt": "kept\n" } });
    await sandbox.execute("echo more >> kept.txt");
    const started = performance.now();
    const { output, exitCode, stoppedBy } = await sandbox.execute("while :; do :; done", { timeoutMs: 300 });
    const took = performance.now() - started;
    assert.deepEqual([exitCode, stoppedBy], [124, "timeout"]);
    assert.match(output, /was stopped because it ran for 300ms/);
    assert.ok(took < 4000, `it took ${took} ms`);
    assert.equal((await sandbox.execute("cat kept.txt")).output, "kept\nmore\n");
  });

  test("the caller's event loop stays alive while a guest spins", async (context) => {
    const sandbox = await create(context, {});
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    await sandbox.execute("while :; do :; done", { timeoutMs: 500 });
    clearInterval(timer);
    // A busy machine runs other programs meanwhile, and in the caller's thread the guest takes most of the rest.
    assert.ok(ticks >= (isCaller ? 1 : 5), `${ticks} ticks in 500 ms`);
  });

  test("files can be read while a guest spins", { skip: jspi ? false : "guests run to completion without JSPI" }, async (context) => {
    const sandbox = await create(context, { files: { "a.txt": "a\n" } });
    const spinning = sandbox.execute("while :; do :; done", { timeoutMs: 1000 });
    const started = performance.now();
    assert.equal((await sandbox.read("a.txt")).content, "a\n");
    assert.ok(performance.now() - started < 900, "before the command ended");
    assert.equal((await spinning).exitCode, 124);
  });

  test("a timeout ends a whole pipeline and background processes", async (context) => {
    const sandbox = await create(context, {});
    const started = performance.now();
    const { exitCode } = await sandbox.execute("sleep 100 & yes | cat > /dev/null", { timeoutMs: 200 });
    assert.equal(exitCode, 124);
    assert.ok(performance.now() - started < 4000);
  });

  test("the timeout of a sleeping command never costs the worker", async (context) => {
    const sandbox = await create(context, {});
    await sandbox.execute("sleep 0");
    for (let at = 0; at < 60; at += 1) {
      const { exitCode, output } = await sandbox.execute("sleep 60", { timeoutMs: 50 });
      assert.equal(exitCode, 124);
      // A worker that misses the timeout is replaced.
      assert.doesNotMatch(output, /all other running commands/, `timeout ${at}`);
    }
  });

  test("memory beyond the limit ends the program and nothing else", async (context) => {
    const sandbox = await create(context, { limits: { processMemoryBytes: 16 * 2 ** 20 } });
    const { exitCode } = await sandbox.execute("x=$(head -c 60000000 /dev/zero | tr '\\0' x); echo ${#x}");
    assert.notEqual(exitCode, 0);
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
  });

  test("deep nesting is reported by the shell before its stack ends", async (context) => {
    const sandbox = await create(context, {});
    for (const call of ["f", "eval f", "{ { { { f; }; }; }; }", "echo f > f.sh; . ./f.sh"]) {
      const { output, exitCode } = await sandbox.execute(`f() { ${call}; }; f; echo "$?"`);
      assert.match(output, /nested too deeply|maximum function nesting level exceeded/, call);
      assert.doesNotMatch(output, /stack overflow|was restarted/, call);
      assert.equal(exitCode, 1, call);
    }
  });

  test("output beyond the limit is dropped and flagged", async (context) => {
    const sandbox = await create(context, { limits: { outputBytes: 1000 } });
    const { stdout, stderr, truncated, exitCode } = await sandbox.execute("seq 10000");
    assert.deepEqual([stdout.length, truncated, exitCode], [1000, true, 0]);
    assert.match(stderr, /^tidebox: the output was truncated: kept the first 1000 of 48894 bytes/);
  });

  test("the tail of the output is kept, or the command is stopped, on request", async (context) => {
    const sandbox = await create(context, { limits: { outputBytes: 20 } });
    const tail = await sandbox.execute("seq 10000", { outputOverflow: "tail" });
    assert.deepEqual([tail.stdout, tail.truncated, tail.exitCode], ["9997\n9998\n9999\n10000\n".slice(-20), true, 0]);
    const stopped = await sandbox.execute("yes; echo never", { outputOverflow: "stop" });
    assert.deepEqual([stopped.exitCode, stopped.stoppedBy, stopped.truncated], [137, "output", true]);
    const refused = await sandbox.execute("true", { outputOverflow: "raise" });
    assert.match(refused.output, /outputOverflow must be 'head', 'tail' or 'stop'/);
  });

  test("processor time is measured and limited", async (context) => {
    const sandbox = await create(context, { limits: { cpuTimeMs: 300 } });
    const { exitCode, stoppedBy, cpuTimeMs } = await sandbox.execute("while :; do :; done");
    assert.deepEqual([exitCode, stoppedBy, cpuTimeMs >= 300], [152, "cpu_time", true]);
    assert.equal((await sandbox.execute("sleep 0.4")).exitCode, 0, "waiting takes no processor time");
  });
});

async function create(context, options) {
  const sandbox = await Sandbox.create(options);
  context.after(() => sandbox.close());
  return sandbox;
}
