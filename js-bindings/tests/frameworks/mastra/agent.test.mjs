// An agent of Mastra works with the tools of its workspace. Its model is a script.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

process.env.MASTRA_TELEMETRY_DISABLED = "1";
const { Agent } = await import("@mastra/core/agent");
const { Workspace } = await import("@mastra/core/workspace");
const { TideboxFilesystem, TideboxSandbox } = await import("tidebox/mastra");

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** Returns a model that calls one tool in each turn, and then ends with a text. A function returns the input of its call. */
function scripted(calls, end) {
  let turn = 0;
  const next = async () => {
    const call = calls[turn++];
    if (call === undefined) return { content: [{ type: "text", text: end }], finishReason: "stop" };
    const [name, input] = call;
    const toolCall = { type: "tool-call", toolCallId: `call-${turn}`, toolName: `mastra_workspace_${name}`, input: JSON.stringify(typeof input === "function" ? await input() : input) };
    return { content: [toolCall], finishReason: "tool-calls" };
  };
  const parts = ({ content: [part], finishReason }) => {
    const text = [{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: part.text }, { type: "text-end", id: "t" }];
    return [{ type: "stream-start", warnings: [] }, ...(part.type === "text" ? text : [part]), { type: "finish", finishReason, usage }];
  };
  return {
    specificationVersion: "v2", provider: "script", modelId: "script", supportedUrls: {},
    doGenerate: async () => ({ ...(await next()), usage, warnings: [] }),
    doStream: async () => ({ stream: ReadableStream.from(parts(await next())) }),
  };
}

describe("an agent with a workspace", () => {
  let sandbox;
  let workspace;
  before(async () => {
    sandbox = new TideboxSandbox({ files: { "words.txt": "sea\nship\nsea\n" } });
    workspace = new Workspace({ sandbox, filesystem: new TideboxFilesystem({ sandbox }) });
    await workspace.init();
  });
  after(() => workspace.destroy());

  /** Runs an agent and returns the result of each tool call. */
  async function results(calls) {
    const agent = new Agent({ id: "worker", name: "worker", instructions: "Work.", model: scripted(calls, "done"), workspace });
    const output = await agent.generate("go", { maxSteps: calls.length + 1 });
    assert.equal(output.text, "done");
    const found = new Map(output.steps.flatMap(({ toolResults }) => toolResults).map(({ payload }) => [payload.toolCallId, payload.result]));
    return calls.map((_, at) => found.get(`call-${at + 1}`));
  }

  test("uses commands and files", async () => {
    const [counted, written, read, edited, shown, listed, searched, missing, failed] = await results([
      ["execute_command", { command: "sort words.txt | uniq -c | sort -rn | head -1" }],
      ["write_file", { path: "report/top.md", content: "sea: 1\n" }],
      ["read_file", { path: "report/top.md" }],
      ["edit_file", { path: "report/top.md", old_string: "1", new_string: "2" }],
      ["execute_command", { command: "cat report/top.md" }],
      ["list_files", { path: "." }],
      ["grep", { pattern: "s.a", path: "." }],
      ["read_file", { path: "none.md" }],
      ["execute_command", { command: "echo out; exit 5" }],
    ]);
    assert.match(String(counted), /^ *2 sea/);
    assert.match(String(written), /report\/top\.md/);
    assert.match(String(read), /sea: 1/);
    assert.match(String(edited), /report\/top\.md/);
    assert.match(String(shown), /^sea: 2/);
    assert.match(String(listed), /words\.txt/);
    assert.match(String(searched), /words\.txt:3/);
    assert.match(JSON.stringify(missing ?? "not found"), /not found/i);
    assert.match(String(failed), /out[^]*5/);
  });

  test("starts, polls and kills a process", async () => {
    const running = async () => {
      const [{ pid }] = (await sandbox.processes.list()).filter((process) => process.running);
      return { pid };
    };
    const [started, polled, killed] = await results([
      ["execute_command", { command: "echo up; sleep 60", background: true }],
      ["execute_command", { command: "sleep 0.3" }],
      ["get_process_output", running],
      ["kill_process", running],
    ]).then(([first, , ...others]) => [first, ...others]);
    assert.match(String(started), /PID/i);
    assert.match(String(polled), /up/);
    assert.match(String(killed), /kill/i);
    assert.deepEqual((await sandbox.processes.list()).filter(({ running }) => running), []);
  });

  test("stops a command after the timeout of the tool, in seconds", async () => {
    const [late] = await results([["execute_command", { command: "echo start; sleep 60", timeout: 1 }]]);
    assert.match(String(late), /start[^]*1s|timed out/i);
  });
});
