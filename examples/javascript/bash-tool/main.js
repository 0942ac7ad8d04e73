// An agent of the AI SDK with the tools of bash-tool. Its model is a script, so that the example needs neither key nor network.

import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createBashTool } from "bash-tool";
import { Sandbox } from "tidebox";
import { bashToolSandbox } from "tidebox/bash-tool";

const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const usage = { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };
const respond = (part, reason) => ({ content: [part], finishReason: { unified: reason, raw: undefined }, usage, warnings: [] });
const call = (toolName, input) => respond({ type: "tool-call", toolCallId: toolName, toolName, input: JSON.stringify(input) }, "tool-calls");

const model = new MockLanguageModelV4({
  doGenerate: [
    call("bash", { command: "grep -c '^- ' todo.md" }),
    call("writeFile", { path: "count.txt", content: "2\n" }),
    respond({ type: "text", text: "There are 2 tasks." }, "stop"),
  ],
});

const sandbox = await Sandbox.create();
try {
  const { tools } = await createBashTool({ sandbox: bashToolSandbox(sandbox), files: { "todo.md": "# Today\n- write\n- test\n" } });
  const { text } = await generateText({
    model, tools, stopWhen: isStepCount(5), prompt: "Count the tasks in todo.md.",
    onStepEnd: ({ toolResults }) => {
      for (const { toolName, output } of toolResults) console.log(`${toolName}: ${JSON.stringify(output)}`);
    },
  });
  console.log(text);
  console.log((await sandbox.execute("cat count.txt")).output.trimEnd());
} finally {
  await sandbox.close();
}
