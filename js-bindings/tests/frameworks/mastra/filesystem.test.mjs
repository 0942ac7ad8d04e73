// The file system against the interface of Mastra, with the results of its local file system.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { FilesystemError, LocalFilesystem } from "@mastra/core/workspace";
import { Sandbox } from "tidebox";
import { TideboxFilesystem } from "tidebox/mastra";

/** Checks for the code and the class of an error of Mastra. */
const error = (name) => (thrown) => {
  assert.ok(thrown instanceof FilesystemError, String(thrown));
  assert.equal(thrown.name, name, thrown.message);
  return true;
};

/** The calls run on both file systems: the local one of Mastra is the reference. */
for (const kind of ["tidebox", "local"]) {
  describe(`a file system (${kind})`, () => {
    let sandbox;
    let directory;
    let files;
    before(async () => {
      if (kind === "local") {
        directory = mkdtempSync(join(tmpdir(), "tidebox-mastra-"));
        files = new LocalFilesystem({ basePath: directory });
      } else {
        sandbox = await Sandbox.create();
        files = new TideboxFilesystem({ sandbox });
      }
    });
    after(async () => {
      await sandbox?.close();
      if (directory !== undefined) rmSync(directory, { recursive: true });
    });

    const text = (path) => files.readFile(path, { encoding: "utf8" });

    test("writes, reads and appends", async () => {
      await files.writeFile("d/e/a.txt", "one\n");
      await files.appendFile("d/e/a.txt", Buffer.from("two\n"));
      await files.appendFile("new/b.txt", "b");
      assert.equal(await text("d/e/a.txt"), "one\ntwo\n");
      assert.equal(await text("new/b.txt"), "b");
      const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
      await files.writeFile("bytes", bytes);
      const read = await files.readFile("bytes");
      assert.ok(Buffer.isBuffer(read));
      assert.deepEqual([...read], [...bytes]);
      assert.equal(await files.readFile("bytes", { encoding: "base64" }), Buffer.from(bytes).toString("base64"));
    });

    test("reports errors of reading and writing", async () => {
      await assert.rejects(files.readFile("none"), error("FileNotFoundError"));
      await assert.rejects(files.readFile("d"), error("IsDirectoryError"));
      await assert.rejects(files.writeFile("none/x", "", { recursive: false }), error("DirectoryNotFoundError"));
      await assert.rejects(files.writeFile("new/b.txt", "", { overwrite: false }), error("FileExistsError"));
      await files.writeFile("new/c.txt", "c", { overwrite: false });
      assert.deepEqual([await text("new/b.txt"), await text("new/c.txt")], ["b", "c"]);
    });

    test("detects changes since the last read", async () => {
      const { modifiedAt } = await files.stat("new/b.txt");
      await files.writeFile("new/b.txt", "b2", { expectedMtime: modifiedAt });
      await assert.rejects(files.writeFile("new/b.txt", "b3", { expectedMtime: new Date(0) }), error("StaleFileError"));
      assert.equal(await text("new/b.txt"), "b2");
    });

    test("deletes files", async () => {
      await files.writeFile("gone", "");
      await files.deleteFile("gone");
      await assert.rejects(files.deleteFile("gone"), error("FileNotFoundError"));
      await files.deleteFile("gone", { force: true });
      await assert.rejects(files.deleteFile("d"), error("IsDirectoryError"));
    });

    test("copies and moves files and directories", async () => {
      await files.copyFile("d/e/a.txt", "copies/a.txt");
      await assert.rejects(files.copyFile("d/e/a.txt", "copies/a.txt", { overwrite: false }), error("FileExistsError"));
      await assert.rejects(files.copyFile("none", "x"), error("FileNotFoundError"));
      await assert.rejects(files.copyFile("d", "x"), error("IsDirectoryError"));
      await files.copyFile("d", "copies/d", { recursive: true });
      assert.equal(await text("copies/d/e/a.txt"), "one\ntwo\n");
      await files.moveFile("copies/d", "moved/d");
      await files.moveFile("copies/a.txt", "moved/a.txt");
      await assert.rejects(files.moveFile("none", "x"), error("FileNotFoundError"));
      await assert.rejects(files.moveFile("new/b.txt", "moved/a.txt", { overwrite: false }), error("FileExistsError"));
      assert.deepEqual([await files.exists("copies/d"), await files.exists("moved/d/e/a.txt")], [false, true]);
    });

    test("creates and removes directories", async () => {
      await files.mkdir("deep/er");
      await files.mkdir("deep/er");
      await assert.rejects(files.mkdir("missing/er", { recursive: false }), error("DirectoryNotFoundError"));
      await assert.rejects(files.mkdir("new/b.txt"), error("FileExistsError"));
      await assert.rejects(files.rmdir("deep"), error("DirectoryNotEmptyError"));
      await files.rmdir("deep/er");
      await files.rmdir("moved", { recursive: true });
      await assert.rejects(files.rmdir("moved"), error("DirectoryNotFoundError"));
      await files.rmdir("moved", { force: true });
      await assert.rejects(files.rmdir("new/b.txt"), error("NotDirectoryError"));
    });

    test("lists directories", async () => {
      await files.writeFile("list/b.ts", "12");
      await files.writeFile("list/a b.md", "1");
      await files.writeFile("list/sub/c.ts", "");
      await files.writeFile("list/sub/deep/d.ts", "");
      const names = async (options) => (await files.readdir("list", options)).map(({ name, type, size }) => `${name} ${type} ${size}`).sort();
      assert.deepEqual(await names(), ["a b.md file 1", "b.ts file 2", "sub directory undefined"]);
      assert.deepEqual(await names({ extension: ".ts" }), ["b.ts file 2", "sub directory undefined"]);
      assert.deepEqual(await names({ extension: ["md"] }), ["a b.md file 1", "sub directory undefined"]);
      assert.deepEqual(await names({ recursive: true, extension: "ts" }), [
        "b.ts file 2", "sub directory undefined", "sub/c.ts file 0", "sub/deep directory undefined", "sub/deep/d.ts file 0",
      ]);
      assert.equal((await names({ recursive: true, maxDepth: 1 })).includes("sub/deep/d.ts file 0"), false);
      await assert.rejects(files.readdir("none"), error("DirectoryNotFoundError"));
      await assert.rejects(files.readdir("list/b.ts"), error("NotDirectoryError"));
    });

    test("returns attributes", async () => {
      const started = Date.now();
      await files.writeFile("stat.txt", "four");
      const { name, type, size, modifiedAt } = await files.stat("stat.txt");
      assert.deepEqual([name, type, size], ["stat.txt", "file", 4]);
      assert.ok(Math.abs(modifiedAt.getTime() - started) < 60_000, modifiedAt.toISOString());
      assert.equal((await files.stat("list")).type, "directory");
      await assert.rejects(files.stat("none"), error("FileNotFoundError"));
      assert.deepEqual([await files.exists("list"), await files.exists("none")], [true, false]);
      assert.equal(files.isTextFile("a.ts"), true);
    });

    test("rejects changes if it is read-only", async () => {
      const options = { readOnly: true };
      const readOnly = kind === "local" ? new LocalFilesystem({ basePath: directory, ...options }) : new TideboxFilesystem({ sandbox, ...options });
      assert.equal(await readOnly.readFile("stat.txt", { encoding: "utf8" }), "four");
      const changes = [["writeFile", "x", ""], ["appendFile", "x", ""], ["deleteFile", "x"], ["copyFile", "x", "y"], ["moveFile", "x", "y"], ["mkdir", "x"], ["rmdir", "x"]];
      for (const [method, ...args] of changes) await assert.rejects(readOnly[method](...args), { name: "WorkspaceReadOnlyError" }, method);
    });
  });
}

