// A session of LangSmith's official JavaScript client, over its WebSocket and with one request per command.

const assert = require("node:assert/strict");
const { SandboxClient } = require("langsmith/sandbox");
const { GROWS, WAITS, nothingGrows, proved, session } = require("./session.cjs");

async function main() {
  const client = new SandboxClient();
  const sandbox = await client.createSandbox(undefined, { name: "sb-node", idleTtlSeconds: 600 });
  assert.equal(sandbox.status, "ready");

  const run = async (line) => (await sandbox.run(line)).stdout;
  for (const over of ["a WebSocket", "one request"]) {
    if (over === "one request") sandbox._wsAvailable = async () => false;
    const done = await sandbox.run("echo out; echo err >&2; echo $X; pwd", { env: { X: "1" }, cwd: "/tmp" });
    assert.deepEqual([done.stdout, done.stderr, done.exit_code], ["out\n1\n/tmp\n", "err\n", 0], over);
    assert.equal((await sandbox.run("exit 3")).exit_code, 3);
    await assert.rejects(sandbox.run(GROWS, { timeout: 3 }), undefined, over);
    await nothingGrows(run);
  }
  for (const feature of ["make", "run", "streams", "limit", "killed"]) proved(feature);
  delete sandbox._wsAvailable;

  const pieces = [];
  const onStdout = (piece) => {
    pieces.push(piece);
    if (piece.includes("first")) sandbox.write("/tmp/seen", "");
  };
  await sandbox.run(WAITS, { onStdout });
  assert.equal(pieces.join(""), "first\nsecond\n");
  proved("live");
  const handle = await sandbox.run(GROWS, { wait: false });
  for await (const chunk of handle) {
    assert.equal(chunk.data, "begun\n");
    handle.kill();
    break;
  }
  await nothingGrows(run);
  proved("stop");

  const bytes = new Uint8Array(1 << 20).map((_, index) => index % 256);
  await sandbox.write("/home/user/bytes", bytes);
  assert.deepEqual(new Uint8Array(await sandbox.read("/home/user/bytes")), bytes);
  proved("upload");
  proved("download");
  await sandbox.write("/home/user/text", "héllo");
  assert.equal((await sandbox.run("cat /home/user/text")).stdout, "héllo");
  await assert.rejects(sandbox.read("/home/user/nothing"));

  assert.deepEqual((await client.listSandboxes()).map((one) => one.name), ["sb-node"]);
  proved("list");
  assert.equal((await (await client.getSandbox("sb-node")).run("cat /home/user/text")).stdout, "héllo");
  proved("find");
  await client.stopSandbox("sb-node");
  assert.equal((await client.startSandbox("sb-node")).status, "ready");
  assert.equal(await run("cat /home/user/text"), "héllo");
  proved("wake");
  assert.equal((await client.getSandbox("sb-node")).name, "sb-node");
  await client.deleteSandbox("sb-node");
  await assert.rejects(client.getSandbox("sb-node"));
  assert.deepEqual(await client.listSandboxes(), []);
  proved("delete");
}

session(main);
