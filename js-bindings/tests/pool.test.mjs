// Many sandboxes in one Worker: what they share, and what they do not notice of each other.

import assert from "node:assert/strict";
import os from "node:os";
import { after, afterEach, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { Sandbox } from "tidebox";

import { jspi } from "./engine.mjs";
import { bodies, module } from "./modules.mjs";

/** Live sandboxes at once. */
const LIVE = Number(process.env.TIDEBOX_LIVE ?? 1000);
const MIB = 2 ** 20;

/** Workers that have got calls; they get compiled modules at any time. A message that `lose` returns true for does not arrive. */
const workers = new Set();
let lose = () => false;
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
  if (message.method !== undefined) workers.add(this);
  if (!lose(message)) Reflect.apply(post, this, [message, ...others]);
};

/** Limits the number of Workers that sandboxes share. A busy machine would have them in several. */
const cores = os.availableParallelism;
function limitWorkers(most) {
  os.availableParallelism = () => most;
}

limitWorkers(1);

afterEach(() => {
  lose = () => false;
});

after(() => {
  Worker.prototype.postMessage = post;
  os.availableParallelism = cores;
});

/** Creates a sandbox of the pool. */
function create(options = {}) {
  return Sandbox.create({ thread: "pool", ...options });
}

/** Returns the numbers that messages name a sandbox by. */
async function numberOf(sandbox) {
  let number;
  lose = (message) => {
    if (message.method === "ls") number = message.sandbox;
    return false;
  };
  await sandbox.ls("/");
  lose = () => false;
  return number;
}

/** Returns the Workers that get messages while `work` runs. */
async function used(work) {
  workers.clear();
  const value = await work();
  return [value, [...workers]];
}

const closeAll = (sandboxes) => Promise.all(sandboxes.map((sandbox) => sandbox.close()));

