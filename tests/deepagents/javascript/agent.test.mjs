// What a model sees of a sandbox through the tools of Deep Agents. The model is a script; everything else is real.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createDeepAgent, isSandboxBackend } from "deepagents";
import { TideboxSandbox } from "./tidebox_backend.mjs";

/** Asks for the tool calls of one turn after the other, then says that it is done. */
class Script extends BaseChatModel {
  constructor(turns) {
    super({});
    this.turns = turns;
    this.offered = [];
  }

  _llmType() {
    return "script";
  }

  bindTools(tools) {
    this.offered = tools.map((tool) => tool.name ?? tool.function?.name);
    return this;
  }

  async _generate(messages) {
    const turn = messages.filter((message) => AIMessage.isInstance(message)).length;
    const calls = this.turns[turn] ?? [];
    const message = new AIMessage({
      content: calls.length ? "" : "done",
      tool_calls: calls.map(([name, args], at) => ({ name, args, id: `call-${turn}-${at}`, type: "tool_call" })),
    });
    return { generations: [{ text: "", message }] };
  }
}

let sandbox;
before(async () => {
  sandbox = await TideboxSandbox.open({ command: process.env.TIDEBOX });
});
after(() => sandbox.close());

/** What the tools of every turn answered, in the order of the calls. */
async function run(...turns) {
  const agent = createDeepAgent({ model: new Script(turns), backend: sandbox });
  const { messages } = await agent.invoke({ messages: [new HumanMessage("go")] });
  const answers = new Map(messages.filter((m) => ToolMessage.isInstance(m)).map((m) => [m.tool_call_id, m]));
  assert.equal(messages.at(-1).text, "done");
  return turns.map((turn, t) => turn.map((_, c) => answers.get(`call-${t}-${c}`)));
}

/** What each call answered, one turn for each. */
async function texts(...calls) {
  return (await run(...calls.map((call) => [call]))).map(([answer]) => answer.text);
}

test("the sandbox is one for Deep Agents, and all its tools are offered", async () => {
  assert.ok(isSandboxBackend(sandbox));
  const script = new Script([]);
  await createDeepAgent({ model: script, backend: sandbox }).invoke({ messages: [new HumanMessage("go")] });
  for (const name of ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep", "execute"]) {
    assert.ok(script.offered.includes(name), `${name} in ${script.offered}`);
  }
});

test("files are written, read raw under a true header, edited and deleted", async () => {
  const file_path = "/workspace/notes.txt";
  const [wrote, read, edited, again, page, listed, gone, missing] = await texts(
    ["write_file", { file_path, content: "one\ntwo\nthree\n" }],
    ["read_file", { file_path }],
    ["edit_file", { file_path, old_string: "two", new_string: "2" }],
    ["execute", { command: "cat notes.txt" }],
    ["read_file", { file_path, offset: 1, limit: 1 }],
    ["ls", { path: "/workspace" }],
    ["delete", { file_path }],
    ["read_file", { file_path }],
  );
  assert.equal(wrote, `Successfully wrote to '${file_path}'`);
  // The tool itself leaves out the end of the last line.
  assert.equal(read, "@@ lines 1-3 of 3 @@\none\ntwo\nthree");
  assert.equal(edited, `Successfully replaced 1 occurrence(s) in '${file_path}'`);
  assert.equal(again, "one\n2\nthree\n\n[Command succeeded with exit code 0]");
  assert.equal(page, "@@ lines 2-2 of 3 | next offset 2 @@\n2");
  assert.match(listed, /\/workspace\/notes\.txt \(12 bytes\)/);
  assert.equal(gone, `Deleted ${file_path}`);
  assert.equal(missing, `Error: File '${file_path}' not found`);
});

test("an empty file is the reminder alone, and a page past the end an error", async () => {
  const [, empty, , past] = await texts(
    ["write_file", { file_path: "/workspace/empty", content: "" }],
    ["read_file", { file_path: "/workspace/empty" }],
    ["write_file", { file_path: "/workspace/short", content: "a\nb\n" }],
    ["read_file", { file_path: "/workspace/short", offset: 7 }],
  );
  assert.equal(empty, "System reminder: File exists but has empty contents");
  assert.equal(past, "Error: Line offset 7 exceeds file length (2 lines)");
});

test("large results go to a file and nothing of them is lost", async () => {
  const [[first], [found], [middle]] = await run(
    [["execute", { command: "seq 1 40000" }]],
    [["glob", { pattern: "/large_tool_results/*" }]],
    [["execute", { command: "sed -n 31234p /large_tool_results/call-0-0.txt; grep -c '^[0-9]' /large_tool_results/*" }]],
  );
  assert.match(first.text, /\/large_tool_results\/call-0-0\.txt/);
  assert.ok(first.text.length < 20_000, `${first.text.length} characters`);
  assert.match(found.text, /\/large_tool_results\/call-0-0\.txt/);
  assert.match(middle.text, /^31234\n40000\n/);
});

