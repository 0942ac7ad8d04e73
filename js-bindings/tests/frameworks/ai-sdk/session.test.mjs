// The session against the interface of the AI SDK, and an agent whose model is a script.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { ToolLoopAgent, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Sandbox } from "tidebox";
import { sandboxSession } from "tidebox/ai-sdk";
import { z } from "zod";

const text = (stream) => new Response(stream).text();

describe("a session", () => {
  let sandbox;
  let session;
  before(async () => {
    sandbox = await Sandbox.create({ files: { "a.txt": "one\ntwo\nthree\n" } });
    session = sandboxSession(sandbox);
  });
  after(() => sandbox.close());

  test("returns both streams and the exit code of a command", async () => {
    const command = "wc -l < a.txt; echo no >&2; cd /; exit 3";
    assert.deepEqual(await session.run({ command }), { exitCode: 3, stdout: "3\n", stderr: "no\n" });
    assert.equal((await session.run({ command: "no-such-program" })).exitCode, 127);
    assert.equal((await session.run({ command: "kill -9 $$" })).exitCode, 137);
  });

  test("starts every command in the same directory", async () => {
    await session.run({ command: "mkdir -p sub; cd sub" });
    assert.equal((await session.run({ command: "pwd" })).stdout, "/workspace\n");
    assert.equal((await session.run({ command: "pwd; echo $ONE", workingDirectory: "sub", env: { ONE: "1" } })).stdout, "/workspace/sub\n1\n");
    const other = sandboxSession(sandbox, { workingDirectory: "/workspace/sub" });
    await other.writeTextFile({ path: "../up.txt", content: "up" });
    assert.equal(await session.readTextFile({ path: "up.txt" }), "up");
    assert.match(other.description, /\/workspace\/sub/);
    assert.equal(sandboxSession(sandbox, { description: "mine" }).description, "mine");
  });

  test("reads whole files, streams and lines", async () => {
    assert.equal(await session.readTextFile({ path: "a.txt" }), "one\ntwo\nthree\n");
    assert.equal(await session.readTextFile({ path: "/workspace/a.txt", startLine: 2, endLine: 9 }), "two\nthree\n");
    assert.equal(await session.readTextFile({ path: "a.txt", startLine: 2, endLine: 2 }), "two");
    assert.equal(await text(await session.readFile({ path: "a.txt" })), "one\ntwo\nthree\n");
    await assert.rejects(session.readTextFile({ path: "/workspace" }), /directory/);
  });

  test("returns null for missing files", async () => {
    for (const method of ["readFile", "readBinaryFile", "readTextFile", "stat", "listDirectory"]) {
      assert.equal(await session[method]({ path: "none" }), null, method);
      assert.equal(await session[method]({ path: "a.txt/below" }), null, method);
    }
  });

  test("keeps all bytes of a file", async () => {
    const content = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
    await session.writeBinaryFile({ path: "bytes", content });
    assert.deepEqual(new Uint8Array(await session.readBinaryFile({ path: "bytes" })), content);
    await session.writeTextFile({ path: "bom", content: "\ufeffé" });
    assert.deepEqual([...(await session.readBinaryFile({ path: "bom" }))], [0xef, 0xbb, 0xbf, 0xc3, 0xa9]);
    await session.writeBinaryFile({ path: "latin", content: new Uint8Array([0xe9]) });
    assert.equal(await session.readTextFile({ path: "latin", encoding: "latin1" }), "é");
  });

  test("creates missing directories and replaces files", async () => {
    await session.writeTextFile({ path: "d/e/text", content: "old and long" });
    await session.writeTextFile({ path: "d/e/text", content: "é\n" });
    await session.writeFile({ path: "d/stream", content: new Blob(["streamed"]).stream() });
    assert.deepEqual(await session.stat({ path: "d/e/text" }), { type: "file", size: 3 });
    assert.equal((await session.stat({ path: "d" })).type, "directory");
    assert.equal((await session.stat({ path: "/dev/null" })).type, "other");
    await session.run({ command: "ln -s stream d/link; ln -s nowhere d/dangling; touch 'd/ a\"b'" });
    const entries = await session.listDirectory({ path: "d" });
    assert.deepEqual(entries.map(({ name, type }) => `${name} ${type}`).sort(), [
      " a\"b file", "dangling symlink", "e directory", "link symlink", "stream file",
    ]);
    assert.deepEqual(await session.stat({ path: "d/link" }), { type: "file", size: 8 });
    assert.equal(await session.stat({ path: "d/dangling" }), null);
    await assert.rejects(session.writeTextFile({ path: "d", content: "" }), /directory/);
    await assert.rejects(session.writeTextFile({ path: "/bin/ls", content: "" }), /permission|read-only/i);
    await assert.rejects(session.writeTextFile({ path: "x", content: "", encoding: "latin1" }), { code: "UNSUPPORTED" });
    await assert.rejects(session.listDirectory({ path: "a.txt" }), /not.a.directory/);
  });

  test("deletes files and links, and no directories", async () => {
    assert.equal(await session.deleteFile({ path: "d/link" }), true);
    assert.equal(await session.deleteFile({ path: "d/link" }), false);
    assert.equal((await session.stat({ path: "d/stream" })).type, "file");
    await assert.rejects(session.deleteFile({ path: "d" }), /Is a directory/);
    await session.writeTextFile({ path: "-r", content: "" });
    assert.equal(await session.deleteFile({ path: "-r" }), true);
  });

  test("streams, waits for and kills a process", async () => {
    const quick = await session.spawn({ command: "echo out; echo err >&2; exit 4" });
    assert.deepEqual([...(await Promise.all([text(quick.stdout), text(quick.stderr)])), await quick.wait()], ["out\n", "err\n", { exitCode: 4 }]);
    const endless = await session.spawn({ command: "echo up; while :; do :; done" });
    const reader = endless.stdout.getReader();
    assert.equal(new TextDecoder().decode((await reader.read()).value), "up\n");
    assert.equal((await session.run({ command: "echo at the same time" })).stdout, "at the same time\n");
    await endless.kill();
    await endless.kill();
    assert.deepEqual(await endless.wait(), { exitCode: 137 });
    assert.equal((await reader.read()).done, true);
  });

  test("does not stop a process whose output is not read", async () => {
    const process = await session.spawn({ command: "echo one; sleep 0.2; echo two; echo kept > kept.txt" });
    await process.stdout.cancel();
    assert.deepEqual(await process.wait(), { exitCode: 0 });
    assert.equal(await session.readTextFile({ path: "kept.txt" }), "kept\n");
  });

  test("writes to the open standard input of a process", async () => {
    const process = await session.spawn({ command: "while read -r line; do echo \"got $line\"; done; echo end >&2", stdin: true });
    const writer = process.stdin.getWriter();
    const reader = process.stdout.getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    for (const line of ["one", "two"]) {
      await writer.write(new TextEncoder().encode(`${line}\n`));
      assert.equal(await next(), `got ${line}\n`);
    }
    await writer.close();
    assert.deepEqual(await process.wait(), { exitCode: 0 });
    assert.equal(await text(process.stderr), "end\n");
    assert.equal((await reader.read()).done, true);
  });

  test("keeps the newest output of a stream that is not read", async () => {
    const process = await session.spawn({ command: "seq 1 500000 >&2; echo last" });
    assert.equal(await text(process.stdout), "last\n");
    const rest = await text(process.stderr);
    assert.ok(rest.length <= 1 << 20, `${rest.length} bytes`);
    assert.ok(rest.endsWith("499999\n500000\n"));
  });

  test("rejects an open standard input where no process outlives a call", async () => {
    const fixed = await Sandbox.create({ deterministic: true });
    const own = sandboxSession(fixed);
    await assert.rejects(own.spawn({ command: "touch started; cat", stdin: true }), { code: "UNSUPPORTED" });
    assert.equal(await own.stat({ path: "started" }), null);
    const process = await own.spawn({ command: "cat; echo alone" });
    assert.deepEqual([await text(process.stdout), await process.wait()], ["alone\n", { exitCode: 0 }]);
    await fixed.close();
  });

  test("rejects with the reason of an aborted signal", async () => {
    const reason = new Error("enough");
    const aborted = { abortSignal: AbortSignal.abort(reason) };
    await assert.rejects(session.run({ command: "touch aborted", ...aborted }), reason);
    await assert.rejects(session.spawn({ command: "touch aborted", ...aborted }), reason);
    await assert.rejects(session.readTextFile({ path: "a.txt", ...aborted }), reason);
    assert.equal(await session.stat({ path: "aborted" }), null);
    const controller = new AbortController();
    const running = session.run({ command: "sleep 60", abortSignal: controller.signal });
    const process = await session.spawn({ command: "sleep 60", abortSignal: controller.signal });
    setTimeout(() => controller.abort(reason), 50);
    await assert.rejects(running, reason);
    await assert.rejects(process.wait(), reason);
  });

  test("stops commands after its timeout", async () => {
    const short = sandboxSession(sandbox, { timeoutMs: 100 });
    const { exitCode, stderr } = await short.run({ command: "sleep 60" });
    assert.deepEqual([exitCode, /100ms/.test(stderr)], [124, true]);
    assert.deepEqual(await (await short.spawn({ command: "sleep 60" })).wait(), { exitCode: 124 });
  });

  test("reports a closed sandbox", async () => {
    const own = await Sandbox.create();
    await own.close();
    const closed = sandboxSession(own);
    const expected = { name: "SandboxError", code: "CLOSED", message: "the sandbox is closed; create a new one" };
    await assert.rejects(closed.run({ command: "true" }), expected);
    await assert.rejects(closed.readBinaryFile({ path: "x" }), expected);
    await assert.rejects(closed.writeTextFile({ path: "x", content: "" }), expected);
    await assert.rejects(closed.spawn({ command: "true" }), expected);
  });
});

