/** The Worker's side of a sandbox, on every platform. */

import { configure } from "./engine.js";
import { hasJspi } from "./imports.js";
import { instantiateKernel } from "./instance.js";
import { SandboxKernel } from "./kernel.js";
import type { Call, Changes, Failure, Report, Setup } from "./messages.js";
import type { PackageFiles } from "./programs.js";
import { Programs } from "./programs.js";

/** How a Worker speaks with its owner. */
export interface Port {
  send(report: Report): void;
  receive(handle: (message: Setup | Call) => void): void;
}

/** Serves the sandbox that the first message asks for. */
export function serve(port: Port, files: PackageFiles): void {
  let sandbox: SandboxKernel | undefined;
  port.receive((message) => {
    if ("kernel" in message) {
      sandbox = setUp(port, files, message);
    } else if (sandbox !== undefined) {
      void answer(port, sandbox, message);
    }
  });
}

function setUp(port: Port, files: PackageFiles, setup: Setup): SandboxKernel | undefined {
  try {
    instantiateKernel(setup.kernel);
    const programs = new Programs(setup.programs, files, setup.compiled, (file, module) => {
      port.send({ what: "compiled", file, module });
    });
    configure(programs, {
      output: (id, stderr, bytes) => port.send({ what: "output", id, stderr, bytes }),
      broken: (error) => broken(port, error),
    });
    const sandbox = new SandboxKernel(setup.programs, setup.options, hasJspi());
    for (const changes of setup.changes) sandbox.apply(changes);
    port.send({ what: "ready", id: sandbox.id });
    return sandbox;
  } catch (error) {
    port.send({ what: "failed", failure: failure(error) });
    return undefined;
  }
}

async function answer(port: Port, sandbox: SandboxKernel, { id, method, args }: Call): Promise<void> {
  try {
    const call = (sandbox as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[method];
    if (call === undefined) throw new Error(`the sandbox has no method ${method}`);
    const value = await call.apply(sandbox, [...args]);
    // Before the caller knows that it is done, so that what it knows is never lost.
    port.send({ what: "answer", id, value, changes: sandbox.changes() as Changes | undefined });
  } catch (error) {
    // A trap leaves the kernel in the middle of something: its owner starts another one.
    if (error instanceof WebAssembly.RuntimeError) return broken(port, error);
    port.send({ what: "refusal", id, failure: failure(error) });
  }
}

function broken(port: Port, error: unknown): void {
  port.send({ what: "broken", reason: `the kernel has failed: ${failure(error).message}` });
}

/** The kernel throws objects of `kind` and `message`; anything else is a defect of ours. */
function failure(error: unknown): Failure {
  if (typeof error === "object" && error !== null && "kind" in error && "message" in error) {
    return { kind: String(error.kind), message: String(error.message) };
  }
  return { kind: "engine", message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}
