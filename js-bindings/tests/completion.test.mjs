// Without JSPI, programs run to completion one after the other. Unsupported operations fail with the reason.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Sandbox } from "tidebox";

import { jspi } from "./engine.mjs";

describe("an engine that cannot suspend guests", { skip: jspi ? "this one can" : false }, () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create();
  });
  after(() => sandbox.close());

  test("a writer that never ends is ended when the pipe is full, and its reader never notices", async () => {
    const { output, exitCode } = await sandbox.execute("yes | head -n 1; echo ${PIPESTATUS[*]}");
    assert.deepEqual([output, exitCode], ["y\n141 0\n", 0]);
  });

  test("a reader of a truncated pipe gets an error", async () => {
    const { stdout, stderr } = await sandbox.execute("head -c 40000000 /dev/zero | wc -c; echo ${PIPESTATUS[*]}");
    assert.match(stderr, /^wc: the pipe was truncated: .* at most 32 MiB in a pipe; write the data to a file/m);
    assert.match(stdout, /141 1\n$/);
  });

  test("the writer of a pipe runs before its reader", async () => {
    for (const [command, expected] of [
      ["for n in 1 2; do seq $n; done | wc -l", "3\n"],
      ["(sleep 0.02; echo late) | cat", "late\n"],
      ["(seq 3; sleep 0.02; seq 2) | sort -r | uniq -c | tr -s ' '", " 1 3\n 2 2\n 2 1\n"],
      ["seq 3 | while read n; do expr $n + 1; done | tail -n 1", "4\n"],
      ["{ sleep 0.02 & wait; echo a; } | cat", "a\n"],
      ["diff <(seq 3) <(seq 4); cat <(seq 2 | sort -r)", "3a4\n> 4\n2\n1\n"],
      ["echo $(for n in a b; do (echo $n | tr a-z A-Z) | cat; done)", "A B\n"],
    ]) {
      assert.equal((await sandbox.execute(command)).output, expected, command);
    }
  });

  test("a deterministic sandbox behaves the same without real time", async () => {
    const one = await Sandbox.create({ deterministic: true });
    const started = performance.now();
    assert.equal((await one.execute("(sleep 60; date +%s) | cat | rev")).output, "06\n");
    assert.ok(performance.now() - started < 10_000);
    await one.close();
  });

  test("calls received while the Worker waits for a tool start afterwards in order", async () => {
    const one = await Sandbox.create({ tools: { slow: () => new Promise((resolve) => setTimeout(resolve, 100)) } });
    const calls = [1, 2, 3].map((n) => one.execute(`slow; echo ${n} >> log`));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const last = one.execute("echo 4 >> log; cat log");
    assert.deepEqual((await Promise.all(calls)).map(({ exitCode }) => exitCode), [0, 0, 0]);
    assert.equal((await last).output, "1\n2\n3\n4\n");
    await one.close();
  });

  test("programs that must run concurrently fail with a hint", async () => {
    const { output } = await sandbox.execute("coproc cat; echo hi >&${COPROC[1]}; read -t 5 x <&${COPROC[0]}; echo got $x");
    assert.match(output, /cannot wait: another program must run at the same time, .* Node 24\.20/);
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
  });

  test("a sleeping command ends when its time is up", async () => {
    const started = performance.now();
    const { exitCode } = await sandbox.execute("sleep 10", { timeoutMs: 200 });
    assert.equal(exitCode, 124);
    assert.ok(performance.now() - started < 4000);
  });
});