const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const usage = { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };

/** Returns a model that calls one tool in each turn, and then ends with a text. */
function scripted(calls, end) {
  const turns = calls.map(([toolName, input], at) => ({
    content: [{ type: "tool-call", toolCallId: `call-${at}`, toolName, input: JSON.stringify(input) }],
    finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [],
  }));
  const last = { content: [{ type: "text", text: end }], finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
  return new MockLanguageModelV4({ doGenerate: [...turns, last] });
}

describe("an agent", () => {
  test("works in the sandbox through its tools", async (context) => {
    const sandbox = await Sandbox.create({ files: { "words.txt": "sea\nship\nsea\n" } });
    context.after(() => sandbox.close());
    const shell = tool({
      description: "Runs a command.",
      inputSchema: z.object({ command: z.string() }),
      execute: ({ command }, { experimental_sandbox: session, abortSignal }) => session.run({ command, abortSignal }),
    });
    const save = tool({
      description: "Writes a file.",
      inputSchema: z.object({ path: z.string(), content: z.string() }),
      execute: async (input, { experimental_sandbox: session }) => {
        await session.writeTextFile(input);
        return session.stat(input);
      },
    });
    const model = scripted([
      ["shell", { command: "sort words.txt | uniq -c | sort -rn | head -1" }],
      ["save", { path: "report/top.md", content: "sea: 2\n" }],
      ["shell", { command: "cat report/top.md; exit 5" }],
    ], "sea is the most frequent");
    const agent = new ToolLoopAgent({ model, tools: { shell, save } });
    const result = await agent.generate({ prompt: "Count.", experimental_sandbox: sandboxSession(sandbox) });
    assert.equal(result.text, "sea is the most frequent");
    assert.deepEqual(result.steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output)), [
      { exitCode: 0, stdout: "      2 sea\n", stderr: "" },
      { type: "file", size: 7 },
      { exitCode: 5, stdout: "sea: 2\n", stderr: "" },
    ]);
  });
});
