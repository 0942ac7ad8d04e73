// Creating a sandbox in a Worker that has others: the caller does not wait for it if nothing can fail.

import assert from "node:assert/strict";
import { after, afterEach, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { Sandbox } from "tidebox";

import { isCaller } from "./engine.mjs";

/** Names of the messages that Workers have got, and a function that returns true for one that does not arrive. */
const sent = [];
let lose = () => false;
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
  sent.push(message.method ?? Object.keys(message)[0]);
  if (!lose(message)) Reflect.apply(post, this, [message, ...others]);
};

/** Milliseconds after which no Worker counts as busy: the caller waits for a busy one. */
const REST_MS = 300;

const first = await Sandbox.create(isCaller ? {} : { thread: "pool" });
await first.execute("true");

afterEach(() => {
  lose = () => false;
});

after(async () => {
  Worker.prototype.postMessage = post;
  await first.close();
});

describe("a further sandbox", () => {
  test("has a unique id of the same form", async () => {
    const all = await Promise.all(Array.from({ length: 200 }, () => Sandbox.create()));
    const ids = all.map(({ id }) => id);
    assert.equal(new Set([...ids, first.id]).size, 201);
    for (const id of [...ids, first.id]) assert.match(id, /^sb-[0-9a-f]{32}$/);
    const names = await Promise.all(all.map((sandbox, n) => sandbox.execute(`echo ${n} > n; cat n`)));
    assert.deepEqual(names.map(({ output }) => output), all.map((_, n) => `${n}\n`));
    await Promise.all(all.map((sandbox) => sandbox.close()));
  });

  test("is created without a response of the Worker", { skip: isCaller }, async () => {
    await pause(REST_MS);
    sent.length = 0;
    const sandbox = await Sandbox.create({ thread: "pool", shellMode: "persistent", limits: { outputBytes: 1 << 20 } });
    const running = sandbox.execute("x=1");
    // Microtasks run in one turn of the event loop, in which no response can arrive.
    for (let count = 0; count < 100; count += 1) await null;
    assert.deepEqual(sent, ["create", "execute"]);
    assert.equal((await running).exitCode, 0);
    assert.equal((await sandbox.execute("echo $x")).output, "1\n");
    await sandbox.close();
  });

  test("is created with the next call if its creation was lost", { skip: isCaller, timeout: 30_000 }, async () => {
    await pause(REST_MS);
    lose = (message) => message.create !== undefined;
    const sandbox = await Sandbox.create({ thread: "pool" });
    lose = () => false;
    const { id } = sandbox;
    assert.equal((await sandbox.execute("echo lost", { timeoutMs: 100 })).exitCode, 124);
    assert.equal((await sandbox.execute("echo again")).output, "again\n");
    assert.deepEqual([sandbox.id, sandbox.isRunning], [id, true]);
    await sandbox.close();
  });

  test("that is closed while a call waits says so, and names it to later calls", async () => {
    const sandbox = await Sandbox.create();
    const waiting = [sandbox.execute("sleep 20"), sandbox.readRaw("/etc/hostname"), sandbox.execute("echo no")];
    await sandbox.close();
    for (const { code, error, output } of await Promise.all(waiting)) {
      assert.match(`${code} ${error ?? output}`, /^CLOSED .*the sandbox was closed/);
    }
    assert.match((await sandbox.execute("true")).output, /the sandbox is closed; create a new one/);
  });

  test("can be closed immediately", async () => {
    const sandbox = await Sandbox.create();
    await sandbox.close();
    assert.equal((await sandbox.execute("true")).code, "CLOSED");
    assert.equal((await first.execute("echo here")).output, "here\n");
  });

  test("rejects options that only the kernel checks", async () => {
    await assert.rejects(Sandbox.create({ hostname: "two words" }), { code: "INVALID_OPTIONS" });
    await assert.rejects(Sandbox.create({ id: "" }), { code: "INVALID_OPTIONS" });
    await assert.rejects(Sandbox.create({ limits: { fileBytes: 1 }, files: { large: "content" } }), { code: "INVALID_OPTIONS" });
    assert.equal((await first.execute("echo here")).output, "here\n");
  });
});
