// Sandboxes in the caller's thread.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";

import { Sandbox } from "tidebox";

import { jspi } from "./engine.mjs";
import { bodies, module } from "./modules.mjs";

const isDeno = process.versions.deno !== undefined;

/** Messages to Workers: there are none. */
let messages = 0;
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (...message) {
  messages += 1;
  return Reflect.apply(post, this, message);
};

/** Exports of the kernel that trap instead of running, once. */
const traps = new Set();
const { Instance } = WebAssembly;
/** Number of memories of guests that were created and not collected. */
let memories = 0;
const collected = new FinalizationRegistry(() => (memories -= 1));
WebAssembly.Instance = function (...given) {
  const instance = new Instance(...given);
  // One that scans a guest's memory imports it.
  if (instance.exports.memory === undefined) return instance;
  if (!("sandboxkernel_execute" in instance.exports)) {
    memories += 1;
    collected.register(instance.exports.memory, undefined);
    return instance;
  }
  const guarded = Object.entries(instance.exports).map(([name, value]) => [name, typeof value !== "function" ? value : (...args) => {
    if (traps.delete(name)) throw new WebAssembly.RuntimeError("unreachable");
    return value(...args);
  }]);
  return { exports: Object.fromEntries(guarded) };
};

after(() => {
  Worker.prototype.postMessage = post;
  WebAssembly.Instance = Instance;
});

const create = (options = {}) => Sandbox.create({ thread: "caller", ...options });

/** Number of turns of the event loop while `work` runs, and the longest one in milliseconds. */
async function watchTurns(work) {
  let [last, longest, turns, isWatching] = [performance.now(), 0, 0, true];
  const watch = () => {
    const time = performance.now();
    longest = Math.max(longest, time - last);
    last = time;
    turns += 1;
    if (isWatching) setImmediate(watch);
  };
  setImmediate(watch);
  const value = await work();
  isWatching = false;
  return [value, turns, longest];
}

test("without JSPI the caller's thread is refused", { skip: jspi }, async () => {
  await assert.rejects(create(), (error) => error.code === "UNSUPPORTED" && /suspend WebAssembly.*thread 'own'/.test(error.message));
});

