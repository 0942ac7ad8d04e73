// Bundlers take the package: what they make works in a page, and so does Vite's server for development.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { build as bundle } from "esbuild";
import { build, createServer } from "vite";
import webpack from "webpack";

import { launch, open, skip } from "./chromium.mjs";
import { serve } from "./server.mjs";

const root = new URL("../", import.meta.url);
const example = fileURLToPath(new URL("examples/browser/", root));
const tidebox = fileURLToPath(new URL("node_modules/tidebox/", root));

describe("a bundled page", { skip }, () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  /** Types a pipeline into the terminal at an address. */
  async function works(url) {
    const { page, complaints } = await open(browser, url);
    await page.locator("#command:enabled").waitFor();
    await page.locator("#command").fill("grep tide poem.txt | wc -l; head -c 4 /bin/jq | xxd -p");
    await page.keyboard.press("Enter");
    await page.locator("#command:enabled").waitFor();
    assert.match(await page.locator("#screen").textContent(), /\n2\n0061736d\n$/);
    assert.deepEqual(complaints, []);
    await page.close();
  }

  async function served(folder, headers) {
    const server = await serve(folder, { headers });
    try {
      await works(`${server.url}/`);
    } finally {
      await server.close();
    }
  }

  test("Vite builds it without any setting", async () => {
    await build({ root: example, configFile: false, logLevel: "warn" });
    const names = readdirSync(`${example}dist/assets`);
    for (const wanted of [/^kernel_bg-.*\.wasm$/, /^worker\.web-.*\.js$/, /^sh\.wasm-.*\.piece$/]) {
      assert.equal(names.filter((name) => wanted.test(name)).length, 1, `${wanted} in ${names}`);
    }
    await served(`${example}dist`);
  });

  test("Vite serves it while it is developed", async () => {
    const server = await createServer({ root: example, configFile: false, logLevel: "warn", server: { host: "127.0.0.1" } });
    try {
      await server.listen();
      await works(server.resolvedUrls.local[0]);
    } finally {
      await server.close();
    }
  });

  test("webpack builds it without any setting", async () => {
    const site = emptied("packed/");
    const options = { mode: "production", performance: false, context: example, entry: "./terminal.js", output: { path: `${site}js`, filename: "terminal.js" } };
    const stats = await promisify(webpack)(options);
    assert.equal(stats.toString({ all: false, errors: true, warnings: true }), "");
    page(site);
    await served(site);
  });

  test("esbuild bundles it, and the page may allow no more than the package needs", async () => {
    const site = emptied("bundled/");
    await bundle({
      entryPoints: [`${example}terminal.js`, `${tidebox}dist/worker.web.js`],
      bundle: true, format: "esm", minify: true, outdir: `${site}js`, entryNames: "[name]", logLevel: "warning",
    });
    cpSync(`${tidebox}dist/kernel_bg.wasm`, `${site}js/kernel_bg.wasm`);
    cpSync(`${tidebox}userland`, `${site}userland`, { recursive: true });
    page(site);
    await served(site, { "content-security-policy": POLICY });
  });
});

function emptied(name) {
  const folder = fileURLToPath(new URL(name, root));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  return folder;
}

/** The page of the example for a script that was bundled. */
function page(site) {
  cpSync(`${example}style.css`, `${site}style.css`);
  writeFileSync(`${site}index.html`, PAGE);
}

const POLICY = [
  "default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "worker-src 'self'", "connect-src 'self'", "style-src 'self'",
  "img-src data:",
].join("; ");

const PAGE = `<!doctype html>
<meta charset="utf-8">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
<script type="module" src="js/terminal.js"></script>
<main id="terminal"><pre id="screen"></pre>
<form id="line"><label id="prompt"></label><input id="command" disabled><button id="stop"></button></form></main>
<aside><ul id="files"></ul><input id="upload" type="file"><input id="limit" type="number" value="5"></aside>
`;
