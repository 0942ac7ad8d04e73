// A program of a user, compiled and never run.

import { createBashTool } from "bash-tool";
import { Sandbox } from "tidebox";
import { bashToolSandbox } from "tidebox/bash-tool";

export async function tools() {
  const sandbox = await Sandbox.create();
  // @ts-expect-error A signal is not a number.
  bashToolSandbox(sandbox, { signal: 1 });
  return (await createBashTool({ sandbox: bashToolSandbox(sandbox, { timeoutMs: 1000 }) })).tools;
}
