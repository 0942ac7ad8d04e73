// The network of a sandbox in a page: `fetch` sends the allowed requests, and servers decide which pages may read responses.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";

import { launch, open, skip } from "./chromium.mjs";
import { serve } from "./server.mjs";

const root = new URL("../", import.meta.url).pathname;

describe("requests of a sandbox in a page", { skip }, () => {
  const seen = [];
  let pages;
  let api;
  let browser;
  let page;
  before(async () => {
    pages = await serve(root);
    api = createServer(async (request, response) => {
      const pieces = [];
      for await (const piece of request) pieces.push(piece);
      const { method, url, headers } = request;
      seen.push({ method, url, authorization: headers.authorization, cookie: headers.cookie, body: Buffer.concat(pieces).toString() });
      if (url !== "/closed") {
        response.setHeader("access-control-allow-origin", "*");
        response.setHeader("access-control-allow-headers", "authorization, content-type");
      }
      if (method === "OPTIONS") return response.writeHead(204).end();
      if (url === "/away") return response.writeHead(302, { location: "/json" }).end();
      if (url === "/echo") return response.end(Buffer.concat(pieces));
      response.writeHead(url === "/none" ? 404 : 200, { "content-type": "application/json" }).end('{"tide":"high"}\n');
    });
    await new Promise((resolve) => api.listen(0, "127.0.0.1", resolve));
    // What a name leads to is the browser's business.
    browser = await launch(["--host-resolver-rules=MAP api.test 127.0.0.1"]);
    ({ page } = await open(browser, `${pages.url}/browser/suite.html`));
  });
  after(async () => {
    await browser?.close();
    api?.closeAllConnections();
    api?.close();
    await pages?.close();
  });

  /** What a command answers in a sandbox that may speak to the server. */
  async function run(command) {
    const port = api.address().port;
    return page.evaluate(async ({ command, port }) => {
      const { Sandbox } = await import("tidebox");
      const sandbox = await Sandbox.create({
        env: { API: `http://api.test:${port}` },
        network: {
          allow: [{ host: "api.test", http: true, ports: [port], methods: ["GET", "POST"] }],
          inject: [{ host: "api.test", header: "authorization", value: "Bearer planted", overHttp: true }],
        },
      });
      const { stdout, stderr, exitCode } = await sandbox.execute(command);
      const { events } = await sandbox.networkLog();
      await sandbox.close();
      return { stdout, stderr, exitCode, events: events.length };
    }, { command, port });
  }

  test("a response passes through a pipeline, and the credential is added outside the guest", async () => {
    const answer = await run("curl -sS $API/json | jq -r .tide; env | grep -c planted");
    assert.deepEqual(answer, { stdout: "high\n0\n", stderr: "", exitCode: 1, events: 1 });
    const { method, authorization, cookie } = seen.find(({ method, url }) => method === "GET" && url === "/json");
    assert.deepEqual([method, authorization, cookie], ["GET", "Bearer planted", undefined]);
  });

  test("a body is sent, and a status is the server's", async () => {
    const { stdout } = await run("seq 3 | curl -sS --data-binary @- $API/echo; curl -s -o /dev/null -w '%{http_code}\\n' $API/none");
    assert.equal(stdout, "1\n2\n3\n404\n");
  });

  test("a server that does not let pages read it, and a redirect, are errors", async () => {
    const closed = await run("curl -sS $API/closed");
    assert.equal(closed.stdout, "");
    assert.ok(closed.exitCode > 0 && closed.stderr.startsWith(`curl: (${closed.exitCode}) `), closed.stderr);
    const away = await run("curl -sSL $API/away");
    assert.ok(away.exitCode > 0, away.stdout);
    assert.match(away.stderr, /redirect/);
  });

  test("denied requests are not sent", async () => {
    const before = seen.length;
    const { exitCode, stderr } = await run("curl -sS -X PUT -d x $API/json");
    assert.ok(exitCode > 0, stderr);
    assert.equal((await run("curl -sS http://127.0.0.1:1/")).exitCode, 7);
    assert.equal(seen.length, before);
  });
});
