// A session of Modal's official JavaScript client, against an emulator or the service.

const assert = require("node:assert/strict");
const { ModalClient, Probe, Sandbox } = require("modal");
const { absent, record, report } = require("./methods.cjs");
const { SERVES, fetchPreview } = require("./previews.cjs");
const { GROWS, WAITS, nothingGrows, proved, session, until } = require("./session.cjs");

async function main() {
  const modal = new ModalClient({ logLevel: "error" });
  record(Sandbox, { name: "Sandbox", without: ["experimentalUpdateOutboundPolicy"] });
  const services = { sandboxes: "SandboxService", images: "ImageService", apps: "AppService", secrets: "SecretService" };
  // They differ only in the definition of the image, or need a memory snapshot.
  const without = ["fromAwsEcr", "fromGcpArtifactRegistry", "experimentalFromSnapshot"];
  for (const [field, name] of Object.entries(services)) record(Object.getPrototypeOf(modal[field]), { name, without });

  const app = await modal.apps.fromName("agents", { createIfMissing: true });
  await assert.rejects(modal.apps.fromName("none"), /not found/);
  const image = modal.images.fromRegistry("python:3.12-slim");
  const create = (params) => modal.sandboxes.create(app, image, params);
  const tags = { thread: "t 1" };
  const sandbox = await create({ workdir: "/workspace", tags, env: { A: "b" }, name: "first", timeoutMs: 120_000 });
  await assert.rejects(create({ name: "first" }), /already exists/);

  // Commands: both streams, variables, directory, codes, input, time.
  const done = await sandbox.exec(["bash", "-c", "echo out; echo err >&2; echo $A $X; pwd; exit 3"], {
    env: { X: "1" },
    workdir: "/tmp",
  });
  assert.equal(await done.stdout.readText(), "out\nb 1\n/tmp\n");
  assert.equal(await done.stderr.readText(), "err\n");
  assert.equal(await done.wait(), 3);
  for (const feature of ["make", "run", "streams"]) proved(feature);
  const reader = await sandbox.exec(["sort", "-r"]);
  await reader.stdin.writeText("a\nb\n");
  await reader.stdin.close();
  assert.equal(await reader.stdout.readText(), "b\na\n");
  // Input arrives while the command runs.
  const talk = await sandbox.exec(["bash", "-c", "while read line; do echo \"got $line\"; done; echo end"]);
  await talk.stdin.writeText("one\n");
  let echoed = "";
  for await (const piece of talk.stdout) {
    echoed += piece;
    if (echoed === "got one\n") await talk.stdin.close();
  }
  assert.deepEqual([echoed, await talk.wait()], ["got one\nend\n", 0]);
  const print = async (line) => (await sandbox.exec(["bash", "-c", line])).stdout.readText();
  const late = await sandbox.exec(["bash", "-c", GROWS], { timeoutMs: 3000 });
  // The client has the same deadline, and either the client or the emulator is first.
  assert.notEqual(await late.wait().catch(() => "late"), 0);
  proved("limit");
  await nothingGrows(print);
  proved("killed");
  let heard = "";
  const talks = await sandbox.exec(["bash", "-c", WAITS]);
  for await (const piece of talks.stdout) {
    heard += piece;
    if (heard === "first\n") await sandbox.filesystem.writeText("", "/tmp/seen");
  }
  assert.equal(heard, "first\nsecond\n");
  proved("live");
  assert.equal(await print("seq 100000"), Array.from({ length: 100_000 }, (_, n) => `${n + 1}\n`).join(""));

  // Files, and the user.
  const files = sandbox.filesystem;
  record(Object.getPrototypeOf(files), { name: "SandboxFilesystem" });
  const bytes = new Uint8Array(1 << 20).map((_, index) => index % 251);
  await files.writeBytes(bytes, "/workspace/bytes");
  assert.deepEqual(new Uint8Array(await files.readBytes("/workspace/bytes")), bytes);
  proved("upload");
  proved("download");
  await files.writeText("héllo\n", "/workspace/a/b.txt");
  assert.equal(await files.readText("/workspace/a/b.txt"), "héllo\n");
  await print("chmod 600 /workspace/a/b.txt");
  const [entry] = await files.listFiles("/workspace/a");
  assert.deepEqual([entry.name, entry.size, entry.mode, entry.owner], ["b.txt", 7, 0o600, "root"]);
  const stat = await files.stat("/workspace/a/b.txt");
  assert.ok(Math.abs(Date.now() / 1000 - stat.modifiedTime) < 100);
  await files.makeDirectory("/workspace/new/deep");
  await files.remove("/workspace/new", { recursive: true });
  await assert.rejects(files.readText("/workspace/new/x"));
  await files.copyToLocal("/workspace/bytes", "/tmp/modal-session-bytes");
  await files.copyFromLocal("/tmp/modal-session-bytes", "/workspace/copied");
  assert.equal(await print("cmp /workspace/bytes /workspace/copied && whoami; echo $HOME"), "root\n/root\n");
  await absent(async () => {
    for await (const event of files.watch("/workspace", { timeoutMs: 1000 })) return event;
  }, "no watches of files");

  // A sandbox with a command ends with it, and its output stays.
  const main = await create({ command: ["bash", "-c", "echo out; echo err >&2; exit 3"] });
  assert.equal(await main.wait(), 3);
  assert.deepEqual([await main.stdout.readText(), await main.stderr.readText(), await main.poll()], ["out\n", "err\n", 3]);
  const copies = await create({ command: ["cat"] });
  assert.equal(await copies.poll(), null);
  await copies.stdin.writeText("given");
  await copies.stdin.close();
  assert.equal(await copies.stdout.readText(), "given");
  const ready = await create({ readinessProbe: Probe.withExec(["test", "-d", "/root"]) });
  await ready.waitUntilReady(30_000);
  await ready.terminate();

  // A snapshot of the files is an image.
  const snapshot = await sandbox.snapshotFilesystem();
  const command = ["cat", "/workspace/a/b.txt"];
  const restored = await modal.sandboxes.create(app, snapshot, { command });
  assert.equal(await restored.stdout.readText(), "héllo\n");
  const same = await modal.images.fromId(snapshot.imageId);
  assert.equal(await (await modal.sandboxes.create(app, same, { command })).stdout.readText(), "héllo\n");
  await modal.images.delete(snapshot.imageId);
  await assert.rejects(modal.images.fromId(snapshot.imageId));

  // Servers: the ports of the creation have tunnels, which end with the sandbox.
  const ports = await create({ unencryptedPorts: [8000], command: ["bash", "-c", SERVES] });
  const [host, port] = (await ports.tunnels())[8000].tcpSocket;
  let body;
  await until(async () => (body = await fetchPreview(`http://${host}:${port}`).catch(() => "")));
  assert.equal(body, "hello\n");
  await ports.terminate();
  await until(() => fetchPreview(`http://${host}:${port}`).then(() => false, (error) => error.code === "ECONNREFUSED"));
  proved("serve");

  // What is absent says so.
  assert.deepEqual(await sandbox.tunnels(), {});
  await absent(() => sandbox.createConnectToken(), "no connect tokens");
  await absent(() => sandbox.mountImage("/mnt", image), "no mounts of images");
  await absent(() => sandbox.unmountImage("/mnt"), "no mounts of images");
  await absent(() => sandbox.reloadVolumes(), "no volumes");
  await absent(() => sandbox.updateNetworkPolicy({ outboundCidrAllowlist: [], outboundDomainAllowlist: [] }), "network policy");
  await absent(() => sandbox.exec(["bash"], { pty: true }), "no terminals");
  await absent(() => sandbox.snapshotDirectory("/workspace"), "no snapshots of directories");
  await absent(() => sandbox.experimentalSnapshot(), "no memory snapshots");
  await absent(() => sandbox.experimentalGetExitSnapshot({ timeoutMs: 1000 }), "no exit snapshots");
  await absent(() => sandbox.experimentalSidecars.list(), "no sidecars");
  await absent(() => create({ gpu: "T4" }), "no GPUs");
  await absent(() => modal.images.fromName("x"), "no builds and names of images");
  await absent(() => modal.secrets.fromName("x"), "no stored secrets");
  await absent(() => modal.secrets.delete("x"), "no stored secrets");
  await absent(() => modal.volumes.fromName("x", { createIfMissing: true }), "no volumes");
  await absent(() => modal.queues.fromName("x", { createIfMissing: true }), "no queues");
  await absent(() => modal.functions.fromName("a", "x"), "no functions");
  await absent(() => modal.cls.fromName("a", "x"), "no functions");
  await absent(() => modal.proxies.fromName("x"), "no proxies");
  const secret = await modal.secrets.fromObject({ K: "v" });
  assert.equal(await (await create({ command: ["bash", "-c", "echo $K"], secrets: [secret] })).stdout.readText(), "v\n");

  // Lists, names and lives.
  const ids = async (params) => {
    const found = [];
    for await (const one of modal.sandboxes.list({ appId: app.appId, ...params })) found.push(one.sandboxId);
    return found;
  };
  await until(async () => (await ids()).length === 1);
  assert.deepEqual(await ids(), [sandbox.sandboxId]);
  proved("list");
  assert.deepEqual(await ids({ tags }), [sandbox.sandboxId]);
  assert.deepEqual(await ids({ tags: { thread: "t 2" } }), []);
  proved("labels");
  await sandbox.setTags({ thread: "t 2" });
  assert.deepEqual(await sandbox.getTags(), { thread: "t 2" });
  await sandbox.experimentalSetName("second");
  assert.equal((await modal.sandboxes.fromName("agents", "second")).sandboxId, sandbox.sandboxId);
  const again = await modal.sandboxes.fromId(sandbox.sandboxId);
  assert.equal(await (await again.exec(command)).stdout.readText(), "héllo\n");
  proved("find");
  again.detach();
  assert.equal(await sandbox.terminate({ wait: true }), 137);
  assert.equal(await sandbox.poll(), 137);
  assert.deepEqual(await ids(), []);
  proved("delete");
  const short = await create({ timeoutMs: 3000 });
  await until(async () => (await short.poll()) !== null);
  assert.deepEqual(await ids(), []);
  proved("over");

  // The older API, which the client uses with this variable.
  process.env.MODAL_SANDBOX_V2 = "0";
  const second = new ModalClient({ logLevel: "error" });
  const older = await second.sandboxes.create(app, image, { command: ["bash", "-c", "echo $A; exit 3"], env: { A: "b" } });
  assert.equal(older.sandboxId.length, "sb-".length + 22);
  assert.deepEqual([await older.wait(), await older.stdout.readText()], [3, "b\n"]);
  const idle = await second.sandboxes.create(app, image, { name: "older" });
  assert.equal(await (await idle.exec(["echo", "out"])).stdout.readText(), "out\n");
  assert.equal((await second.sandboxes.fromName("agents", "older")).sandboxId, idle.sandboxId);
  await idle.terminate();
  report({
    "Sandbox.exec": "no terminals",
    "Sandbox.tunnels": "without TLS; at ports of 127.0.0.1",
    "Sandbox.waitUntilReady": "probes that run a command",
    "SandboxService.create": "no GPUs, volumes, mounts or terminals, and without network",
    "ImageService.fromRegistry": "any name is accepted, with Tidebox's own files",
  });
}

session(main);
