// Processes that outlive the call which started them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Process, Sandbox, SandboxError } from "tidebox";

import { jspi } from "./engine.mjs";

const skip = jspi ? false : "this engine cannot suspend WebAssembly";
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Works with a new sandbox. */
async function within(work, options = {}) {
  const sandbox = await Sandbox.create(options);
  try {
    await work(sandbox);
  } finally {
    await sandbox.close();
  }
}

/** Reads a spawned to its end. */
async function textOf(spawned) {
  let text = "";
  for await (const chunk of spawned.output()) text += chunk.text;
  return text;
}

/** Polls until `look` returns true. */
async function until(look) {
  for (let n = 0; n < 200; n += 1) {
    if (await look()) return;
    await pause(50);
  }
  assert.fail("it did not happen in ten seconds");
}

test("an engine without JSPI rejects processes with the reason", { skip: jspi ? "this engine can" : false }, () => within(async (sandbox) => {
  for (const call of [sandbox.spawn("sleep 1"), sandbox.processes(), sandbox.process("1").read()]) {
    await assert.rejects(call, { code: "UNSUPPORTED", message: /JSPI/ });
  }
  const { exitCode, code, output } = await sandbox.execute("sleep 1 &", { background: "keep" });
  assert.deepEqual([exitCode, code], [null, "UNSUPPORTED"]);
  assert.match(output, /JSPI/);
  assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
}));

test("a process runs in a terminal", { skip }, () => within(async (sandbox) => {
  const shell = await sandbox.spawn(["bash", "--norc"], { terminal: { rows: 30, columns: 90 }, env: { PS1: "$> " } });
  await shell.waitForOutput("$> ");
  await shell.write("stty size; echo begun; sleep 100\r");
  await shell.waitForOutput("30 90\r\nbegun\r\n");
  await shell.write("\x03");
  await shell.waitForOutput("^C\r\n$> ");
  await shell.resize({ rows: 40, columns: 100 });
  await shell.write("stty size\r");
  await shell.waitForOutput("40 100\r\n");
  await shell.closeStdin();
  assert.equal((await shell.wait()).exitCode, 0);
  const plain = await sandbox.spawn("sleep 100");
  await assert.rejects(plain.resize({ rows: 24, columns: 80 }), { code: "INVALID_OPTIONS", message: /has no terminal/ });
}));

test("arguments of the wrong type are errors that name them", () => within(async (sandbox) => {
  const rejects = (call, message) => assert.rejects(call, { code: "INVALID_OPTIONS", message });
  await rejects(sandbox.spawn(7), /a command must be/);
  await rejects(sandbox.spawn(["echo", 7]), /a command must be/);
  await rejects(sandbox.spawn("true", null), /options must be an object/);
  await rejects(sandbox.spawn("true", { cwd: 7 }), /cwd must be a string/);
  await rejects(sandbox.spawn("true", { tag: 7 }), /tag must be a string/);
  await rejects(sandbox.spawn("true", { env: { A: 7 } }), /env: 'A' must be a string/);
  await rejects(sandbox.spawn("true", { stdin: "text" }), /stdin must be true or false/);
  await rejects(sandbox.spawn("true", { timeoutMs: -1 }), /timeoutMs/);
  for (const terminal of [true, {}, { rows: 24 }, { rows: 0, columns: 80 }, { rows: 24, columns: 1001 }, { rows: 1.5, columns: 80 }]) {
    await rejects(sandbox.spawn("true", { terminal }), /terminal must be an object with rows and columns/);
  }
  await rejects(sandbox.process("1").resize({ rows: 24 }), /size must be an object with rows and columns/);
  await rejects(sandbox.spawn("true", { signal: 7 }), /signal must be an AbortSignal/);
  await rejects(sandbox.spawn("true", { color: 7 }), /unknown option 'color'/);
  if (jspi) await rejects(sandbox.spawn([]), /argument/);
  if (jspi) await rejects(sandbox.spawn("true", { cwd: "a\0b" }), /cwd/);
  assert.match((await sandbox.execute("true", { background: "stay" })).output, /background must be 'end' or 'keep'/);
  assert.throws(() => sandbox.process(7), { code: "INVALID_OPTIONS", message: /id must be a string/ });
  const spawned = sandbox.process("no-such-process");
  assert.equal(spawned.id, "no-such-process");
  await rejects(spawned.read({ after: "0" }), /after must be/);
  await rejects(spawned.read({ waitMs: NaN }), /waitMs must be/);
  await rejects(spawned.read({ maxBytes: -1 }), /maxBytes must be/);
  await rejects(spawned.read(7), /options must be an object/);
  await rejects(spawned.output({ after: "0" }).next(), /after must be/);
  await rejects(spawned.waitForOutput(7), /text must be a string/);
  await rejects(spawned.write(7), /input must be/);
  await rejects(spawned.signal("WINCH"), /unknown signal 'WINCH'; expected one of: HUP/);
  await rejects(spawned.signal(), /unknown signal 'undefined'/);
  await rejects(spawned.wait({ timeoutMs: 1 }), /unknown option 'timeoutMs'/);
  assert.throws(() => new Process(), SandboxError);
}));

