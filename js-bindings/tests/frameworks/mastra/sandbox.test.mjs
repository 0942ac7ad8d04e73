// The sandbox against the interface of Mastra.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { SandboxError, supportsComputer, supportsNetworking } from "@mastra/core/workspace";
import { Sandbox } from "tidebox";
import { TideboxFilesystem, TideboxSandbox, tideboxSandboxProvider } from "tidebox/mastra";

/** Checks for an error class of Mastra and its message. */
const error = (name, message) => (thrown) => {
  assert.ok(thrown instanceof SandboxError, String(thrown));
  assert.equal(thrown.name, name);
  assert.match(thrown.message, message);
  return true;
};

describe("commands", () => {
  let sandbox;
  before(() => {
    sandbox = new TideboxSandbox({ files: { "a.txt": "one\ntwo\n" }, env: { COLOR: "blue" } });
  });
  after(() => sandbox._destroy());

  test("the first command starts the sandbox", async () => {
    assert.equal(sandbox.status, "pending");
    const { executionTimeMs, ...result } = await sandbox.executeCommand("wc -l < a.txt; echo no >&2; exit 3");
    assert.equal(sandbox.status, "running");
    assert.ok(executionTimeMs >= 0);
    assert.deepEqual(result, {
      success: false, exitCode: 3, stdout: "2\n", stderr: "no\n", timedOut: false, killed: false, stdoutTruncated: false,
      stderrTruncated: false, stdoutDroppedBytes: 0, stderrDroppedBytes: 0, command: "wc -l < a.txt; echo no >&2; exit 3",
    });
  });

  test("arguments are not expanded", async () => {
    const { stdout } = await sandbox.executeCommand("printf", ["%s|", "$HOME", "it's", "a b", ""]);
    assert.equal(stdout, "$HOME|it's|a b||");
  });

  test("have a working directory and an environment", async () => {
    await sandbox.executeCommand("mkdir -p sub; cd sub");
    const where = async (options) => (await sandbox.executeCommand("pwd; echo $COLOR $SIZE", [], options)).stdout;
    assert.equal(await where(), "/workspace\nblue\n");
    assert.equal(await where({ cwd: "sub", env: { SIZE: "2", COLOR: undefined } }), "/workspace/sub\n2\n");
    sandbox.setEnv((env) => ({ ...env, COLOR: "red" }));
    assert.equal(await where({ cwd: "/tmp" }), "/tmp\nred\n");
  });

  test("stream their output", async () => {
    const seen = [];
    const result = await sandbox.executeCommand("echo é; echo two >&2", [], {
      onStdout: (text) => seen.push(`out ${text}`), onStderr: (text) => seen.push(`err ${text}`),
    });
    assert.deepEqual(seen.sort(), ["err two\n", "out é\n"]);
    assert.equal(result.success, true);
  });

  test("are stopped by the timeout and the signal", async () => {
    const late = await sandbox.executeCommand("echo start; sleep 60", [], { timeout: 1000 });
    assert.deepEqual([late.exitCode, late.timedOut, late.stdout, /1s/.test(late.stderr)], [124, true, "start\n", true]);
    const controller = new AbortController();
    const running = sandbox.executeCommand("sleep 60", [], { abortSignal: controller.signal });
    setTimeout(() => controller.abort(), 100);
    const killed = await running;
    assert.deepEqual([killed.exitCode, killed.killed], [137, true]);
    assert.equal((await sandbox.executeCommand("sleep 60", [], { abortSignal: AbortSignal.abort() })).killed, true);
  });

  test("keep the end of a large output if a maximum is given", async () => {
    const { stdout, stdoutTruncated, stdoutDroppedBytes } = await sandbox.executeCommand("seq 1 10000", [], { maxRetainedBytes: 20 });
    assert.deepEqual([stdout.endsWith("9999\n10000\n"), stdout.length <= 20, stdoutTruncated, stdoutDroppedBytes > 40_000], [true, true, true, true]);
  });

  test("that are missing are exit code 127", async () => {
    assert.equal((await sandbox.executeCommand("no-such-program", ["x"])).exitCode, 127);
  });
});

