// Processes that outlive their call: their Workers, their costs, and the end of the application.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

import { Sandbox } from "tidebox";

import { jspi } from "./engine.mjs";

const skip = jspi ? false : "this engine cannot suspend WebAssembly";
const deno = "Deno" in globalThis;
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Works with a new sandbox. */
async function within(work, options = {}) {
  const sandbox = await Sandbox.create(options);
  try {
    await work(sandbox);
  } finally {
    await sandbox.close();
  }
}

/** Reads a process to its end. */
async function textOf(spawned) {
  let text = "";
  for await (const chunk of spawned.output()) text += chunk.text;
  return text;
}

describe("a sandbox with processes", { skip }, () => {
  test("reports them as ended if its Worker ends", async (context) => {
    const workers = [];
    const post = Worker.prototype.postMessage;
    context.mock.method(Worker.prototype, "postMessage", function (...message) {
      if (!workers.includes(this)) workers.push(this);
      post.apply(this, message);
    });
    await within(async (sandbox) => {
      const spawned = await sandbox.spawn("echo on; sleep 60", { tag: "server", stdin: true });
      await spawned.waitForOutput("on");
      const done = await sandbox.spawn("exit 3");
      await done.wait();
      const waiting = spawned.wait();
      const reader = spawned.output();
      assert.equal((await reader.next()).value.text, "on\n");
      const reading = reader.next();
      const filling = assert.rejects(spawned.write(new Uint8Array(1 << 20)), { code: "INVALID_OPTIONS", message: /closed/ });
      await pause(50);
      await workers[0].terminate();
      assert.deepEqual(await waiting, { exitCode: null, stoppedBy: "cancelled" });
      assert.equal((await reading).done, true);
      await filling;
      const page = await spawned.read();
      assert.deepEqual([page.text, page.next, page.dropped, page.stoppedBy], ["", 3, 3, "cancelled"]);
      assert.equal((await done.read()).running, false);
      await spawned.kill();
      await spawned.closeStdin();
      // The new Worker starts its numbers again.
      const other = await sandbox.spawn("echo other; sleep 60", { tag: "server" });
      await other.waitForOutput("other");
      assert.equal((await spawned.read()).running, false);
      assert.equal((await sandbox.process(other.id).read()).text, "other\n");
      const listed = await sandbox.processes();
      assert.deepEqual(listed.map(({ running, stoppedBy }) => [running, stoppedBy]), [
        [false, "cancelled"], [false, listed[1].stoppedBy], [true, undefined],
      ]);
      assert.equal(await other.kill(), undefined);
    });
  });

  test("reports them as ended if its Worker has to be ended", { timeout: 60_000 }, async (context) => {
    const workers = [];
    const post = Worker.prototype.postMessage;
    context.mock.method(Worker.prototype, "postMessage", function (...message) {
      if (!workers.includes(this)) workers.push(this);
      if (!this.deaf) post.apply(this, message);
    });
    for (const thread of ["pool", "own"]) {
      workers.length = 0;
      await within(async (sandbox) => {
        const spawned = await sandbox.spawn("echo on; sleep 60");
        await spawned.waitForOutput("on");
        const waiting = spawned.wait();
        await pause(50);
        workers[0].deaf = true;
        const { exitCode } = await sandbox.execute("true", { timeoutMs: 100 });
        assert.equal(exitCode, 124);
        assert.deepEqual(await waiting, { exitCode: null, stoppedBy: "cancelled" });
        const other = await sandbox.spawn("echo other");
        assert.equal(await textOf(other), "other\n");
        assert.deepEqual((await sandbox.processes()).map(({ stoppedBy }) => stoppedBy), ["cancelled", undefined]);
      }, { thread });
    }
  });

  test("leaves the processor to others while they wait", { timeout: 120_000 }, () => within(async (sandbox) => {
    const processes = await Promise.all(Array.from({ length: 50 }, () => sandbox.spawn("echo ready; read -r line; echo got $line", { stdin: true })));
    await Promise.all(processes.map((spawned) => spawned.waitForOutput("ready")));
    // The fastest, because other tests may run at the same time.
    const fastest = async (other) => {
      const times = [];
      for (let n = 0; n < 21; n += 1) {
        const started = performance.now();
        assert.equal((await other.execute("echo on")).output, "on\n");
        times.push(performance.now() - started);
      }
      return Math.min(...times);
    };
    const other = await Sandbox.create();
    const among = await fastest(other);
    await Promise.all(processes.map((spawned) => spawned.write("x\n")));
    const outputs = await Promise.all(processes.map(textOf));
    assert.ok(outputs.every((output) => output === "ready\ngot x\n"));
    const alone = await fastest(other);
    await other.close();
    assert.ok(among < alone * 3 + 10, `${among.toFixed(1)} ms for a command among idle processes, ${alone.toFixed(1)} ms without`);
  }, { limits: { backgroundProcesses: 50 } }));

  test("does not keep the application running", { skip: deno && "it takes a permission" }, async () => {
    const program = `
      import { Sandbox } from "tidebox";
      const sandbox = await Sandbox.create({ thread: process.argv[1] });
      const server = await sandbox.spawn("echo on; sleep 60");
      await server.waitForOutput("on");
    `;
    for (const thread of ["pool", "own"]) {
      const started = performance.now();
      await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program, thread], { cwd: import.meta.dirname });
      assert.ok(performance.now() - started < 20_000);
    }
  });

  test("takes turns with others once a burst of processor time is used up", async () => {
    const { CpuShare } = await import(new URL("node_modules/tidebox/dist/cpu_share.js", import.meta.url).href);
    const share = new CpuShare(50);
    assert.equal(share.charge(9_000), 0);
    const wait = share.charge(2_000);
    assert.ok(wait > 35 && wait <= 40, `half a core earns 20 ms in 40 ms, not in ${wait}`);
    let resumed = 0;
    share.pause(wait, () => (resumed += 1));
    await pause(wait + 20);
    assert.equal(resumed, 1);
    assert.equal(share.charge(0), 0);
    share.pause(10_000, () => (resumed += 1));
    share.endPause();
    assert.equal(resumed, 2, "a process that is killed does not wait");
    share.pause(10, () => (resumed += 1));
    share.drop();
    await pause(20);
    assert.equal(resumed, 2);
  });
});
