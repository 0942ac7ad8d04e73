// The pack node: JavaScript in the sandbox as Node runs it, from the wheel of `cargo xtask pack node`.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { Sandbox } from "tidebox";
import { addPack, listPacks, removePack } from "tidebox/packs";

import { isCaller, jspi } from "./engine.mjs";
import { DIR, nodeSession, parseNodeCases, printed } from "./node_cases.mjs";

const WHEEL = process.env.TIDEBOX_NODE_WHEEL;
const missing = "the wheel of the pack node is missing; build it with `cargo xtask pack node` and set TIDEBOX_NODE_WHEEL";
const skip = WHEEL === undefined ? missing : isCaller ? "the caller's thread has no packs" : false;

let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "node-pack-"));
});
after(() => rm(folder, { recursive: true }));

test("node without a wheel is rejected with the command that builds it", () =>
  assert.rejects(addPack("node", { folder }), { code: "SETUP_FAILED", message: /cargo xtask pack node.*--from FILE/ }));

describe("node", { skip }, () => {
  const within = async (options, work) => {
    const sandbox = await Sandbox.create({ packs: [{ name: "node", folder }], ...options });
    try {
      return await work(sandbox);
    } finally {
      await sandbox.close();
    }
  };
  before(() => addPack("node", { folder, from: WHEEL }));

  test("the pack is listed as ready", async () => {
    const node = (await listPacks({ folder })).find(({ name }) => name === "node");
    assert.deepEqual([node.ready, node.version, node.with], [true, "22.23.3", []]);
  });

  for (const thread of ["own", "pool"]) {
    test(`scripts, modules, processes and a server run in a sandbox of the thread ${thread}`, () =>
      within({ thread }, (sandbox) => nodeSession(sandbox, assert, jspi)));
  }

  test("a script that never ends is stopped at the time limit", () => within({}, async (sandbox) => {
    const { exitCode } = await sandbox.execute("node -e 'for (;;);'", { timeoutMs: 500 });
    assert.notEqual(exitCode, 0);
    assert.equal((await sandbox.execute("node -p 6*7")).output, "42\n");
  }));

  test("a script that takes all memory fails, and the sandbox stays usable", () => within({ limits: { processMemoryBytes: 128 << 20 } }, async (sandbox) => {
    const { exitCode } = await sandbox.execute("node -e 'const all = []; for (;;) all.push(new Uint8Array(1 << 24).fill(1))'");
    assert.notEqual(exitCode, 0);
    assert.equal((await sandbox.execute("node -p 6*7")).output, "42\n");
  }));

  test("a script does not see objects of the host", () => within({}, async (sandbox) => {
    const { output } = await sandbox.execute("node -p '[typeof window, typeof Deno, typeof native, typeof tidebox, process.pid > 0, process.cwd()].join()'");
    assert.equal(output, "undefined,undefined,undefined,undefined,true,/workspace\n");
  }));

  test("a deterministic sandbox gives the same random numbers", async () => {
    const draw = (sandbox) => sandbox.execute("node -p 'Math.random() + require(\"crypto\").randomUUID()'");
    const drawn = [];
    for (const _ of [1, 2]) drawn.push((await within({ deterministic: { seed: 1, timeMs: 0 } }, draw)).output);
    assert.match(drawn[0], /^0\.\d+[-0-9a-f]{36}\n$/);
    assert.equal(drawn[1], drawn[0]);
  });

  /** Cases in which the engine's own stack ends before the limit of the pack, so the process ends with exit code 139. */
  const DEEP = ["errors/nesting", "errors/recursion"];
  const FOLDER = process.env.TIDEBOX_NODE_CASES;
  const noCases = FOLDER === undefined ? "TIDEBOX_NODE_CASES is not set" : jspi ? false : "many cases start processes, which takes JSPI";
  test("the recorded cases print what Node prints", { skip: noCases }, () => within({ thread: "pool", env: { TZ: "UTC" } }, async (sandbox) => {
    const expected = JSON.parse(readFileSync(join(FOLDER, "expected.json"), "utf8"));
    const listed = [...readFileSync(join(FOLDER, "different.md"), "utf8").matchAll(/^- `([^`]*)`: /gmu)];
    const different = [...DEEP, ...listed.map(([, name]) => name)];
    const topics = readdirSync(FOLDER).filter((name) => name.endsWith(".txt"));
    const cases = topics.flatMap((name) => parseNodeCases(name.slice(0, -4), readFileSync(join(FOLDER, name), "utf8")));
    assert.equal(cases.length, Object.keys(expected).length);
    const wrong = [];
    for (const { name, file, script } of cases.filter((found) => !different.includes(found.name))) {
      await sandbox.execute(`rm -rf ${DIR} && mkdir ${DIR}`);
      await sandbox.uploadFiles([[`${DIR}/${file}`, new TextEncoder().encode(script)]]);
      const found = printed(await sandbox.execute(`cd ${DIR} && node ${file} </dev/null`));
      if (JSON.stringify(found) !== JSON.stringify(expected[name])) wrong.push({ name, found, expected: expected[name] });
    }
    assert.deepEqual(wrong, []);
  }));

  test("the pack is removed", async () => {
    assert.equal(await removePack("node", { folder }), true);
    await assert.rejects(stat(join(folder, "node")), { code: "ENOENT" });
  });
});
