// Sandboxes of providers in a page: a server of the same origin forwards requests and adds the key.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { after, before, describe, test } from "node:test";

import { launch, open, skip } from "./chromium.mjs";
import { serve } from "./server.mjs";

const root = new URL("../", import.meta.url).pathname;
const { TIDEBOX_EMULATORS_KEY: planted, DAYTONA_API_URL, E2B_API_URL, LANGSMITH_ENDPOINT, RUNLOOP_BASE_URL } = process.env;
/** Daytona's control plane is one folder of its address. */
const WHERE = { daytona: DAYTONA_API_URL?.replace(/\/api$/u, ""), e2b: E2B_API_URL, langsmith: LANGSMITH_ENDPOINT, runloop: RUNLOOP_BASE_URL };
/** Where a provider would name addresses of its own for each sandbox, the page names the server's. */
const EXTRA = { daytona: { toolbox_url: "/daytona/toolbox" }, e2b: { sandbox_url: "/e2b" } };
const API = { daytona: "/daytona/api" };
const OWN = "what the page knows";

/** Headers that belong to one connection, or that a forwarded request has anew. */
const DROPPED = ["connection", "content-length", "host", "keep-alive", "origin", "referer", "transfer-encoding", "content-encoding"];

const entries = (headers) => Object.entries(headers).filter(([name]) => !DROPPED.includes(name));

/** Hands a request on with the key in the place of what the page knows; answers of a provider name its own address. */
async function forward(request, response, origin) {
  const [, name, path] = /^\/(\w+)(.*)$/.exec(request.url) ?? [];
  const to = WHERE[name];
  if (to === undefined) return void response.writeHead(404).end();
  const headers = entries(request.headers).map(([key, value]) => [key, String(value).replace(OWN, planted)]);
  const method = request.method;
  const body = ["GET", "HEAD"].includes(method) ? undefined : Readable.toWeb(request);
  const answer = await fetch(`${to}${path}`, { method, headers, body, duplex: "half", redirect: "manual" });
  response.writeHead(answer.status, Object.fromEntries(entries(Object.fromEntries(answer.headers))));
  if (answer.headers.get("content-type")?.includes("application/json")) {
    return void response.end((await answer.text()).replaceAll(to, `${origin}/${name}`));
  }
  response.flushHeaders();
  if (answer.body === null) return void response.end();
  await pipeline(Readable.fromWeb(answer.body), response).catch(() => response.destroy());
}

describe("sandboxes of providers in a page", { skip: skip || (planted === undefined ? "no emulators are running" : false) }, () => {
  let files;
  let server;
  let origin;
  let browser;
  before(async () => {
    files = await serve(root);
    server = createServer((request, response) => {
      if (Object.keys(WHERE).some((name) => request.url.startsWith(`/${name}`))) {
        return void forward(request, response, origin).catch(() => response.destroy());
      }
      fetch(`${files.url}${request.url}`).then(async (found) => {
        response.writeHead(found.status, { "content-type": found.headers.get("content-type") ?? "" });
        response.end(new Uint8Array(await found.arrayBuffer()));
      });
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${server.address().port}`;
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
    await files?.close();
  });

  for (const name of Object.keys(WHERE)) {
    test(`${name} is used through the page's own server, which has the key`, async () => {
      const { page, complaints } = await open(browser, `${origin}/browser/suite.html`);
      const found = await page.evaluate(async ({ name, apiUrl, apiKey, extra }) => {
        const { RemoteProvider } = await import("tidebox");
        const provider = await RemoteProvider.open(name, { apiUrl, apiKey, ...(extra && { extra }) });
        const sandbox = await provider.create();
        try {
          await sandbox.write("/tmp/a.txt", "one\ntwo\n");
          const { output, exitCode } = await sandbox.execute("wc -l < /tmp/a.txt | tr -d ' '; exit 3");
          const pieces = [];
          for await (const { text } of sandbox.executeStream("echo first; sleep 0.3; echo second")) pieces.push(text);
          const [{ content, error }] = await sandbox.downloadFiles(["/tmp/a.txt"]);
          return { output, exitCode, pieces: pieces.join(""), error, text: content && new TextDecoder().decode(content) };
        } finally {
          await sandbox.close();
          await provider.delete(sandbox.id);
        }
      }, { name, apiUrl: API[name] ?? `/${name}`, apiKey: OWN, extra: EXTRA[name] });
      assert.deepEqual(found, { output: "2\n", exitCode: 3, pieces: "first\nsecond\n", error: null, text: "one\ntwo\n" });
      // A stream that is left before its end, and a file that is not there, are complaints of the browser alone.
      assert.deepEqual(complaints.filter((complaint) => /^(not caught|asked for)/u.test(complaint)), []);
      await page.close();
    });
  }

  test("a provider without CORS headers is an error with a hint", async () => {
    const { page } = await open(browser, `${origin}/browser/suite.html`);
    const error = await page.evaluate(async ({ apiUrl, apiKey }) => {
      const { createSandbox } = await import("tidebox");
      return createSandbox("e2b", { apiUrl, apiKey }).catch(({ code, message }) => ({ code, message }));
    }, { apiUrl: E2B_API_URL, apiKey: OWN });
    assert.equal(error.code, "UNAVAILABLE");
    assert.match(error.message, /CORS.*apiUrl.*server of your own/);
    await page.close();
  });
});
