// An agent of LangChain with tools that run in a sandbox. Without MODEL its model is a script, so it needs neither key nor network;
// with `MODEL=anthropic:claude-sonnet-4-5` and the package and the key of that provider the agent uses a real model.

import { fakeModel } from "@langchain/core/testing";
import { AIMessage } from "@langchain/core/messages";
import { createAgent, initChatModel } from "langchain";
import { Sandbox } from "tidebox";

import { sandboxTools } from "./tools.js";

/** A message of the model with tool calls. */
const asks = (...calls) =>
  new AIMessage({ content: "", tool_calls: calls.map(([name, args]) => ({ name, args, id: crypto.randomUUID(), type: "tool_call" })) });

/** Scripted steps: inspect, work, check. */
const scripted = () => fakeModel()
  .respond(asks(["bash", { command: "head -n 2 access.log; wc -l < access.log" }]))
  .respond(asks(["bash", { command: "awk '$2 >= 500 { print $3 }' access.log | sort | uniq -c | sort -rn > errors.txt" }]))
  .respond(asks(["read_file", { path: "/workspace/errors.txt" }]))
  .respond(asks(
    ["write_file", { path: "/workspace/report.md", content: "# Errors\n\n/pay fails most.\n" }],
    ["bash", { command: "no-such-program" }],
  ))
  .respond(new AIMessage("The page /pay fails most; see report.md."));

const LOG = ["10:00 200 /", "10:01 500 /pay", "10:02 503 /pay", "10:03 500 /search", "10:04 200 /pay"];

const sandbox = await Sandbox.create({ files: { "access.log": `${LOG.join("\n")}\n` } });
try {
  const model = process.env.MODEL === undefined ? scripted() : await initChatModel(process.env.MODEL);
  const agent = createAgent({ model, tools: sandboxTools(sandbox) });
  const { messages } = await agent.invoke({ messages: "Which page of access.log fails most? Write report.md." });
  for (const message of messages) {
    for (const { name, args } of message.tool_calls ?? []) console.log(`> ${name} ${JSON.stringify(args)}`);
    if (message.type !== "human" && message.text !== "" && !message.tool_calls?.length) console.log(message.text.trimEnd());
  }
  console.log((await sandbox.execute("cat report.md")).output.trimEnd());
} finally {
  await sandbox.close();
}
