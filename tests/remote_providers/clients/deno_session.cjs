// A session of Deno's official JavaScript client, against an emulator or the service.

const assert = require("node:assert/strict");
const { Client, Sandbox } = require("@deno/sandbox");
const { GROWS, WAITS, nothingGrows, proved, session, until } = require("./session.cjs");

async function main() {
  const sandbox = await Sandbox.create({ labels: { thread: "t1" }, env: { A: "b" }, timeout: "10m", memory: "1GiB" });
  assert.match(sandbox.id, /^sbx_ord_.{20}$/);

  // Commands: both streams, variables, directory, codes, input.
  const run = async (script, options = {}) => {
    const child = await sandbox.spawn("/bin/bash", { args: ["-c", script], stdout: "piped", stderr: "piped", ...options });
    return await child.output();
  };
  const done = await run("echo out; echo err >&2; echo $A $X; pwd; exit 3", { env: { X: "1" }, cwd: "/tmp" });
  assert.deepEqual([done.stdoutText, done.stderrText, done.status.code], ["out\nb 1\n/tmp\n", "err\n", 3]);
  proved("make");
  proved("run");
  proved("streams");
  assert.equal((await sandbox.sh`echo ${"a b"}`.text()).trim(), "a b");
  const long = await run("seq 100000");
  assert.equal(long.stdoutText.length, 588895);
  const reading = await sandbox.spawn("cat", { stdin: "piped", stdout: "piped", stderr: "piped" });
  const writer = reading.stdin.getWriter();
  await writer.write(new TextEncoder().encode("given"));
  await writer.close();
  assert.equal((await reading.output()).stdoutText, "given");
  const talks = await sandbox.spawn("/bin/bash", { args: ["-c", WAITS], stdout: "piped", stderr: "piped" });
  let heard = "";
  for await (const piece of talks.stdout) {
    heard += new TextDecoder().decode(piece);
    if (heard === "first\n") await sandbox.fs.writeTextFile("/tmp/seen", "");
  }
  assert.equal(heard, "first\nsecond\n");
  proved("live");
  const endless = await sandbox.spawn("/bin/bash", { args: ["-c", GROWS], stdout: "null", stderr: "null" });
  const print = async (line) => (await run(line)).stdoutText;
  await until(async () => (await print("cat /tmp/grows 2>/dev/null")) !== "");
  await endless.kill("SIGKILL");
  assert.equal((await endless.status).signal, "SIGKILL");
  await nothingGrows(print);
  proved("stop");
  await assert.rejects(sandbox.spawn("true", { cwd: "/nowhere" }), /No such cwd/);

  // Files: text, bytes, chunks, lists, moves.
  const fs = sandbox.fs;
  await fs.mkdir("/home/app/a/b", { recursive: true });
  await fs.writeTextFile("/home/app/a/b/text", "héllo\n");
  assert.equal(await fs.readTextFile("/home/app/a/b/text"), "héllo\n");
  const bytes = new Uint8Array(300_000).map((_, index) => index % 251);
  await fs.writeFile("/home/app/bytes", bytes);
  assert.deepEqual(await fs.readFile("/home/app/bytes"), bytes);
  proved("upload");
  proved("download");
  await fs.writeFile("/home/app/streamed", new Blob([bytes]).stream());
  assert.deepEqual(await fs.readFile("/home/app/streamed"), bytes);
  const file = await fs.open("/home/app/pieces", { write: true, create: true });
  await file.write(new TextEncoder().encode("one "));
  await file.write(new TextEncoder().encode("two"));
  await file.close();
  assert.equal((await run("cat /home/app/pieces")).stdoutText, "one two");
  const names = [];
  for await (const entry of fs.readDir("/home/app")) names.push(entry.name);
  assert.deepEqual(names.sort(), ["a", "bytes", "pieces", "streamed"]);
  assert.equal((await fs.stat("/home/app/bytes")).size, 300_000);
  await fs.rename("/home/app/bytes", "/home/app/a/moved");
  await assert.rejects(fs.readFile("/home/app/bytes"), (error) => error.code === "ENOENT");
  await fs.remove("/home/app/a", { recursive: true });
  await assert.rejects(fs.stat("/home/app/a"), /No such file/);

  // The environment, lists and lifetimes.
  await sandbox.env.set("B", "c");
  assert.equal(await sandbox.env.get("B"), "c");
  const client = new Client();
  assert.deepEqual((await client.sandboxes.list({ labels: { thread: "t1" } })).map((one) => one.id), [sandbox.id]);
  proved("list");
  assert.deepEqual(await client.sandboxes.list({ labels: { thread: "t2" } }), []);
  proved("labels");
  assert.ok((await sandbox.extendTimeout("5m")) instanceof Date);
  const again = await Sandbox.connect(sandbox.id);
  assert.equal(await again.fs.readTextFile("/home/app/pieces"), "one two");
  proved("find");
  await again.close();
  await sandbox.kill();
  assert.deepEqual(await client.sandboxes.list(), []);
  proved("delete");

  // A sandbox that ends with its connection.
  const short = await Sandbox.create();
  await short.close();
  await until(async () => (await client.sandboxes.list()).length === 0);
  // A sandbox that outlives its connection until its end time.
  const timed = await Sandbox.create({ timeout: "3s" });
  assert.deepEqual((await client.sandboxes.list()).map((one) => one.id), [timed.id]);
  await until(async () => (await client.sandboxes.list()).length === 0);
  await timed.closed;
  proved("over");
}

session(main);
