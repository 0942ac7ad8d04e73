// A Worker that is no more: terminated because it did not end a command, or broken.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";

import { Sandbox } from "tidebox";

/** A sandbox, and the Workers that it has had. */
async function watched(context, options) {
  const workers = [];
  const post = Worker.prototype.postMessage;
  context.mock.method(Worker.prototype, "postMessage", function (...message) {
    if (!workers.includes(this)) workers.push(this);
    if (!this.deaf) post.apply(this, message);
  });
  const sandbox = await Sandbox.create(options);
  context.after(() => sandbox.close());
  return { sandbox, workers };
}

describe("a sandbox whose Worker has ended", () => {
  test("continues with the files of the last call and the same id", async (context) => {
    const { sandbox, workers } = await watched(context, { files: { "a.txt": "a\n" }, shellMode: "persistent" });
    await sandbox.execute("echo b > b.txt; rm a.txt; mkdir -p d/e; x=kept; cd d");
    await sandbox.write("/workspace/c.txt", "c\n");
    const { id } = sandbox;
    await workers[0].terminate();
    const { output } = await sandbox.execute("pwd; echo $x; ls -R /workspace; cat ../b.txt ../c.txt");
    assert.equal(output, "/workspace/d\nkept\n/workspace:\nb.txt\nc.txt\nd\n\n/workspace/d:\ne\n\n/workspace/d/e:\nb\nc\n");
    assert.deepEqual([sandbox.id, sandbox.isRunning, workers.length], [id, true, 2]);
  });

  test("is not created again if it is closed first", async (context) => {
    const { sandbox, workers } = await watched(context, { thread: "pool" });
    await workers[0].terminate();
    const call = sandbox.execute("true");
    await sandbox.close();
    assert.equal((await call).code, "CLOSED");
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual([sandbox.isRunning, workers.length], [false, 1]);
  });

  test("returns a result for calls in progress, without an exception", async (context) => {
    const { sandbox, workers } = await watched(context, {});
    const calls = [sandbox.execute("sleep 5"), sandbox.read("/none"), sandbox.execute("sleep 5")];
    await new Promise((resolve) => setTimeout(resolve, 20));
    void workers[0].terminate();
    const [first] = await Promise.all(calls);
    assert.equal(first.exitCode, null);
    assert.match(first.output, /was restarted/);
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
  });

  test("a command that blocks its Worker returns 124, and the files are kept", async (context) => {
    const { sandbox, workers } = await watched(context, {});
    await sandbox.execute("echo kept > kept.txt");
    workers[0].deaf = true;
    const started = performance.now();
    const { exitCode, stoppedBy, output } = await sandbox.execute("true", { timeoutMs: 100 });
    assert.deepEqual([exitCode, stoppedBy], [124, "timeout"]);
    assert.match(output, /was stopped because it ran for 100 ms/);
    assert.ok(performance.now() - started < 6000);
    assert.equal((await sandbox.execute("cat kept.txt")).output, "kept\n");
  });

  test("many changes are joined, and all of them survive", async (context) => {
    const { sandbox, workers } = await watched(context, {});
    for (let n = 0; n < 4; n++) {
      await sandbox.execute(`head -c 2000000 /dev/urandom > f${n}; rm -f f${n - 2}`);
    }
    const { output } = await sandbox.execute("sha256sum f*");
    await workers[0].terminate();
    assert.equal((await sandbox.execute("sha256sum f*")).output, output);
  });
});
