// A person types commands into the page of `examples/browser`, served as plain files.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";

import { launch, open, skip } from "./chromium.mjs";
import { serve } from "./server.mjs";

const root = new URL("../", import.meta.url);
const example = new URL("examples/browser/", root);
const KEPT = new URL("screenshot.png", example);
/** How many of a hundred pixels that are not ground may look different: every version draws letters a little differently. */
const TOLERANCE = 20;

/** Puts the package where an installation in the folder of the example alone would. */
function installInExample() {
  const folder = new URL("node_modules/", example);
  if (existsSync(new URL("tidebox", folder))) return;
  mkdirSync(folder, { recursive: true });
  symlinkSync(new URL("node_modules/tidebox", root).pathname, new URL("tidebox", folder).pathname);
}

describe("a terminal in a page", { skip }, () => {
  let server;
  let browser;
  let page;
  let complaints;

  before(async () => {
    installInExample();
    server = await serve(root.pathname);
    browser = await launch();
    ({ page, complaints } = await open(browser, `${server.url}/examples/browser/`));
    await ready();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  const ready = () => page.locator("#command:enabled").waitFor();
  const screen = () => page.locator("#screen").textContent();

  /** Types a line as a person does. */
  async function type(line) {
    await page.locator("#command").pressSequentially(line);
    await page.keyboard.press("Enter");
  }

  /** What a line printed. */
  async function run(line) {
    const before = await screen();
    await type(line);
    await ready();
    const text = (await screen()).slice(before.length);
    return text.slice(text.indexOf("\n") + 1);
  }

  test("a pipeline over the files of the sandbox", async () => {
    assert.equal(await run("sort poem.txt | head -n 1"), "The tide comes in,\n");
    assert.equal(await run("seq 1 1000 | grep 7 | wc -l"), "271\n");
  });

  test("the session keeps its directory, shown by the prompt", async () => {
    assert.equal(await run("mkdir -p a/b && cd a/b && n=7"), "");
    assert.equal(await page.locator("#prompt").textContent(), "~/a/b $");
    assert.equal(await run("pwd; echo $n; cd"), "/workspace/a/b\n7\n");
    assert.equal(await run("cd /workspace"), "");
  });

  test("errors and exit codes are shown", async () => {
    assert.equal(await run("cat none"), "cat: none: No such file or directory\n[exit code 1]\n");
    assert.equal(await page.locator("#screen .stderr").last().textContent(), "cat: none: No such file or directory\n");
    assert.equal(await run("exit 7"), "[exit code 7]\n");
  });

  test("output is displayed while the command runs", async () => {
    await type("echo first; sleep 1; echo second");
    await page.waitForFunction(() => document.getElementById("screen").textContent.endsWith("first\n"));
    await ready();
    assert.match(await screen(), /first\nsecond\n$/);
  });

  test("lines that were typed before come back by the arrow keys", async () => {
    await run("echo once more");
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.locator("#command").inputValue(), "echo once more");
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.locator("#command").inputValue(), "");
  });

  test("files go in and come out, byte for byte", async () => {
    const bytes = Buffer.from(Array.from({ length: 3000 }, (_, n) => (n * 7) % 256));
    await page.locator("#upload").setInputFiles({ name: "in.bin", mimeType: "application/octet-stream", buffer: bytes });
    await page.waitForFunction(() => document.getElementById("screen").textContent.endsWith("[uploaded /workspace/in.bin]\n"));
    assert.equal(await run("rev in.bin > /dev/null; cat in.bin in.bin > out.bin; wc -c < out.bin"), "6000\n");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "out.bin" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "out.bin");
    assert.deepEqual(await readFile(await download.path()), Buffer.concat([bytes, bytes]));
  });

  test("an endless loop times out without blocking the page", async () => {
    await page.locator("#limit").fill("1");
    await page.evaluate(() => {
      let last = performance.now();
      globalThis.gap = 0;
      globalThis.ticks = 0;
      globalThis.ticking = setInterval(() => {
        const now = performance.now();
        globalThis.gap = Math.max(globalThis.gap, now - last);
        last = now;
        globalThis.ticks++;
      }, 10);
    });
    await page.locator("#command").focus();
    await type("while :; do :; done");
    assert.equal(await page.locator("#command").isDisabled(), true);
    await ready();
    const { gap, ticks } = await page.evaluate(() => {
      clearInterval(globalThis.ticking);
      return { gap: globalThis.gap, ticks: globalThis.ticks };
    });
    assert.match(await screen(), /tidebox: the command was stopped because it ran for .*\n$/);
    assert.ok(ticks > 20 && gap < 800, `${ticks} ticks, and once none for ${gap} ms`);
    await page.locator("#limit").fill("20");
    assert.equal(await run("cat poem.txt | wc -l"), "3\n");
  });

  test("Ctrl+C and a button cancel a command and keep its output", async () => {
    for (const give of [() => page.keyboard.press("Control+c"), () => page.locator("#stop").click()]) {
      await type("echo begun | tee begun.txt; sleep 60; echo never");
      await page.waitForFunction(() => document.getElementById("screen").textContent.endsWith("begun\n"));
      await give();
      await ready();
      assert.match(await screen(), /begun\ntidebox: the command was stopped because its caller cancelled it\n$/);
      assert.equal(await run("cat begun.txt; rm begun.txt"), "begun\n");
    }
  });

  test("no other server was contacted and no error is unhandled", () => {
    assert.deepEqual(complaints, []);
  });

  test("a session looks as it did", async (context) => {
    await page.reload();
    await ready();
    for (const line of ["cat poem.txt | nl", "grep -c tide poem.txt", "ls -l nothing", "for n in 1 2 3; do echo $((n * n)); done"]) {
      await run(line);
    }
    assert.equal(await screen(), SESSION);
    const found = await page.screenshot();
    writeFileSync(new URL("screenshot-found.png", root), found);
    if (!(await hasFont(page))) return context.skip("the font DejaVu Sans Mono is not there, so letters look different");
    const differing = await differ(page, found, await readFile(KEPT));
    context.diagnostic(`${differing.toFixed(2)} of a hundred pixels differ`);
    assert.ok(differing < TOLERANCE, `${differing} of a hundred pixels differ; see screenshot-found.png`);
    await page.reload();
    await ready();
    const other = await differ(page, found, await page.screenshot());
    assert.ok(other > 2 * TOLERANCE, `a page without the session must look different, but only ${other} of a hundred pixels do`);
  });
});

