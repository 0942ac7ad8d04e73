// Agents of the SDK work in a sandbox. Their model is the scripted model of the SDK.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Runner, setTracingDisabled } from "@openai/agents-core";
import { Capabilities, SandboxAgent, skills } from "@openai/agents-core/sandbox";
import { ScriptedModel, assistantMessage, functionCall } from "@openai/agents-core/testing";
import { Sandbox } from "tidebox";
import { sandboxSession, TideboxSandboxClient } from "tidebox/openai-agents";

setTracingDisabled(true);

/** Returns a model that calls one tool in each turn, and then ends with a text. A patch is a separate type of call. */
function scripted(calls, end) {
  const turns = calls.map(([name, input], at) => {
    if (name !== "apply_patch") return [functionCall(name, input, { callId: `call-${at}` })];
    return [{ type: "apply_patch_call", callId: `call-${at}`, status: "completed", operation: input }];
  });
  return new ScriptedModel([...turns, [assistantMessage(end)]]);
}

/** Returns the text of each tool result, without the lines that differ between runs. */
function outputs(result) {
  const items = result.newItems.filter(({ type }) => type === "tool_call_output_item");
  return items.map(({ output, rawItem }) => {
    if (rawItem.type === "apply_patch_call_output") return `${rawItem.status} ${rawItem.output ?? ""}`.trim();
    return typeof output === "string" ? output.replace(/^Chunk ID: .*\nWall time: .*\n/, "") : output;
  });
}

const exited = (code, output) => `Process exited with code ${code}\nOutput:\n${output}`;

describe("an agent", () => {
  test("uses the default tools in a sandbox of the client", async () => {
    const model = scripted([
      ["exec_command", { cmd: "cat greet.sh; bash greet.sh Ada | grep -q Hello" }],
      ["apply_patch", { type: "update_file", path: "greet.sh", diff: "@@\n-echo \"Helo $1\"\n+echo \"Hello $1\"\n" }],
      ["exec_command", { cmd: "bash greet.sh Ada; ls", workdir: "." }],
      ["exec_command", { cmd: "true", tty: true }],
      ["view_image", { path: "none.png" }],
      ["apply_patch", { type: "create_file", path: "docs/a.md", diff: "+done\n" }],
      ["apply_patch", { type: "delete_file", path: "none.md" }],
      ["exec_command", { cmd: "cat docs/a.md; rm greet.sh" }],
    ], "The greeting is correct.");
    const agent = new SandboxAgent({
      name: "coder", model, defaultManifest: { entries: { "greet.sh": { type: "file", content: "echo \"Helo $1\"\n" } } },
    });
    const result = await new Runner().run(agent, "Fix the greeting.", { sandbox: { client: new TideboxSandboxClient() } });
    assert.equal(result.finalOutput, "The greeting is correct.");
    const [seen, patched, fixed, terminal, image, created, failed, last] = outputs(result);
    assert.equal(seen, exited(1, "echo \"Helo $1\"\n"));
    assert.equal(patched, "completed");
    assert.equal(fixed, exited(0, "Hello Ada\ngreet.sh\n"));
    assert.match(terminal, /^Process exited with code 1\nOutput:\ntidebox does not support pseudo-terminals .*without tty$/);
    assert.match(JSON.stringify(image), /was not found/);
    assert.equal(created, "completed");
    assert.match(failed, /^failed .*file not found: none\.md/s);
    assert.equal(last, exited(0, "done"));
    assert.deepEqual(model.calls[0].request.tools.map(({ name }) => name).sort(), ["apply_patch", "exec_command", "view_image"]);
  });

  test("works in a sandbox of the caller, which stays open", async (context) => {
    const sandbox = await Sandbox.create({ files: { "sub/in.txt": "given\n" } });
    context.after(() => sandbox.close());
    const session = await sandboxSession(sandbox, { manifest: { environment: { FROM: "manifest" } } });
    const model = scripted([["exec_command", { cmd: "pwd; tr a-z A-Z < in.txt | tee out.txt; echo $FROM; cat extra.txt; cat ../extra.txt" }]], "done");
    const manifest = { entries: { "extra.txt": { type: "file", content: "extra\n" } } };
    const agent = new SandboxAgent({ name: "worker", model, defaultManifest: manifest });
    const result = await new Runner().run(agent, "go", { sandbox: { session, cwd: "sub" } });
    assert.deepEqual(outputs(result), [exited(0, "/workspace/sub\nGIVEN\nmanifest\ncat: extra.txt: No such file or directory\nextra\n")]);
    assert.equal((await sandbox.execute("cat sub/out.txt")).output, "GIVEN\n");
  });

  test("uses skills", async () => {
    const skill = { name: "count", description: "Counts lines.", content: "---\nname: count\ndescription: Counts lines.\n---\nRun wc -l.\n" };
    const model = scripted([["exec_command", { cmd: "cat .agents/count/SKILL.md | tail -1" }]], "done");
    const agent = new SandboxAgent({ name: "skilled", model, capabilities: [...Capabilities.default(), skills({ skills: [skill] })] });
    const result = await new Runner().run(agent, "go", { sandbox: { client: new TideboxSandboxClient() } });
    assert.deepEqual(outputs(result), [exited(0, "Run wc -l.\n")]);
  });

  test("continues in its sandbox after its run state was stored", async () => {
    const client = new TideboxSandboxClient();
    const agentOf = (model) => new SandboxAgent({ name: "kept", model });
    const first = await new Runner().run(agentOf(scripted([["exec_command", { cmd: "echo first > f.txt" }]], "one")), "go", { sandbox: { client } });
    const { RunState } = await import("@openai/agents-core");
    const agent = agentOf(scripted([["exec_command", { cmd: "cat f.txt" }]], "two"));
    const state = await RunState.fromString(agent, JSON.stringify(first.state.toJSON()));
    const { _sandbox: stored } = state;
    assert.equal(stored.backendId, "tidebox");
    const resumed = await client.resume(await client.deserializeSessionState({ ...stored.sessionState, ...stored.sessionState.providerState }));
    assert.equal((await resumed.exec({ cmd: "cat f.txt" })).output, "first\n");
    await client.delete(resumed.state);
  });
});
