// Packs in a page: fetched once from where the application has them, held to their hashes, and kept by the browser.

import assert from "node:assert/strict";
import { copyFile, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { addPack, exportPack, listPacks } from "tidebox/packs";

import { groups } from "../python_cases.mjs";
import { launch, open, skip } from "./chromium.mjs";
import { serve } from "./server.mjs";

const root = new URL("../", import.meta.url).pathname;
const [python] = await listPacks();
const missing = "the pack python is not installed; install it with `npx tidebox pack add python`";
assert.ok(python.ready || process.env.CI === undefined, missing);

const RECORD = "pack.json";

describe("packs in a page", { skip: skip || (python.ready ? false : missing) }, () => {
  let folder;
  let sha256;
  let pages;
  let packs;
  let browser;
  let context;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "served-pack-"));
    ({ sha256 } = await exportPack("python", folder));
    // Another server than the page's, as many applications have it.
    [pages, packs] = await Promise.all([serve(root), serve(folder, { headers: { "access-control-allow-origin": "*" } })]);
    browser = await launch();
    // One profile for all pages, as a user has.
    context = await browser.newContext();
  });
  after(async () => {
    await browser?.close();
    await Promise.all([pages?.close(), packs?.close()]);
    await rm(folder, { recursive: true });
  });

  /** Works in a page of its own. */
  async function inPage(work, given) {
    const { page } = await open(context, `${pages.url}/browser/suite.html`);
    try {
      return await page.evaluate(work, given);
    } finally {
      await page.close();
    }
  }

  /** What becomes of a sandbox with these packs, or of a command in it. */
  const run = (packs, command) => inPage(async ({ packs, command }) => {
    const { Sandbox } = await import("tidebox");
    try {
      const sandbox = await Sandbox.create({ packs });
      try {
        const { stdout, stderr, exitCode } = await sandbox.execute(command);
        return { stdout, stderr, exitCode };
      } finally {
        await sandbox.close();
      }
    } catch ({ code, message }) {
      return { code, message };
    }
  }, { packs, command });

  /** A folder with the files of the pack, one of them changed. */
  async function changed(name, change) {
    const other = await mkdtemp(join(tmpdir(), "served-pack-"));
    for (const file of await readdir(folder)) if (file !== name) await copyFile(join(folder, file), join(other, file));
    await change(join(other, name), await readFile(join(folder, name)));
    const server = await serve(other, { headers: { "access-control-allow-origin": "*" } });
    return { from: server.url, close: () => Promise.all([server.close(), rm(other, { recursive: true })]) };
  }

  test("a missing pack without a URL is an error", async () => {
    const { code, message } = await run(["python"], "true");
    assert.equal(code, "SETUP_FAILED");
    assert.match(message, /is not in this browser.*npx tidebox pack export python DIRECTORY.*from: /);
    assert.equal((await run([{ name: "python", folder: "/x" }], "true")).code, "UNSUPPORTED");
    assert.equal((await run([{ name: "nosuch", from: packs.url }], "true")).code, "INVALID_OPTIONS");
    assert.match((await run([{ name: "python", from: packs.url, sha256: "1" }], "true")).message, /64 hexadecimal digits/);
  });

  test("an invalid or unpinned pack is rejected", async () => {
    const page = await run([{ name: "python", from: `${pages.url}/browser/` }], "true");
    assert.match(page.message, /cannot download .*pack\.json: .*404/);
    const unpinned = await run([{ name: "python", from: packs.url, sha256: "0".repeat(64) }], "true");
    assert.match(unpinned.message, /does not match its pinned hash.*cannot be trusted/);

    const damaged = await changed("main.signals.packed", async (path, bytes) => {
      const { gunzipSync, gzipSync } = await import("node:zlib");
      await writeFile(path, gzipSync(gunzipSync(bytes).map((byte) => byte ^ 1)));
    });
    const { message } = await run([{ name: "python", from: damaged.from }], "true");
    await damaged.close();
    assert.match(message, /main\.signals\.packed does not match its pinned hash/);

    const other = await changed(RECORD, (path, bytes) => writeFile(path, String(bytes).replace('"made_by": "', '"made_by": "9.9.9 ')));
    const old = await run([{ name: "python", from: other.from }], "true");
    await other.close();
    assert.match(old.message, /made by 9\.9\.9 .*export it again/);

    const noList = await changed(RECORD, (path) => writeFile(path, "{}"));
    assert.match((await run([{ name: "python", from: noList.from }], "true")).message, /is not the list of a pack/);
    await noList.close();
    assert.equal((await run(["python"], "true")).code, "SETUP_FAILED", "nothing of it is used");
  });

  test("a pack is fetched once, and each sandbox of each page has it from then on", async () => {
    const progress = await inPage(async ({ from, sha256 }) => {
      const { addPack, listPacks } = await import("/node_modules/tidebox/dist/pack_add.web.js");
      const events = [];
      const before = (await listPacks())[0].ready;
      await addPack("python", { from, sha256, onProgress: (step, bytes) => events.push({ step, bytes }) });
      return { events, before, after: (await listPacks())[0].ready };
    }, { from: packs.url, sha256 });
    // The files that the damaged server had right were kept.
    assert.deepEqual([progress.before, progress.after], [false, true]);
    const steps = progress.events.map(({ step }) => step).filter((step, at, all) => step !== all[at - 1]);
    assert.deepEqual(steps, ["downloading main.signals", "downloading tree.index", "downloading tree.data", "rewriting the module for this browser"]);
    const data = progress.events.filter(({ step, bytes }) => step === "downloading tree.data" && bytes !== undefined);
    assert.ok(data.length > 1);
    assert.ok(data.every(({ bytes }, at) => bytes.done >= (data[at - 1]?.bytes.done ?? 0) && bytes.done <= (bytes.total ?? Infinity)), JSON.stringify(data.at(-1)));
    await packs.close();
    const program = "seq 1 1000 | python3 -c 'import sys, json; print(json.dumps(sum(map(int, sys.stdin))))'";
    assert.deepEqual(await run(["python"], program), { stdout: "500500\n", stderr: "", exitCode: 0 });
  });

  test("a second sandbox of a page, and a fork, share the compiled module", async () => {
    const found = await inPage(async () => {
      const { Sandbox } = await import("tidebox");
      const [one, two] = await Promise.all([Sandbox.create({ packs: ["python"] }), Sandbox.create({ packs: ["python"] })]);
      await one.execute("echo 'x = 7' > mine.py; python3 -c 'import mine'");
      const fork = await one.fork();
      const program = "python3 -c 'import os; print(os.path.exists(\"mine.py\"))'";
      const outputs = await Promise.all([one, two, fork].map((sandbox) => sandbox.execute(program)));
      await Promise.all([one, two, fork].map((sandbox) => sandbox.close()));
      return outputs.map(({ output }) => output);
    });
    assert.deepEqual(found, ["True\n", "False\n", "True\n"]);
  });

  test("the page stays responsive while Python computes, and a timeout ends it", async () => {
    const found = await inPage(async () => {
      const { Sandbox } = await import("tidebox");
      const sandbox = await Sandbox.create({ packs: ["python"] });
      let turns = 0;
      const timer = setInterval(() => (turns += 1), 10);
      const { exitCode, stoppedBy } = await sandbox.execute("python3 -c 'while True: pass'", { timeoutMs: 2000 });
      clearInterval(timer);
      const { output } = await sandbox.execute("python3 -c 'print(1)'");
      await sandbox.close();
      return { exitCode, stoppedBy, turned: turns > 0, output };
    });
    assert.deepEqual(found, { exitCode: 124, stoppedBy: "timeout", turned: true, output: "1\n" });
  });

  test("an interpreter keeps its variables", async () => {
    const found = await inPage(async () => {
      const { Sandbox } = await import("tidebox");
      const sandbox = await Sandbox.create({ packs: ["python"] });
      const python = await sandbox.pythonSession();
      const values = [];
      for (const code of ["import numpy as np; a = np.arange(3)", "int(a.sum())", "a[9]"]) {
        const { value, error } = await python.run(code);
        values.push(value ?? error?.name ?? "");
      }
      await python.close();
      await sandbox.close();
      return values;
    });
    assert.deepEqual(found, ["", "3", "IndexError"]);
  });

  for (const [name, cases] of Object.entries(groups)) {
    test(name, async () => {
      const outcomes = await inPage(async (commands) => {
        const { Sandbox } = await import("tidebox");
        const sandbox = await Sandbox.create({ packs: ["python"] });
        const found = [];
        for (const command of commands) {
          const { stdout, stderr, exitCode } = await sandbox.execute(command);
          found.push({ stdout, stderr, exitCode });
        }
        await sandbox.close();
        return found;
      }, cases.map(({ run }) => run));
      for (const [n, { run, prints, fails, says }] of cases.entries()) {
        const { stdout, stderr, exitCode } = outcomes[n];
        if (prints === undefined) assert.ok(exitCode === fails && stderr.includes(says), `${run} ended with ${exitCode}: ${stderr}`);
        else assert.deepEqual([stdout, stderr, exitCode], [prints, "", 0], run);
      }
    });
  }

  test("a removed pack is deleted", async () => {
    const found = await inPage(async () => {
      const { listPacks, removePack } = await import("/node_modules/tidebox/dist/pack_add.web.js");
      const removed = [await removePack("python"), await removePack("python")];
      return { removed, ready: (await listPacks())[0].ready };
    });
    assert.deepEqual(found, { removed: [true, false], ready: false });
    assert.equal((await run(["python"], "true")).code, "SETUP_FAILED");
  });
});

