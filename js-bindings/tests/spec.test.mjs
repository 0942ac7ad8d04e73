// Cases recorded from real bash and the GNU tools, as the native engine replays them. `TIDEBOX_SPEC_CASES` names their folder;
// without `TIDEBOX_SPEC_EVERY=1` only some of them run, spread over all features.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { Sandbox } from "tidebox";

import { jspi } from "./engine.mjs";
import { parseCases } from "./spec_cases.mjs";

const folder = process.env.TIDEBOX_SPEC_CASES;
const every = Number(process.env.TIDEBOX_SPEC_EVERY ?? 40);

const skip = folder === undefined ? "TIDEBOX_SPEC_CASES is not set" : jspi ? false : "some cases need JSPI";

describe("recorded cases", { skip, concurrency: 2 }, () => {
  if (skip) return;
  const files = readdirSync(folder).filter((name) => name.endsWith(".spec")).sort();
  const cases = files.flatMap((file) => parseCases(readFileSync(join(folder, file), "utf8")).map((found) => ({ file, ...found })));
  for (const { file, name, files, script, stdout, stderr, exit, differs } of cases.filter((_, at) => at % every === 0)) {
    test(`${file}: ${name}`, { skip: differs }, async () => {
      const sandbox = await Sandbox.create({ files, env: { TZ: "UTC" } });
      try {
        const { stdoutBytes, stderrBytes, exitCode } = await sandbox.execute(script);
        const text = (bytes) => Buffer.from(bytes).toString("latin1");
        assert.deepEqual([text(stdoutBytes), text(stderrBytes), exitCode], [text(stdout), text(stderr), exit]);
      } finally {
        await sandbox.close();
      }
    });
  }
});