test("a closed sandbox rejects all calls about processes", async () => {
  const sandbox = await Sandbox.create();
  const spawned = sandbox.process("1");
  await sandbox.close();
  const calls = [
    sandbox.spawn("true"), sandbox.processes(), spawned.read(), spawned.write("x"), spawned.closeStdin(), spawned.kill(), spawned.wait(),
  ];
  for (const call of calls) await assert.rejects(call, { code: "CLOSED" });
  assert.throws(() => sandbox.process("1"), { code: "CLOSED" });
});

describe("a process", { skip }, () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create();
  });
  after(() => sandbox.close());

  test("goes on between calls", async () => {
    const spawned = await sandbox.spawn("n=0; while :; do n=$((n+1)); echo $n > count; sleep 0.01; done");
    await until(async () => (await sandbox.execute("cat count 2>/dev/null")).output !== "");
    const before = Number((await sandbox.execute("cat count")).output);
    await pause(300);
    const later = Number((await sandbox.execute("cat count")).output);
    assert.ok(later > before + 3, `${before} and then ${later}`);
    await spawned.kill();
    assert.deepEqual(await spawned.wait(), { exitCode: 137 });
  });

  test("has output that several readers see from any position", async () => {
    const spawned = await sandbox.spawn("for n in 1 2 3; do echo line $n; sleep 0.02; done; echo oh >&2; exit 3");
    assert.equal(await textOf(spawned), "line 1\nline 2\nline 3\noh\n");
    const other = sandbox.process(spawned.id);
    assert.equal(await textOf(other), "line 1\nline 2\nline 3\noh\n");
    const page = await other.read({ after: 7, maxBytes: 4 });
    assert.deepEqual([page.text, page.next, page.dropped, page.running], ["line", 11, 0, true]);
    const rest = await spawned.read({ after: page.next });
    assert.deepEqual([rest.text, rest.next, rest.running, rest.exitCode], [" 2\nline 3\noh\n", 24, false, 3]);
    assert.deepEqual(rest.chunks.map(({ stream }) => stream), ["stdout", "stderr"]);
    assert.ok(rest.chunks[0].bytes instanceof Uint8Array);
    const end = await spawned.read({ after: 99, waitMs: 10_000 });
    assert.deepEqual([end.text, end.next, end.running, "stoppedBy" in end], ["", 24, false, false]);
    assert.deepEqual(await other.wait(), { exitCode: 3 });
  });

  test("lets a reader wait for output", async () => {
    const spawned = await sandbox.spawn("sleep 0.2; echo late; sleep 60");
    assert.deepEqual((await spawned.read()).chunks, []);
    const page = await spawned.read({ waitMs: 20_000 });
    assert.equal(page.text, "late\n");
    const started = performance.now();
    assert.equal((await spawned.read({ after: page.next, waitMs: 100 })).running, true);
    assert.ok(performance.now() - started >= 90);
    assert.equal(await spawned.waitForOutput("la"), 5);
    const controller = new AbortController();
    const waiting = spawned.wait({ signal: controller.signal });
    controller.abort();
    await assert.rejects(waiting, { code: "ABORTED" });
    const waits = spawned.waitForOutput("never");
    await spawned.kill();
    assert.equal(await waits, undefined);
  });

  test("reads what its caller writes", async () => {
    const spawned = await sandbox.spawn("while read -r line; do echo \"got $line\"; done; echo end", { stdin: true });
    await spawned.write("one\n");
    await spawned.waitForOutput("got one");
    await Promise.all([spawned.write(new TextEncoder().encode("two\n")), spawned.write("three\n"), spawned.closeStdin()]);
    assert.equal(await textOf(spawned), "got one\ngot two\ngot three\nend\n");
    await assert.rejects(spawned.write("x"), { code: "INVALID_OPTIONS", message: /standard input of process \d+ is closed/ });
    await spawned.closeStdin();
    const closed = await sandbox.spawn("sleep 60");
    await assert.rejects(closed.write("x"), { code: "INVALID_OPTIONS", message: /open input|closed/ });
    await closed.kill();
  });

  test("takes input that is larger than a pipe", async () => {
    const spawned = await sandbox.spawn(["wc", "-c"], { stdin: true });
    await spawned.write("x".repeat(3_000_000));
    await spawned.closeStdin();
    assert.equal((await textOf(spawned)).trim(), "3000000");
  });

  test("handles a signal with a trap, and ends by one without", async () => {
    const spawned = await sandbox.spawn("trap 'echo bye; exit 4' TERM; echo ready; while :; do sleep 0.01; done");
    await spawned.waitForOutput("ready");
    await spawned.signal("SIGTERM");
    assert.deepEqual(await spawned.wait(), { exitCode: 4 });
    assert.match((await spawned.read()).text, /bye\n$/);
    await spawned.signal("TERM");
    const other = await sandbox.spawn("echo ready; sleep 60");
    await other.waitForOutput("ready");
    await other.signal("INT");
    assert.deepEqual(await other.wait(), { exitCode: 130 });
  });

  test("is killed with its children, also while it computes", async () => {
    const spawned = await sandbox.spawn("trap '' TERM; (sleep 0.5; echo late > late) & echo ready; sleep 60");
    await spawned.waitForOutput("ready");
    await spawned.signal("TERM");
    assert.equal((await spawned.read()).running, true);
    await spawned.kill();
    assert.deepEqual(await spawned.wait(), { exitCode: 137 });
    assert.equal((await sandbox.execute("sleep 0.7; ls late 2>/dev/null")).output, "");
    const busy = await sandbox.spawn("while :; do :; done");
    await pause(50);
    await busy.kill();
    assert.deepEqual(await busy.wait(), { exitCode: 137 });
  });

  test("is the only one with its tag while it runs", async () => {
    const first = await sandbox.spawn("sleep 60", { tag: "server" });
    const second = await sandbox.spawn("echo other", { tag: "server" });
    assert.equal(second.id, first.id);
    await first.kill();
    await second.wait();
    const third = await sandbox.spawn("echo other", { tag: "server" });
    assert.notEqual(third.id, first.id);
    assert.equal(await textOf(third), "other\n");
  });

  test("has its directory, its variables and its time", async () => {
    await sandbox.execute("mkdir -p /tmp/here");
    const spawned = await sandbox.spawn(["bash", "-c", "pwd; echo $COLOR"], { cwd: "/tmp/here", env: { COLOR: "blue" } });
    assert.equal(await textOf(spawned), "/tmp/here\nblue\n");
    const late = await sandbox.spawn("sleep 60", { timeoutMs: 100 });
    assert.deepEqual(await late.wait(), { exitCode: 124, stoppedBy: "timeout" });
  });

  test("is listed with its command and state", async () => {
    const spawned = await sandbox.spawn("echo listed; sleep 60", { tag: "listed" });
    await spawned.waitForOutput("listed");
    const find = async () => (await sandbox.processes()).find(({ id }) => id === spawned.id);
    const { startedMs, ...info } = await find();
    assert.ok(Math.abs(Date.now() - startedMs) < 60_000);
    const expected = { id: spawned.id, tag: "listed", command: "echo listed; sleep 60", writtenBytes: 7 };
    assert.deepEqual(info, { ...expected, running: true, exitCode: null });
    assert.match((await sandbox.execute("ps -e -o pid,args")).output, new RegExp(`^ *${spawned.id} .*sleep`, "m"));
    await spawned.kill();
    await spawned.wait();
    const { startedMs: _, ...ended } = await find();
    assert.deepEqual(ended, { ...expected, running: false, exitCode: 137 });
  });

  test("is what a command leaves, if it keeps it", async () => {
    const command = "(until [ -e go ]; do sleep 0.01; done; cat go) & echo started";
    const chunks = [];
    const result = await sandbox.execute(command, { background: "keep", onStdout: (text) => chunks.push(text) });
    assert.deepEqual([result.output, result.exitCode, chunks.join("")], ["started\n", 0, "started\n"]);
    await sandbox.write("/workspace/go", "went on\n");
    assert.equal(await textOf(sandbox.process(result.process)), "went on\n");
    const none = await sandbox.execute("(sleep 0.05; echo child) & wait; exit 5", { background: "keep" });
    assert.deepEqual([none.output, none.exitCode, "process" in none], ["child\n", 5, false]);
    const ended = await sandbox.execute("sleep 60 & echo $!");
    assert.equal((await sandbox.execute(`ps -p ${ended.output.trim()} -o pid=`)).output, "", "without `keep` it is killed");
  });

  test("is killed if the command that would leave it is cancelled or times out", async () => {
    const controller = new AbortController();
    const running = sandbox.execute("sleep 61 & echo on; wait", { background: "keep", signal: controller.signal, onStdout: () => controller.abort() });
    const { exitCode, stoppedBy, stdout, process: left } = await running;
    assert.deepEqual([exitCode, stoppedBy, stdout, left], [137, "cancelled", "on\n", undefined]);
    const late = await sandbox.execute("sleep 61 & wait", { background: "keep", timeoutMs: 100 });
    assert.deepEqual([late.exitCode, late.stoppedBy, late.process], [124, "timeout", undefined]);
    assert.doesNotMatch((await sandbox.execute("ps -e -o args")).output, /sleep 61/);
  });

  test("outlives the timeout of the command that left it", async () => {
    const { process: id } = await sandbox.execute("(sleep 0.6; echo later) & ", { background: "keep", timeoutMs: 300 });
    assert.equal(await textOf(sandbox.process(id)), "later\n");
  });
});

