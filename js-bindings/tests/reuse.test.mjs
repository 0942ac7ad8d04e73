// Instances of programs are used again. The mode `check` compares each one that was reset with a new one, byte by byte; a
// difference ends the Worker, and with it the command.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Sandbox } from "tidebox";

/** Part of the package that its entry point does not export. */
const { InstancePool, pooledInstance } = await import(new URL("instance_pool.js", import.meta.resolve("tidebox")));

async function create(mode) {
  // A Worker has the mode at its start.
  globalThis[Symbol.for("tidebox.reuse")] = mode;
  return await Sandbox.create({ thread: "own", files: { "data.txt": Array.from({ length: 2000 }, (_, n) => `line ${n * 7919 % 2000}`).join("\n") } });
}

/** Scripts that use programs in every way: pipes, subshells, traps, growth, deep recursion, signals, early ends. */
const SCRIPTS = [
  "seq 1 1000 | grep 7 | sort -r | head -5",
  "sort data.txt | uniq -c | sort -rn | head -3",
  "for i in 1 2 3; do (x=$i; echo $((x * 2)) | tr 2 z); done",
  "yes | head -2; yes | head -1 | cat",
  "x=$(seq 1 20000 | sort -rn | tail -1); echo ${#x} $x",
  "f() { [ $1 -gt 0 ] && f $(($1 - 1)) || echo deep; }; f 100",
  "awk 'function f(n) { return n < 1 ? 0 : 1 + f(n - 1) } BEGIN { print f(500) }'",
  "echo '{\"a\": [1, 2, {\"b\": null}]}' | jq -c '.a[2], (.a | length)'",
  "printf 'b 2\\na 1\\n' | sort | while read -r name count; do echo \"$count-$name\"; done",
  "sqlite3 :memory: 'create table t(x); insert into t values (1), (2); select sum(x) from t'",
  "mkdir -p d/e; touch d/e/f; find d -name f -exec ls {} \\; ; tar -cf t.tar d; tar -tf t.tar; rm -r d",
  "trap 'echo ended' EXIT; kill -TERM $$; sleep 1",
  "timeout 0.2 sh -c 'while :; do :; done'; echo $?",
  "sed -n '2{p;q}' data.txt; cut -d' ' -f2 data.txt | paste -sd+ | bc",
  "false | true; echo ${PIPESTATUS[@]}; (exit 7); echo $?",
  "head -c 3000000 /dev/zero | gzip -c | gunzip | md5sum",
];

async function run(sandbox, command) {
  const { output, exitCode, stoppedBy } = await sandbox.execute(command);
  return { command, output, exitCode, stoppedBy };
}

/** Without JSPI pipes are spooled and `timeout` cannot end a program that sleeps, so that the scripts take many minutes. */
const skip = typeof WebAssembly.Suspending === "function" ? false : "the scripts take many minutes without JSPI";

test("reused instances give the same output as new ones, and equal them after every reset", { skip, timeout: 600_000 }, async () => {
  const [checked, reused, single, fresh] = [await create("check"), await create("on"), await create("one"), await create("off")];
  for (let round = 0; round < 3; round += 1) {
    for (const script of SCRIPTS) {
      const expected = await run(fresh, script);
      assert.deepEqual(await run(reused, script), expected);
      assert.deepEqual(await run(single, script), expected);
      assert.deepEqual(await run(checked, script), expected);
    }
  }
  await Promise.all([checked, reused, single, fresh].map((sandbox) => sandbox.close()));
});

test("the instance of every program equals a new one after it was used", { skip, timeout: 900_000 }, async () => {
  const sandbox = await create("check");
  const { output } = await sandbox.execute("cd /bin && ls");
  const names = output.trim().split("\n").filter((name) => !["[", "bash", "sh", "time"].includes(name));
  assert.ok(names.length > 200, `${names.length} programs`);
  for (let at = 0; at < names.length; at += 10) {
    // Without input each ends by itself; the second use is that of a reset instance.
    const lines = names.slice(at, at + 10).flatMap((name) => [`${name} --help`, `timeout 1 ${name}`, `timeout 1 ${name} data.txt`]);
    const script = lines.map((line) => `${line} </dev/null >/dev/null 2>&1`).join("\n");
    const { exitCode, stoppedBy, output: text } = await sandbox.execute(`${script}\necho done`);
    assert.deepEqual([exitCode, stoppedBy, text], [0, undefined, "done\n"], names.slice(at, at + 10).join(" "));
  }
  await sandbox.close();
});

test("an instance that another sandbox has used equals a new one", { skip, timeout: 600_000 }, async () => {
  globalThis[Symbol.for("tidebox.reuse")] = "check";
  const pair = await Promise.all([1, 2].map((n) => Sandbox.create({ thread: "pool", env: { N: `${n}` }, files: { "data.txt": `canary ${n}\n`.repeat(500) } })));
  for (const script of [...SCRIPTS, "sort -R data.txt | tail -1; awk -v n=$N 'BEGIN { print n }'"]) {
    for (const [at, sandbox] of pair.entries()) {
      const { output, stoppedBy } = await run(sandbox, script);
      assert.deepEqual([stoppedBy, output.includes("was restarted"), output.includes(`canary ${2 - at}`)], [undefined, false, false], script);
    }
  }
  await Promise.all(pair.map((sandbox) => sandbox.close()));
});

test("an instance with any byte written is cleared for another sandbox", () => {
  const [stackEnd, dataEnd, pages] = [2 * 65536 + 48, 2 * 65536 + 100, 4];
  const program = { pages, reuse: { stackEnd, dataEnd } };
  const memory = new WebAssembly.Memory({ initial: pages });
  const bytes = new Uint8Array(memory.buffer);
  bytes.fill(7, stackEnd, dataEnd);
  const expected = bytes.slice();
  const lowest = new WebAssembly.Global({ value: "i32", mutable: true }, stackEnd);
  const exports = { memory, "tidebox:global:lowest-stack": lowest };
  const pool = new InstancePool(() => undefined, "on");
  let pooled = pooledInstance({ exports }, memory, undefined, 1);
  pool.register(program, pooled);
  const addresses = [0, 1, 15, 16, 127, 128, 4095, 65536, stackEnd - 300, stackEnd - 200, stackEnd - 129, stackEnd - 128, stackEnd - 1, stackEnd, dataEnd - 1, dataEnd, bytes.length - 1];
  for (const [number, address] of addresses.entries()) {
    // The stack pointer was not lowered that far.
    lowest.value = stackEnd - 64;
    bytes[address] = 255;
    pool.release(program, pooled);
    pooled = pool.take(program, number + 2);
    assert.notEqual(pooled, undefined);
    assert.equal(Buffer.compare(bytes, expected), 0, `address ${address}`);
    assert.equal(lowest.value, stackEnd);
  }
});
