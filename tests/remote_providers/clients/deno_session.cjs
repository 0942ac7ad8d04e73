// A session of Deno's official JavaScript client, against an emulator or the service.

const assert = require("node:assert/strict");
const nodeFs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { ChildProcess, Client, FsFile, Sandbox } = require("@deno/sandbox");
const { absent, record, report } = require("./methods.cjs");
const { SERVES, fetchPreview } = require("./previews.cjs");
const { GROWS, WAITS, nothingGrows, proved, session, until } = require("./session.cjs");

async function main() {
  for (const kind of [Sandbox, ChildProcess, FsFile]) record(kind);
  const sandbox = await Sandbox.create({ labels: { thread: "t1" }, env: { A: "b" }, timeout: "10m", memory: "1GiB" });
  assert.match(sandbox.id, /^sbx_ord_.{20}$/);

  const parts = { fs: "SandboxFs", env: "SandboxEnv", deno: "SandboxDeno" };
  for (const [part, name] of Object.entries(parts)) record(Object.getPrototypeOf(sandbox[part]), { name });

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
  // Input arrives while the command runs.
  const talk = await sandbox.spawn("cat", { stdin: "piped", stdout: "piped", stderr: "piped" });
  const words = talk.stdin.getWriter();
  await words.write(new TextEncoder().encode("one\n"));
  let echoed = "";
  for await (const piece of talk.stdout) {
    echoed += new TextDecoder().decode(piece);
    if (echoed === "one\n") await words.close();
  }
  assert.deepEqual([echoed, (await talk.status).code], ["one\n", 0]);
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

  await fs.mkdir("/home/app/w/x", { recursive: true });
  await fs.writeTextFile("/home/app/w/x/a.ts", "1", { mode: 0o600 });
  await fs.writeTextFile("/home/app/w/b.js", "1");
  await fs.symlink("/home/app/w/b.js", "/home/app/w/link");
  const paths = async (entries) => {
    const all = [];
    for await (const entry of entries) all.push(`${entry.path.replace("/home/app/", "")} ${entry.isDirectory ? "d" : entry.isSymlink ? "l" : "f"}`);
    return all.sort();
  };
  assert.deepEqual(await paths(fs.walk("/home/app/w")), ["w d", "w/b.js f", "w/link l", "w/x d", "w/x/a.ts f"]);
  assert.deepEqual(await paths(fs.walk("/home/app/w", { maxDepth: 1, includeDirs: false, exts: [".js"] })), ["w/b.js f"]);
  assert.deepEqual(await paths(fs.expandGlob("/home/app/w/**/*.ts")), ["w/x/a.ts f"]);
  assert.deepEqual(await paths(fs.expandGlob("*", { root: "/home/app/w", includeDirs: false })), ["w/b.js f", "w/link l"]);
  await assert.rejects(paths(fs.walk("/home/app/none")), /No such file/);

  // Modes, owners, times and links.
  assert.equal((await fs.stat("/home/app/w/x/a.ts")).mode, 0o100600);
  await fs.chmod("/home/app/w/x/a.ts", 0o640);
  const stat = await fs.stat("/home/app/w/x/a.ts");
  assert.deepEqual([stat.mode, stat.uid], [0o100640, 1000]);
  assert.ok(Math.abs(Date.now() - stat.mtime.getTime()) < 100_000);
  assert.equal((await fs.lstat("/home/app/w/link")).isSymlink, true);
  assert.equal(await fs.readLink("/home/app/w/link"), "/home/app/w/b.js");
  assert.equal(await fs.realPath("/home/app/w/link"), "/home/app/w/b.js");
  await fs.utime("/home/app/w/b.js", new Date(1e12), new Date(1e12));
  assert.equal((await fs.stat("/home/app/w/b.js")).mtime.getTime(), 1e12);
  await fs.link("/home/app/w/b.js", "/home/app/w/hard");
  await fs.copyFile("/home/app/w/hard", "/home/app/w/copy");
  await fs.chown("/home/app/w/copy", 1000, 1000);
  await assert.rejects(fs.chown("/home/app/w/copy", 0, 0), (error) => error.code === "EPERM");
  assert.equal(await print("whoami; echo $HOME ~; pwd"), "app\n/home/app /home/app\n/home/app\n");
  assert.ok(Math.abs(Date.now() / 1000 - Number(await print("date +%s"))) < 100);

  // Temporary files, lengths, open files.
  const temporary = await fs.makeTempFile({ dir: "/home/app/w", prefix: "a-", suffix: ".txt" });
  assert.match(temporary, /^\/home\/app\/w\/a-.{8}\.txt$/);
  assert.equal((await fs.stat(temporary)).mode, 0o100600);
  assert.ok((await fs.stat(await fs.makeTempDir())).isDirectory);
  await fs.writeTextFile(temporary, "hello world");
  await fs.truncate(temporary, 5);
  assert.equal(await fs.readTextFile(temporary), "hello");
  await fs.truncate(temporary);
  assert.equal((await fs.stat(temporary)).size, 0);
  await assert.rejects(fs.truncate("/home/app/none", 5), (error) => error.code === "ENOENT");
  const open = await fs.create("/home/app/w/open");
  await open.write(new TextEncoder().encode("hello"));
  assert.equal((await open.stat()).size, 5);
  await open.truncate(2);
  assert.equal(await open.seek(0, 0), 0);
  const buffer = new Uint8Array(10);
  assert.equal(await open.read(buffer), 2);
  await open.utime(new Date(1e12), new Date(1e12));
  await open.sync();
  await open.syncData();
  await absent(() => open.lock(true), "no locks of files");
  await absent(() => open.unlock(), "no locks of files");
  await open.close();
  assert.equal(await fs.readTextFile("/home/app/w/open"), "he");

  // Large files, and local ones.
  const large = new Uint8Array(60 << 20).map((_, index) => index % 253);
  await fs.writeFile("/home/app/large", large);
  assert.ok(Buffer.from(await fs.readFile("/home/app/large")).equals(Buffer.from(large.buffer)));
  await print("head -c 90000000 /dev/zero > /home/app/large");
  await assert.rejects(fs.readFile("/home/app/large"), /read it in parts/);
  const local = nodeFs.mkdtempSync(path.join(os.tmpdir(), "deno-session-"));
  await fs.remove("/home/app/large");
  await fs.download("/home/app/w/b.js", path.join(local, "b.js"));
  await fs.upload(path.join(local, "b.js"), "/home/app/uploaded");
  assert.equal(await fs.readTextFile("/home/app/uploaded"), "1");
  nodeFs.rmSync(local, { recursive: true });
  const abort = new AbortController();
  const slow = fs.readFile("/home/app/uploaded", { signal: abort.signal });
  abort.abort();
  await slow.catch((error) => assert.match(error.message, /aborted/));

  // Servers: an exposed port has a domain.
  await sandbox.spawn("/bin/bash", { args: ["-c", SERVES], stdout: "null", stderr: "null" });
  const exposed = (await sandbox.exposeHttp({ port: 8000 })).replace("https://", "");
  assert.equal(await fetchPreview(exposed), "hello\n");
  proved("serve");

  // What is absent says so.
  await absent(() => paths(fs.walk("/home/app", { match: [/x/] })), "no regular expressions");
  await absent(() => fs.umask(0o77), "no mask");
  await absent(() => sandbox.deno.run({ code: "1" }), "no Deno programs");
  await absent(() => sandbox.deno.eval("1"), "no Deno programs");
  await absent(() => sandbox.deno.repl(), "no Deno programs");
  await absent(() => sandbox.deno.deploy("app", { build: { mode: "none", entrypoint: "main.ts" } }), "no deployments");
  await absent(() => sandbox.deploy("app", { build: { mode: "none", entrypoint: "main.ts" } }), "no deployments");
  await absent(() => sandbox.exposeHttp({ pid: 1 }), "no Deno programs");
  await absent(() => sandbox.exposeSsh(), "no SSH");
  await absent(() => sandbox.exposeVscode(), "no VS Code");
  await absent(() => sandbox.fetch("http://localhost/"), "no requests to sandboxes");
  await absent(() => Sandbox.create({ volumes: { "/data": "volume" } }), "no volumes");
  await absent(() => Sandbox.create({ root: "volume" }), "no volumes and snapshots as root");

  // The environment, lists and lifetimes.
  await sandbox.env.set("B", "c");
  assert.equal(await sandbox.env.get("B"), "c");
  await sandbox.env.delete("B");
  assert.deepEqual(await sandbox.env.toObject(), { A: "b" });
  const client = new Client();
  record(Object.getPrototypeOf(client.sandboxes), { name: "SandboxesClient" });
  await client.sandboxes.create().then((one) => one.kill());
  await client.sandboxes.connect({ id: sandbox.id }).then((one) => one.close());
  const [listed] = await client.sandboxes.list();
  assert.ok(Math.abs(Date.now() - new Date(listed.createdAt).getTime()) < 300_000);
  for (const field of ["apps", "layers", "volumes", "snapshots", "revisions", "timelines"]) {
    const kind = Object.getPrototypeOf(client[field]);
    record(kind, { name: kind.constructor.name });
    for (const method of Object.getOwnPropertyNames(kind).filter((name) => name !== "constructor")) {
      await absent(async () => {
        const given = await client[field][method]("x", { slug: "x", region: "ord", capacity: "1GiB", volume: "x" });
        for await (const piece of given) return piece;
      });
    }
  }
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
  report({
    "Sandbox.create": "no volumes, and without network",
    "SandboxesClient.create": "no volumes, and without network",
    "Sandbox.exposeHttp": "ports only; without TLS, below `localhost`",
    "ChildProcess.kill": "every signal kills",
    "SandboxFs.readFile": "up to 75 MB, the largest message that the client accepts",
    "SandboxFs.walk": "without `match`, `skip` and `followSymlinks`",
    "SandboxFs.expandGlob": "without `exclude` and braces",
    "SandboxFs.chown": "the user cannot change",
    "FsFile.write": "stored when the file is closed or synchronized",
  });
}

session(main);