describe("processes", () => {
  let sandbox;
  before(() => {
    sandbox = new TideboxSandbox();
  });
  after(() => sandbox._destroy());

  test("run while other commands run", async () => {
    const process = await sandbox.processes.spawn("echo up; until [ -e stop ]; do sleep 0.02; done; echo down");
    await sandbox.executeCommand("sleep 0.2");
    assert.deepEqual(await sandbox.processes.list(), [{ pid: process.pid, command: process.command, running: true, exitCode: undefined }]);
    assert.deepEqual([process.stdout, process.exitCode], ["up\n", undefined]);
    await sandbox.executeCommand("touch stop");
    const { exitCode, stdout } = await process.wait();
    assert.deepEqual([exitCode, stdout, process.exitCode], [0, "up\ndown\n", 0]);
    assert.equal((await sandbox.processes.get(process.pid)).exitCode, 0);
    assert.equal(await process.kill(), false);
  });

  test("are killed", async () => {
    const process = await sandbox.processes.spawn("sleep 60");
    assert.equal(await sandbox.processes.kill(process.pid), true);
    assert.deepEqual([process.exitCode, (await process.wait()).killed], [137, true]);
    assert.equal(await sandbox.processes.kill("99"), false);
  });

  test("have a stream of output and no standard input if it is ignored", async () => {
    const process = await sandbox.processes.spawn("cat; echo one; echo two", { stdinMode: "ignore" });
    let text = "";
    for await (const chunk of process.reader) text += chunk;
    assert.equal(text, "one\ntwo\n");
    await assert.rejects(process.sendStdin("x"), error("SandboxUnsupportedFeatureError", /standard input.*redirect/));
  });

  test("read what is written to their standard input", async () => {
    const process = await sandbox.processes.spawn("while read -r line; do echo \"got $line\"; done; echo end");
    await process.sendStdin("one\n");
    while (!process.stdout.includes("got one\n")) await new Promise((resolve) => setTimeout(resolve, 10));
    await process.sendStdin("two\n");
    await process.closeStdin();
    const { exitCode, stdout } = await process.wait();
    assert.deepEqual([exitCode, stdout], [0, "got one\ngot two\nend\n"]);
  });

  test("are commands in a sandbox where no process outlives a call", async () => {
    const fixed = new TideboxSandbox({ deterministic: true });
    const process = await fixed.processes.spawn("cat; echo alone");
    const { exitCode, stdout } = await process.wait();
    assert.deepEqual([exitCode, stdout], [0, "alone\n"]);
    await assert.rejects(process.sendStdin("x"), error("SandboxUnsupportedFeatureError", /JSPI/));
    await fixed._destroy();
  });
});

