// The content of the package: every program unchanged, and no unused files.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { brotliDecompressSync } from "node:zlib";

import { Sandbox } from "tidebox";

const userland = new URL("node_modules/tidebox/userland/", import.meta.url);
const listed = JSON.parse(readFileSync(new URL("programs.json", userland), "utf8"));

describe("the package", () => {
  test("holds each program of its list, packed, and no other", () => {
    const expected = listed.map(({ file }) => `${file}.piece`);
    const raw = listed.filter((program) => program.raw).map(({ file }) => file);
    assert.deepEqual(raw, ["sh.wasm"]);
    assert.deepEqual(readdirSync(userland).sort(), [...expected, ...raw, "programs.json"].sort());
  });

  test("has the same bytes in the packed program and in the one that is not", () => {
    const { bytes, after } = listed.find(({ file }) => file === "sh.wasm");
    const pieces = [...after, "sh.wasm"].map((file) => readFileSync(new URL(`${file}.piece`, userland)));
    const unpacked = brotliDecompressSync(Buffer.concat([...pieces, Uint8Array.of(3)]));
    assert.ok(unpacked.subarray(unpacked.length - bytes).equals(readFileSync(new URL("sh.wasm", userland))));
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
      const imported = [...source.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)"([^"]+)"/g)].map(([, name]) => name);
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
