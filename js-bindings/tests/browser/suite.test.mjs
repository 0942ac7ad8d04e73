// The tests of the package in Chromium: the same files that Node runs, except where a test names what only Node has.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { launch, open, skip } from "./chromium.mjs";
import { serve } from "./server.mjs";

const tests = new URL("../", import.meta.url);
/** Modules of Node that the page has in another way; see suite.html. */
const GIVEN = ["node:test", "node:assert/strict"];

/** Why a file cannot run in a page, if it cannot. */
function onlyNode(source) {
  const imports = [...source.matchAll(/from "(node:[^"]+)"/g)].map(([, name]) => name);
  const missing = imports.find((name) => !GIVEN.includes(name)) ?? /\b(?<!Array)(Buffer|process)\b\./.exec(source)?.[1];
  return missing === undefined ? false : `it uses ${missing}, which only Node has`;
}

describe("the package in Chromium", { skip }, () => {
  let server;
  let browser;
  before(async () => {
    const { every, specFiles } = await import("../spec_folder.mjs");
    server = await serve(tests.pathname, { more: { "/cases.json": JSON.stringify({ every, specFiles }) } });
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  test("the page loads the browser entry point of the package", () => {
    const { exports } = JSON.parse(readFileSync(new URL("node_modules/tidebox/package.json", tests), "utf8"));
    const page = readFileSync(new URL("browser/suite.html", tests), "utf8");
    assert.ok(page.includes(`"/node_modules/tidebox/${exports["."].browser.slice(2)}"`), exports["."].browser);
  });

  test("guests can be suspended", async (context) => {
    const { page, complaints } = await open(browser, `${server.url}/browser/suite.html`);
    const version = browser.version();
    context.diagnostic(`Chromium ${version}`);
    assert.equal(await page.evaluate(() => typeof WebAssembly.Suspending), "function");
    assert.deepEqual(complaints, []);
    await page.close();
  });

  for (const file of readdirSync(tests).filter((name) => name.endsWith(".test.mjs")).sort()) {
    const reason = onlyNode(readFileSync(new URL(file, tests), "utf8"));
    test(file, { skip: reason }, async (context) => {
      const { page, complaints } = await open(browser, `${server.url}/browser/suite.html`);
      await page.waitForFunction(() => globalThis.ready);
      const outcomes = await page.evaluate((name) => globalThis.runTests(`/${name}`), file);
      for (const { name, skip, error } of outcomes) {
        await context.test(name, { skip: skip ?? false }, () => {
          if (error !== undefined) assert.fail(error);
        });
      }
      await page.close();
      assert.ok(outcomes.length > 0, "the file holds no tests");
      assert.deepEqual(complaints, []);
    });
  }
});
