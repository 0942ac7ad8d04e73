// The content of the package: every program unchanged, and no unused files.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { describe, test } from "node:test";

import { Sandbox } from "tidebox";

const userland = new URL("node_modules/tidebox/userland/", import.meta.url);
const listed = JSON.parse(readFileSync(new URL("programs.json", userland), "utf8"));

describe("the package", () => {
  test("holds each program of its list, packed, and no other", () => {
    const expected = listed.map(({ file }) => `${file}.piece`);
    assert.deepEqual(readdirSync(userland).sort(), [...expected, "programs.json"].sort());
  });

  test("provides every program with the listed bytes", async (context) => {
    const sandbox = await Sandbox.create();
    context.after(() => sandbox.close());
    const paths = listed.map(({ commands }) => `/bin/${commands[0]}`);
    const { stdout } = await sandbox.execute(`sha256sum ${paths.map((path) => `'${path}'`).join(" ")}`);
    const expected = listed.map(({ sha256 }, at) => `${sha256}  ${paths[at]}\n`);
    assert.equal(stdout, expected.join(""));
  });

  test("programs that others follow do not follow those", () => {
    const by = new Map(listed.map((program) => [program.file, program]));
    for (const { file, after } of listed) {
      for (const [at, other] of after.entries()) {
        assert.deepEqual(by.get(other)?.after, after.slice(0, at), `${file} after ${after}`);
      }
    }
  });
});
