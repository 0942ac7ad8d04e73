// Folders of the host inside a sandbox.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, test } from "node:test";

import { Sandbox, SandboxError } from "tidebox";

const deno = "Deno" in globalThis;

/** A folder with some files, and beside it one that nobody may see. */
function folders(context) {
  const root = fs.mkdtempSync(join(tmpdir(), "tidebox-mounts-"));
  context.after(() => fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const [inside, outside] = [join(root, "inside"), join(root, "outside")];
  fs.mkdirSync(join(inside, "d/e"), { recursive: true });
  fs.mkdirSync(outside);
  fs.writeFileSync(join(inside, "a.txt"), "a\n");
  fs.writeFileSync(join(inside, "d/e/deep.txt"), "deep\n");
  fs.writeFileSync(join(outside, "secret.txt"), "secret\n");
  return { root, inside, outside };
}

async function mounted(context, mode, options = {}) {
  const all = folders(context);
  const sandbox = await Sandbox.create({ mounts: { "/workspace/repo": { folder: all.inside, mode } }, ...options });
  context.after(() => sandbox.close());
  const run = async (command, given) => {
    const { output, exitCode } = await sandbox.execute(command, { cwd: "/workspace/repo", ...given });
    return [output, exitCode];
  };
  return { ...all, sandbox, run };
}

describe("a read-only mount", () => {
  test("shows its files to commands and to file tools", async (context) => {
    const { sandbox, inside, run } = await mounted(context, undefined);
    fs.symlinkSync("d/e/deep.txt", join(inside, "link"));
    fs.chmodSync(join(inside, "a.txt"), 0o640);
    fs.utimesSync(join(inside, "a.txt"), 1e9, 1e9 + 0.5);
    assert.deepEqual(await run("cat a.txt link; find . -type f | sort; readlink link; stat -c '%a %s %Y %U' a.txt"), [
      "a\ndeep\n./a.txt\n./d/e/deep.txt\nd/e/deep.txt\n640 2 1000000000 tidebox\n", 0,
    ]);
    assert.equal((await sandbox.read("/workspace/repo/d/e/deep.txt")).content, "deep\n");
    assert.deepEqual((await sandbox.glob("**/*.txt", "/workspace/repo")).files.map(({ path }) => path).sort(), ["a.txt", "d/e/deep.txt"]);
    assert.equal((await sandbox.grep("deep", "/workspace/repo")).matches.length, 1);
    fs.writeFileSync(join(inside, "new.txt"), "made later\n");
    assert.deepEqual(await run("cat new.txt"), ["made later\n", 0]);
  });

  test("cannot be changed in any way", async (context) => {
    const { inside, run, sandbox } = await mounted(context, "readOnly");
    for (const command of ["echo x > a.txt", "echo x > new", "rm a.txt", "mkdir n", "mv a.txt b", "ln -s a l", "chmod 600 a.txt", "touch a.txt"]) {
      const [output, exitCode] = await run(command);
      assert.notEqual(exitCode, 0, command);
      assert.match(output, /Read-only file system/, command);
    }
    assert.match((await sandbox.write("/workspace/repo/x", "x")).error, /Permission denied/);
    assert.deepEqual(fs.readdirSync(inside).sort(), ["a.txt", "d"]);
    assert.equal(fs.readFileSync(join(inside, "a.txt"), "utf8"), "a\n");
  });

  test("can be a string, a URL, and one of several", async (context) => {
    const { inside, outside } = folders(context);
    const sandbox = await Sandbox.create({ mounts: { one: inside, "/two": pathToFileURL(outside), "/three": { folder: `${inside}/d` } } });
    context.after(() => sandbox.close());
    assert.equal((await sandbox.execute("cat one/a.txt /two/secret.txt /three/e/deep.txt")).output, "a\nsecret\ndeep\n");
  });

  test("shows names and bytes that are not UTF-8", { skip: deno && "names are UTF-8 in Deno" }, async (context) => {
    const { inside, run } = await mounted(context);
    fs.writeFileSync(Buffer.concat([Buffer.from(`${inside}/`), Buffer.of(0x66, 0xff)]), Buffer.of(0, 255));
    assert.deepEqual(await run("xxd -p $'f\\xff'; ls -b | tail -n 1"), ["00ff\nf\\377\n", 0]);
  });

  test("reads large files in pieces", async (context) => {
    const { inside, run } = await mounted(context);
    fs.writeFileSync(join(inside, "big"), Buffer.alloc(20_000_000, "0123456789"));
    assert.deepEqual(await run("wc -c < big | tr -d ' '; tail -c 3 big; head -c 15000001 big | tail -c 1"), ["20000000\n7890", 0]);
  });
});

describe("nothing outside a mounted directory", () => {
  test("is reached by a link, which leads to where it would in the sandbox", async (context) => {
    const { inside, outside, run } = await mounted(context, "readOnly");
    fs.symlinkSync(join(outside, "secret.txt"), join(inside, "absolute"));
    fs.symlinkSync("../outside/secret.txt", join(inside, "relative"));
    fs.symlinkSync(outside, join(inside, "folder"));
    fs.symlinkSync("/etc/hostname", join(inside, "hostname"));
    for (const path of ["absolute", "relative", "folder/secret.txt", "d/../../outside/secret.txt"]) {
      const [output, exitCode] = await run(`cat ${path}`);
      assert.equal(exitCode, 1, path);
      assert.doesNotMatch(output, /^secret/, path);
    }
    assert.deepEqual(await run("cat hostname"), ["tidebox\n", 0]);
  });

  test("is reached while a directory is swapped for a link", async (context) => {
    const { inside, outside, run } = await mounted(context, "readOnly");
    fs.mkdirSync(join(inside, "swap"));
    fs.writeFileSync(join(inside, "swap/secret.txt"), "open\n");
    const script = `cd '${inside}'; n=0; while [ $n -lt 1000 ] && [ ! -e '${inside}/../over' ]; do mv swap kept; ln -s '${outside}' swap; rm swap; mv kept swap; n=$((n+1)); done`;
    const { spawn } = await import("node:child_process");
    const swapping = spawn("sh", ["-c", script], { stdio: "ignore" });
    const over = new Promise((resolve) => swapping.once("exit", resolve));
    let [found, seen] = [0, 0];
    while (swapping.exitCode === null && seen < 60) {
      const [output] = await run("for n in 1 2 3 4 5 6 7 8 9 10; do cat swap/secret.txt 2>/dev/null; done");
      assert.doesNotMatch(output, /secret/);
      found += output.split("\n").length - 1;
      seen++;
    }
    // It ends by itself, because what it has started would go on without it.
    fs.writeFileSync(join(inside, "../over"), "");
    await over;
    assert.ok(found > 0);
  });

  test("shows as a pipe, a socket or a device", async (context) => {
    const { inside, run } = await mounted(context, "readOnly");
    execFileSync("mkfifo", [join(inside, "pipe")]);
    assert.deepEqual(await run("ls; cat pipe", { timeoutMs: 5000 }), ["a.txt\nd\ncat: pipe: No such file or directory\n", 1]);
  });

  test("is mounted if it is a pseudo file system", async () => {
    for (const folder of ["/proc", "/sys", "/proc/self"]) {
      await assert.rejects(Sandbox.create({ mounts: { x: folder } }), deno ? /cannot mount the directory/ : /exposes processes and devices/);
    }
  });

  test("is entered below a mount of the root if it is a pseudo file system", async (context) => {
    const sandbox = await Sandbox.create({ mounts: { "/host": "/" } });
    context.after(() => sandbox.close());
    const { output } = await sandbox.execute("cat /host/proc/self/environ /host/proc/version; ls /host/proc");
    assert.doesNotMatch(output, /Linux version/);
    assert.match(output, /Permission denied/);
  });
});

describe("a read-write mount", () => {
  test("is changed immediately: files, directories, links, modes, times and names", async (context) => {
    const { inside, run } = await mounted(context, "readWrite");
    const [output, exitCode] = await run(
      "echo b > b.txt; echo more >> a.txt; mkdir -p n/m; mv b.txt n/m/c.txt; ln -s a.txt link; ln a.txt hard; chmod 600 a.txt; " +
        "touch -d @1000000000 n/m/c.txt; rm -r d; truncate -s 3 hard",
    );
    assert.deepEqual([output, exitCode], ["", 0]);
    assert.equal(fs.readFileSync(join(inside, "a.txt"), "utf8"), "a\nm");
    assert.equal(fs.readFileSync(join(inside, "n/m/c.txt"), "utf8"), "b\n");
    assert.equal(fs.readlinkSync(join(inside, "link")), "a.txt");
    assert.equal(fs.statSync(join(inside, "a.txt")).mode & 0o777, 0o600);
    assert.equal(fs.statSync(join(inside, "a.txt")).nlink, 2);
    assert.equal(fs.statSync(join(inside, "n/m/c.txt")).mtimeMs, 1e12);
    assert.equal(fs.existsSync(join(inside, "d")), false);
  });

  test("supports the writes of tools: sed -i, tar, git-like temporary files and uploads", async (context) => {
    const { inside, run, sandbox } = await mounted(context, "readWrite");
    assert.deepEqual(await run("sed -i s/a/b/ a.txt; tar cf - d | (mkdir x; cd x; tar xf -); cat a.txt x/d/e/deep.txt"), ["b\ndeep\n", 0]);
    assert.deepEqual(await sandbox.uploadFiles([["/workspace/repo/up/file", Uint8Array.of(1)]]), [{ path: "/workspace/repo/up/file", error: null }]);
    assert.equal((await sandbox.edit("/workspace/repo/a.txt", "b", "c")).occurrences, 1);
    assert.equal((await sandbox.delete("/workspace/repo/x")).error, undefined);
    assert.equal(fs.readFileSync(join(inside, "a.txt"), "utf8"), "c\n");
    assert.deepEqual(fs.readdirSync(inside).sort(), ["a.txt", "d", "up"]);
  });

  test("is left without links that lead programs of the host outside", async (context) => {
    const { inside, run } = await mounted(context, "readWrite");
    for (const [target, name] of [["/etc/passwd", "l"], ["../outside", "l"], ["d/../../outside", "l"], ["../../x", "d/l"]]) {
      const [output, exitCode] = await run(`ln -s ${target} ${name}`);
      assert.equal(exitCode, 1, target);
      assert.match(output, /Operation not permitted/, target);
    }
    assert.deepEqual(await run("ln -s ../../a.txt d/e/l && cat d/e/l"), ["a\n", 0]);
    assert.match((await run("mv d/e/l l"))[0], /Operation not permitted/);
    assert.match((await run("mv d/e e"))[0], /Operation not permitted/);
    assert.equal(fs.existsSync(join(inside, "d/e/l")), true);
  });

  test("keeps the modes of link targets outside", async (context) => {
    const { inside, outside, run } = await mounted(context, "readWrite");
    fs.symlinkSync(join(outside, "secret.txt"), join(inside, "out"));
    fs.chmodSync(join(outside, "secret.txt"), 0o640);
    await run("chmod 777 out; touch -d @1 out; truncate -s 0 out; echo x > out; chmod -R 777 .");
    assert.equal(fs.statSync(join(outside, "secret.txt")).mode & 0o777, 0o640);
    assert.equal(fs.readFileSync(join(outside, "secret.txt"), "utf8"), "secret\n");
  });

  test("keeps a file usable that has lost its name", async (context) => {
    const { run } = await mounted(context, "readWrite");
    assert.deepEqual(await run("exec 3< a.txt; rm a.txt; cat <&3"), ["a\n", 0]);
  });
});

describe("a copy-on-write mount", () => {
  test("is as it was, whatever the sandbox changes", async (context) => {
    const { inside, run } = await mounted(context, "copyOnWrite");
    assert.deepEqual(await run("sed -i s/a/b/ a.txt; echo n > d/n; rm -r d/e; mv a.txt c.txt; cat c.txt; find . | sort"), [
      "b\n.\n./c.txt\n./d\n./d/n\n", 0,
    ]);
    assert.equal(fs.readFileSync(join(inside, "a.txt"), "utf8"), "a\n");
    assert.equal(fs.readFileSync(join(inside, "d/e/deep.txt"), "utf8"), "deep\n");
    assert.deepEqual(fs.readdirSync(join(inside, "d")), ["e"]);
  });

  test("counts as the sandbox's own files", async (context) => {
    const { run } = await mounted(context, "copyOnWrite", { limits: { fileBytes: 1000 } });
    assert.match((await run("head -c 5000 /dev/zero > big"))[0], /No space left on device/);
  });

  test("rejects snapshots and forks; a tar has all files", async (context) => {
    const { run, sandbox } = await mounted(context, "copyOnWrite");
    await run("echo mine > mine.txt");
    for (const call of [sandbox.snapshot(), sandbox.fork()]) {
      await assert.rejects(call, (error) => SandboxError.isInstance(error) && error.code === "UNSUPPORTED" && /copy-on-write/.test(error.message));
    }
    const other = await Sandbox.create({ tar: await sandbox.toTar() });
    context.after(() => other.close());
    assert.equal((await other.execute("cat repo/mine.txt repo/d/e/deep.txt")).output, "mine\ndeep\n");
  });
});

describe("mounts and the rest", () => {
  test("a fork and a restored snapshot see the current directory", async (context) => {
    const { inside, sandbox, run } = await mounted(context, "readWrite");
    await sandbox.execute("echo own > own.txt");
    const before = await sandbox.snapshot();
    await run("echo later > later.txt");
    await sandbox.execute("rm own.txt");
    await sandbox.restore(before);
    const fork = await sandbox.fork();
    context.after(() => fork.close());
    for (const each of [sandbox, fork]) {
      assert.equal((await each.execute("cat own.txt repo/later.txt")).output, "own\nlater\n");
    }
    assert.equal(fs.readFileSync(join(inside, "later.txt"), "utf8"), "later\n");
  });

  test("an invalid mount is rejected by name", async (context) => {
    const { inside } = folders(context);
    for (const [mounts, words] of [
      [{ x: join(inside, "none") }, /cannot mount the directory .*none'/],
      [{ x: join(inside, "a.txt") }, /cannot mount the directory/],
      [{ "/": inside }, /cannot mount at '\/'/],
      [{ "/bin": inside }, /would hide files/],
      [{ x: { folder: inside, mode: "write" } }, /must be 'readOnly', 'readWrite' or 'copyOnWrite'/],
      [{ x: {} }, /must be a path/],
      [{ x: null }, /must be a path/],
    ]) {
      await assert.rejects(Sandbox.create({ mounts }), (error) => {
        assert.match(error.message, words);
        return SandboxError.isInstance(error) && error.code === "INVALID_OPTIONS";
      });
    }
  });

  test("a closed sandbox releases the descriptors of the directory", { skip: deno && "Deno does not report its descriptors" }, async (context) => {
    const { inside } = folders(context);
    const open = () => fs.readdirSync("/proc/self/fd").length;
    const once = async () => {
      const sandbox = await Sandbox.create({ mounts: { repo: inside } });
      await sandbox.execute("cat repo/a.txt; exec 3< repo/a.txt; cat repo/d/e/deep.txt");
      await sandbox.close();
    };
    await once();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const before = open();
    for (let n = 0; n < 5; n++) await once();
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.ok(open() <= before + 1, `${open()} after ${before}`);
  });
});