describe("sandboxes in one Worker", () => {
  test("have their own files, processes, variables and tools", async () => {
    const make = (name) => create({ files: { "name.txt": name }, env: { NAME: name }, shellMode: "persistent", tools: { who: () => ({ stdout: `${name}\n` }) } });
    const all = await Promise.all(["one", "two", "three"].map(make));
    const command = 'cat name.txt; echo ":$NAME:$x"; x=$NAME; who';
    for (const before of [() => "", (name) => name]) {
      const found = await Promise.all(all.map((sandbox) => sandbox.execute(command)));
      const expected = ["one", "two", "three"].map((name) => `${name}:${name}:${before(name)}\n${name}\n`);
      assert.deepEqual(found.map(({ output }) => output), expected);
    }
    await closeAll(all);
  });

  test("share it, and may have one of their own", async () => {
    const first = await create();
    const [second, own] = await Promise.all([create(), Sandbox.create({ thread: "own" })]);
    const [, shared] = await used(async () => [await first.ls("/"), await second.ls("/")]);
    const [, single] = await used(() => own.ls("/"));
    // Without JSPI sandboxes that were created at once are in several.
    assert.ok(shared.length === 1 || !jspi);
    assert.deepEqual([single.length, shared.includes(single[0])], [1, false]);
    await closeAll([first, second, own]);
    await assert.rejects(Sandbox.create({ thread: "elsewhere" }), { code: "INVALID_OPTIONS" });
  });

  test("do not see a canary of a neighbour", async () => {
    const canary = `canary-${crypto.randomUUID()}`;
    const victim = await create({ files: { "secret.txt": canary }, env: { SECRET: canary }, shellMode: "persistent", hostname: canary });
    const attacks = Object.fromEntries(["loop", "recursion", "unreachable", "outOfMemory", "grow", "division"].map((name) => [name, module(bodies[name])]));
    const attacker = await create({ tools: attacks, limits: { wallTimeMs: 5_000 } });
    await victim.execute(`x=${canary}; y=$(sort secret.txt | cat); echo $y > copy.txt`);
    for (const name of Object.keys(attacks)) {
      const stays = victim.execute("cat secret.txt copy.txt; echo $x $SECRET");
      const { output, exitCode } = await attacker.execute(name, { timeoutMs: 200 });
      assert.notEqual(exitCode, 0, name);
      assert.ok(!output.includes("canary"), output);
      assert.equal((await stays).output, `${canary}${canary}\n${canary} ${canary}\n`, name);
    }
    const search = "env; hostname; ps; cat /proc/*/environ /proc/*/cmdline /proc/mounts; grep -r canary- / --exclude-dir=proc; find / -name 'secret*'; sort /workspace/*";
    const { output } = await attacker.execute(`{ ${search}; } 2>&1`);
    assert.ok(!output.includes(canary), output);
    assert.equal((await victim.execute("cat secret.txt; echo $x")).output, `${canary}${canary}\n`);
    await closeAll([victim, attacker]);
  });

  test("begin again after their Worker has ended, each with the files of its last call", async () => {
    const all = await Promise.all(Array.from({ length: 5 }, (_, n) => create({ files: { "n.txt": `${n}` } })));
    const [, ended] = await used(() => Promise.all(all.map((sandbox, n) => sandbox.execute(`echo ${n * 7} > changed.txt`))));
    const underway = all[0].execute("sleep 20");
    await pause(50);
    await Promise.all(ended.map((worker) => worker.terminate()));
    const { exitCode, output } = await underway;
    assert.equal(exitCode, null);
    assert.match(output, /was restarted/);
    const results = await Promise.all(all.map((sandbox) => sandbox.execute("cat n.txt changed.txt")));
    assert.deepEqual(results.map((result) => result.output), all.map((_, n) => `${n}${n * 7}\n`));
    assert.ok(all.every((sandbox) => sandbox.isRunning));
    await closeAll(all);
  });

  test("lose nothing that was answered while their Workers are terminated at random", { timeout: 60_000 }, async () => {
    const until = performance.now() + 4_000;
    const all = await Promise.all(Array.from({ length: 12 }, () => create()));
    workers.clear();
    const killing = setInterval(() => {
      for (const worker of workers) void worker.terminate();
      workers.clear();
    }, 700);
    let restarts = 0;
    await Promise.all(all.map(async (sandbox) => {
      for (let count = 0; performance.now() < until; ) {
        const { exitCode, output } = await sandbox.execute(`cat count.txt; echo ${count + 1} > count.txt`);
        if (exitCode === null) {
          restarts += 1;
          continue;
        }
        if (count > 0) assert.equal(output, `${count}\n`);
        count += 1;
      }
    }));
    clearInterval(killing);
    assert.ok(restarts > 0);
    await closeAll(all);
  });

  test("are not disturbed when one that is stuck is dropped", { skip: !jspi, timeout: 60_000 }, async () => {
    const [stuck, neighbour] = [await create({ files: { "kept.txt": "kept\n" } }), await create()];
    const number = await numberOf(stuck);
    await numberOf(neighbour);
    const beside = neighbour.execute("for i in 1 2 3 4 5 6 7 8; do sleep 0.5; done; echo beside");
    // The kernel never gets the call, so it cannot end it.
    lose = (message) => message.sandbox === number && "method" in message;
    const { exitCode, stoppedBy } = await stuck.execute("echo lost", { timeoutMs: 100 });
    lose = () => false;
    assert.deepEqual([exitCode, stoppedBy], [124, "timeout"]);
    const [again, after] = await used(() => stuck.execute("cat kept.txt"));
    assert.equal(again.output, "kept\n");
    assert.equal((await beside).output, "beside\n");
    const [, worker] = await used(() => neighbour.ls("/"));
    assert.ok(after.includes(worker[0]), "both are in the Worker of before");
    await closeAll([stuck, neighbour]);
  });

  test("are restarted when their Worker does not take turns any more, and the cause gets its own", { skip: !jspi, timeout: 60_000 }, async () => {
    const [stuck, neighbour] = [await create({ files: { "kept.txt": "kept\n" } }), await create({ files: { "kept.txt": "kept too\n" } })];
    await numberOf(neighbour);
    const beside = neighbour.execute("sleep 30");
    await pause(50);
    lose = () => true;
    const { exitCode } = await stuck.execute("echo lost", { timeoutMs: 100 });
    assert.equal(exitCode, 124);
    assert.match((await beside).output, /was restarted/);
    lose = () => false;
    const [kept, one] = await used(() => stuck.execute("cat kept.txt"));
    const [keptToo, other] = await used(() => neighbour.execute("cat kept.txt"));
    assert.deepEqual([kept.output, keptToo.output], ["kept\n", "kept too\n"]);
    assert.notEqual(one[0], other[0]);
    // It has completed a command, so it returns.
    const [again, shared] = await used(() => stuck.execute("cat kept.txt"));
    assert.deepEqual([again.output, shared[0]], ["kept\n", other[0]]);
    await closeAll([stuck, neighbour]);
  });

  test("lose no call that begins while another one moves its sandbox", { skip: !jspi, timeout: 30_000 }, async () => {
    const [sandbox, neighbour] = await Promise.all([create(), create()]);
    const [, [worker]] = await used(() => sandbox.ls("/"));
    limitWorkers(2);
    const looping = neighbour.execute("while :; do :; done", { timeoutMs: 1_000 });
    await pause(100);
    worker.emit("message", { type: "busy" });
    // Of two calls at once, the first finds that the Worker is not busy any more, and the second that it is.
    const { now } = performance;
    let checks = 0;
    performance.now = () => (checks++ === 0 ? Infinity : now.call(performance));
    const calls = Promise.all([sandbox.execute("echo one"), sandbox.execute("echo two")]);
    await pause(1);
    performance.now = now;
    limitWorkers(1);
    assert.deepEqual((await calls).map(({ output }) => output), ["one\n", "two\n"]);
    assert.equal((await looping).exitCode, 124);
    await closeAll([sandbox, neighbour]);
  });

  test("run an echo while neighbours loop", { timeout: 60_000 }, async () => {
    const loops = await Promise.all(Array.from({ length: 3 }, () => create()));
    const sandbox = await create();
    await sandbox.execute("echo warm");
    const controller = new AbortController();
    const running = loops.map((loop) => loop.execute("while :; do :; done & while :; do :; done", { signal: controller.signal }));
    await pause(200);
    const times = [];
    for (let n = 0; n < 20; n += 1) {
      const started = performance.now();
      assert.equal((await sandbox.execute("echo beside")).output, "beside\n");
      times.push(performance.now() - started);
    }
    controller.abort();
    assert.deepEqual((await Promise.all(running)).map(({ stoppedBy }) => stoppedBy), ["cancelled", "cancelled", "cancelled"]);
    times.sort((a, b) => a - b);
    console.log(`echo beside three loops: median ${times[10].toFixed(1)} ms, at most ${times[19].toFixed(1)} ms`);
    assert.ok(times[10] < 250, `${times}`);
    await closeAll([...loops, sandbox]);
  });

  test("that are deterministic run the same beside busy neighbours", { skip: !jspi, timeout: 60_000 }, async () => {
    const script = "date; echo $RANDOM; for i in 1 2 3; do (sleep 0.0$i; echo $i $RANDOM) & done; wait; seq 1 2000 | sort -R | md5sum; awk 'BEGIN { srand(); print rand(), systime() }'; yes | head -3 | cat -n; cat /proc/uptime";
    const run = async () => {
      const sandbox = await create({ deterministic: { seed: 7 } });
      const { output } = await sandbox.execute(script);
      await sandbox.close();
      return output;
    };
    const alone = await run();
    const neighbours = await Promise.all([create(), create()]);
    const controller = new AbortController();
    const busy = neighbours.map((neighbour) => neighbour.execute("while :; do echo x | cat >/dev/null; done", { signal: controller.signal }));
    assert.deepEqual(await Promise.all([run(), run(), run()]), [alone, alone, alone]);
    controller.abort();
    await Promise.all(busy);
    await closeAll(neighbours);
  });

  test("leave nothing behind when they are closed while they run", async () => {
    const stays = await create();
    const gone = await Promise.all(Array.from({ length: 4 }, () => create()));
    const running = gone.map((sandbox) => sandbox.execute("sleep 20 | cat; echo no"));
    await pause(100);
    await closeAll(gone);
    for (const { output } of await Promise.all(running)) assert.match(output, /was closed/);
    assert.equal((await stays.execute("echo still here")).output, "still here\n");
    await stays.close();
  });

  test("free their files when they are closed", { timeout: 120_000 }, async () => {
    limitWorkers(1);
    const content = new Uint8Array(MIB).fill(120);
    const round = async (count) => {
      for (let n = 0; n < count; n += 1) {
        const sandbox = await create({ files: { "big.bin": content } });
        assert.equal((await sandbox.execute("wc -c < big.bin | tr -d ' '")).output, `${MIB}\n`);
        await sandbox.close();
      }
      return process.memoryUsage().rss;
    };
    const grown = ((await round(20)) - (await round(150))) / -MIB;
    assert.ok(grown < 110, `${grown} MiB more after 150 sandboxes of a MiB`);
  });

  test("run commands in further Workers when theirs is busy and cannot suspend", { skip: jspi }, async () => {
    const [long, short] = [await create(), await create()];
    const running = long.execute("sleep 2; echo long");
    await pause(20);
    const started = performance.now();
    const [{ output }, others] = await used(() => short.execute("echo short"));
    assert.equal(output, "short\n");
    assert.ok(performance.now() - started < 1500, "it did not wait for the other");
    assert.ok(others.length >= 1);
    assert.equal((await running).output, "long\n");
    await closeAll([long, short]);
  });

  test(`can be ${LIVE}, in no more Workers than there are cores`, { timeout: 300_000 }, async () => {
    limitWorkers(cores());
    const before = process.memoryUsage().rss;
    const started = performance.now();
    const [all, found] = await used(async () => {
      const created = [];
      for (let n = 0; n < LIVE; n += 1) {
        const sandbox = await create({ files: { "n.txt": `${n}` } });
        assert.equal((await sandbox.execute("cat n.txt")).output, `${n}`);
        created.push(sandbox);
      }
      return created;
    });
    const [seconds, mib] = [(performance.now() - started) / 1000, (process.memoryUsage().rss - before) / MIB];
    console.log(`${LIVE} live sandboxes in ${found.length} Workers: ${seconds.toFixed(1)} s, ${mib.toFixed(0)} MiB more`);
    assert.ok(found.length <= cores() || !jspi, `${found.length} Workers`);
    assert.ok(mib < 100 + LIVE * 0.3, `${mib} MiB`);
    const results = await Promise.all([0, LIVE >> 1, LIVE - 1].map((n) => all[n].execute("cat n.txt")));
    assert.deepEqual(results.map(({ output }) => output), [0, LIVE >> 1, LIVE - 1].map(String));
    await closeAll(all);
  });
});