test("searches show paths that the other tools take", async () => {
  await sandbox.uploadFiles([
    ["/workspace/src/a.py", Buffer.from("x = 1\nneedle = 2\n")],
    ["/workspace/b:c d.py", Buffer.from("needle\n")],
  ]);
  const [names, everywhere, lines, none] = await texts(
    ["glob", { pattern: "**/*.py" }],
    ["grep", { pattern: "needle" }],
    ["grep", { pattern: "needle", path: "/workspace", glob: "src/*.py" }],
    ["grep", { pattern: "needle in no file", path: "/workspace" }],
  );
  for (const text of [names, everywhere]) {
    assert.ok(text.includes("/workspace/src/a.py") && text.includes("/workspace/b:c d.py"), text);
  }
  assert.equal(lines.trim(), "/workspace/src/a.py:\n  2: needle = 2");
  assert.match(none, /No matches found/);
});

test("a command returns its exit code, and a timeout ends it without ending the agent", async () => {
  const quick = await TideboxSandbox.open({ command: process.env.TIDEBOX, options: ["--timeout", "1"] });
  const [failed] = await texts(["execute", { command: "echo out; echo err >&2; exit 3" }]);
  assert.equal(failed, "out\nerr\n\n[Command failed with exit code 3]");
  for (const command of ["echo begun; sleep 60", "echo begun; trap '' TERM; while :; do :; done", "echo begun; sleep 60 & cat"]) {
    const began = Date.now();
    const response = await quick.execute(command);
    assert.ok(Date.now() - began < 3000, `${command}: ${Date.now() - began} ms`);
    if (!command.endsWith("cat")) {
      assert.equal(response.exitCode, 124, command);
      assert.match(response.output, /^begun\n/);
    }
  }
  await quick.close();
});

test("calls of one model response run concurrently without blocking the event loop", async () => {
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 50);
  const began = Date.now();
  const [turn] = await run([0, 1, 2, 3, 4].map((n) => ["execute", { command: `sleep 2; echo ${n}` }]));
  clearInterval(ticking);
  assert.ok(Date.now() - began < 8000, `${Date.now() - began} ms`);
  assert.deepEqual(turn.map((answer) => answer.text.split("\n")[0]), ["0", "1", "2", "3", "4"]);
  assert.ok(ticks > 20, `${ticks} ticks`);
});

test("nothing of the host is visible, and everything is released", async () => {
  process.env.TIDEBOX_TEST_SECRET = "planted-7f3a";
  const own = await TideboxSandbox.open({ command: process.env.TIDEBOX });
  for (const [command, expected] of [
    ["cat /../../../etc/hostname", "tidebox\n"],
    ["env | grep -c planted || true", "0\n"],
    ["ln -s /etc d && ls d | head -1 >/dev/null && echo linked", "linked\n"],
    ["mkfifo p 2>/dev/null; echo on", "on\n"],
    ["touch f; rm f; ls f 2>/dev/null || echo gone", "gone\n"],
  ]) {
    const { output } = await own.execute(command);
    assert.equal(output, expected, command);
  }
  const read = await own.read("/../../../etc/passwd");
  assert.ok(!String(read.content).includes("/root:/bin/bash"), read.content);
  const [link] = await own.downloadFiles(["/workspace/d/nothing"]);
  assert.equal(link.error, "file_not_found");
  assert.notEqual(own.id, sandbox.id);
  await own.close();
});

test("long output is truncated with a note", async () => {
  const { output, truncated, exitCode } = await sandbox.execute("head -c 30000000 /dev/zero | tr '\\0' x");
  assert.ok(output.length <= 9_000_000 && truncated && exitCode === 0, `${output.length} ${truncated} ${exitCode}`);
});

test("success has no error, and transfers return null", async () => {
  const path = "/workspace/shape";
  assert.equal((await sandbox.write(path, "x")).error, undefined);
  for (const answer of [await sandbox.read(path), await sandbox.edit(path, "x", "y"), await sandbox.ls("/workspace")]) {
    assert.equal(answer.error, undefined);
  }
  assert.deepEqual(await sandbox.ls("/nowhere"), { files: [] });
  const [good, missing, relative] = await sandbox.downloadFiles([path, "/nowhere", "relative"]);
  assert.deepEqual([good.error, missing.error, relative.error], [null, "file_not_found", "invalid_path"]);
  assert.equal(new TextDecoder().decode(good.content), "y");
  const uploads = await sandbox.uploadFiles([["/workspace/up", new Uint8Array([0, 255])], ["relative", new Uint8Array()]]);
  assert.deepEqual(uploads.map(({ error }) => error), [null, "invalid_path"]);
});

test("binary files come as a block of their type", async () => {
  await sandbox.uploadFiles([["/workspace/dot.png", Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 1])]]);
  const [[image]] = await run([["read_file", { file_path: "/workspace/dot.png" }]]);
  const block = image.content[0];
  assert.equal(block.type, "image", JSON.stringify(image.content));
});
