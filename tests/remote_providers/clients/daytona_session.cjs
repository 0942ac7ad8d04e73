// A session of Daytona's official JavaScript client, against an emulator or the service.

const assert = require("node:assert/strict");
const { Daytona, DaytonaNotFoundError } = require("@daytona/sdk");
const { SERVES, fetchPreview, request } = require("./previews.cjs");
const { GROWS, WAITS, nothingGrows, proved, session, until } = require("./session.cjs");

async function main() {
  const daytona = new Daytona();
  const sandbox = await daytona.create({ labels: { thread_id: "t 1" }, envVars: { A: "b" }, autoStopInterval: 7 });
  assert.equal(sandbox.state, "started");

  // Commands.
  const done = await sandbox.process.executeCommand("echo out; echo $A $X; pwd; exit 3", "/tmp", { X: "1" });
  assert.deepEqual([done.exitCode, done.result], [3, "out\nb 1\n/tmp\n"]);
  proved("make");
  proved("run");
  await assert.rejects(sandbox.process.executeCommand(GROWS, undefined, undefined, 3), /timeout/i);
  proved("limit");
  await nothingGrows(async (line) => (await sandbox.process.executeCommand(line)).result);
  proved("killed");
  await sandbox.process.createSession("s");
  await sandbox.process.executeSessionCommand("s", { command: "cd /tmp" });
  const said = await sandbox.process.executeSessionCommand("s", { command: "pwd; echo err >&2; (exit 4)" });
  assert.deepEqual([said.exitCode, said.stdout, said.stderr], [4, "/tmp\n", "err\n"]);
  proved("streams");
  const running = await sandbox.process.executeSessionCommand("s", { command: WAITS, runAsync: true });
  const pieces = [];
  const see = (piece) => {
    pieces.push(piece);
    if (piece.includes("first")) sandbox.fs.uploadFile(Buffer.from(""), "/tmp/seen");
  };
  await sandbox.process.getSessionCommandLogs("s", running.cmdId, see, () => {});
  assert.equal(pieces.join(""), "first\nsecond\n");
  proved("live");
  // Input for a command while it runs.
  const reads = "read line; echo \"got $line\"; until [ -e /tmp/more ]; do sleep 0.05; done; read line; echo \"got $line\"";
  const talk = await sandbox.process.executeSessionCommand("s", { command: reads, runAsync: true, suppressInputEcho: true });
  await sandbox.process.sendSessionCommandInput("s", talk.cmdId, "one");
  let echoed = "";
  const hear = async (piece) => {
    echoed += piece;
    if (echoed === "got one\n") {
      await sandbox.process.sendSessionCommandInput("s", talk.cmdId, "two\n");
      await sandbox.fs.uploadFile(Buffer.from(""), "/tmp/more");
    }
  };
  await sandbox.process.getSessionCommandLogs("s", talk.cmdId, hear, () => {});
  assert.equal(echoed, "got one\ngot two\n");
  await sandbox.process.deleteSession("s");

  // Terminals.
  let screen = "";
  const decoder = new TextDecoder();
  const onData = (data) => (screen += decoder.decode(data));
  const terminal = await sandbox.process.createPty({ id: "term", cwd: "/tmp", envs: { X: "1" }, cols: 90, rows: 30, onData });
  await terminal.waitForConnection();
  await terminal.sendInput('echo "<$X>"; pwd; stty size\n');
  await until(() => screen.includes("<1>\r\n/tmp\r\n30 90\r\n"));
  assert.equal((await terminal.resize(100, 40)).cols, 100);
  await terminal.sendInput("stty size; cat\n");
  await until(() => screen.includes("40 100\r\n"));
  await terminal.sendInput("\x03");
  await until(() => screen.includes("^C"));
  assert.deepEqual((await sandbox.process.listPtySessions()).map((session) => session.id), ["term"]);
  await terminal.sendInput("exit 3\n");
  assert.equal((await terminal.wait()).exitCode, 3);

  // Files.
  const everyByte = Buffer.alloc(1 << 20, Buffer.from([...Array(256).keys()]));
  await sandbox.fs.uploadFile(everyByte, "/home/daytona/a/bytes");
  assert.ok(everyByte.equals(await sandbox.fs.downloadFile("/home/daytona/a/bytes")));
  proved("upload");
  proved("download");
  await sandbox.fs.uploadFiles([0, 1, 2].map((n) => ({ source: Buffer.from(String(n)), destination: `/home/daytona/many/${n}` })));
  assert.deepEqual((await sandbox.fs.listFiles("/home/daytona/many")).map((entry) => entry.name).sort(), ["0", "1", "2"]);
  assert.equal((await sandbox.process.executeCommand("cat many/*")).result, "012");
  await sandbox.fs.moveFiles("/home/daytona/many/1", "/home/daytona/one");
  assert.equal((await sandbox.fs.getFileDetails("/home/daytona/one")).size, 1);
  await sandbox.fs.deleteFile("/home/daytona/one");
  await assert.rejects(sandbox.fs.getFileDetails("/home/daytona/one"), DaytonaNotFoundError);

  // Users, quotas and snapshots. What is absent says so.
  assert.equal((await sandbox.process.executeCommand("whoami; echo $HOME")).result, "daytona\n/home/daytona\n");
  assert.equal((await sandbox.fs.getFileDetails("/home/daytona/many")).mode, "drwxr-xr-x");
  await sandbox.resize({ cpu: 2 });
  assert.equal(sandbox.cpu, 2);
  await daytona.snapshot.create({ name: "image", image: "debian:12" });
  assert.deepEqual((await daytona.snapshot.list()).items.map((one) => one.name), ["image"]);
  await daytona.snapshot.delete(await daytona.snapshot.get("image"));
  if ((await sandbox.process.executeCommand("command -v python3")).exitCode === 0) {
    assert.equal((await sandbox.process.codeRun("print(1)")).result, "1\n");
  } else {
    await assert.rejects(sandbox.process.codeRun("print(1)"), /Tidebox's emulator of Daytona has no python3/);
  }
  await assert.rejects(sandbox.git.status("/tmp"), /Tidebox's emulator of Daytona has no Git/);

  // Servers: a link needs a token, unless it is signed.
  await sandbox.process.createSession("servers");
  await sandbox.process.executeSessionCommand("servers", { command: SERVES, runAsync: true });
  const link = await sandbox.getPreviewLink(8000);
  assert.equal(await fetchPreview(link.url, "/a.txt", { "x-daytona-preview-token": link.token }), "hello\n");
  assert.equal((await request(link.url))[0], 401);
  const signed = await sandbox.getSignedPreviewUrl(8000, 600);
  assert.equal(await fetchPreview(signed.url), "hello\n");
  await sandbox.expireSignedPreviewUrl(8000, signed.token);
  assert.equal((await request(signed.url))[0], 401);
  await sandbox.process.deleteSession("servers");
  proved("serve");

  // Lists and lifetimes.
  const listed = async (labels) => {
    const ids = [];
    for await (const found of daytona.list({ labels })) ids.push(found.id);
    return ids;
  };
  assert.deepEqual(await listed({}), [sandbox.id]);
  proved("list");
  assert.deepEqual(await listed({ thread_id: "t 1" }), [sandbox.id]);
  assert.deepEqual(await listed({ thread_id: "t 2" }), []);
  proved("labels");
  assert.equal((await (await daytona.get(sandbox.id)).process.executeCommand("cat many/2")).result, "2");
  proved("find");
  await sandbox.stop();
  await sandbox.start();
  assert.equal((await (await daytona.get(sandbox.id)).process.executeCommand("wc -c < a/bytes")).result, "1048576\n");
  proved("wake");
  await sandbox.delete();
  await assert.rejects(async () => {
    // The API may return it once more while it is being deleted.
    for (;;) await daytona.get(sandbox.id);
  }, DaytonaNotFoundError);
  proved("delete");
}

session(main);