describe("the life cycle", () => {
  test("a stopped sandbox continues with its files, a destroyed one is gone", async () => {
    const events = [];
    const hook = (name) => ({ outcome }) => void events.push(outcome === undefined ? name : `${name} ${outcome}`);
    const sandbox = new TideboxSandbox({ id: "life", files: { "in.txt": "given\n" }, onStart: hook("start"), onStop: hook("stop"), onDestroy: hook("destroy") });
    await sandbox.executeCommand("cat in.txt > own.txt; rm in.txt");
    await sandbox._stop();
    assert.equal(sandbox.status, "stopped");
    assert.equal((await sandbox.executeCommand("cat own.txt; ls")).stdout, "given\nown.txt\n");
    assert.deepEqual([sandbox.id, sandbox.backend.id, sandbox.getInfo().status], ["life", "life", "running"]);
    await sandbox._destroy();
    assert.equal(sandbox.status, "destroyed");
    await assert.rejects(sandbox.executeCommand("true"), error("SandboxNotReadyError", /life/));
    assert.throws(() => sandbox.backend, error("SandboxNotReadyError", /life/));
    assert.deepEqual(events, ["start created", "stop", "start connected", "destroy"]);
  });

  test("a sandbox of the caller stays open", async (context) => {
    const own = await Sandbox.create();
    context.after(() => own.close());
    const sandbox = new TideboxSandbox({ sandbox: own });
    await sandbox.executeCommand("echo inside > f");
    await sandbox._stop();
    await sandbox._destroy();
    assert.equal((await own.execute("cat f")).output, "inside\n");
    await own.close();
    await assert.rejects(new TideboxSandbox({ sandbox: own }).executeCommand("true"), error("SandboxNotReadyError", /not ready/i));
  });

  test("a clone has the options and other files", async (context) => {
    const sandbox = new TideboxSandbox({ files: { "in.txt": "given\n" }, env: { A: "1" } });
    await sandbox.executeCommand("echo changed > in.txt");
    const clone = sandbox.clone({ env: { B: "2" }, workingDirectory: "/tmp" });
    context.after(() => Promise.all([sandbox._destroy(), clone._destroy()]));
    assert.notEqual(clone.id, sandbox.id);
    assert.equal((await clone.executeCommand("pwd; echo $A$B; cat /workspace/in.txt /tmp/in.txt")).stdout, "/tmp\n12\ngiven\n");
    assert.throws(() => sandbox.clone({ checkpointName: "c" }), error("SandboxUnsupportedFeatureError", /checkpoints/));
  });

  test("what a sandbox lacks is absent", async () => {
    const sandbox = new TideboxSandbox();
    assert.deepEqual([supportsComputer(sandbox), sandbox.mount, sandbox.supportsCheckpoints], [false, undefined, true]);
    assert.match(sandbox.getInstructions(), /no root/);
  });

  test("a server in the sandbox has an address while it runs", async (context) => {
    const sandbox = new TideboxSandbox();
    context.after(() => sandbox._destroy());
    assert.equal(supportsNetworking(sandbox), true);
    assert.equal(await sandbox.networking.getPortUrl(8000), null);
    const serve = "printf 'HTTP/1.0 200 OK\\r\\nContent-Length: 6\\r\\n\\r\\nserved' | nc -lN 8000 >/dev/null";
    await sandbox.executeCommand("true");
    await sandbox.backend.spawn(`while :; do ${serve}; done`);
    await sandbox.backend.waitForPort(8000);
    const url = await sandbox.networking.getPortUrl(8000);
    assert.equal(await sandbox.networking.getPortUrl(8000), url);
    assert.equal(await (await fetch(url)).text(), "served");
    sandbox.backend.portEndpoint = async () => ({ url: "https://8000.example", headers: { "x-token": "secret" } });
    await assert.rejects(sandbox.networking.getPortUrl(8000), error("SandboxUnsupportedFeatureError", /headers/));
  });

  test("the provider creates sandboxes for the editor", async (context) => {
    const sandbox = await tideboxSandboxProvider.createSandbox({ files: { f: "x" } });
    context.after(() => sandbox._destroy());
    assert.equal((await sandbox.executeCommand("cat f")).stdout, "x");
  });
});

test("files are written with their modes", async (context) => {
  const sandbox = new TideboxSandbox();
  context.after(() => sandbox._destroy());
  await sandbox.writeFiles([
    { path: "bin/run.sh", content: "echo ran", mode: 0o755 }, { path: "/tmp/b", content: Buffer.from([0, 255]) },
  ]);
  assert.equal((await sandbox.executeCommand("bin/run.sh; od -An -tx1 /tmp/b")).stdout, "ran\n 00 ff\n");
  await assert.rejects(sandbox.writeFiles([{ path: "x", content: "", mode: 0o4755 }]), /mode/i);
  const filesystem = new TideboxFilesystem({ sandbox });
  assert.equal(await filesystem.readFile("bin/run.sh", { encoding: "utf8" }), "echo ran");
});
