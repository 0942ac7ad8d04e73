// A program of a user, compiled and never run.

import { run } from "@openai/agents-core";
import { SandboxAgent } from "@openai/agents-core/sandbox";
import type { SandboxClient, SandboxSession } from "@openai/agents-core/sandbox";
import { Sandbox } from "tidebox";
import type { TideboxClientOptions, TideboxSessionState } from "tidebox/openai-agents";
import { sandboxSession, TideboxSandboxClient } from "tidebox/openai-agents";

export const client: SandboxClient<TideboxClientOptions, TideboxSessionState> = new TideboxSandboxClient({ timeoutMs: 1000 });

export async function start(agent: SandboxAgent) {
  const session: SandboxSession = await sandboxSession(await Sandbox.create(), { manifest: { entries: { a: { type: "dir" } } } });
  await run(agent, "go", { sandbox: { session } });
  // @ts-expect-error A timeout is a number.
  new TideboxSandboxClient({ timeoutMs: "1s" });
  return run(agent, "go", { sandbox: { client: new TideboxSandboxClient({ files: { a: "b" } }) } });
}
