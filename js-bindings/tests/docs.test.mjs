// The examples of the documentation run, and print what the comments after `//>` state.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const here = new URL("./", import.meta.url);
const blocks = readdirSync(here).filter((name) => name.endsWith(".md")).flatMap((page) => {
  const text = readFileSync(new URL(page, here), "utf8");
  return [...text.matchAll(/```js\n([^]*?)```/g)].map(([, code], at) => ({ name: `${page} ${at + 1}`, code }));
});

const skip = "Deno" in globalThis ? "the examples run as programs of Node" : false;

/** Runs a module in the directory in which the package is installed. */
function run(code) {
  const options = { cwd: fileURLToPath(here) };
  return new Promise((resolve) => {
    execFile(process.execPath, ["--input-type=module", "--eval", code], options, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr });
    });
  });
}

describe("documentation", () => {
  test("has examples", () => assert.ok(blocks.length > 1));

  for (const { name, code } of blocks) {
    test(name, { skip }, async () => {
      const expected = [...code.matchAll(/\/\/> (.*)/g)].map(([, line]) => `${line}\n`).join("");
      assert.deepEqual(await run(code), { code: 0, stdout: expected, stderr: "" });
    });
  }
});
