// A session of Runloop's official JavaScript client, against an emulator or the service.

const assert = require("node:assert/strict");
const { RunloopSDK, toFile } = require("@runloop/api-client");
const { SERVES, fetchPreview, request } = require("./previews.cjs");
const { GROWS, WAITS, nothingGrows, proved, session, until } = require("./session.cjs");

async function main() {
  const sdk = new RunloopSDK();
  const devbox = await sdk.devbox.create({ name: "one", metadata: { thread_id: "t 1" }, environment_variables: { A: "b" } });
  assert.equal((await devbox.getInfo()).status, "running");

  // Commands.
  const done = await devbox.cmd.exec("echo out; echo err >&2; echo $A; pwd; exit 3");
  assert.deepEqual([done.exitCode, await done.stdout(), await done.stderr()], [3, "out\nb\n/home/user\n", "err\n"]);
  proved("make");
  proved("run");
  proved("streams");
  assert.equal((await (await devbox.cmd.exec("seq 500")).stdout()).split("\n").length, 501);
  const pieces = [];
  const see = (piece) => {
    pieces.push(piece);
    if (piece.includes("first")) devbox.file.write({ file_path: "/tmp/seen", contents: "" });
  };
  const streamed = await devbox.cmd.exec(WAITS, { stdout: see });
  assert.deepEqual([pieces.join("").split(/\s+/).filter(Boolean), streamed.exitCode], [["first", "second"], 0]);
  proved("live");
  const run = async (line) => await (await devbox.cmd.exec(line)).stdout();
  const running = await devbox.cmd.execAsync(GROWS);
  await until(async () => (await run("cat /tmp/grows 2>/dev/null")) !== "");
  await running.kill();
  assert.equal((await running.result()).exitCode, 137);
  await nothingGrows(run);
  proved("stop");

  // Files.
  const everyByte = Buffer.alloc(1 << 20, Buffer.from([...Array(256).keys()]));
  await devbox.file.upload({ path: "/home/user/bytes", file: await toFile(everyByte, "bytes") });
  const back = await devbox.file.download({ path: "/home/user/bytes" });
  assert.ok(everyByte.equals(Buffer.from(await back.arrayBuffer())));
  proved("upload");
  proved("download");
  await devbox.file.write({ file_path: "notes.txt", contents: "héllo\n" });
  assert.equal(await devbox.file.read({ file_path: "notes.txt" }), "héllo\n");

  // Users, logs and disk snapshots. What is absent says so, without retries.
  assert.equal(await run("whoami; echo $HOME"), "user\n/home/user\n");
  const { logs } = await sdk.api.devboxes.logs.list(devbox.id);
  assert.ok(logs.some((entry) => entry.cmd === "whoami; echo $HOME") && logs.some((entry) => entry.message === "user"));
  const snapshot = await devbox.snapshotDisk({ name: "nightly" });
  const copy = await snapshot.createDevbox();
  assert.equal(await (await copy.cmd.exec("cat notes.txt")).stdout(), "héllo\n");
  await copy.shutdown();
  await snapshot.delete();
  const asked = Date.now();
  await assert.rejects(sdk.api.secrets.list(), /Tidebox's emulator of Runloop has no secrets/);
  assert.ok(Date.now() - asked < 5000);

  // Servers: a tunnel has an address for each port. The client's URL lacks the port of the emulator.
  await devbox.cmd.execAsync(SERVES);
  const tunnel = await devbox.net.enableTunnel({ auth_mode: "authenticated" });
  const emulator = process.env.RUNLOOP_BASE_URL;
  const Host = (await devbox.getTunnelUrl(8000)).replace("https://", "");
  assert.equal(Host, `8000-${tunnel.tunnel_key}.tunnel.127.0.0.1`);
  const token = { Host, "X-Runloop-Tunnel-Authorization": `Bearer ${tunnel.auth_token}` };
  assert.equal(await fetchPreview(emulator, "/a.txt", token), "hello\n");
  assert.equal((await request(emulator, "/a.txt", { Host }))[0], 401);
  await devbox.net.removeTunnel();
  assert.equal((await request(emulator, "/a.txt", token))[0], 404);
  proved("serve");

  // Lists and lifetimes.
  const listed = [];
  for await (const found of sdk.api.devboxes.list({ status: "running", limit: 1 })) listed.push(found.id);
  assert.deepEqual(listed, [devbox.id]);
  proved("list");
  assert.equal(await (await sdk.devbox.fromId(devbox.id).cmd.exec("cat notes.txt")).stdout(), "héllo\n");
  proved("find");
  await devbox.suspend();
  await sdk.api.devboxes.awaitSuspended(devbox.id);
  await devbox.resume();
  await devbox.awaitRunning();
  assert.equal(await (await sdk.devbox.fromId(devbox.id).cmd.exec("wc -c < bytes")).stdout(), "1048576\n");
  proved("wake");
  await devbox.shutdown();
  assert.equal((await sdk.api.devboxes.retrieve(devbox.id)).status, "shutdown");
  for await (const found of sdk.api.devboxes.list({ status: "running" })) assert.fail(found.id);
  proved("delete");
  const short = await sdk.devbox.create({ launch_parameters: { keep_alive_time_seconds: 3 } });
  await until(async () => (await short.getInfo()).status === "shutdown");
  proved("over");
}

session(main);
