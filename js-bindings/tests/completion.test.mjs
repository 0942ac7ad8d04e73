// Without JSPI, programs run to completion one after the other. What cannot work so says why.

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

  test("a reader that comes to the end of a pipe that was cut is told, and fails", async () => {
    const { stdout, stderr } = await sandbox.execute("head -c 40000000 /dev/zero | wc -c; echo ${PIPESTATUS[*]}");
    assert.match(stderr, /^wc: the pipe was cut: .* may have 32 MiB; put it into a file/m);
    assert.match(stdout, /141 1\n$/);
  });

  test("programs that must run at the same time say what they need", async () => {
    const { output } = await sandbox.execute("coproc cat; echo hi >&${COPROC[1]}; read -t 5 x <&${COPROC[0]}; echo got $x");
    assert.match(output, /cannot wait: it needs another program to run at the same time, .* Node 24\.20/);
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
  });

  test("a sleeping command ends when its time is up", async () => {
    const started = performance.now();
    const { exitCode } = await sandbox.execute("sleep 10", { timeoutMs: 200 });
    assert.equal(exitCode, 124);
    assert.ok(performance.now() - started < 4000);
  });
});
