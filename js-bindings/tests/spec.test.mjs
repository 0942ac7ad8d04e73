// Cases recorded from real bash and the GNU tools, as the native engine replays them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Sandbox } from "tidebox";

import { jspi } from "./engine.mjs";
import { parseCases } from "./spec_cases.mjs";
import { every, specFiles } from "./spec_folder.mjs";

const skip = specFiles === undefined ? "TIDEBOX_SPEC_CASES is not set" : false;

/** What happens at the same time as something else: background jobs, coprocesses, deadlines, files and locks that are watched. */
const TOGETHER = /\b(coproc|timeout|flock|ps|pidof)\b|\bread -t|\bxargs .*-P|\btail .*-[a-zA-Z]*[fF]|(?<![&<>|])&(?![&>])/;

/** Why a case cannot be played where programs run one after the other. */
const oneByOne = (script) => (!jspi && TOGETHER.test(script) ? "programs must run at the same time, which takes JSPI" : false);

/** Cases deeper than JavaScript engines have stack for; the shell says that it has no room, as `docs/limitations.md` does. */
const DEEP = new Set(["two hundred commands within one another"]);
const tooDeep = (name) => (DEEP.has(name) ? "the stack of this engine has room for 250 levels" : false);

/** Cases of Git need its pack. */
const needsGit = (file) => (file.startsWith("git-") ? "git.test.mjs has the cases of the pack git" : false);

/** Whether a case is one of those that run: its name says so (FNV-1a), that a new case may not change which others do. */
const isChosen = (name) => {
  const hash = Array.from(name).reduce((hash, letter) => Math.imul(hash ^ letter.codePointAt(0), 0x01000193), 0x811c9dc5);
  return (hash >>> 0) % every === 0;
};

/** Bytes as a text in which each is one character, for messages that a person can read. */
const text = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");

/** Sandboxes at the same time: one for each processor. */
const concurrency = globalThis.navigator?.hardwareConcurrency ?? 2;

describe("recorded cases", { skip, concurrency }, () => {
  if (skip) return;
  const cases = specFiles.flatMap(({ file, text }) => parseCases(text).map((found) => ({ file, ...found })));
  for (const { file, name, files, script, stdout, stderr, exit, differs } of cases.filter(({ name }) => isChosen(name))) {
    test(`${file}: ${name}`, { skip: differs ?? (needsGit(file) || tooDeep(name) || oneByOne(script)) }, async () => {
      const sandbox = await Sandbox.create({ files, env: { TZ: "UTC" } });
      try {
        const { stdoutBytes, stderrBytes, exitCode } = await sandbox.execute(script);
        assert.deepEqual([text(stdoutBytes), text(stderrBytes), exitCode], [text(stdout), text(stderr), exit]);
      } finally {
        await sandbox.close();
      }
    });
  }
});