/** Packs of one program: where their wheels are, and a session with each. */
const PROGRAMS = [
  { name: "git", wheel: process.env.TIDEBOX_GIT_WHEEL, variable: "TIDEBOX_GIT_WHEEL", module: "../git_cases.mjs", session: "gitSession" },
  { name: "node", wheel: process.env.TIDEBOX_NODE_WHEEL, variable: "TIDEBOX_NODE_WHEEL", module: "../node_cases.mjs", session: "nodeSession" },
];

for (const { name, wheel, variable, module, session } of PROGRAMS) {
  const noWheel = `the wheel of the pack ${name} is missing; build it with \`cargo xtask pack ${name}\` and set ${variable}`;
  describe(`${name} in a page`, { skip: skip || (wheel === undefined ? noWheel : false) }, () => {
    let folder;
    let pages;
    let packs;
    let browser;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), `served-${name}-`));
      await addPack(name, { folder: join(folder, "packs"), from: wheel });
      await exportPack(name, join(folder, "served"), { packs: join(folder, "packs") });
      [pages, packs] = await Promise.all([serve(root), serve(join(folder, "served"), { headers: { "access-control-allow-origin": "*" } })]);
      browser = await launch();
    });
    after(async () => {
      await browser?.close();
      await Promise.all([pages?.close(), packs?.close()]);
      await rm(folder, { recursive: true });
    });

    test("a session with the program prints what it prints elsewhere", async () => {
      const { page } = await open(await browser.newContext(), `${pages.url}/browser/suite.html`);
      const ran = await page.evaluate(async ({ name, from, module, session }) => {
        const { Sandbox } = await import("tidebox");
        const { [session]: work } = await import(module);
        const found = [];
        const assert = { deepEqual: (one, other, what) => found.push([one, other, what]) };
        const sandbox = await Sandbox.create({ packs: [{ name, from }] });
        try {
          await work(sandbox, assert);
        } finally {
          await sandbox.close();
        }
        return found;
      }, { name, from: `${packs.url}/`, module, session });
      assert.ok(ran.length > 5);
      for (const [one, other, what] of ran) assert.deepEqual(one, other, what);
    });
  });
}
