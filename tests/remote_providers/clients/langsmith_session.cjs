// A session of LangSmith's official JavaScript client, over its WebSocket and with one request per command.

const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { CommandHandle, Sandbox, SandboxClient } = require("langsmith/sandbox");
const { absent, record, report } = require("./methods.cjs");
const { SERVES, fetchPreview, request } = require("./previews.cjs");
const { GROWS, WAITS, nothingGrows, proved, session } = require("./session.cjs");

async function main() {
  record(SandboxClient, { without: ["toString", "getApiKey", "getDefaultHeaders"] });
  record(Sandbox, { without: ["requireDataplaneUrl"] });
  record(CommandHandle);
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
  await sandbox.write("/root/bytes", bytes);
  assert.deepEqual(new Uint8Array(await sandbox.read("/root/bytes")), bytes);
  proved("upload");
  proved("download");
  await sandbox.write("/root/text", "héllo");
  assert.equal((await sandbox.run("cat /root/text")).stdout, "héllo");
  await assert.rejects(sandbox.read("/root/nothing"));

  // The user, times, parts of files, searches, links.
  assert.equal(await run("whoami; echo $HOME; pwd"), "root\n/root\n/root\n");
  assert.ok(Math.abs(Date.now() - Date.parse((await client.getSandbox("sb-node")).created_at)) < 300_000);
  const stat = await sandbox.stat("/root/bytes");
  assert.deepEqual([stat.sizeBytes ?? stat.size_bytes, (await sandbox.readRange("/root/bytes", { start: 1, end: 2 })).content.length], [1 << 20, 2]);
  assert.ok((await sandbox.ls("/root")).matches.some((entry) => entry.path === "/root/text"));
  assert.equal((await sandbox.glob("*.txt", "/root")).matches.length, 0);
  assert.equal((await sandbox.grep("héllo", "/root")).matches.length, 1);
  for (const link of [await sandbox.generateDownloadURL("/root/text"), await client.generateDownloadURL("sb-node", "/root/text")]) {
    assert.equal(await (await fetch(link.downloadUrl ?? link.download_url)).text(), "héllo");
  }
  const input = await sandbox.run("cat; echo read", { wait: false, closeInput: false });
  input.sendInput("given\n");
  input.closeInput();
  assert.equal((await input.result).stdout, "given\nread\n");
  // Input arrives while the command runs.
  const talk = await sandbox.run("while read line; do echo \"got $line\"; done; echo end", { wait: false, closeInput: false });
  talk.sendInput("one\n");
  let echoed = "";
  for await (const chunk of talk) {
    echoed += chunk.data;
    if (echoed === "got one\n") talk.closeInput();
  }
  assert.equal(echoed, "got one\nend\n");
  const late = await sandbox.reconnect(input.commandId);
  assert.equal((await (await late.reconnect()).result).stdout, "given\nread\n");

  // Snapshots of the files.
  const image = await client.createSnapshot("tools", "python:3", 1 << 30);
  assert.equal((await client.waitForSnapshot(image.id)).status, "ready");
  const first = await client.captureSnapshot("sb-node", "work");
  await run("echo changed > /root/text");
  const second = await sandbox.captureSnapshot("work");
  assert.equal((await client.getSnapshot(first.id)).name, "work");
  assert.deepEqual((await client.listSnapshots({ nameContains: "work" })).map((one) => one.id).sort(), [first.id, second.id].sort());
  const restored = await client.createSandbox(first.id, { name: "restored" });
  assert.equal((await restored.run("cat /root/text")).stdout, "héllo");
  await client.waitForSandbox("restored");
  await restored.stop();
  assert.equal(await client.getSandboxStatus("restored").then((status) => status.status), "stopped");
  await restored.start();
  await client.updateSandbox("restored", "renamed");
  await (await client.getSandbox("renamed")).delete();
  await sandbox.write("/root/text", "héllo");
  for (const one of [image, first, second]) await client.deleteSnapshot(one.id);

  const serving = await sandbox.run(SERVES, { wait: false });
  const service = await client.serviceUrl("sb-node", { port: 8000 });
  assert.equal(await fetchPreview(await service.browserUrl()), "hello\n");
  assert.equal((await request(await service.serviceUrl()))[0], 401);
  await assert.rejects(client.serviceUrl("sb-node", { port: 8000, access: "workspace" }), /no services behind a login/);
  await serving.kill();

  // What is absent says so.
  await absent(() => client.captureSnapshot("sb-node", "x", { dockerImage: "x" }), "no snapshots of Docker images");
  const context = fs.mkdtempSync(path.join(os.tmpdir(), "langsmith-session-"));
  fs.writeFileSync(path.join(context, "Dockerfile"), "FROM scratch\n");
  await absent(() => client.createSnapshotFromDockerfile("x", path.join(context, "Dockerfile"), 1 << 30, { context }), "no builds");
  fs.rmSync(context, { recursive: true });
  await absent(() => sandbox.run("tty", { pty: true }), "no terminals");

  assert.deepEqual((await client.listSandboxes()).map((one) => one.name), ["sb-node"]);
  proved("list");
  assert.equal((await (await client.getSandbox("sb-node")).run("cat /root/text")).stdout, "héllo");
  proved("find");
  await client.stopSandbox("sb-node");
  assert.equal((await client.startSandbox("sb-node")).status, "ready");
  assert.equal(await run("cat /root/text"), "héllo");
  proved("wake");
  assert.equal((await client.getSandbox("sb-node")).name, "sb-node");
  await client.deleteSandbox("sb-node");
  await assert.rejects(client.getSandbox("sb-node"));
  assert.deepEqual(await client.listSandboxes(), []);
  proved("delete");
  report({
    "SandboxClient.createSandbox": "any Docker image is accepted, with Tidebox's own files; no mounts, and without network",
    "SandboxClient.createSnapshot": "any Docker image is accepted, with Tidebox's own files",
    "Sandbox.run": "no terminals",
  });
}

session(main);
