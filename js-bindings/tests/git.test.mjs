// The pack git: Git in the sandbox, from the wheel of `cargo xtask pack git`.

import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { Sandbox } from "tidebox";
import { addPack, listPacks, removePack } from "tidebox/packs";

import { isCaller, jspi } from "./engine.mjs";
import { gitSession } from "./git_cases.mjs";
import { parseCases } from "./spec_cases.mjs";
import { every, specFiles } from "./spec_folder.mjs";

const WHEEL = process.env.TIDEBOX_GIT_WHEEL;
const missing = "the wheel of the pack git is missing; build it with `cargo xtask pack git` and set TIDEBOX_GIT_WHEEL";
const skip = WHEEL === undefined ? missing : isCaller ? "the caller's thread has no packs" : false;

let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "git-pack-"));
});
after(() => rm(folder, { recursive: true }));

test("git without a wheel is rejected with the command that builds it", async () => {
  await assert.rejects(addPack("git", { folder }), { code: "SETUP_FAILED", message: /cargo xtask pack git.*--from FILE/ });
  await assert.rejects(addPack("git", { folder, from: join(folder, "missing.whl") }), { code: "SETUP_FAILED", message: /cannot read the wheel/ });
  const damaged = join(folder, "damaged.whl");
  await writeFile(damaged, "not an archive, but long enough to look for its end");
  await assert.rejects(addPack("git", { folder, from: damaged }), { code: "SETUP_FAILED", message: /cannot unpack .*corrupt archive/ });
  await assert.rejects(addPack("python", { folder, from: damaged }), { code: "INVALID_OPTIONS", message: /'from' is supported only in pages, and for git/ });
});

test("a sandbox with a pack git that is not installed is rejected", { skip: isCaller && skip }, () =>
  assert.rejects(Sandbox.create({ packs: [{ name: "git", folder }] }), { code: "SETUP_FAILED", message: /not installed.*--from FILE/ }));

describe("git", { skip }, () => {
  const within = async (options, work) => {
    const sandbox = await Sandbox.create({ packs: [{ name: "git", folder }], ...options });
    try {
      return await work(sandbox);
    } finally {
      await sandbox.close();
    }
  };
  before(() => addPack("git", { folder, from: WHEEL }));

  test("the pack is listed as ready", async () => {
    const git = (await listPacks({ folder })).find(({ name }) => name === "git");
    assert.deepEqual([git.ready, git.version, git.with], [true, "2.39.5", []]);
  });

  for (const thread of ["own", "pool"]) {
    test(`a repository is created, committed, cloned and pushed to in a sandbox of the thread ${thread}`, () =>
      within({ thread }, (sandbox) => gitSession(sandbox, assert, jspi)));
  }

  test("the parts of git that are scripts run", () => within({}, async (sandbox) => {
    const { output, exitCode } = await sandbox.execute(
      "git init -q r && cd r && for n in 1 2 3 4; do echo $n > f && git add f && git commit -qm $n; done && " +
        "git bisect start HEAD HEAD~3 > /dev/null && git bisect run sh -c 'test $(cat f) -lt 3' | grep 'first bad commit'",
    );
    assert.deepEqual([/is the first bad commit/.test(output), exitCode], [true, 0], output);
  }));

  test("a deterministic sandbox gives the same object ids", async () => {
    const commit = (sandbox) => sandbox.execute("git init -q && echo a > a && git add a && git commit -qm a && git rev-parse HEAD");
    const ids = [];
    for (const _ of [1, 2]) ids.push((await within({ deterministic: { seed: 1, timeMs: 0 } }, commit)).output);
    assert.match(ids[0], /^[0-9a-f]{40}\n$/);
    assert.equal(ids[1], ids[0]);
  });

  const needsJspi = jspi ? false : "git and its helper must run at the same time, which takes JSPI";
  test("a sandbox without network access cannot clone from a server", { skip: needsJspi }, () => within({}, async (sandbox) => {
    const { output, exitCode } = await sandbox.execute("git clone -q https://example.com/a.git");
    assert.deepEqual([exitCode, /network/.test(output)], [128, true], output);
  }));

  /** The variables of the recorded cases; see `tests/spec/main.rs`. */
  const env = {
    TZ: "UTC", GIT_CONFIG_NOSYSTEM: "1", GIT_AUTHOR_NAME: "A U Thor", GIT_AUTHOR_EMAIL: "author@example.com",
    GIT_AUTHOR_DATE: "1700000000 +0000", GIT_COMMITTER_NAME: "C O Mitter", GIT_COMMITTER_EMAIL: "committer@example.com",
    GIT_COMMITTER_DATE: "1700000000 +0000", GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "init.defaultBranch", GIT_CONFIG_VALUE_0: "main",
  };
  const text = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const recorded = specFiles?.filter(({ file }) => file.startsWith("git-")).flatMap(({ file, text }) => parseCases(text).map((found) => ({ file, ...found })));
  describe("recorded cases of Debian's Git", { skip: recorded === undefined ? "TIDEBOX_SPEC_CASES is not set" : needsJspi }, () => {
    for (const { file, name, files, script, stdout, stderr, exit, differs } of (recorded ?? []).filter((_, at) => at % every === 0)) {
      test(`${file}: ${name}`, { skip: differs }, () => within({ thread: "pool", files, env }, async (sandbox) => {
        const { stdoutBytes, stderrBytes, exitCode } = await sandbox.execute(script);
        assert.deepEqual([text(stdoutBytes), text(stderrBytes), exitCode], [text(stdout), text(stderr), exit]);
      }));
    }
  });

  test("the pack is removed", async () => {
    assert.equal(await removePack("git", { folder }), true);
    await assert.rejects(stat(join(folder, "git")), { code: "ENOENT" });
  });
});