const SESSION = `Starting a sandbox in this page...
Ready. Try: ls /bin | wc -l
~ $ cat poem.txt | nl
     1\tThe tide comes in,
     2\tthe tide goes out,
     3\tthe box stays dry.
~ $ grep -c tide poem.txt
2
~ $ ls -l nothing
ls: cannot access 'nothing': No such file or directory
[exit code 2]
~ $ for n in 1 2 3; do echo $((n * n)); done
1
4
9
`;

/** Whether the page can be drawn in the font of the screenshot that is kept. */
function hasFont(page) {
  return page.evaluate(() => {
    const context = document.createElement("canvas").getContext("2d");
    const width = (font) => {
      context.font = `40px ${font}`;
      return context.measureText("illicit WM").width;
    };
    return width('"DejaVu Sans Mono", serif') !== width("serif") && width('"DejaVu Sans Mono", serif') !== width("sans-serif");
  });
}

/** Of a hundred pixels that are not ground in both pictures, how many differ clearly. */
async function differ(page, one, two) {
  const encoded = [one, two].map((png) => `data:image/png;base64,${png.toString("base64")}`);
  return page.evaluate(async (sources) => {
    const [a, b] = await Promise.all(sources.map(async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height);
    }));
    if (a.width !== b.width || a.height !== b.height) return 100;
    const far = (one, at, two, from) => [0, 1, 2].some((channel) => Math.abs(one[at + channel] - two[from + channel]) > 48);
    // The first pixel is ground.
    const ground = a.data.slice(0, 4);
    let [drawn, differing] = [0, 0];
    for (let at = 0; at < a.data.length; at += 4) {
      if (far(a.data, at, ground, 0) || far(b.data, at, ground, 0)) drawn++;
      if (far(a.data, at, b.data, at)) differing++;
    }
    return (100 * differing) / drawn;
  }, encoded);
}
