// A program of a user, compiled and never run.

import type { HarnessV1NetworkSandboxSession, HarnessV1SandboxProvider } from "@ai-sdk/harness";
import type { Experimental_SandboxSession } from "ai";
import { Sandbox } from "tidebox";
import { createTideboxSandbox, networkSandboxSession, sandboxSession } from "tidebox/ai-sdk";

export const provider: HarnessV1SandboxProvider = createTideboxSandbox({ limits: { wallTimeMs: 1000 } });

export async function sessions(): Promise<Experimental_SandboxSession> {
  const sandbox = await Sandbox.create();
  const network: HarnessV1NetworkSandboxSession = networkSandboxSession(sandbox);
  await network.stop();
  // @ts-expect-error A timeout is a number.
  sandboxSession(sandbox, { timeoutMs: "1s" });
  return sandboxSession(sandbox, { workingDirectory: "/tmp" });
}
