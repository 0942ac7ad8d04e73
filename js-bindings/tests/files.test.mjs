// The file tools, in the shapes of Deep Agents.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Sandbox, SandboxError } from "tidebox";

describe("file tools", () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create({ files: { "/workspace/a.txt": "one\ntwo\nthree\n", "img.png": new Uint8Array([1, 2]) } });
  });
  after(() => sandbox.close());

  test("a page has unmodified text and its line numbers", async () => {
    assert.deepEqual(await sandbox.read("/workspace/a.txt", 1, 1), {
      content: "two\n", mimeType: "text/plain", totalLines: 3, startLine: 2, endLine: 2, nextOffset: 2,
    });
  });

  test("an error is a property of the result and absent on success", async () => {
    assert.match((await sandbox.read("/none")).error, /not found/);
    assert.match((await sandbox.read("/workspace/a.txt", 100)).error, /exceeds file length/);
    assert.equal("error" in (await sandbox.write("/workspace/b.txt", "")), false);
    assert.equal((await sandbox.read("/workspace/b.txt")).content, "System reminder: File exists but has empty contents");
  });

  test("binary files come as bytes with their type", async () => {
    const { content, mimeType } = await sandbox.read("/workspace/img.png");
    assert.deepEqual([[...content], mimeType], [[1, 2], "image/png"]);
    const { data } = await sandbox.readRaw("/workspace/img.png");
    assert.deepEqual([...data.content], [1, 2]);
  });

  test("long texts and bytes are stored unchanged, and stay with the caller", async () => {
    const text = "\ufeffé👋\ud800 line\n".repeat(20_000);
    const bytes = new TextEncoder().encode(text);
    for (const content of [text, bytes, bytes.subarray(3, 5_000)]) {
      const stored = typeof content === "string" ? bytes : content.slice();
      assert.equal("error" in (await sandbox.write("/workspace/long.txt", content)), false);
      assert.deepEqual(content, typeof content === "string" ? text : stored);
      const [file] = await sandbox.downloadFiles(["/workspace/long.txt"]);
      assert.deepEqual(file.content, stored);
    }
    await sandbox.write("/workspace/long.txt", text);
    assert.equal((await sandbox.readRaw("/workspace/long.txt")).data.content, text.toWellFormed());
  });

  test("edit replaces a unique string and fails otherwise", async () => {
    assert.deepEqual(await sandbox.edit("/workspace/a.txt", "two", "2"), {
      path: "/workspace/a.txt", occurrences: 1, filesUpdate: null,
    });
    assert.match((await sandbox.edit("/workspace/a.txt", "e", "E")).error, /multiple times/);
    assert.equal((await sandbox.readRaw("/workspace/a.txt")).data.content, "one\n2\nthree\n");
  });

  test("ls, glob and grep list files; a missing directory has none", async () => {
    await sandbox.write("/workspace/src/x:y.py", "import os\n");
    const { files } = await sandbox.ls("/workspace/src");
    assert.deepEqual(files.map(({ path, is_dir, size }) => [path, is_dir, size]), [["/workspace/src/x:y.py", false, 10]]);
    assert.match(files[0].modified_at, /^\d{4}-\d\d-\d\dT/);
    assert.deepEqual(await sandbox.ls("/none"), { files: [] });
    assert.deepEqual((await sandbox.glob("**/*.py", "/workspace")).files.map(({ path }) => path), ["src/x:y.py"]);
    assert.deepEqual(await sandbox.grep("import", "/workspace", "*.py"), {
      matches: [{ path: "/workspace/src/x:y.py", line: 1, text: "import os" }],
    });
  });

  test("transfers return a result for each file in order, with a code for failed ones", async () => {
    const bytes = new Uint8Array([0, 255, 10]);
    assert.deepEqual(await sandbox.uploadFiles([["/workspace/up.bin", bytes], ["relative", bytes]]), [
      { path: "/workspace/up.bin", error: null },
      { path: "relative", error: "invalid_path" },
    ]);
    const [found, missing, directory] = await sandbox.downloadFiles(["/workspace/up.bin", "/none", "/workspace"]);
    assert.deepEqual([...found.content], [...bytes]);
    assert.deepEqual([found.error, missing.error, missing.content], [null, "file_not_found", null]);
    assert.equal(directory.error, "is_directory");
  });

  test("commands and file tools see the same files", async () => {
    await sandbox.write("/workspace/shared.txt", "x");
    assert.equal((await sandbox.execute("cat /workspace/shared.txt; rm shared.txt")).output, "x");
    assert.match((await sandbox.read("/workspace/shared.txt")).error, /not found/);
  });
});

describe("life of a sandbox", () => {
  test("it is started in one step or in two, and closed twice without harm", async () => {
    const sandbox = new Sandbox();
    assert.deepEqual([sandbox.isRunning, (await sandbox.execute("true")).exitCode], [false, null]);
    await sandbox.initialize();
    assert.equal(sandbox.isRunning, true);
    assert.match(sandbox.id, /^sb-[0-9a-f]{32}$/);
    await assert.rejects(sandbox.initialize(), { code: "ALREADY_INITIALIZED" });
    await sandbox.close();
    await sandbox.close();
    assert.equal(sandbox.isRunning, false);
  });

  test("no tool of a closed sandbox throws", async () => {
    const sandbox = await Sandbox.create();
    await sandbox.close();
    assert.equal((await sandbox.execute("true")).exitCode, null);
    for (const answer of [sandbox.ls("/"), sandbox.read("/a"), sandbox.readRaw("/a"), sandbox.write("/a", ""),
      sandbox.edit("/a", "b", "c"), sandbox.delete("/a"), sandbox.grep("a"), sandbox.glob("*")]) {
      assert.match((await answer).error, /closed/);
    }
    assert.equal((await sandbox.uploadFiles([["/a", new Uint8Array()]])).length, 1);
    assert.equal((await sandbox.downloadFiles(["/a"]))[0].content, null);
  });

  test("invalid options are named when the sandbox is created", async () => {
    for (const [options, words] of [
      [{ mode: 1 }, /unknown option 'mode'/],
      [{ limits: { ram: 1 } }, /unknown limit 'ram'/],
      [{ limits: { processes: -1 } }, /'processes' must be a non-negative number/],
      [{ files: { a: 1 } }, /'a' must be a string or a Uint8Array/],
      [{ hostname: "two words" }, /is not a valid host name/],
      [{ env: { "A=B": "c" } }, /cannot be set/],
    ]) {
      await assert.rejects(Sandbox.create(options), (error) => SandboxError.isInstance(error) && words.test(error.message));
    }
  });

  test("a deterministic sandbox does the same in every run", async () => {
    const run = async () => {
      const sandbox = await Sandbox.create({ deterministic: { seed: 7, timeMs: 1_700_000_000_000 } });
      const { output } = await sandbox.execute("date -u +%s.%N; echo $RANDOM; head -c 8 /dev/urandom | xxd; sleep 5; date -u +%s");
      await sandbox.close();
      return output;
    };
    const [first, second] = [await run(), await run()];
    assert.equal(first, second);
    assert.match(first, /^1700000000\./);
    assert.match(first, /1700000005\n$/);
  });

  test("two sandboxes share nothing", async () => {
    const [one, two] = await Promise.all([Sandbox.create(), Sandbox.create()]);
    await one.write("/workspace/secret", "x");
    assert.notEqual(one.id, two.id);
    assert.match((await two.read("/workspace/secret")).error, /not found/);
    await Promise.all([one.close(), two.close()]);
  });
});
