// Snapshots, forks, and what changed.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";

import { Sandbox, SandboxError, Snapshot } from "tidebox";

import { noWorkers } from "./engine.mjs";

const text = (bytes) => new TextDecoder().decode(bytes);

async function sandbox(context, options) {
  const made = await Sandbox.create(options);
  context.after(() => made.close());
  return made;
}

describe("a snapshot", () => {
  test("brings back files, links, modes and the shell session", async (context) => {
    const one = await sandbox(context, { files: { "a.txt": "a\n", "b/c.txt": "c\n" }, shellMode: "persistent" });
    await one.execute("x=kept; cd b; ln -s c.txt link; chmod 600 c.txt");
    const before = await one.snapshot();
    assert.ok(before.bytes.length > 0 && before.inodes > 0 && before.fileBytes > 0);
    await one.execute("x=lost; cd /; rm -r /workspace/b; echo changed > /workspace/a.txt; echo new > /workspace/new");
    await one.restore(before);
    const { output } = await one.execute("echo $x; pwd; cat link; stat -c %a c.txt; cat ../a.txt; ls ..");
    assert.equal(output, "kept\n/workspace/b\nc\n600\na\na.txt\nb\n");
  });

  test("outlives its sandbox, and creates others from its bytes", async (context) => {
    const one = await Sandbox.create();
    await one.execute("printf '\\xff\\0' > bytes; mkdir d");
    const { bytes } = await one.snapshot();
    await one.close();
    const other = await sandbox(context, { snapshot: Snapshot.fromBytes(bytes), files: { "more.txt": "more\n" } });
    const { output } = await other.execute("xxd -p bytes; ls; cat more.txt");
    assert.equal(output, "ff00\nbytes\nd\nmore.txt\nmore\n");
  });

  test("of equal sandboxes has equal bytes", async (context) => {
    const options = { deterministic: true, files: { a: "a" } };
    const [one, other] = [await sandbox(context, options), await sandbox(context, options)];
    for (const each of [one, other]) await each.execute("seq 1000 > numbers; rm a");
    assert.deepEqual((await one.snapshot()).bytes, (await other.snapshot()).bytes);
  });

  test("is kept in a sandbox whose Worker restarts after a restore", { skip: noWorkers }, async (context) => {
    const workers = [];
    const post = Worker.prototype.postMessage;
    context.mock.method(Worker.prototype, "postMessage", function (...message) {
      if (!workers.includes(this)) workers.push(this);
      return post.apply(this, message);
    });
    const one = await sandbox(context, { files: { "given.txt": "given\n", "x": "file\n" } });
    await one.execute("rm given.txt x; mkdir x; echo in > x/in");
    const kept = await one.snapshot();
    await one.execute("rm -r x; echo other > other");
    await one.restore(kept);
    await one.execute("echo after > x/after");
    await workers[0].terminate();
    assert.equal((await one.execute("ls; cat x/in x/after")).output, "x\nin\nafter\n");
    assert.equal(workers.length, 2);
  });

  test("that is damaged or not a snapshot is rejected without changes", async (context) => {
    const one = await sandbox(context, { files: { a: "a\n" } });
    const { bytes } = await one.snapshot();
    const damaged = bytes.slice();
    damaged[damaged.length - 1] ^= 1;
    const refused = (error) => SandboxError.isInstance(error) && error.code === "INVALID_OPTIONS";
    await assert.rejects(one.restore(Snapshot.fromBytes(damaged)), refused);
    await assert.rejects(one.restore({ bytes }), refused);
    await assert.rejects(Sandbox.create({ snapshot: Snapshot.fromBytes(damaged) }), refused);
    await assert.rejects(Sandbox.create({ snapshot: { bytes } }), refused);
    assert.equal((await one.execute("cat a")).output, "a\n");
    assert.throws(() => Snapshot.fromBytes("text"), TypeError);
  });

  test("above the limits is rejected", async (context) => {
    const one = await sandbox(context, {});
    await one.execute("head -c 100000 /dev/urandom > big");
    const small = await sandbox(context, { limits: { fileBytes: 50_000 } });
    await assert.rejects(small.restore(await one.snapshot()), /limit|space/i);
    assert.equal((await small.execute("ls")).output, "");
  });

  test("cannot be taken of a sandbox that is closed", async () => {
    const one = await Sandbox.create();
    await one.close();
    for (const call of [one.snapshot(), one.fork(), one.toTar(), one.networkLog()]) {
      await assert.rejects(call, (error) => error.code === "CLOSED");
    }
  });
});

describe("restore", () => {
  test("stops the commands that run", { skip: typeof WebAssembly.Suspending !== "function" }, async (context) => {
    const one = await sandbox(context, {});
    const before = await one.snapshot();
    const command = one.execute("echo begun; sleep 30; echo late > late");
    await new Promise((resolve) => setTimeout(resolve, 100));
    await one.restore(before);
    const { exitCode, stoppedBy, output } = await command;
    assert.deepEqual([exitCode, stoppedBy], [137, "cancelled"]);
    assert.match(output, /^begun\n.*stopped because the sandbox was restored/);
    assert.equal((await one.execute("ls")).output, "");
  });
});

