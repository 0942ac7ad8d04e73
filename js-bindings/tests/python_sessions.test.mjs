// Interpreters that keep their variables from one call to the next: what `tests/python/session.rs` holds the native engine to.

import assert from "node:assert/strict";
import process from "node:process";
import { describe, test } from "node:test";

import { PythonSession, Sandbox, SandboxError } from "tidebox";
import { listPacks } from "tidebox/packs";

import { jspi } from "./engine.mjs";

const [python] = await listPacks();
const missing = "the pack python is not installed; install it with `npx tidebox pack add python`";
assert.ok(python.ready || process.env.CI === undefined, missing);
const skip = !python.ready ? missing : jspi ? false : "this engine cannot suspend WebAssembly";

/** Works with a session of a sandbox of its own. */
const within = async (work, options = {}) => {
  const sandbox = await Sandbox.create({ packs: ["python"], ...options });
  try {
    await work(await sandbox.pythonSession(), sandbox);
  } finally {
    await sandbox.close();
  }
};

/** Runs code whose last expression has this value, and that prints nothing. */
async function gives(session, code, value) {
  const result = await session.run(code);
  assert.deepEqual([result.value, result.error, result.output, result.exitCode], [value, undefined, "", null], code);
}

test("a sandbox without Python fails with a hint", async () => {
  const sandbox = await Sandbox.create();
  await assert.rejects(sandbox.pythonSession(), { code: "INVALID_OPTIONS", message: /pack add python/ });
  await sandbox.close();
  await assert.rejects(sandbox.pythonSession(), { code: "CLOSED" });
  assert.throws(() => new PythonSession(), SandboxError);
});

test("an engine without JSPI fails with an error", { skip: !python.ready ? missing : jspi ? "this engine can" : false }, async () => {
  const sandbox = await Sandbox.create({ packs: ["python"] });
  await assert.rejects(sandbox.pythonSession(), { code: "UNSUPPORTED", message: /JSPI/ });
  await sandbox.close();
});

