// A deep agent that works in a sandbox. Without MODEL its model is a script, so it needs neither key nor network; with
// `MODEL=anthropic:claude-sonnet-4-5` and the package and the key of that provider the agent uses a real model.

import { fakeModel } from "@langchain/core/testing";
import { AIMessage } from "@langchain/core/messages";
import { createDeepAgent } from "deepagents";

import { openBackend } from "./backend.js";

const PROJECT = {
  "/tmp/project/greet.sh": 'echo "Hello $1"\n',
  "/tmp/project/test.sh": 'test "$(sh greet.sh World)" = "Hello, World!" && echo pass\n',
};

/** A message of the model with tool calls. */
const asks = (...calls) =>
  new AIMessage({ content: "", tool_calls: calls.map(([name, args]) => ({ name, args, id: crypto.randomUUID(), type: "tool_call" })) });

/** Scripted steps: inspect, run the tests, fix, run them again. */
const scripted = () => fakeModel()
  .respond(asks(
    ["ls", { path: "/tmp/project" }],
    ["read_file", { file_path: "/tmp/project/greet.sh" }],
    ["execute", { command: "cd /tmp/project && sh test.sh" }],
  ))
  .respond(asks(["edit_file", { file_path: "/tmp/project/greet.sh", old_string: "Hello $1", new_string: "Hello, $1!" }]))
  .respond(asks(["execute", { command: "cd /tmp/project && sh test.sh" }]))
  .respond(new AIMessage("The tests pass now."));

let opened;
try {
  opened = await openBackend(PROJECT);
  const { backend } = opened;
  const agent = createDeepAgent({ model: process.env.MODEL ?? scripted(), backend });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Make test.sh pass." }] });
  for (const message of messages) {
    if (message.type === "tool") console.log(`${message.name}: ${message.text.trimEnd().replaceAll("\n", "\n  ")}`);
  }
  console.log(messages.at(-1).text);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await opened?.end();
}