describe("a fork", () => {
  test("starts equal to its origin, and both change independently", async (context) => {
    const one = await sandbox(context, { files: { a: "a\n" }, env: { NAME: "value" }, shellMode: "persistent" });
    await one.execute("x=1; echo b > b; rm a");
    const fork = await one.fork();
    context.after(() => fork.close());
    assert.notEqual(fork.id, one.id);
    await fork.execute("echo fork > b; echo c > c");
    assert.equal((await fork.execute("cat b c; echo $x $NAME; ls")).output, "fork\nc\n1 value\nb\nc\n");
    assert.equal((await one.execute("cat b; ls")).output, "b\nb\n");
  });

  test("of a deterministic sandbox continues its clock and is reproducible", async (context) => {
    const runs = [];
    for (let run = 0; run < 2; run++) {
      const one = await sandbox(context, { deterministic: { seed: 7, timeMs: 1e12 } });
      await one.execute("sleep 100");
      const fork = await one.fork();
      context.after(() => fork.close());
      runs.push([fork.id, (await fork.execute("date +%s; head -c 8 /dev/urandom | xxd -p")).output]);
    }
    assert.deepEqual(runs[0], runs[1]);
    assert.equal(runs[0][1].split("\n")[0], "1000000100");
  });

  test("can be forked again", async (context) => {
    let one = await sandbox(context, {});
    for (const n of [1, 2, 3]) {
      await one.execute(`echo ${n} >> log`);
      one = await one.fork();
      context.after(() => one.close());
    }
    assert.equal((await one.execute("cat log")).output, "1\n2\n3\n");
  });
});

describe("a diff", () => {
  test("names what was added, changed and removed, with hunks and as a patch", async (context) => {
    const one = await sandbox(context, { files: { "a.txt": "one\ntwo\n", "gone.txt": "gone\n" } });
    const before = await one.snapshot();
    await one.execute("echo three >> a.txt; rm gone.txt; printf '\\0' > binary; mkdir d; chmod 700 d");
    const { changes, patch, patchBytes, truncated } = await one.diff(before);
    assert.equal(truncated, false);
    assert.deepEqual(changes.map(({ path, change, content }) => [path, change, content]), [
      ["/workspace/a.txt", "changed", "text"],
      ["/workspace/binary", "added", "binary"],
      ["/workspace/d", "added", "same"],
      ["/workspace/gone.txt", "removed", "text"],
    ]);
    assert.equal(changes[0].hunks, "@@ -1,2 +1,3 @@\n one\n two\n+three\n");
    assert.deepEqual(changes[2].after, { kind: "directory", mode: 0o700, size: 0 });
    assert.equal(changes[0].before.size, 8);
    assert.match(patch, /^diff --git a\/workspace\/a.txt b\/workspace\/a.txt\n/);
    assert.equal(text(patchBytes), patch);
    const after = await one.snapshot();
    assert.deepEqual((await one.diff(after, before)).changes.map(({ change }) => change), [
      "changed", "removed", "removed", "added",
    ]);
    assert.deepEqual((await one.diff(after)).changes, []);
  });

  test("is a patch that brings another sandbox to the same state", async (context) => {
    const one = await sandbox(context, { files: { "a.txt": "one\n", "b.txt": "b\n" } });
    const other = await one.fork();
    context.after(() => other.close());
    const before = await one.snapshot();
    await one.execute("sed -i s/one/ONE/ a.txt; rm b.txt; echo c > c.txt");
    const { patchBytes } = await one.diff(before);
    assert.equal((await other.execute("cd /; patch -p1", { stdin: patchBytes })).exitCode, 0);
    assert.deepEqual((await one.diff(await other.snapshot())).changes, []);
  });
});

describe("a tar", () => {
  test("of a sandbox creates another one", async (context) => {
    const one = await sandbox(context, { files: { "d/a.txt": "a\n" } });
    await one.execute("ln -s a.txt d/link; chmod 640 d/a.txt");
    const tar = await one.toTar();
    const other = await sandbox(context, { tar, files: { "more.txt": "more\n" } });
    const { output } = await other.execute("cat d/link more.txt; stat -c %a d/a.txt");
    assert.equal(output, "a\nmore\n640\n");
    assert.deepEqual((await one.diff(await one.fromTar(tar))).changes, []);
  });

  test("with a name that leads outside is rejected by name", async (context) => {
    const one = await sandbox(context, {});
    await one.execute("mkdir x; echo evil > evil; cd x; tar -cPf /tmp/evil.tar ../evil");
    const [{ content }] = await one.downloadFiles(["/tmp/evil.tar"]);
    await assert.rejects(one.fromTar(content), /\.\.\/evil/);
    await assert.rejects(Sandbox.create({ tar: content }), (error) => error.code === "INVALID_OPTIONS");
    const { bytes } = await one.snapshot();
    await assert.rejects(Sandbox.create({ tar: content, snapshot: Snapshot.fromBytes(bytes) }), /mutually exclusive/);
  });
});
