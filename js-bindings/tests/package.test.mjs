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

  test("imports no framework unless an adapter is imported", () => {
    const dist = new URL("node_modules/tidebox/dist/", import.meta.url);
    /** Returns the packages that a module imports, including those of the modules of this package that it imports. */
    const packages = (file, seen = new Set()) => {
      if (seen.has(file)) return [];
      seen.add(file);
      const source = readFileSync(new URL(file, dist), "utf8").replace(/\/\*[^]*?\*\//g, "");
      const imported = [...source.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, name]) => name);
      const inner = imported.filter((name) => /^\.\/[^/]*\.js$/.test(name));
      return [...imported.filter((name) => !/^(\.|node:)/.test(name)), ...inner.flatMap((name) => packages(name, seen))];
    };
    for (const entry of ["node.js", "web.js", "pack_add.node.js"]) assert.deepEqual(packages(entry), [], entry);
    for (const entry of ["ai_sdk.js", "bash_tool.js"]) assert.deepEqual(packages(entry).filter((name) => name !== "tidebox"), [], entry);
    assert.ok(packages("mastra.js").every((name) => name === "tidebox" || name.startsWith("@mastra/core/")));
    assert.ok(packages("openai_agents.js").every((name) => name === "tidebox" || name.startsWith("@openai/agents-core")));
    assert.ok(packages("mastra.js").includes("@mastra/core/workspace"));
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
