// A working session by LangSmith's official client for JavaScript: over its WebSocket, and over one request for each command.

const assert = require("node:assert/strict");
const { SandboxClient } = require("langsmith/sandbox");

async function main() {
  const client = new SandboxClient();
  const sandbox = await client.createSandbox(undefined, { name: "sb-node", idleTtlSeconds: 600 });
  assert.equal(sandbox.status, "ready");

  for (const over of ["a WebSocket", "one request"]) {
    if (over === "one request") sandbox._wsAvailable = async () => false;
    const done = await sandbox.run("echo out; echo err >&2; echo $X; pwd", { env: { X: "1" }, cwd: "/tmp" });
    assert.deepEqual([done.stdout, done.stderr, done.exit_code], ["out\n1\n/tmp\n", "err\n", 0], over);
    assert.equal((await sandbox.run("exit 3")).exit_code, 3);
    await assert.rejects(sandbox.run("sleep 20", { timeout: 1 }), undefined, over);
  }
  delete sandbox._wsAvailable;

  const pieces = [];
  await sandbox.run("for i in 1 2 3; do echo $i; sleep 0.1; done", { onStdout: (piece) => pieces.push(piece) });
  assert.equal(pieces.join(""), "1\n2\n3\n");
  const handle = await sandbox.run("echo begun; while :; do sleep 0.1; done", { wait: false });
  for await (const chunk of handle) {
    assert.equal(chunk.data, "begun\n");
    handle.kill();
    break;
  }

  const bytes = new Uint8Array(1 << 20).map((_, index) => index % 256);
  await sandbox.write("/home/user/bytes", bytes);
  assert.deepEqual(new Uint8Array(await sandbox.read("/home/user/bytes")), bytes);
  await sandbox.write("/home/user/text", "héllo");
  assert.equal((await sandbox.run("cat /home/user/text")).stdout, "héllo");
  await assert.rejects(sandbox.read("/home/user/nothing"));

  assert.deepEqual((await client.listSandboxes()).map((one) => one.name), ["sb-node"]);
  await client.stopSandbox("sb-node");
  assert.equal((await client.startSandbox("sb-node")).status, "ready");
  assert.equal((await client.getSandbox("sb-node")).name, "sb-node");
  await client.deleteSandbox("sb-node");
  await assert.rejects(client.getSandbox("sb-node"));
  console.log("the session is done");
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