describe("a file system of a sandbox", () => {
  let sandbox;
  let files;
  before(async () => {
    sandbox = await Sandbox.create();
    files = new TideboxFilesystem({ sandbox });
  });
  after(() => sandbox.close());

  test("lists links without following them", async () => {
    await sandbox.execute("mkdir -p l/d/.git; touch l/d/f l/d/.git/x l/.hidden; ln -s d l/dir; ln -s f l/d/file; ln -s none l/none; printf 1 > $'l/new\\nline'");
    const entries = await files.readdir("l", { recursive: true });
    assert.deepEqual(entries.map(({ name, type, isSymlink, symlinkTarget }) => [name, type, isSymlink ? symlinkTarget : ""].join(" ")), [
      ".hidden file ", "d directory ", "d/.git directory ", "d/.git/x file ", "d/f file ", "d/file file f", "dir directory d",
      "new\nline file ", "none file none",
    ]);
    assert.deepEqual((await files.walk("l")).map(({ path }) => path), ["d", "d/f", "d/file", "dir", "new\nline", "none"]);
    assert.deepEqual((await files.walk("l", { maxDepth: 1, includeHidden: true })).map(({ name }) => name), [".hidden", "d", "dir", "new\nline", "none"]);
    assert.deepEqual((await files.readdir("l/dir")).map(({ name }) => name), [".git", "f", "file"]);
    assert.equal(await files.realpath("l/dir/file"), "/workspace/l/d/f");
    await files.deleteFile("l/none");
  });

  test("maps system directories to permission errors", async () => {
    const calls = [["writeFile", "/bin/x", ""], ["mkdir", "/bin/x"], ["deleteFile", "/bin/ls"], ["appendFile", "/bin/ls", ""]];
    for (const [method, ...args] of calls) {
      await assert.rejects(files[method](...args), error("PermissionError"), method);
    }
    const other = new TideboxFilesystem({ sandbox, workingDirectory: "/tmp" });
    await other.writeFile("x", "1");
    assert.equal(await files.readFile("/tmp/x", { encoding: "utf8" }), "1");
  });

  test("reports a closed sandbox", async () => {
    const own = await Sandbox.create();
    const closed = new TideboxFilesystem({ sandbox: own });
    await own.close();
    for (const [method, ...args] of [["readFile", "x"], ["writeFile", "x", ""], ["readdir", "."], ["exists", "x"]]) {
      await assert.rejects(closed[method](...args), { name: "SandboxError", code: "CLOSED" }, method);
    }
  });
});
