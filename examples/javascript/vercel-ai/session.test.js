// A sandbox as the session of the AI SDK, with all its methods; run with `node --test`.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { generateText, stepCountIs, tool } from "ai";
import { Sandbox } from "tidebox";
import { sandboxSession } from "tidebox/ai-sdk";
import { z } from "zod";

import { scripted } from "./script.js";

const suspends = typeof WebAssembly.Suspending === "function";

let sandbox;
let session;
before(async () => {
  sandbox = await Sandbox.create({ files: { "a.txt": "one\ntwo\nthree\n" } });
  session = sandboxSession(sandbox);
});
after(() => sandbox.close());

test("commands return streams and exit code and share a directory", async () => {
  assert.deepEqual(await session.run({ command: "wc -l < a.txt; echo no >&2; cd /; exit 3" }), { exitCode: 3, stdout: "3\n", stderr: "no\n" });
  assert.equal((await session.run({ command: "pwd; echo $ONE", workingDirectory: ".", env: { ONE: "1" } })).stdout, "/workspace\n1\n");
});

test("files are read completely, as streams and by lines", async () => {
  assert.equal(await session.readTextFile({ path: "a.txt" }), "one\ntwo\nthree\n");
  assert.equal(await session.readTextFile({ path: "/workspace/a.txt", startLine: 2, endLine: 9 }), "two\nthree\n");
  assert.equal(await session.readTextFile({ path: "a.txt", startLine: 2, endLine: 2 }), "two");
  assert.equal(await new Response(await session.readFile({ path: "a.txt" })).text(), "one\ntwo\nthree\n");
  for (const method of ["readFile", "readBinaryFile", "readTextFile", "stat", "listDirectory"]) {
    assert.equal(await session[method]({ path: "none" }), null, method);
  }
});

test("writing a file creates missing directories", async () => {
  await session.writeTextFile({ path: "d/e/text", content: "é\n" });
  await session.writeBinaryFile({ path: "d/bytes", content: new Uint8Array([0, 255]) });
  await session.writeFile({ path: "d/stream", content: new Blob(["streamed"]).stream() });
  assert.deepEqual(await session.readBinaryFile({ path: "d/bytes" }), new Uint8Array([0, 255]));
  assert.deepEqual(await session.stat({ path: "d/e/text" }), { type: "file", size: 3 });
  await session.run({ command: "ln -s bytes d/link" });
  const entries = (await session.listDirectory({ path: "d" })).sort((one, two) => one.name.localeCompare(two.name));
  assert.deepEqual(entries.map(({ name, type }) => `${name} ${type}`), ["bytes file", "e directory", "link symlink", "stream file"]);
  await assert.rejects(async () => session.writeTextFile({ path: "d", content: "" }), /directory/);
  await assert.rejects(async () => session.listDirectory({ path: "a.txt" }), /not.a.directory/);
});

test("deleting a directory fails", async () => {
  assert.equal(await session.deleteFile({ path: "d/link" }), true);
  assert.equal(await session.deleteFile({ path: "d/link" }), false);
  assert.ok(await session.stat({ path: "d/bytes" }));
  await assert.rejects(async () => session.deleteFile({ path: "d" }), /Is a directory/);
});

test("a process is streamed, awaited and killed", async () => {
  const quick = await session.spawn({ command: "echo out; echo err >&2; exit 4" });
  const [out, err] = await Promise.all([quick.stdout, quick.stderr].map((stream) => new Response(stream).text()));
  assert.deepEqual([out, err, await quick.wait()], ["out\n", "err\n", { exitCode: 4 }]);

  const endless = await session.spawn({ command: "echo begun; while :; do :; done" });
  const reader = endless.stdout.getReader();
  assert.equal(new TextDecoder().decode((await reader.read()).value), "begun\n");
  await endless.kill();
  await endless.kill();
  assert.deepEqual(await endless.wait(), { exitCode: 137 });
});

// A process that reads its input outlives the call that starts it, which needs JSPI (Node 24.20 or later).
test("a process reads what is written to its standard input", { skip: suspends ? false : "this engine has no JSPI" }, async () => {
  const process = await session.spawn({ command: "while read -r line; do echo \"got $line\"; done", stdin: true });
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode("first\nsecond\n"));
  await writer.close();
  assert.equal(await new Response(process.stdout).text(), "got first\ngot second\n");
  assert.deepEqual(await process.wait(), { exitCode: 0 });
});

test("a signal aborts a command with its reason", async () => {
  const reason = new Error("enough");
  await assert.rejects(async () => session.run({ command: "sleep 60", abortSignal: AbortSignal.abort(reason) }), reason);
  const controller = new AbortController();
  const process = await session.spawn({ command: "sleep 60", abortSignal: controller.signal });
  controller.abort(reason);
  await assert.rejects(async () => process.wait(), reason);
});

test("tools of the SDK find it", async () => {
  const shell = tool({
    description: "Runs a command.",
    inputSchema: z.object({ command: z.string() }),
    execute: ({ command }, { experimental_sandbox: found, abortSignal }) => found.run({ command, abortSignal }),
  });
  const { steps, text } = await generateText({
    model: scripted([[["shell", { command: "grep -c t a.txt" }]]], "two"),
    tools: { shell }, prompt: "How many lines have a t?", stopWhen: stepCountIs(3), experimental_sandbox: session,
  });
  assert.deepEqual(steps[0].toolResults[0].output, { exitCode: 0, stdout: "2\n", stderr: "" });
  assert.equal(text, "two");
});
