// A working session by E2B's official client for JavaScript: whatever it meets is an emulator or the service, it cannot tell.

const assert = require("node:assert/strict");
const { CommandExitError, FileType, NotFoundError, Sandbox, TimeoutError } = require("e2b");

async function main() {
  const sandbox = await Sandbox.create({ timeoutMs: 600_000, metadata: { thread: "t 1" }, envs: { A: "b" } });
  assert.ok(await sandbox.isRunning());

  // Commands: both streams, variables, directory, codes, output as it comes, time.
  const done = await sandbox.commands.run("echo out; echo err >&2; echo $A $X; pwd", { envs: { X: "1" }, cwd: "/tmp" });
  assert.deepEqual([done.stdout, done.stderr, done.exitCode], ["out\nb 1\n/tmp\n", "err\n", 0]);
  await assert.rejects(sandbox.commands.run("echo so far; exit 3"), (error) => {
    return error instanceof CommandExitError && error.exitCode === 3 && error.stdout === "so far\n";
  });
  const pieces = [];
  await sandbox.commands.run("for i in 1 2 3; do echo $i; sleep 0.1; done", { onStdout: (piece) => pieces.push(piece) });
  assert.equal(pieces.join(""), "1\n2\n3\n");
  await assert.rejects(sandbox.commands.run("sleep 20", { timeoutMs: 500 }), TimeoutError);
  const endless = await sandbox.commands.run("while :; do sleep 0.1; done", { background: true });
  assert.ok(await endless.kill());
  await assert.rejects(endless.wait());

  // Files: text, bytes, several, lists, moves.
  const everyByte = new Uint8Array(1 << 20).map((_, index) => index % 256);
  await sandbox.files.write("/home/user/a/bytes", everyByte.buffer);
  assert.deepEqual(new Uint8Array(await sandbox.files.read("/home/user/a/bytes", { format: "bytes" })), everyByte);
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

  // Lists and lives.
  const list = async (metadata) => (await Sandbox.list({ query: { metadata } }).nextItems()).map((one) => one.sandboxId);
  assert.deepEqual(await list({ thread: "t 1" }), [sandbox.sandboxId]);
  assert.deepEqual(await list({ thread: "t 2" }), []);
  await sandbox.setTimeout(900_000);
  await sandbox.pause();
  const again = await Sandbox.connect(sandbox.sandboxId);
  assert.equal((await again.commands.run("wc -c < /home/user/a/bytes")).stdout, "1048576\n");
  assert.ok(await again.kill());
  assert.equal(await Sandbox.kill(sandbox.sandboxId), false);
  console.log("the session is done");
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
