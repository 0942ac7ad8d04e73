// A working session by Daytona's official client for JavaScript: whatever it meets is an emulator or the service, it cannot tell.

const assert = require("node:assert/strict");
const { Daytona, DaytonaNotFoundError } = require("@daytona/sdk");

async function main() {
  const daytona = new Daytona();
  const sandbox = await daytona.create({ labels: { thread_id: "t 1" }, envVars: { A: "b" }, autoStopInterval: 7 });
  assert.equal(sandbox.state, "started");

  // Commands.
  const done = await sandbox.process.executeCommand("echo out; echo $A $X; pwd; exit 3", "/tmp", { X: "1" });
  assert.deepEqual([done.exitCode, done.result], [3, "out\nb 1\n/tmp\n"]);
  await assert.rejects(sandbox.process.executeCommand("sleep 20", undefined, undefined, 1), /timeout/i);
  await sandbox.process.createSession("s");
  await sandbox.process.executeSessionCommand("s", { command: "cd /tmp" });
  const said = await sandbox.process.executeSessionCommand("s", { command: "pwd; echo err >&2; (exit 4)" });
  assert.deepEqual([said.exitCode, said.stdout, said.stderr], [4, "/tmp\n", "err\n"]);
  await sandbox.process.deleteSession("s");

  // Files.
  const everyByte = Buffer.alloc(1 << 20, Buffer.from([...Array(256).keys()]));
  await sandbox.fs.uploadFile(everyByte, "/home/daytona/a/bytes");
  assert.ok(everyByte.equals(await sandbox.fs.downloadFile("/home/daytona/a/bytes")));
  await sandbox.fs.uploadFiles([0, 1, 2].map((n) => ({ source: Buffer.from(String(n)), destination: `/home/daytona/many/${n}` })));
  assert.deepEqual((await sandbox.fs.listFiles("/home/daytona/many")).map((entry) => entry.name).sort(), ["0", "1", "2"]);
  assert.equal((await sandbox.process.executeCommand("cat many/*")).result, "012");
  await sandbox.fs.moveFiles("/home/daytona/many/1", "/home/daytona/one");
  assert.equal((await sandbox.fs.getFileDetails("/home/daytona/one")).size, 1);
  await sandbox.fs.deleteFile("/home/daytona/one");
  await assert.rejects(sandbox.fs.getFileDetails("/home/daytona/one"), DaytonaNotFoundError);

  // Lists and lives.
  const listed = [];
  for await (const found of daytona.list({ labels: { thread_id: "t 1" } })) listed.push(found.id);
  assert.deepEqual(listed, [sandbox.id]);
  await sandbox.stop();
  await sandbox.start();
  assert.equal((await (await daytona.get(sandbox.id)).process.executeCommand("wc -c < a/bytes")).result, "1048576\n");
  await sandbox.delete();
  await assert.rejects(async () => {
    // It may still be told of once, on its way out.
    for (;;) await daytona.get(sandbox.id);
  }, DaytonaNotFoundError);
  console.log("the session is done");
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
