// A program of a user, compiled and never run.

import type { SandboxProvider } from "@mastra/core/editor";
import { Workspace } from "@mastra/core/workspace";
import type { WorkspaceFilesystem, WorkspaceSandbox } from "@mastra/core/workspace";
import { Sandbox } from "tidebox";
import { TideboxFilesystem, TideboxSandbox, tideboxSandboxProvider } from "tidebox/mastra";

const own = new TideboxSandbox({ limits: { wallTimeMs: 1000 } });
export const sandbox: WorkspaceSandbox = own;
export const filesystem: WorkspaceFilesystem = new TideboxFilesystem({ sandbox: own, readOnly: true });
export const workspace = new Workspace({ sandbox: own, filesystem: new TideboxFilesystem({ sandbox: own }) });
export const providers: SandboxProvider[] = [tideboxSandboxProvider as SandboxProvider];

export async function wrapped() {
  const given = await Sandbox.create();
  // @ts-expect-error A timeout is a number.
  new TideboxSandbox({ sandbox: given, timeoutMs: "1s" });
  return new TideboxFilesystem({ sandbox: given, workingDirectory: "/tmp" });
}