describe("a Python session", { skip }, () => {
  test("reports that it cannot be saved, and continues", () => within(async (session) => {
    await session.run("x = 1");
    await assert.rejects(session.save(), { code: "UNSUPPORTED", message: /Rust library or the Python package/ });
    await gives(session, "x", "1");
  }));

  test("keeps variables, imports and open files, and returns the last expression", () => within(async (session, sandbox) => {
    for (const [code, value] of [
      ["x = 20\nx + 1", "21"],
      ["import json as j; j.dumps([x])", "'[20]'"],
      ["_ * 2", "'[20][20]'"],
      ["def f():\n    return x\nf()", "20"],
      ["file = open('notes', 'w'); file.write('abc')", "3"],
      ["file.write('def'); file.close(); open('notes').read()", "'abcdef'"],
      ["import asyncio\nasync def g():\n    await asyncio.sleep(0)\n    return 7\nawait g()", "7"],
      ["'ü' * 3", "'üüü'"],
    ]) await gives(session, code, value);
    for (const code of ["y = 1", "x;", "None", ""]) assert.equal((await session.run(code)).value, undefined, code);
    assert.equal((await sandbox.execute("cat notes; echo more >> notes")).output, "abcdef");
    await gives(session, "open('notes').read()", "'abcdefmore\\n'");
    assert.equal(session.isOver, false);
  }));

  test("streams its output, and that of programs", () => within(async (session) => {
    const seen = [];
    const code = "import subprocess, sys\nprint('one', flush=True)\nprint('two', file=sys.stderr)\nsubprocess.run(['echo', 'three'])\ninput()";
    const result = await session.run(code, { onStdout: (text) => seen.push(text) });
    assert.equal(result.stdout, "one\nthree\n");
    assert.match(result.stderr, /^two\nTraceback/);
    assert.equal(result.error.name, "EOFError", "there is nothing to read");
    assert.equal(seen.join(""), "one\nthree\n");
    assert.equal(seen[0], "one\n");
  }));

  test("returns an exception with its lines, and keeps its state", () => within(async (session) => {
    await session.run("kept = 1");
    const { error, stderr } = await session.run("def f():\n    return 1 / 0\n\nkept = 2\nf()");
    assert.deepEqual([error.name, error.message], ["ZeroDivisionError", "division by zero"]);
    assert.ok(error.traceback.startsWith('Traceback (most recent call last):\n  File "<cell 2>", line 5, in <module>\n    f()\n'), error.traceback);
    assert.equal(stderr, error.traceback);
    assert.equal((await session.run("kept = (")).error.name, "SyntaxError");
    await gives(session, "kept", "2");
  }));

  test("ends with its time, and nothing else does", () => within(async (session, sandbox) => {
    const other = await sandbox.pythonSession();
    await other.run("kept = 5");
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 10);
    const late = await session.run("open('before', 'w').write('x')\nwhile True: pass", { timeoutMs: 1500 });
    clearInterval(timer);
    assert.deepEqual([late.exitCode, late.stoppedBy, late.pictures], [124, "timeout", []]);
    assert.ok(turns > 0 && session.isOver);
    await assert.rejects(session.run("1"), { code: "INVALID_OPTIONS", message: /start another session/ });
    assert.equal((await sandbox.execute("cat before")).output, "x");
    await gives(other, "kept", "5");
    await gives(other, "import time; time.sleep(0.1); 'time is counted for each'", "'time is counted for each'");
  }));

  test("ends when a call is given up", () => within(async (session, sandbox) => {
    await gives(session, "x = 1; x", "1");
    const early = await session.run("x = 2", { signal: AbortSignal.abort() });
    assert.deepEqual([early.exitCode, early.stoppedBy, session.isOver], [137, "cancelled", false]);
    await gives(session, "x", "1");
    const controller = new AbortController();
    const running = session.run("print('on', flush=True)\nwhile True: pass", { signal: controller.signal, onStdout: () => controller.abort() });
    const { exitCode, stoppedBy, stdout } = await running;
    assert.deepEqual([exitCode, stoppedBy, stdout, session.isOver], [137, "cancelled", "on\n", true]);
    assert.equal((await sandbox.execute("ps -e | grep -c python3")).output, "0\n");
  }));

  test("ends with exit, by its code", () => within(async (session) => {
    const { exitCode, stdout, stoppedBy } = await session.run("import atexit; atexit.register(print, 'bye'); exit(3)");
    assert.deepEqual([exitCode, stdout, stoppedBy, session.isOver], [3, "bye\n", undefined, true]);
  }));

  test("has the limits of output and memory for each call", () => within(async (session) => {
    for (let n = 0; n < 2; n += 1) {
      const { truncated, stdout } = await session.run("print('x' * 5000)");
      assert.deepEqual([truncated, stdout.length], [true, 1000]);
    }
    assert.equal((await session.run("print('x')")).truncated, false);
    assert.equal((await session.run("b = bytearray(10**9)")).error.name, "MemoryError");
    assert.equal((await session.run("'y' * 2000")).error.message, "the value is longer than the output that the sandbox allows");
    await gives(session, "1", "1");
  }, { limits: { processMemoryBytes: 400 * 2 ** 20, outputBytes: 1000 } }));

  test("saves figures as images", () => within(async (session, sandbox) => {
    await session.run("import matplotlib.pyplot as plt");
    const { pictures, output } = await session.run("plt.plot([1, 4, 9]); plt.show()\nplt.figure(figsize=(2, 1));");
    assert.deepEqual([pictures, output], [["/tmp/figures/figure-1.png", "/tmp/figures/figure-2.png"], ""]);
    const found = await sandbox.downloadFiles(pictures);
    const sizes = found.map(({ content }) => new DataView(content.buffer, content.byteOffset)).map((png) => [png.getUint32(16), png.getUint32(20)]);
    assert.deepEqual(sizes, [[640, 480], [200, 100]]);
    assert.deepEqual((await session.run("1")).pictures, []);
  }));

  test("runs calls that overlap one after the other, and rests in between", () => within(async (session, sandbox) => {
    const results = await Promise.all([session.run("a = 1"), session.run("a += 1"), session.run("a")]);
    assert.equal(results[2].value, "2");
    await session.run("import subprocess; p = subprocess.Popen('while :; do echo x >> grows; done', shell=True); None");
    await sandbox.execute("true");
    const size = async () => (await sandbox.execute("cat grows 2>/dev/null | wc -c")).output;
    const before = await size();
    await sandbox.execute("sleep 0.3");
    assert.equal(await size(), before, "a program of the session ran while nobody asked it");
    await gives(session, "p.kill(); p.wait()", "-9");
  }));

  test("ends with its sandbox, and at a restore", () => within(async (session, sandbox) => {
    await session.run("x = 1");
    const before = await sandbox.snapshot();
    await sandbox.restore(before);
    const { stoppedBy, value } = await session.run("x");
    assert.deepEqual([stoppedBy, value, session.isOver], ["cancelled", undefined, true]);
    const other = await sandbox.pythonSession();
    await gives(other, "2", "2");
    const running = other.run("while True: pass");
    await sandbox.close();
    await assert.rejects(running, { code: "CLOSED" });
    await assert.rejects(other.run("1"), SandboxError);
  }));

  test("is closed by its caller, also while it runs", () => within(async (session, sandbox) => {
    await gives(session, "1", "1");
    const running = session.run("while True: pass");
    await session.close();
    assert.equal((await running).stoppedBy, "cancelled");
    await session.close();
    const idle = await sandbox.pythonSession();
    await gives(idle, "1", "1");
    await idle[Symbol.asyncDispose]();
    assert.ok(idle.isOver);
    assert.equal((await sandbox.execute("ps -e | grep -c python3")).output, "0\n");
  }));

  test("rejects invalid options and code and continues", () => within(async (session) => {
    await assert.rejects(session.run(7), { code: "INVALID_OPTIONS" });
    await assert.rejects(session.run("1", { cwd: "/" }), { code: "INVALID_OPTIONS", message: /'cwd'/ });
    await assert.rejects(session.run("1", { timeoutMs: "1" }), { code: "INVALID_OPTIONS" });
    await assert.rejects(session.run(`'${"x".repeat(9 << 20)}'`), { code: "INVALID_OPTIONS", message: /bytes and may have/ });
    await gives(session, "1", "1");
  }));
});