describe("a sandbox with processes", { skip }, () => {
  test("that is closed asks them to end, and kills them after two seconds", async () => {
    const heard = [];
    const sandbox = await Sandbox.create({ tools: { tell: ({ argv }) => void heard.push(argv[1]) } });
    const polite = await sandbox.spawn("trap 'tell bye; exit' TERM; echo ready; while :; do sleep 0.01; done");
    await polite.waitForOutput("ready");
    const waiting = polite.wait();
    const rejected = assert.rejects(waiting, { code: "CLOSED" });
    let started = performance.now();
    await sandbox.close();
    assert.ok(performance.now() - started < 1900);
    await rejected;
    assert.deepEqual(heard, ["bye"]);

    const stubborn = await Sandbox.create();
    const spawned = await stubborn.spawn("trap '' TERM; echo ready; while :; do sleep 0.01; done");
    await spawned.waitForOutput("ready");
    started = performance.now();
    const closing = stubborn.close();
    await assert.rejects(stubborn.execute("true").then(({ code }) => Promise.reject({ code })), { code: "CLOSED" });
    await assert.rejects(spawned.read(), { code: "CLOSED" });
    await Promise.all([closing, stubborn.close()]);
    const seconds = (performance.now() - started) / 1000;
    assert.ok(seconds > 1.8 && seconds < 4.5, `${seconds} s`);
  });

  test("that is restored has none, and keeps what it knows of them", () => within(async (sandbox) => {
    const snapshot = await sandbox.snapshot();
    const spawned = await sandbox.spawn("echo on; sleep 60");
    await spawned.waitForOutput("on");
    await sandbox.restore(snapshot);
    assert.deepEqual(await spawned.wait(), { exitCode: 137, stoppedBy: "cancelled" });
    assert.doesNotMatch((await sandbox.execute("ps -e -o args")).output, /sleep 60/);
    const fork = await sandbox.fork();
    assert.deepEqual(await fork.processes(), []);
    await fork.close();
  }));

  test("stays in its Worker", async () => {
    await within(async (sandbox) => {
      const spawned = await sandbox.spawn("n=0; while :; do n=$((n+1)); echo $n; sleep 0.05; done");
      const others = await Promise.all(Array.from({ length: 6 }, () => Sandbox.create()));
      const work = others.map((other) => other.execute("n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done"));
      for (let n = 0; n < 10; n += 1) {
        assert.equal((await sandbox.execute(`echo ${n}`)).output, `${n}\n`);
        await pause(20);
      }
      await Promise.all(work);
      await Promise.all(others.map((other) => other.close()));
      assert.equal((await spawned.read()).running, true);
      await spawned.kill();
    });
  });

  test("applies its limits to them", () => within(async (sandbox) => {
    const first = await sandbox.spawn("sleep 60");
    const second = await sandbox.spawn("for n in 1 2 3 4 5; do echo 123456789; done; sleep 0.2; head -c 100000000 /dev/zero | tail -c 90000000 | wc -c");
    await assert.rejects(sandbox.spawn("sleep 60"), { code: "QUOTA_EXCEEDED", message: /2 background processes/ });
    const left = await sandbox.execute("sleep 60 & echo on", { background: "keep" });
    assert.match(left.output, /^on\n.*were stopped: the sandbox has 2 background processes/s);
    const page = await second.read({ waitMs: 10_000 });
    await second.waitForOutput("789");
    const late = await second.read();
    assert.deepEqual([late.text.length <= 20, late.dropped + late.text.length, page.next <= 50], [true, late.next, true]);
    await second.kill();
    const { stoppedBy, exitCode } = await first.wait();
    assert.deepEqual([exitCode, stoppedBy], [124, "timeout"]);
  }, { limits: { backgroundProcesses: 2, backgroundOutputBytes: 20, backgroundTimeMs: 1500 } }));

  test("limits their memory together", () => within(async (sandbox) => {
    const spawned = await sandbox.spawn("x=; while :; do x=$x$x$x$x'0123456789abcdef0123456789abcdef'; done");
    const { exitCode } = await spawned.wait();
    assert.notEqual(exitCode, 0);
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
  }, { limits: { backgroundMemoryBytes: 32 << 20 } }));

  test("has none if it is deterministic", () => within(async (sandbox) => {
    await assert.rejects(sandbox.spawn("true"), { code: "UNSUPPORTED", message: /deterministic/ });
    assert.equal((await sandbox.execute("true", { background: "keep" })).code, "UNSUPPORTED");
  }, { deterministic: true }));

  test("runs the example of the documentation", () => within(async (sandbox) => {
    // As in docs/background-processes.md.
    const server = await sandbox.spawn('while read -r line; do echo "got $line"; done', { stdin: true, tag: "server" });
    await server.write("one\n");
    await server.waitForOutput("got one");
    await server.kill();
    const { exitCode } = await server.wait(); // 137
    assert.equal(exitCode, 137);
  }));
});
