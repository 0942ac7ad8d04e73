// An agent of Mastra whose workspace is a sandbox. Its model is a script; put the name of a model instead.

import { Agent } from "@mastra/core/agent";
import { Workspace } from "@mastra/core/workspace";
import { TideboxFilesystem, TideboxSandbox } from "tidebox/mastra";

import { scripted } from "./script.js";

const model = scripted(
  [
    ["execute_command", { command: "cut -d, -f1 sales.csv | sort | uniq -c" }],
    ["write_file", { path: "report.md", content: "north: 2\nsouth: 1\n" }],
    ["read_file", { path: "report.md" }],
  ],
  "The north sold twice.",
);

const sandbox = new TideboxSandbox({ files: { "sales.csv": "north,3\nsouth,5\nnorth,1\n" } });
const workspace = new Workspace({ sandbox, filesystem: new TideboxFilesystem({ sandbox }) });
const agent = new Agent({ id: "seller", name: "seller", instructions: "Count sales.", model, workspace });
const { text, steps } = await agent.generate("How often did each region sell?", { maxSteps: 5 });
for (const { payload } of steps.flatMap(({ toolResults }) => toolResults)) console.log(`${payload.toolName}:\n${payload.result}`);
console.log(text);
await workspace.destroy();
