// Workers that are started before a sandbox needs them, and the usage of sandboxes.

import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { Sandbox, prepare } from "tidebox";

import { isCaller, jspi } from "./engine.mjs";

const isDeno = process.versions.deno !== undefined;

/** Workers that were set up. */
const workers = new Set();
/** Kinds of messages and names of programs that Workers have got. */
const sent = [];
/** A program that cannot be compiled. */
let refused;
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
  if ("kernel" in message) workers.add(this);
  const given = refused !== undefined && message.compiledFile === refused ? { uncompiledFile: refused, reason: "no such file" } : message;
  sent.push(given.compiledFile ?? Object.keys(given)[0]);
  return Reflect.apply(post, this, [given, ...others]);
};

describe("a prepared Worker", () => {
  afterEach(() => workers.clear());

  test("is used by the next sandbox of the pool", async () => {
    await prepare({ thread: "pool" });
    const [prepared] = workers;
    assert.equal(workers.size, 1);
    await prepare({ thread: "pool" });
    const sandbox = await Sandbox.create({ thread: "pool" });
    assert.equal((await sandbox.execute("echo ready")).output, "ready\n");
    assert.deepEqual([...workers], [prepared]);
    await sandbox.close();
  });

  test("is used by the next sandbox with its own, and only by this one", async () => {
    await prepare({ thread: "own", workers: 2 });
    const prepared = [...workers];
    assert.equal(prepared.length, 2);
    const sandboxes = await Promise.all([1, 2].map((n) => Sandbox.create({ thread: "own", files: { n: `${n}` } })));
    assert.equal(workers.size, 2);
    const third = await Sandbox.create({ thread: "own" });
    assert.equal(workers.size, 3);
    assert.deepEqual(await Promise.all(sandboxes.map(async (sandbox) => (await sandbox.execute("cat n; ls")).output)), ["1n\n", "2n\n"]);
    await Promise.all([...sandboxes, third].map((sandbox) => sandbox.close()));
  });

  test("runs in the caller's thread if asked to", { skip: !jspi }, async () => {
    await prepare({ thread: "caller" });
    const sandbox = await Sandbox.create({ thread: "caller" });
    assert.equal((await sandbox.execute("echo here")).output, "here\n");
    assert.equal(workers.size, 0);
    await sandbox.close();
  });

  test("needs valid options", async () => {
    await assert.rejects(prepare({ workers: 0 }), { code: "INVALID_OPTIONS" });
    await assert.rejects(prepare({ workers: 1.5 }), { code: "INVALID_OPTIONS" });
    await assert.rejects(prepare({ thread: "elsewhere" }), { code: "INVALID_OPTIONS" });
    await assert.rejects(prepare({ many: 1 }), { code: "INVALID_OPTIONS" });
    if (!jspi) await assert.rejects(prepare({ thread: "caller" }), { code: "UNSUPPORTED" });
  });
});

describe("programs that commands need", { skip: isCaller }, () => {
  const COMMON = ["base", "text", "grep", "coreutils", "copy", "sed", "find"].map((name) => `${name}.wasm`);

  test("are compiled in this thread after the first command, and used once", { skip: !jspi }, async () => {
    const sandbox = await Sandbox.create({ thread: "pool" });
    await sandbox.execute("echo first");
    for (let look = 0; look < 200 && !sent.includes("warmUp"); look++) await pause(50);
    assert.deepEqual(COMMON.filter((file) => !sent.includes(file)), []);
    // The command that uses them runs in another sandbox.
    assert.equal((await sandbox.execute("ls; seq 1 100 | grep 7 | sort -r | head -2")).output, "97\n87\n");
    assert.equal((await sandbox.usage()).processes, 0);
    await sandbox.close();
  });

  test("end with 126 if they cannot be compiled, and can be tried again", { skip: !jspi }, async () => {
    const sandbox = await Sandbox.create({ thread: "pool" });
    refused = "bc.wasm";
    const { output, exitCode } = await sandbox.execute("echo 1+1 | bc");
    refused = undefined;
    assert.deepEqual([output, exitCode], ["bc: cannot execute: no such file\n", 126]);
    assert.equal((await sandbox.execute("echo 1+1 | bc")).output, "2\n");
    await sandbox.close();
  });

  test("leave a Worker to end between two tasks", { skip: isDeno }, async () => {
    workers.clear();
    const sandbox = await Sandbox.create({ thread: "own" });
    const [worker] = workers;
    const ended = once(worker, "exit");
    // The Worker does not keep the test running.
    const held = setInterval(() => {}, 1000);
    await sandbox.close();
    // A terminated Worker has the exit code 1.
    assert.deepEqual(await ended, [0]);
    clearInterval(held);
    assert.ok(sent.includes("end"));
  });
});

describe("the usage of a sandbox", () => {
  test("counts files, processes and processor time", async () => {
    const sandbox = await Sandbox.create();
    const before = await sandbox.usage();
    assert.deepEqual([before.processes, before.memoryBytes, before.openFiles, before.cpuTimeMs], [0, 0, 0, 0]);
    await sandbox.write("/workspace/large", new Uint8Array(3 << 20).fill(1));
    await sandbox.execute("mkdir d; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
    const after = await sandbox.usage();
    assert.ok(after.fileBytes - before.fileBytes >= 3 << 20, `${after.fileBytes}`);
    assert.equal(after.inodes - before.inodes, 2);
    assert.ok(after.cpuTimeMs > 1 && after.cpuTimeMs < 10_000, `${after.cpuTimeMs}`);
    await sandbox.execute("rm large");
    assert.ok((await sandbox.usage()).fileBytes < 1 << 20);
    await sandbox.close();
    await assert.rejects(sandbox.usage(), { code: "CLOSED" });
  });

  test("counts running processes", { skip: !jspi }, async () => {
    const sandbox = await Sandbox.create();
    const running = sandbox.execute("sleep 1 | cat");
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { processes, memoryBytes, openFiles, pipeBytes } = await sandbox.usage();
    assert.ok(processes >= 2 && memoryBytes >= 2 << 20 && openFiles > 0 && pipeBytes > 0, JSON.stringify({ processes, memoryBytes, openFiles, pipeBytes }));
    await running;
    assert.equal((await sandbox.usage()).processes, 0);
    await sandbox.close();
  });

  test("includes the processor time of a Worker that has ended", async () => {
    const sandbox = await Sandbox.create({ thread: "own" });
    await sandbox.execute("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
    const before = await sandbox.usage();
    await Promise.all([...workers].map((worker) => worker.terminate()));
    await sandbox.execute("true");
    assert.ok((await sandbox.usage()).cpuTimeMs >= before.cpuTimeMs);
    await sandbox.close();
  });
});
