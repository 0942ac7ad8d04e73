// An agent of the real `deepagents` uses every tool that it is offered, in one piece of work. The model is a script; what each
// tool answers is compared, word for word, with what the tools of Deep Agents say.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { createDeepAgent } from "deepagents";
import { Sandbox } from "tidebox";

const PY = "def area(w, h):\n    return w + h\n";
/** What a model says that asks for tools. */
const asks = (calls) => new AIMessage({ content: "", tool_calls: calls.map((call) => ({ type: "tool_call", ...call })) });

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 255]);

describe("an agent that uses every tool", () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create();
  });
  after(() => sandbox.close());

  /** Has the script ask for these tools, turn by turn; answers what each was told, and which tools there were. */
  async function work(...turns) {
    const model = fakeModel();
    turns.forEach((turn, t) => {
      model.respond(asks(turn.map(([name, args], c) => ({ name, args, id: `call-${t}-${c}` }))));
    });
    const agent = createDeepAgent({ model: model.respond(new AIMessage("done")), backend: sandbox });
    // Each turn is some steps of the graph.
    const { messages } = await agent.invoke({ messages: "go" }, { recursionLimit: 500 });
    assert.equal(messages.at(-1).text, "done");
    const answers = new Map(messages.filter(({ type }) => type === "tool").map((message) => [message.tool_call_id, message]));
    return turns.flatMap((turn, t) => turn.map((_, c) => answers.get(`call-${t}-${c}`)));
  }

  /** Asks for one tool after the other, and compares what each says. */
  async function says(...expected) {
    const answers = await work(...expected.map(([name, args]) => [[name, args]]));
    answers.forEach((answer, at) => {
      const [name, , words] = expected[at];
      if (words instanceof RegExp) assert.match(answer.text, words, `${name}, call ${at}`);
      else assert.equal(answer.text, words, `${name}, call ${at}`);
    });
    return answers;
  }

  test("write_file, read_file, edit_file, ls, glob, grep, execute and delete", async () => {
    const file_path = "/workspace/src/shape.py";
    await says(
      ["ls", { path: "/workspace" }, "No files found in /workspace"],
      ["write_file", { file_path, content: PY }, `Successfully wrote to '${file_path}'`],
      ["write_file", { file_path: "/workspace/src/deep/er/note.md", content: "# area\n" }, "Successfully wrote to '/workspace/src/deep/er/note.md'"],
      ["read_file", { file_path }, "@@ lines 1-2 of 2 @@\ndef area(w, h):\n    return w + h"],
      ["read_file", { file_path, offset: 1 }, "@@ lines 2-2 of 2 @@\n    return w + h"],
      ["read_file", { file_path, limit: 1 }, "@@ lines 1-1 of 2 | next offset 1 @@\ndef area(w, h):"],
      ["read_file", { file_path, offset: 5 }, "Error: Line offset 5 exceeds file length (2 lines)"],
      ["read_file", { path: file_path, limit: 1 }, /^@@ lines 1-1 of 2/],
      ["edit_file", { file_path, old_string: "w + h", new_string: "w * h" }, `Successfully replaced 1 occurrence(s) in '${file_path}'`],
      ["edit_file", { file_path, old_string: "h", new_string: "height", replace_all: true }, `Successfully replaced 2 occurrence(s) in '${file_path}'`],
      ["execute", { command: `cat ${file_path}` }, "def area(w, height):\n    return w * height\n\n[Command succeeded with exit code 0]"],
      ["ls", { path: "/workspace/src" }, "/workspace/src/deep (directory)\n/workspace/src/shape.py (43 bytes)"],
      ["glob", { pattern: "**/*.md", path: "/workspace" }, "src/deep/er/note.md"],
      ["glob", { pattern: "/workspace/src/*.py" }, "/workspace/src/shape.py"],
      ["glob", { pattern: "*.rs", path: "/workspace" }, "No files found matching pattern '*.rs'"],
      ["grep", { pattern: "area", path: "/workspace" }, "/workspace/src/deep/er/note.md:\n  1: # area\n/workspace/src/shape.py:\n  1: def area(w, height):"],
      ["grep", { pattern: "area", path: "/workspace", glob: "*.py", output_mode: "files_with_matches" }, "/workspace/src/shape.py"],
      ["grep", { pattern: "height", path: "/workspace", output_mode: "count" }, "/workspace/src/shape.py: 2"],
      ["grep", { pattern: "w.*h", path: "/workspace" }, "No matches found for pattern 'w.*h'"],
      ["delete", { file_path: "/workspace/src/deep" }, "Deleted /workspace/src/deep"],
      ["glob", { pattern: "**", path: "/workspace/src" }, "shape.py"],
      ["delete", { file_path: "/workspace/src/deep" }, /not found/],
    );
  });

  test("errors are reported, and the agent continues", async () => {
    const file_path = "/workspace/twice.txt";
    await says(
      ["write_file", { file_path, content: "same\nsame\n" }, `Successfully wrote to '${file_path}'`],
      ["edit_file", { file_path, old_string: "same", new_string: "x" }, /appears multiple times/],
      ["edit_file", { file_path, old_string: "other", new_string: "x" }, /not found in file/],
      ["edit_file", { file_path: "/workspace/none", old_string: "a", new_string: "b" }, /'\/workspace\/none' not found/],
      ["read_file", { file_path: "/workspace/none" }, "Error: File '/workspace/none' not found"],
      ["read_file", { file_path: "/workspace" }, /^Error: .*directory/],
      ["write_file", { file_path: "/bin/ls", content: "x" }, /permission|read-only/i],
      ["write_file", { file_path: "/workspace", content: "x" }, /directory/],
      ["delete", { file_path: "relative" }, /^Error: /],
      ["ls", { path: "/nowhere" }, "No files found in /nowhere"],
      ["execute", { command: "echo out; echo err >&2; exit 3" }, "out\nerr\n\n[Command failed with exit code 3]"],
      ["execute", { command: "kill -KILL $$" }, "\n[Command failed with exit code 137]"],
      ["execute", { command: "if" }, /syntax error[^]*\n\[Command failed with exit code 2\]$/],
      ["execute", { command: "" }, "\n[Command succeeded with exit code 0]"],
      ["read_file", { file_path }, "@@ lines 1-2 of 2 @@\nsame\nsame"],
    );
  });

  test("uploaded files are processed, and results are downloaded", async () => {
    const lines = Array.from({ length: 300 }, (_, n) => `${n % 7} line ${n}`).join("\n");
    assert.deepEqual(await sandbox.uploadFiles([["/workspace/in.txt", new TextEncoder().encode(lines)], ["/workspace/dot.png", PNG]]), [
      { path: "/workspace/in.txt", error: null },
      { path: "/workspace/dot.png", error: null },
    ]);
    const [, , , image] = await says(
      ["execute", { command: "grep ^3 in.txt | sort -n -k 3 > three.txt && gzip -k three.txt && wc -l < three.txt" }, "43\n\n[Command succeeded with exit code 0]"],
      ["read_file", { file_path: "/workspace/in.txt" }, /^@@ lines 1-100 of 300 \| next offset 100 @@\n0 line 0\n[^]*\n1 line 99$/],
      ["read_file", { file_path: "/workspace/in.txt", offset: 299 }, "@@ lines 300-300 of 300 @@\n5 line 299"],
      ["read_file", { file_path: "/workspace/dot.png" }, ""],
    );
    const [block] = image.content;
    assert.deepEqual([block.type, block.mimeType, block.data], ["image", "image/png", Buffer.from(PNG).toString("base64")]);
    const [three, packed] = await sandbox.downloadFiles(["/workspace/three.txt", "/workspace/three.txt.gz"]);
    assert.equal(new TextDecoder().decode(three.content).split("\n").length, 44);
    const { gunzipSync } = await import("node:zlib");
    assert.deepEqual(gunzipSync(packed.content), Buffer.from(three.content));
  });

  test("a large result is offloaded to a file and read from it", async () => {
    const aside = "/large_tool_results/call-0-0.txt";
    const [large] = await says(
      ["execute", { command: "seq 1 30000" }, /large_tool_results\/call-0-0\.txt/],
      ["execute", { command: `grep -c '^[0-9]' ${aside}; sed -n 29999p ${aside}` }, "30000\n29999\n\n[Command succeeded with exit code 0]"],
      ["grep", { pattern: "12345", path: aside }, `${aside}:\n  12345: 12345`],
      ["read_file", { file_path: aside, offset: 29999, limit: 1 }, /^@@ lines 30000-30000 of 3000\d( \| next offset 30000)? @@\n30000$/],
    );
    assert.match(large.text, /\n +1\t1\n +2\t2\n/);
    assert.ok(large.text.length < 10_000, `${large.text.length} characters`);
  });

  test("the calls of one turn run at the same time, over the same files", async () => {
    const began = performance.now();
    const answers = await work([
      ["execute", { command: "sleep 1; cat a.txt b.txt" }],
      ["execute", { command: "sleep 1; echo slept" }],
      ["write_file", { file_path: "/workspace/a.txt", content: "a\n" }],
      ["execute", { command: "echo b > b.txt; sleep 1" }],
      ["execute", { command: "exit 9" }],
      ["grep", { pattern: "no such text anywhere", path: "/workspace" }],
    ]);
    assert.ok(performance.now() - began < 2900, "one after the other they would take three seconds");
    assert.deepEqual(answers.map(({ text }) => text), [
      "a\nb\n\n[Command succeeded with exit code 0]",
      "slept\n\n[Command succeeded with exit code 0]",
      "Successfully wrote to '/workspace/a.txt'",
      "\n[Command succeeded with exit code 0]",
      "\n[Command failed with exit code 9]",
      "No matches found for pattern 'no such text anywhere'",
    ]);
  });

  test("subagents work in the same sandbox", async () => {
    const inner = fakeModel()
      .respond(asks([{ name: "execute", args: { command: "echo from below > below.txt" }, id: "call-write" }]))
      .respond(new AIMessage("written"));
    const outer = fakeModel()
      .respond(asks([{ name: "task", args: { description: "write a file", subagent_type: "writer" }, id: "call-task" }]))
      .respond(asks([{ name: "read_file", args: { file_path: "/workspace/below.txt" }, id: "call-read" }]))
      .respond(new AIMessage("done"));
    const agent = createDeepAgent({
      model: outer,
      backend: sandbox,
      subagents: [{ name: "writer", description: "writes files", systemPrompt: "Write.", model: inner }],
    });
    const { messages } = await agent.invoke({ messages: "go" });
    const texts = messages.filter(({ type }) => type === "tool").map(({ text }) => text);
    assert.deepEqual(texts, ["written", "@@ lines 1-1 of 1 @@\nfrom below"]);
  });

  test("a backend that is closed in the middle ends no agent", async () => {
    const own = await Sandbox.create();
    const model = fakeModel()
      .respond(asks([{ name: "execute", args: { command: "echo before" }, id: "one" }]))
      .respond(() => {
        void own.close();
        return asks([{ name: "execute", args: { command: "echo after" }, id: "two" }]);
      })
      .respond(asks([{ name: "read_file", args: { file_path: "/workspace/x" }, id: "three" }]))
      .respond(new AIMessage("done"));
    const { messages } = await createDeepAgent({ model, backend: own }).invoke({ messages: "go" });
    const texts = messages.filter(({ type }) => type === "tool").map(({ text }) => text);
    assert.equal(texts[0], "before\n\n[Command succeeded with exit code 0]");
    assert.match(texts[1], /closed/);
    assert.match(texts[2], /^Error: .*closed/);
    assert.equal(messages.at(-1).text, "done");
  });
});
