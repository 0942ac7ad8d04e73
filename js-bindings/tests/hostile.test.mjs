// Hostile modules: each ends only its own command, and the sandbox stays usable.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Sandbox } from "tidebox";

import { bodies, module } from "./modules.mjs";

describe("hostile modules", () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create({ limits: { sandboxMemoryBytes: 64 * 2 ** 20, processMemoryBytes: 32 * 2 ** 20 } });
  });
  after(() => sandbox.close());

  async function run(wasm, options) {
    await sandbox.uploadFiles([["/workspace/it", wasm]]);
    const answer = await sandbox.execute("chmod +x it; ./it; echo $?", { timeoutMs: 10_000, ...options });
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
    return answer;
  }

  const ends = (name, wasm, output) =>
    test(`${name}`, async () => {
      const answer = await run(wasm);
      assert.match(answer.output, output);
      assert.equal(answer.exitCode, 0);
    });

  ends("a module that does nothing ends with 0", module(bodies.nothing), /^0\n$/);
  ends("unreachable code aborts", module(bodies.unreachable), /it: aborted\n(.*\n)?134\n$/);
  ends("a division by zero is an arithmetic fault", module(bodies.division), /it: arithmetic fault\n(.*\n)?136\n$/);
  ends("an access outside of memory is a segmentation fault", module(bodies.outOfMemory), /out of bounds memory access\n(.*\n)?139\n$/);
  ends("recursion without end is a stack overflow", module(bodies.recursion), /it: stack overflow\n(.*\n)?139\n$/);
  ends("a start function runs, and its trap ends the program", module(bodies.unreachable, { start: true }), /134\n$/);
  ends("a large table is rejected", module(bodies.nothing, { table: 1_000_000 }), /cannot execute: .*more than 64000 elements\n126\n$/);
  ends("a memory larger than the limit does not start", module(bodies.nothing, { memory: [10_000] }), /out of memory.*\n(.*\n)?137\n$/);
  ends("invalid modules are rejected", Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 255]), /cannot execute: not a valid WebAssembly module.*\n126\n$/);

  for (const [from, name] of [["env", "system"], ["tidebox_engine", "tick"], ["wasi_snapshot_preview1", "__wbindgen_malloc"],
    ["wasi_snapshot_preview1", "constructor"]]) {
    ends(`the import ${from}::${name} is rejected`, module(bodies.nothing, { imports: [[from, name]] }), /cannot execute: .*\n126\n$/);
  }

  test("a loop that only grows memory stays within the limit and ends with its time", async () => {
    const { exitCode, peakMemoryBytes } = await run(module(bodies.grow), { timeoutMs: 300 });
    assert.equal(exitCode, 124);
    assert.ok(peakMemoryBytes <= 64 * 2 ** 20);
  });

  test("a loop without a call ends at its timeout, also after a pipe", async () => {
    await sandbox.uploadFiles([["/workspace/it", module(bodies.loop)]]);
    const { exitCode } = await sandbox.execute("chmod +x it; echo x | ./it | cat", { timeoutMs: 300 });
    assert.equal(exitCode, 124);
  });

  test("a fork bomb is bounded and ends with its time", async () => {
    const started = performance.now();
    await sandbox.execute("f() { f | f & }; f; wait", { timeoutMs: 500 });
    assert.ok(performance.now() - started < 4000);
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
  });

  // The body of the program: `if (getids(-1) != EFAULT) abort()`.
  const asks = [0x41, 0x7f, 0x10, 0, 0x41, 21, 0x47, 0x04, 0x40, 0x00, 0x0b];
  ends("a pointer outside of memory fails only the call", module(asks, { imports: [["tidebox_v1", "getids"]] }), /^0\n$/);

  test("corrupt modules are rejected or end, and the sandbox stays usable", async () => {
    const whole = module([...bodies.loop], { imports: [["wasi_snapshot_preview1", "sched_yield"]], table: 3, start: true });
    const files = [];
    for (let at = 8; at < whole.length; at += 1) {
      const damaged = whole.slice();
      damaged[at] ^= 1 << at % 8;
      files.push([`/workspace/damaged/${at}`, damaged]);
    }
    await sandbox.uploadFiles(files);
    const script = "cd damaged; chmod +x *; n=0; for f in *; do timeout 0.02 ./$f 2>/dev/null; n=$((n + 1)); done; echo $n";
    assert.equal((await sandbox.execute(script, { timeoutMs: 60_000 })).output, `${files.length}\n`);
    await sandbox.delete("/workspace/damaged");
  });

  // A limit ends each of them; which limit depends on the host.
  for (const [name, script] of [
    ["a variable that doubles", "x=xxxxxxxx; while :; do x=$x$x; done"],
    ["functions that call themselves", "f() { f; }; f"],
    ["subshells in subshells", "f() { (f); }; f"],
    ["substitutions in substitutions", "f() { echo $(f); }; f"],
    ["a script that evaluates itself", "x='eval \"$x\"'; eval \"$x\""],
    ["an arithmetic expression of a million parentheses", "x=$(printf '%*s' 1000000 '' | tr ' ' '('); echo $((x$x))"],
    ["a pipeline that feeds itself", "mkfifo p 2>/dev/null; cat < /dev/zero | tr '\\0' x | sort | tail -c 1"],
    ["files without end", "while :; do seq 100000 > f$((n++)); done"],
    ["a program in awk that grows", "awk 'BEGIN { for (;;) a[n++] = n }'"],
    ["a substitution of sed that doubles", "echo x | sed ':a;s/x/xx/g;ta'"],
  ]) {
    test(`${name} ends, with the caller's timers alive`, async () => {
      let ticks = 0;
      const timer = setInterval(() => ticks++, 10);
      const started = performance.now();
      const answer = await sandbox.execute(script, { timeoutMs: 1000 });
      clearInterval(timer);
      assert.ok(performance.now() - started < 6000, "it ended in time");
      assert.ok(ticks > 0 || performance.now() - started < 500, "the caller's event loop was blocked");
      assert.notEqual(answer.exitCode, null, answer.output);
      assert.equal((await sandbox.execute("rm -f f*; echo alive")).output, "alive\n");
    });
  }

  test("a flood of output is truncated and flagged", async () => {
    const small = await Sandbox.create({ limits: { outputBytes: 100_000 } });
    const { output, truncated, exitCode } = await small.execute("yes", { timeoutMs: 3000 });
    assert.deepEqual([truncated, exitCode], [true, 124]);
    assert.match(output, /^(y\n){50000}tidebox: the output was truncated: kept the first 100000 of .*\ntidebox: the command was stopped/);
    await small.close();
  });
});
