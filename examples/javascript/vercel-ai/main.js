// An agent of the AI SDK with tools that run in a sandbox. Its model is a script; put `model: "anthropic/claude-sonnet-4.5"` or the
// model of a provider's package instead to use a real model.

import { ToolLoopAgent } from "ai";
import { Sandbox } from "tidebox";

import { scripted } from "./script.js";
import { sandboxTools } from "./tools.js";

const model = scripted(
  [
    [["bash", { command: "ls; head -n 1 people.json" }]],
    [["bash", { command: "jq -r '.[] | select(.age > 40) | .name' people.json | sort > old.txt; wc -l < old.txt" }]],
    [["readFile", { path: "/workspace/old.txt" }], ["readFile", { path: "/workspace/none.txt" }]],
    [["writeFile", { path: "/workspace/answer.md", content: "Ada and Grace\n" }]],
  ],
  "Ada and Grace are older than 40.",
);

const PEOPLE = [{ name: "Grace", age: 45 }, { name: "Tim", age: 31 }, { name: "Ada", age: 41 }];

const sandbox = await Sandbox.create({ files: { "people.json": JSON.stringify(PEOPLE) } });
try {
  const agent = new ToolLoopAgent({ model, tools: sandboxTools(sandbox) });
  const { text } = await agent.generate({
    prompt: "Who in people.json is older than 40? Write answer.md.",
    onStepEnd: ({ toolResults }) => {
      for (const { toolName, output } of toolResults) console.log(`${toolName}: ${JSON.stringify(output)}`);
    },
  });
  console.log(text);
  console.log((await sandbox.execute("cat answer.md")).output.trimEnd());
} finally {
  await sandbox.close();
}
