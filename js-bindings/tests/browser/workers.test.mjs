// Workers of a page: they end with their sandbox, and a terminated one is replaced.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { launch, open, skip } from "./chromium.mjs";
import { serve } from "./server.mjs";

const root = new URL("../", import.meta.url).pathname;

describe("Workers of a page", { skip }, () => {
  let server;
  let browser;
  before(async () => {
    server = await serve(root);
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  /** A page that can import the package and remembers the Workers that it started, and what went wrong in it. */
  async function opened(context) {
    const { page, complaints } = await open(browser, `${server.url}/browser/suite.html`, (page) => page.addInitScript(() => {
      const started = [];
      globalThis.started = started;
      globalThis.Worker = class extends Worker {
        constructor(...args) {
          super(...args);
          started.push(this);
        }
      };
    }));
    context.after(() => page.close());
    return { page, complaints };
  }

  test("a Worker ends when its sandbox is closed, and nothing of it is left", async (context) => {
    const { page, complaints } = await opened(context);
    await page.evaluate(async () => {
      const { Sandbox } = await import("tidebox");
      for (let round = 0; round < 5; round++) {
        const sandboxes = await Promise.all([1, 2, 3, 4].map(() => Sandbox.create()));
        await Promise.all(sandboxes.map((sandbox) => sandbox.execute("seq 9 | tail -n 1")));
        await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
      }
    });
    for (let wait = 0; page.workers().length > 0 && wait < 50; wait++) await sleep(100);
    assert.deepEqual([page.workers().length, await page.evaluate(() => globalThis.started.length)], [0, 20]);
    assert.deepEqual(complaints, []);
  });

  test("the page itself runs a sandbox that asks for its thread", async (context) => {
    const { page, complaints } = await opened(context);
    const found = await page.evaluate(async () => {
      const { Sandbox, prepare } = await import("tidebox");
      await prepare({ thread: "caller" });
      const tools = { ask: async ({ argv, stdout }) => stdout.write(`${argv[1]}!\n`) };
      const sandbox = await Sandbox.create({ thread: "caller", files: { "a.txt": "b\na\n" }, tools });
      const { output } = await sandbox.execute("sort a.txt | head -1; ask hello; head -c 4 /bin/grep | od -An -c | tr -d ' \\n'");
      let turns = 0;
      const timer = setInterval(() => (turns += 1), 0);
      const { exitCode } = await sandbox.execute("while :; do :; done", { timeoutMs: 1000 });
      clearInterval(timer);
      const usage = await sandbox.usage();
      await sandbox.close();
      return { output, exitCode, turns, cpu: usage.cpuTimeMs > 100, workers: globalThis.started.length };
    });
    const { turns, ...rest } = found;
    assert.deepEqual(rest, { output: "a\nhello!\n\\0asm", exitCode: 124, cpu: true, workers: 0 });
    assert.ok(turns >= 5, `${turns} turns`);
    assert.deepEqual(complaints, []);
  });

  test("a few Workers serve all sandboxes, and end when there are none for a while", async (context) => {
    const { page, complaints } = await opened(context);
    const outputs = await page.evaluate(async () => {
      const { Sandbox } = await import("tidebox");
      const sandboxes = await Promise.all(Array.from({ length: 50 }, (_, n) => Sandbox.create({ files: { n: `${n}` }, thread: "pool" })));
      const results = await Promise.all(sandboxes.map((sandbox) => sandbox.execute("cat n")));
      await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
      return results.map(({ output }) => output);
    });
    assert.deepEqual(outputs, Array.from({ length: 50 }, (_, n) => `${n}`));
    assert.ok(await page.evaluate(() => globalThis.started.length) <= 4);
    for (let wait = 0; page.workers().length > 0 && wait < 200; wait++) await sleep(100);
    assert.deepEqual([page.workers().length, complaints], [0, []]);
  });

  test("a sandbox continues after its Worker failed, with the files of the last call", async (context) => {
    const { page } = await opened(context);
    const found = await page.evaluate(async () => {
      const { Sandbox } = await import("tidebox");
      const sandbox = await Sandbox.create({ files: { "a.txt": "a\n" } });
      const { id } = sandbox;
      await sandbox.execute("echo b > b.txt; rm a.txt");
      const waiting = sandbox.execute("sleep 5");
      await new Promise((resolve) => setTimeout(resolve, 50));
      globalThis.started[0].dispatchEvent(new ErrorEvent("error", { message: "broken by a test" }));
      const { output, exitCode } = await waiting;
      const files = await sandbox.execute("ls");
      const same = sandbox.id === id;
      await sandbox.close();
      return { output, exitCode, files: files.output, same, started: globalThis.started.length };
    });
    assert.match(found.output, /was restarted \(broken by a test\)/);
    assert.deepEqual([found.exitCode, found.files, found.same, found.started], [null, "b.txt\n", true, 2]);
  });

  test("a Worker terminated by the browser fails all calls immediately", async (context) => {
    const { page, complaints } = await opened(context);
    const found = await page.evaluate(async () => {
      const { Sandbox } = await import("tidebox");
      const sandbox = await Sandbox.create({ shellMode: "persistent" });
      await sandbox.execute("mkdir d; cd d; echo kept > kept.txt");
      const running = sandbox.execute("sleep 60");
      await new Promise((resolve) => setTimeout(resolve, 50));
      globalThis.started[0].terminate();
      const { output, exitCode } = await running;
      const after = await sandbox.execute("pwd; cat kept.txt");
      await sandbox.close();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { output, exitCode, after: after.output, started: globalThis.started.length };
    });
    assert.match(found.output, /was restarted \(the browser has terminated the worker of the sandbox\)/);
    assert.deepEqual([found.exitCode, found.after, found.started], [null, "/workspace/d\nkept\n", 2]);
    assert.deepEqual(complaints, []);
  });

  test("a command that blocks its Worker returns 124, and the files are kept", async (context) => {
    const { page } = await opened(context);
    const found = await page.evaluate(async () => {
      const { Sandbox } = await import("tidebox");
      const sandbox = await Sandbox.create();
      await sandbox.execute("echo kept > kept.txt");
      globalThis.started[0].postMessage = () => {};
      const { exitCode, stoppedBy } = await sandbox.execute("true", { timeoutMs: 100 });
      const { output } = await sandbox.execute("cat kept.txt");
      await sandbox.close();
      return { exitCode, stoppedBy, output };
    });
    assert.deepEqual(found, { exitCode: 124, stoppedBy: "timeout", output: "kept\n" });
  });

  test("a package on another server works if that server allows cross-origin requests", async (context) => {
    const other = await serve(root, { headers: { "access-control-allow-origin": "*" } });
    context.after(() => other.close());
    const { page, complaints } = await opened(context);
    const output = await page.evaluate(async (address) => {
      const { Sandbox } = await import(address);
      const sandbox = await Sandbox.create();
      const { output } = await sandbox.execute("echo far | tr a-z A-Z; head -c 4 /bin/jq | xxd -p");
      await sandbox.close();
      return output;
    }, `${other.url}/node_modules/tidebox/dist/web.js`);
    assert.equal(output, "FAR\n0061736d\n");
    assert.deepEqual(complaints.filter((complaint) => !complaint.startsWith(`asked for ${other.url}/`)), []);
  });

  test("a missing file of the package is named", async (context) => {
    for (const [missing, words] of [
      ["/node_modules/tidebox/dist/kernel_bg.wasm", /cannot load .*kernel_bg\.wasm \(404\)/],
      ["/node_modules/tidebox/userland/programs.json", /cannot load .*programs\.json \(404\)/],
      ["/node_modules/tidebox/dist/worker.web.js", /cannot start the worker/],
    ]) {
      const { page, complaints } = await opened(context);
      await page.route(`**${missing}`, (route) => route.fulfill({ status: 404 }));
      const message = await page.evaluate(async () => {
        const { Sandbox } = await import("tidebox");
        return Sandbox.create().then(() => "created", (error) => `${error.code}: ${error.message}`);
      });
      assert.match(message, /^SETUP_FAILED: create: /);
      assert.match(message, words);
      assert.deepEqual(complaints.filter((complaint) => complaint.startsWith("not caught")), []);
    }
  });

  test("a server that returns its page for every URL is reported", async (context) => {
    for (const file of ["dist/kernel_bg.wasm", "userland/programs.json"]) {
      const { page, complaints } = await opened(context);
      await page.route(`**/node_modules/tidebox/${file}`, (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
      const message = await page.evaluate(async () => {
        const { Sandbox } = await import("tidebox");
        return Sandbox.create().then(() => "created", (error) => `${error.code}: ${error.message}`);
      });
      assert.match(message, /^SETUP_FAILED: create: http.*\/tidebox\/.* is not the file of the package/);
      assert.deepEqual(complaints, []);
    }
  });

  test("a page that must not start Workers gets an error", async (context) => {
    const { page, complaints } = await opened(context);
    const message = await page.evaluate(async () => {
      globalThis.Worker = class {
        constructor() {
          throw new DOMException("no Workers here", "SecurityError");
        }
      };
      const { Sandbox } = await import("tidebox");
      return Sandbox.create().then(() => "created", (error) => `${error.code}: ${error.message}`);
    });
    assert.equal(message, "SETUP_FAILED: create: no Workers here");
    assert.deepEqual(complaints, []);
  });

  test("a program that cannot be loaded ends its command and nothing else", async (context) => {
    const { page } = await opened(context);
    await page.route(/\/userland\/jq\.wasm/, (route) => route.fulfill({ status: 404 }));
    const [output, exitCode, after] = await page.evaluate(async () => {
      const { Sandbox } = await import("tidebox");
      const sandbox = await Sandbox.create();
      const { output, exitCode } = await sandbox.execute("jq . <<< 1");
      const { output: after } = await sandbox.execute("echo alive");
      await sandbox.close();
      return [output, exitCode, after];
    });
    assert.match(output, /^jq: cannot execute: cannot load .*\/userland\/jq\.wasm.* \(404\)/);
    assert.deepEqual([exitCode, after], [126, "alive\n"]);
  });
});
