// A sandbox that starts with a copy of a host directory.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

import { Sandbox } from "tidebox";

import { noWorkers } from "./engine.mjs";

/** A folder with files of every kind, and beside it one that nobody may see. */
function folders(context) {
  const root = fs.mkdtempSync(join(tmpdir(), "tidebox-seed-"));
  context.after(() => fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const [inside, outside] = [join(root, "inside"), join(root, "outside")];
  fs.mkdirSync(join(inside, "d/e"), { recursive: true });
  fs.mkdirSync(outside);
  fs.writeFileSync(join(inside, "a.txt"), "a\n");
  fs.writeFileSync(join(inside, "d/e/run.sh"), "#!/bin/sh\necho ran\n");
  fs.chmodSync(join(inside, "d/e/run.sh"), 0o755);
  fs.utimesSync(join(inside, "a.txt"), 1_000_000_000, 1_000_000_000);
  fs.writeFileSync(join(inside, "binary"), Uint8Array.of(0, 255, 10, 0));
  fs.symlinkSync("a.txt", join(inside, "link"));
  fs.writeFileSync(join(outside, "secret.txt"), "secret\n");
  fs.symlinkSync(outside, join(inside, "out"));
  return { inside, outside };
}

async function seeded(context, options = {}) {
  const all = folders(context);
  const sandbox = await Sandbox.create({ seedDirectory: all.inside, ...options });
  context.after(() => sandbox.close());
  const run = async (command) => (await sandbox.execute(command)).output;
  return { ...all, sandbox, run };
}

describe("a seed directory", () => {
  test("is in the working directory, with modes, times and links", async (context) => {
    const { run } = await seeded(context, { files: { "d/more.txt": "more\n", "a.txt": "over\n" } });
    assert.equal(await run("ls d; d/e/run.sh; readlink link; cat link; xxd -p binary"), "e\nmore.txt\nran\na.txt\nover\n00ff0a00\n");
    const { run: other } = await seeded(context);
    assert.equal(await other("stat -c '%Y %U' a.txt"), "1000000000 tidebox\n");
    assert.equal(await other("cd /; pwd; stat -c %a /workspace/d/e/run.sh"), "/\n755\n");
  });

  test("is accepted as a URL, into the requested working directory", async (context) => {
    const { inside } = folders(context);
    const sandbox = await Sandbox.create({ seedDirectory: pathToFileURL(inside), cwd: "/home/tidebox/repo" });
    context.after(() => sandbox.close());
    assert.equal((await sandbox.execute("pwd; cat a.txt")).output, "/home/tidebox/repo\na\n");
  });

  test("copies nothing from outside, and changes nothing outside", async (context) => {
    const { run, inside, outside } = await seeded(context);
    assert.match(await run("cat out/secret.txt"), /No such file/);
    await run("echo changed > a.txt; rm -r d; echo new > new");
    assert.equal(fs.readFileSync(join(inside, "a.txt"), "utf8"), "a\n");
    assert.deepEqual([fs.existsSync(join(inside, "d/e")), fs.existsSync(join(inside, "new")), fs.existsSync(join(outside, "secret.txt"))], [true, false, true]);
  });

  test("is read once: forks, restored and restarted sandboxes keep its content", async (context) => {
    const { sandbox, run, inside } = await seeded(context, { limits: { wallTimeMs: 60_000 } });
    await run("echo b >> a.txt");
    const before = await sandbox.snapshot();
    fs.rmSync(inside, { recursive: true });
    const fork = await sandbox.fork();
    context.after(() => fork.close());
    assert.equal((await fork.execute("cat a.txt")).output, "a\nb\n");
    await run("rm -r d a.txt");
    await sandbox.restore(before);
    assert.equal(await run("cat a.txt; ls d"), "a\nb\ne\n");
  });

  test("that has changed does not affect a sandbox whose Worker restarts", { skip: noWorkers }, async (context) => {
    const workers = new Set();
    const post = Worker.prototype.postMessage;
    context.mock.method(Worker.prototype, "postMessage", function (...message) {
      workers.add(this);
      post.apply(this, message);
    });
    const { sandbox, run, inside } = await seeded(context);
    await run("echo kept > kept.txt");
    fs.writeFileSync(join(inside, "a.txt"), "other\n");
    fs.rmSync(join(inside, "d"), { recursive: true });
    for (const worker of workers) await worker.terminate();
    assert.equal(await run("cat a.txt kept.txt; ls d"), "a\nkept\ne\n");
    assert.deepEqual([workers.size, sandbox.isRunning], [2, true]);
  });

  test("is rejected where it is not supported", async (context) => {
    const { inside, outside } = folders(context);
    await assert.rejects(Sandbox.create({ seedDirectory: join(inside, "none") }), { code: "INVALID_OPTIONS", message: /none/ });
    await assert.rejects(Sandbox.create({ seedDirectory: join(inside, "a.txt") }), { code: "INVALID_OPTIONS" });
    await assert.rejects(Sandbox.create({ seedDirectory: 7 }), { code: "INVALID_OPTIONS", message: /seedDirectory must be a path/ });
    await assert.rejects(Sandbox.create({ seedDirectory: outside, limits: { fileBytes: 3 } }), { code: "INVALID_OPTIONS" });
    if (process.platform === "win32") return;
    execFileSync("mkfifo", [join(outside, "fifo")]);
    await assert.rejects(Sandbox.create({ seedDirectory: outside }), { code: "INVALID_OPTIONS", message: /FIFO.*fifo/ });
  });

  test("works together with mounts", async (context) => {
    const { inside, outside } = folders(context);
    const sandbox = await Sandbox.create({ seedDirectory: inside, mounts: { "/workspace/seen": outside } });
    context.after(() => sandbox.close());
    assert.equal((await sandbox.execute("cat a.txt seen/secret.txt")).output, "a\nsecret\n");
  });
});
