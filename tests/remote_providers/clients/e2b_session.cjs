// A session of E2B's official JavaScript client, against an emulator or the service.

const assert = require("node:assert/strict");
const { CommandExitError, FileType, NotFoundError, Sandbox, TimeoutError } = require("e2b");
const { ECHOES, SERVES, fetchPreview, request, upgrade } = require("./previews.cjs");
const { GROWS, WAITS, nothingGrows, proved, session, until } = require("./session.cjs");

async function main() {
  const sandbox = await Sandbox.create({ timeoutMs: 600_000, metadata: { thread: "t 1" }, envs: { A: "b" } });
  assert.ok(await sandbox.isRunning());

  // Commands: both streams, variables, directory, codes, output as it comes, time.
  const done = await sandbox.commands.run("echo out; echo err >&2; echo $A $X; pwd", { envs: { X: "1" }, cwd: "/tmp" });
  assert.deepEqual([done.stdout, done.stderr, done.exitCode], ["out\nb 1\n/tmp\n", "err\n", 0]);
  proved("make");
  proved("streams");
  await assert.rejects(sandbox.commands.run("echo so far; exit 3"), (error) => {
    return error instanceof CommandExitError && error.exitCode === 3 && error.stdout === "so far\n";
  });
  proved("run");
  const pieces = [];
  const onStdout = (piece) => {
    pieces.push(piece);
    if (piece.includes("first")) sandbox.files.write("/tmp/seen", "");
  };
  await sandbox.commands.run(WAITS, { onStdout });
  assert.equal(pieces.join(""), "first\nsecond\n");
  proved("live");
  const run = async (line) => (await sandbox.commands.run(line)).stdout;
  await assert.rejects(sandbox.commands.run(GROWS, { timeoutMs: 3000 }), TimeoutError);
  proved("limit");
  await nothingGrows(run);
  proved("killed");
  const endless = await sandbox.commands.run(GROWS, { background: true });
  await until(() => sandbox.files.exists("/tmp/grows"));
  assert.ok(await endless.kill());
  await assert.rejects(endless.wait());
  await nothingGrows(run);
  proved("stop");

  // Files: text, bytes, several, lists, moves.
  const everyByte = new Uint8Array(1 << 20).map((_, index) => index % 256);
  await sandbox.files.write("/home/user/a/bytes", everyByte.buffer);
  assert.deepEqual(new Uint8Array(await sandbox.files.read("/home/user/a/bytes", { format: "bytes" })), everyByte);
  proved("upload");
  proved("download");
  await sandbox.files.write([0, 1, 2].map((n) => ({ path: `/home/user/many/${n}`, data: String(n) })));
  assert.equal((await sandbox.commands.run("cat /home/user/many/*")).stdout, "012");
  const listed = await sandbox.files.list("/home/user/many");
  assert.deepEqual(listed.map((entry) => [entry.name, entry.type]).sort(), ["0", "1", "2"].map((n) => [n, FileType.FILE]));
  assert.ok(await sandbox.files.makeDir("/home/user/made"));
  await sandbox.files.rename("/home/user/many/1", "/home/user/made/one");
  assert.equal(await sandbox.files.read("/home/user/made/one"), "1");
  assert.equal(await sandbox.files.exists("/home/user/many/1"), false);
  await sandbox.files.remove("/home/user/made");
  await assert.rejects(sandbox.files.read("/home/user/made/one"), NotFoundError);

  // Changes of files as a stream, signed URLs, clocks, resources and snapshots.
  const events = [];
  const see = (event) => void events.push(`${event.type} ${event.name}`);
  const watch = await sandbox.files.watchDir("/home/user/many", see, { recursive: true });
  await run("echo x > many/new; mkdir many/deep");
  await until(() => events.includes("create new") && events.includes("write new") && events.includes("create deep"));
  await sandbox.files.remove("/home/user/many/new");
  await until(() => events.includes("remove new"));
  await watch.stop();
  await assert.rejects(sandbox.files.watchDir("/none", see));
  const url = await sandbox.downloadUrl("/home/user/a/bytes", { useSignatureExpiration: 60 });
  assert.deepEqual(new Uint8Array(await (await fetch(url)).arrayBuffer()), everyByte);
  assert.equal((await fetch(url.replace("bytes", "other"))).status, 401);
  assert.equal(await run("whoami; echo $HOME"), "user\n/home/user\n");
  const info = await sandbox.getInfo();
  assert.ok(Math.abs(info.endAt - info.startedAt - 600_000) < 10_000 && Math.abs(Date.now() - info.startedAt) < 600_000, info);
  assert.ok((await sandbox.getMetrics())[0].diskUsed > everyByte.length);
  const taken = await sandbox.createSnapshot();
  const copy = await Sandbox.create(taken.snapshotId);
  assert.equal(await copy.files.read("/home/user/many/0"), "0");
  await copy.kill();
  assert.ok(await Sandbox.deleteSnapshot(taken.snapshotId));

  // Terminals.
  let screen = "";
  const decoder = new TextDecoder();
  const terminal = await sandbox.pty.create({ cols: 80, rows: 24, cwd: "/tmp", onData: (data) => (screen += decoder.decode(data)) });
  const press = (keys) => sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode(keys));
  await press("pwd; stty size\r");
  await until(() => screen.includes("/tmp\r\n24 80\r\n"));
  await sandbox.pty.resize(terminal.pid, { cols: 100, rows: 40 });
  await press("stty size; cat\r");
  await until(() => screen.includes("40 100\r\n"));
  await press("\x03");
  await until(() => screen.includes("^C"));
  assert.ok(await sandbox.pty.kill(terminal.pid));
  await assert.rejects(terminal.wait());
  await assert.rejects(sandbox.updateNetwork({}), /Tidebox's emulator of E2B has no network rules/);

  // Servers: every port has an address. That of a private sandbox needs a token, and none is left of a sandbox that was killed.
  const background = { background: true, timeoutMs: 0 };
  const served = await sandbox.commands.run(SERVES, background);
  assert.equal(await fetchPreview(sandbox.getHost(8000)), "hello\n");
  assert.equal((await request(sandbox.getHost(8009)))[0], 502);
  const hidden = await Sandbox.create({ timeoutMs: 600_000, network: { allowPublicTraffic: false } });
  await hidden.commands.run(SERVES, background);
  await hidden.commands.run(ECHOES, background);
  const token = { "e2b-traffic-access-token": hidden.trafficAccessToken };
  assert.equal(await fetchPreview(hidden.getHost(8000), "/a.txt", token), "hello\n");
  assert.equal((await request(hidden.getHost(8000)))[0], 403);
  const socket = await upgrade(hidden.getHost(8001), token);
  const end = new Promise((resolve) => socket.on("close", resolve).on("error", () => {}).resume());
  await hidden.kill();
  await end;
  assert.equal((await request(hidden.getHost(8000), "/a.txt", token))[0], 502);
  await served.kill();
  await assert.rejects(served.wait());
  proved("serve");

  // Lists and lifetimes.
  const list = async (metadata) => (await Sandbox.list({ query: { metadata } }).nextItems()).map((one) => one.sandboxId);
  assert.deepEqual(await list({ thread: "t 1" }), [sandbox.sandboxId]);
  proved("list");
  assert.deepEqual(await list({ thread: "t 2" }), []);
  proved("labels");
  await sandbox.setTimeout(900_000);
  const same = await Sandbox.connect(sandbox.sandboxId);
  assert.equal(await same.files.read("/home/user/many/0"), "0");
  proved("find");
  await sandbox.pause();
  assert.equal(await sandbox.isRunning(), false);
  const again = await Sandbox.connect(sandbox.sandboxId);
  assert.equal((await again.commands.run("wc -c < /home/user/a/bytes")).stdout, "1048576\n");
  proved("wake");
  assert.ok(await again.kill());
  assert.equal(await Sandbox.kill(sandbox.sandboxId), false);
  assert.deepEqual((await Sandbox.list().nextItems()).length, 0);
  proved("delete");
  const short = await Sandbox.create({ timeoutMs: 3000 });
  await until(async () => !(await short.isRunning()));
  assert.deepEqual((await Sandbox.list().nextItems()).length, 0);
  proved("over");
}

session(main);