describe("a sandbox in the caller's thread", { skip: !jspi, timeout: 120_000 }, () => {
  test("runs pipelines and tools without a Worker", async () => {
    messages = 0;
    const sandbox = await create({ files: { "a.txt": "b\na\n" }, tools: { ask: async ({ argv, stdin, stdout }) => stdout.write(`${argv[1]}: ${await stdin.text()}`) } });
    const { output, exitCode } = await sandbox.execute("sort a.txt | ask sorted; seq 1 100000 | tail -1");
    assert.deepEqual([output, exitCode, messages], ["sorted: a\nb\n100000\n", 0, 0]);
    await sandbox.close();
  });

  test("yields to the event loop while it computes", async () => {
    const sandbox = await create();
    await sandbox.execute("awk 'BEGIN { for (i = 0; i < 1000; i++) x += i }'; seq 1 1000 | sort -R > numbers");
    for (const command of ["while :; do :; done", "awk 'BEGIN { for (;;) x++ }'", "while :; do sort numbers > sorted; done"]) {
      const [{ exitCode, stoppedBy, durationMs }, turns, longest] = await watchTurns(() => sandbox.execute(command, { timeoutMs: 1000 }));
      console.log(`${command}: ${turns} turns, the longest ${longest.toFixed(1)} ms; stopped after ${durationMs.toFixed(0)} ms`);
      assert.deepEqual([exitCode, stoppedBy], [124, "timeout"], command);
      // A busy machine runs other programs meanwhile.
      assert.ok(turns >= 5 && durationMs < 3000, `${command}: ${turns} turns, ${durationMs} ms`);
    }
    await sandbox.close();
  });

  test("yields to the event loop while a process computes between two calls", async () => {
    const sandbox = await create();
    await sandbox.spawn("while :; do :; done");
    const [, turns, longest] = await watchTurns(() => pause(1000));
    console.log(`${turns} turns, the longest ${longest.toFixed(1)} ms`);
    assert.ok(turns >= 5 && longest < 900, `${turns} turns, ${longest} ms`);
    await sandbox.close();
  });

  test("is cancelled by its signal, beside others that continue", async () => {
    const [one, other] = await Promise.all([create(), create()]);
    const controller = new AbortController();
    const looping = one.execute("while :; do :; done", { signal: controller.signal });
    const beside = other.execute("for i in 1 2 3; do sleep 0.05; echo $i; done");
    await pause(50);
    controller.abort();
    assert.deepEqual([(await looping).stoppedBy, (await beside).output], ["cancelled", "1\n2\n3\n"]);
    await Promise.all([one.close(), other.close()]);
  });

  test("keeps no memory of guests that were stopped while suspended", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc");
    const sandbox = await create();
    for (let n = 0; n < 40; n++) {
      const { exitCode } = await sandbox.execute("while :; do :; done & sleep 100 | cat", { timeoutMs: 20 });
      assert.equal(exitCode, 124);
    }
    await sandbox.close();
    for (let round = 0; round < 5; round++) {
      collect();
      await pause(20);
    }
    // Some instances of each program rest until they are used again. All 160 would be alive if suspended stacks were kept.
    assert.ok(memories < 40, `${memories} memories are alive`);
  });

  test("does not see a canary of a neighbour", async () => {
    const canary = `canary-${crypto.randomUUID()}`;
    const victim = await create({ files: { "secret.txt": canary }, env: { SECRET: canary }, shellMode: "persistent" });
    const attacks = Object.fromEntries(["loop", "recursion", "unreachable", "outOfMemory", "grow", "division"].map((name) => [name, module(bodies[name])]));
    const attacker = await create({ tools: attacks, limits: { wallTimeMs: 5_000 } });
    await victim.execute(`x=${canary}; sort secret.txt | cat > copy.txt`);
    for (const name of Object.keys(attacks)) {
      const { output, exitCode } = await attacker.execute(name, { timeoutMs: 200 });
      assert.notEqual(exitCode, 0, name);
      assert.ok(!output.includes("canary"), output);
    }
    const { output } = await attacker.execute("{ env; ps; cat /proc/*/environ; grep -r canary- / --exclude-dir=proc; sort /workspace/*; } 2>&1");
    assert.ok(!output.includes(canary), output);
    assert.equal((await victim.execute("cat copy.txt; echo $x")).output, `${canary}${canary}\n`.replace(canary, `${canary}\n`));
    await Promise.all([victim.close(), attacker.close()]);
  });

  test("refuses packs and large modules of commands", async () => {
    await assert.rejects(create({ packs: ["python"] }), { code: "UNSUPPORTED" });
    const section = new Uint8Array(8 + 1 + 3 + (1 << 20) + 64);
    section.set([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0, 0xbc, 0x80, 0x40, 1, 0x78]);
    const [refused, allowed] = [await create({ files: { large: section } }), await create({ files: { large: section }, limits: { moduleBytes: 2 << 20 } })];
    const results = [await refused.execute("chmod +x large; ./large"), await allowed.execute("chmod +x large; ./large")];
    assert.deepEqual(results.map(({ exitCode }) => exitCode), [126, 126]);
    assert.match(results[0].output, /too long/);
    assert.doesNotMatch(results[1].output, /too long/);
    await Promise.all([refused.close(), allowed.close()]);
  });

  for (const [when, name, command] of [["in a call", "sandboxkernel_execute", "true"], ["in a timer", "wakeExecution", "sleep 0.1 | cat"]]) {
    test(`begins again after the kernel has trapped ${when}`, async () => {
      const [sandbox, neighbour] = await Promise.all([create({ files: { "a.txt": "a\n" } }), create()]);
      await sandbox.execute("echo b >> a.txt");
      await neighbour.execute("echo n > n.txt");
      const { id } = sandbox;
      const running = sandbox.execute(name === "wakeExecution" ? command : "sleep 5");
      await pause(name === "wakeExecution" ? 20 : 50);
      traps.add(name);
      if (name !== "wakeExecution") void neighbour.execute(command);
      const { exitCode, output } = await running;
      assert.equal(exitCode, null, output);
      assert.match(output, /was restarted/);
      assert.equal(traps.size, 0);
      assert.equal((await sandbox.execute("cat a.txt")).output, "a\nb\n");
      assert.equal((await neighbour.execute("cat n.txt")).output, "n\n");
      assert.deepEqual([sandbox.id, sandbox.isRunning], [id, true]);
      await Promise.all([sandbox.close(), neighbour.close()]);
    });
  }

  test("keeps the application running for its calls, and not for its processes", { skip: isDeno }, async () => {
    const program = `
      import { Sandbox } from "tidebox";
      const sandbox = await Sandbox.create({ thread: "caller" });
      const process = await sandbox.spawn("while :; do :; done");
      await sandbox.spawn("sleep 1000");
      console.log((await sandbox.execute("sleep 0.3; echo done")).output.trim());
      await process.signal("STOP");
      await process.signal("CONT");
    `;
    const started = performance.now();
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], { cwd: import.meta.dirname, timeout: 30_000 });
    assert.equal(stdout, "done\n");
    assert.ok(performance.now() - started < 10_000);
  });
});
