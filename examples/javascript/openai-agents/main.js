// An agent of the OpenAI Agents SDK that repairs a script in a sandbox. Its model is a script; use `@openai/agents` and the name of
// a model instead.

import { Runner, setTracingDisabled } from "@openai/agents-core";
import { SandboxAgent } from "@openai/agents-core/sandbox";
import { ScriptedModel, assistantMessage, functionCall } from "@openai/agents-core/testing";
import { TideboxSandboxClient } from "tidebox/openai-agents";

setTracingDisabled(true);

const operation = { type: "update_file", path: "greet.sh", diff: "@@\n-echo \"Helo $1\"\n+echo \"Hello $1\"\n" };
const model = new ScriptedModel([
  [functionCall("exec_command", { cmd: "bash greet.sh Ada" }, { callId: "try" })],
  [{ type: "apply_patch_call", callId: "repair", status: "completed", operation }],
  [functionCall("exec_command", { cmd: "bash greet.sh Ada" }, { callId: "check" })],
  [assistantMessage("The greeting is correct now.")],
]);

const agent = new SandboxAgent({
  name: "coder",
  model,
  instructions: "Repair the script.",
  defaultManifest: { entries: { "greet.sh": { type: "file", content: "echo \"Helo $1\"\n" } } },
});
const result = await new Runner().run(agent, "The greeting is misspelled.", { sandbox: { client: new TideboxSandboxClient() } });
for (const item of result.newItems) {
  if (item.type !== "tool_call_output_item") continue;
  const { type, status } = item.rawItem;
  console.log(type === "apply_patch_call_output" ? `patch: ${status}` : item.output.split("\n").slice(2).join("\n").trimEnd());
}
console.log(result.finalOutput);
