// Output while a command runs.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Sandbox } from "tidebox";

const suspends = typeof WebAssembly.Suspending === "function";

describe("a command with streamed output", () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create();
  });
  after(() => sandbox.close());

  const all = async (running) => {
    const chunks = [];
    for await (const chunk of running) chunks.push(chunk);
    return chunks;
  };
  const joined = (chunks, stream) => chunks.filter((chunk) => chunk.stream === stream).map(({ text }) => text).join("");

  test("arrives in chunks that form the whole output, followed by the result", async () => {
    const running = sandbox.executeStream("seq 20000; echo wrong >&2; exit 3");
    const chunks = await all(running);
    const { stdout, stderr, exitCode } = await running.result;
    assert.deepEqual([joined(chunks, "stdout"), joined(chunks, "stderr"), exitCode], [stdout, stderr, 3]);
    assert.equal(stdout.split("\n").length, 20001);
  });

  test("arrives while the command still runs", async () => {
    const running = sandbox.executeStream("echo first; read -t 30 < /dev/zero; sleep 30; echo last");
    const started = performance.now();
    for await (const { text } of running) {
      assert.equal(text, "first\n");
      break;
    }
    assert.ok(performance.now() - started < 5000);
    const { exitCode, stoppedBy, stdout } = await running.result;
    assert.deepEqual([exitCode, stoppedBy, stdout], [137, "cancelled", "first\n"]);
  });

  test("arrives as text with complete characters, and as all bytes", async () => {
    const running = sandbox.executeStream("printf '\\xc3'; sleep 0.05; printf '\\xa4\\n\\xff'");
    const chunks = await all(running);
    assert.equal(joined(chunks, "stdout"), "ä\n\ufffd");
    assert.deepEqual(chunks.flatMap(({ bytes }) => [...bytes]), [0xc3, 0xa4, 0x0a, 0xff]);
  });

  test("need not be read", async () => {
    const { output, exitCode } = await sandbox.executeStream("echo hi").result;
    assert.deepEqual([output, exitCode], ["hi\n", 0]);
  });

  test("yields nothing in a second iteration", async () => {
    const running = sandbox.executeStream("echo hi");
    assert.equal((await all(running)).length, 1);
    assert.equal((await all(running)).length, 0);
  });

  test("of a closed sandbox is empty, and the result has the reason", async () => {
    const closed = await Sandbox.create();
    await closed.close();
    const running = closed.executeStream("echo hi");
    assert.deepEqual(await all(running), []);
    assert.match((await running.result).output, /the sandbox is closed/);
  });

  test("stops when the signal is aborted", async () => {
    const controller = new AbortController();
    const running = sandbox.executeStream("echo first; sleep 30", { signal: controller.signal });
    setTimeout(() => controller.abort(), 100);
    const chunks = await all(running);
    assert.match(joined(chunks, "stdout"), /^first\n/);
    assert.equal((await running.result).stoppedBy, "cancelled");
  });
});

describe("functions that watch output", () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create();
  });
  after(() => sandbox.close());

  test("are given text, each of its stream", async () => {
    const [out, err] = [[], []];
    const { exitCode } = await sandbox.execute("echo one; echo two >&2; printf '\\xe2\\x82'; sleep 0.02; printf '\\xac'", {
      onStdout: (text) => out.push(text),
      onStderr: (text) => err.push(text),
    });
    assert.deepEqual([out.join(""), err.join(""), exitCode], ["one\n€", "two\n", 0]);
  });

  test("that throw stop the command, and the result has their error", async () => {
    const { output, exitCode } = await sandbox.execute("echo one; sleep 30; echo two", {
      onStdout: () => {
        throw new Error("no more");
      },
      timeoutMs: suspends ? 20_000 : 200,
    });
    assert.equal(exitCode, null);
    assert.match(output, /^one\n/);
    assert.match(output, /the output callback failed: no more\n$/);
    assert.doesNotMatch(output, /two/);
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
  });
});
