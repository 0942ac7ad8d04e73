// The tools of the real `bash-tool` over a sandbox, called directly and by an agent whose model is a script.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createBashTool, experimental_createSkillTool } from "bash-tool";
import { Sandbox } from "tidebox";
import { bashToolSandbox } from "tidebox/bash-tool";

describe("bash-tool", () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create();
  });
  after(() => sandbox.close());

  const call = (tool, input) => tool.execute(input, { toolCallId: "call", messages: [] });

  test("runs commands in its directory", async () => {
    const { tools } = await createBashTool({ sandbox: bashToolSandbox(sandbox), files: { "src/a.txt": "one\ntwo\n" } });
    assert.deepEqual(await call(tools.bash, { command: "pwd; wc -l < src/a.txt; echo no >&2; exit 3" }), {
      stdout: "/workspace\n2\n", stderr: "no\n", exitCode: 3,
    });
    assert.equal((await call(tools.bash, { command: "no-such-program" })).exitCode, 127);
    assert.match(tools.bash.description, /src\/a\.txt/);
  });

  test("lists the commands of the sandbox for the prompt", async () => {
    const { bash } = await createBashTool({ sandbox: bashToolSandbox(sandbox) });
    for (const name of ["awk", "grep", "jq", "sed"]) assert.match(bash.description, new RegExp(`\\b${name}\\b`), name);
  });

  test("reads and writes files", async () => {
    const { tools } = await createBashTool({ sandbox: bashToolSandbox(sandbox) });
    assert.deepEqual(await call(tools.writeFile, { path: "new/b.txt", content: "é\n" }), { success: true });
    assert.deepEqual(await call(tools.readFile, { path: "new/b.txt" }), { content: "é\n" });
    assert.deepEqual(await call(tools.readFile, { path: "/workspace/new/b.txt" }), { content: "é\n" });
    await assert.rejects(call(tools.readFile, { path: "none" }), /'\/workspace\/none' not found/);
    await assert.rejects(call(tools.writeFile, { path: "new", content: "" }), /directory/);
  });

  test("uploads files of the host", async (context) => {
    const source = mkdtempSync(join(tmpdir(), "tidebox-bash-tool-"));
    context.after(() => rmSync(source, { recursive: true }));
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    writeFileSync(join(source, "bytes.bin"), bytes);
    for (let n = 0; n < 45; n += 1) writeFileSync(join(source, `${n}.txt`), `${n}\n`);
    const { tools } = await createBashTool({
      sandbox: bashToolSandbox(sandbox), destination: "/workspace/uploaded", uploadDirectory: { source },
    });
    assert.equal((await call(tools.bash, { command: "cat *.txt | sort -n | tail -1; ls | wc -l" })).stdout, "44\n46\n");
    const [{ content }] = await sandbox.downloadFiles(["/workspace/uploaded/bytes.bin"]);
    assert.deepEqual(new Uint8Array(content), bytes);
  });

  test("runs commands that capture the output of each program of a pipeline", async () => {
    const { tools } = await createBashTool({ sandbox: bashToolSandbox(sandbox), experimentalTeeTransform: true });
    const { stdout, teeFiles } = await call(tools.bash, { command: "seq 1 100 | grep 7 | tail -1" });
    assert.equal(stdout, "97\n");
    const { stdoutFile } = teeFiles.find(({ command }) => command.startsWith("grep"));
    assert.equal((await call(tools.readFile, { path: stdoutFile })).content.split("\n").length, 20);
  });

  test("offers skills", async (context) => {
    const skillsDirectory = mkdtempSync(join(tmpdir(), "tidebox-skills-"));
    context.after(() => rmSync(skillsDirectory, { recursive: true }));
    const { mkdirSync } = await import("node:fs");
    mkdirSync(join(skillsDirectory, "count"));
    writeFileSync(join(skillsDirectory, "count/SKILL.md"), "---\nname: count\ndescription: Counts lines.\n---\nRun count.sh.\n");
    writeFileSync(join(skillsDirectory, "count/count.sh"), "wc -l < \"$1\"\n");
    const { files, skills } = await experimental_createSkillTool({ skillsDirectory });
    const { tools } = await createBashTool({ sandbox: bashToolSandbox(sandbox), files });
    const [{ sandboxPath }] = skills;
    const { stdout } = await call(tools.bash, { command: `printf 'a\\nb\\n' > two; bash ${sandboxPath}/count.sh two` });
    assert.equal(stdout, "2\n");
  });

  test("stops commands after the timeout and by the signal", async () => {
    const controller = new AbortController();
    const own = bashToolSandbox(sandbox, { timeoutMs: 100, signal: controller.signal });
    const { tools } = await createBashTool({ sandbox: own });
    const { exitCode, stderr } = await call(tools.bash, { command: "sleep 60" });
    assert.deepEqual([exitCode, /100ms/.test(stderr)], [124, true]);
    const reason = new Error("enough");
    const aborted = assert.rejects(own.executeCommand("sleep 60"), reason);
    controller.abort(reason);
    await aborted;
    await assert.rejects(own.readFile("two"), reason);
  });

  test("reports a closed sandbox to the model", async () => {
    const own = await Sandbox.create();
    const { tools } = await createBashTool({ sandbox: bashToolSandbox(own) });
    await own.close();
    const expected = { code: "CLOSED", message: "the sandbox is closed; create a new one" };
    await assert.rejects(call(tools.bash, { command: "true" }), expected);
    await assert.rejects(call(tools.readFile, { path: "x" }), expected);
    await assert.rejects(call(tools.writeFile, { path: "x", content: "" }), expected);
  });
});

const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const usage = { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };

describe("an agent", () => {
  test("works with the three tools", async (context) => {
    const sandbox = await Sandbox.create({ files: { "people.json": JSON.stringify([{ name: "Ada", age: 41 }, { name: "Tim", age: 31 }]) } });
    context.after(() => sandbox.close());
    const { tools } = await createBashTool({ sandbox: bashToolSandbox(sandbox) });
    const calls = [
      ["bash", { command: "jq -r '.[] | select(.age > 40) | .name' people.json" }],
      ["writeFile", { path: "answer.md", content: "Ada\n" }],
      ["readFile", { path: "answer.md" }],
      ["readFile", { path: "none.md" }],
    ];
    const turns = calls.map(([toolName, input], at) => ({
      content: [{ type: "tool-call", toolCallId: `call-${at}`, toolName, input: JSON.stringify(input) }],
      finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [],
    }));
    const last = { content: [{ type: "text", text: "Ada" }], finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
    const model = new MockLanguageModelV4({ doGenerate: [...turns, last] });
    const { steps, text } = await generateText({ model, tools, prompt: "Who is older than 40?", stopWhen: isStepCount(9) });
    assert.equal(text, "Ada");
    assert.deepEqual(steps.slice(0, 3).map(({ toolResults: [{ output }] }) => output), [
      { stdout: "Ada\n", stderr: "", exitCode: 0 }, { success: true }, { content: "Ada\n" },
    ]);
    assert.match(String(steps[3].content.find(({ type }) => type === "tool-error").error), /not found/);
    assert.equal((await sandbox.execute("cat answer.md")).output, "Ada\n");
  });
});
