// Calls that their caller aborts.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Sandbox } from "tidebox";

const suspends = typeof WebAssembly.Suspending === "function";
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("a command that is given up", () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create();
  });
  after(() => sandbox.close());

  const abandoned = async (command) => {
    const controller = new AbortController();
    const started = performance.now();
    const running = sandbox.execute(command, { signal: controller.signal });
    await pause(200);
    controller.abort();
    const response = await running;
    assert.ok(performance.now() - started < 1800, "the Worker itself has ended the command");
    return response;
  };

  for (const [what, command] of [
    ["sleeps", "echo begun; echo kept > kept.txt; sleep 30"],
    ["computes", "echo begun; echo kept > kept.txt; while :; do :; done"],
    ["computes in a program", "echo begun; echo kept > kept.txt; awk 'BEGIN { while (1) x++ }'"],
    ["is a pipeline", "echo begun; echo kept > kept.txt; sleep 30 | cat"],
  ]) {
    test(`returns the output until then when it ${what}, and files are kept`, async () => {
      await sandbox.execute("rm -f kept.txt");
      const { exitCode, stoppedBy, stdout, output } = await abandoned(command);
      assert.deepEqual([exitCode, stoppedBy, stdout], [137, "cancelled", "begun\n"]);
      assert.match(output, /its caller cancelled it\n$/);
      assert.equal((await sandbox.execute("cat kept.txt")).output, "kept\n");
    });
  }

  test("is the only one that ends", { skip: !suspends }, async () => {
    const controller = new AbortController();
    const beside = sandbox.execute("sleep 0.5; echo beside");
    const given = sandbox.execute("sleep 30", { signal: controller.signal });
    await pause(50);
    controller.abort();
    assert.equal((await given).stoppedBy, "cancelled");
    assert.equal((await beside).output, "beside\n");
  });

  test("before it starts ends it, and the next command runs", async () => {
    const controller = new AbortController();
    const first = sandbox.execute("sleep 0.3; echo first");
    const second = sandbox.execute("while :; do :; done", { signal: controller.signal });
    const third = sandbox.execute("echo third");
    controller.abort();
    assert.equal((await first).output, "first\n");
    assert.equal((await second).stoppedBy, "cancelled");
    assert.equal((await third).output, "third\n");
  });

  test("is not started when the signal was aborted before", async () => {
    const { exitCode, stoppedBy, output } = await sandbox.execute("touch started", { signal: AbortSignal.abort() });
    assert.deepEqual([exitCode, stoppedBy], [137, "cancelled"]);
    assert.match(output, /was not started/);
    assert.equal((await sandbox.execute("ls started")).exitCode, 2);
  });

  test("when it is over already is nothing", async () => {
    const controller = new AbortController();
    assert.equal((await sandbox.execute("echo done", { signal: controller.signal })).output, "done\n");
    controller.abort();
    assert.equal((await sandbox.execute("echo next")).output, "next\n");
  });
});

describe("other calls with a signal", () => {
  test("return that they were aborted, without an exception from tools", async () => {
    const sandbox = await Sandbox.create({ files: { a: "a" } });
    const given = { signal: AbortSignal.abort() };
    for (const call of [
      sandbox.ls("/", given), sandbox.read("a", 0, 500, given), sandbox.readRaw("a", given), sandbox.write("b", "b", given),
      sandbox.edit("a", "a", "b", false, given), sandbox.delete("a", given), sandbox.grep("a", null, null, null, given),
      sandbox.glob("*", "/", given),
    ]) {
      assert.match((await call).error, /aborted by its caller/);
    }
    assert.equal((await sandbox.uploadFiles([["/tmp/x", new Uint8Array(1)]], given))[0].error, "permission_denied");
    assert.equal((await sandbox.downloadFiles(["/tmp/x"], given))[0].error, "permission_denied");
    for (const call of [sandbox.snapshot(given), sandbox.fork(given), sandbox.toTar(undefined, given)]) {
      await assert.rejects(call, (error) => error.code === "ABORTED");
    }
    assert.equal((await sandbox.read("a")).content, "a");
    assert.match((await sandbox.ls("/", { signal: "now" })).error, /must be an AbortSignal/);
    await sandbox.close();
  });

  test("with invalid arguments return an error, without an exception", async () => {
    const sandbox = await Sandbox.create();
    const nothing = [undefined, null, 3, {}, Symbol("x"), () => {}];
    for (const what of nothing) {
      await Promise.all([
        sandbox.execute(what, what), sandbox.executeStream(what, what).result, sandbox.executeStream("true", { signal: what }).result,
        sandbox.ls(what, what), sandbox.read(what, what, what, what), sandbox.readRaw(what), sandbox.write(what, what),
        sandbox.edit(what, what, what, what), sandbox.delete(what), sandbox.grep(what, what, what, what), sandbox.glob(what, what),
        sandbox.uploadFiles(what), sandbox.uploadFiles([what]), sandbox.uploadFiles([[what, what]]),
        sandbox.downloadFiles(what), sandbox.downloadFiles([what]),
      ]);
    }
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
    await sandbox.close();
    for (const what of nothing) {
      await Promise.all([sandbox.uploadFiles(what), sandbox.uploadFiles([what]), sandbox.downloadFiles([what]), sandbox.ls(what)]);
    }
  });

  test("can be given up in the middle", async () => {
    const sandbox = await Sandbox.create();
    const controller = new AbortController();
    const found = sandbox.glob("**/*", "/", { signal: controller.signal });
    controller.abort();
    assert.match((await found).error, /aborted by its caller/);
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
    await sandbox.close();
  });
});
