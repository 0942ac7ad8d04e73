/** The Worker's side of a sandbox, on every platform. */

import type { PackageFiles } from "./archive.js";
import { Archive } from "./archive.js";
import { configure } from "./engine.js";
import type { FolderHost } from "./folders.js";
import { useFolders } from "./folders.js";
import { hasJspi } from "./imports.js";
import { instantiateKernel } from "./instance.js";
import * as kernel from "./kernel.js";
import type { Call, Changes, Failure, Order, Report, Setup, Tell } from "./messages.js";
import { Programs } from "./programs.js";

/** How a Worker speaks with its owner. */
export interface Port {
  send(report: Report): void;
  receive(handle: (message: Order) => void): void;
}

/** Where files come from. */
export interface Sources {
  readonly files: PackageFiles;
  /** Folders of the host; absent where there are none. */
  readonly folders?: FolderHost;
}

/** Serves the sandbox that the first message asks for. */
export function serve(port: Port, sources: Sources): void {
  let sandbox: kernel.SandboxKernel | undefined;
  port.receive((message) => {
    if ("kernel" in message) {
      sandbox = setUp(port, sources, message);
    } else if ("tell" in message) {
      tell(port, message);
    } else if ("cancel" in message) {
      sandbox?.cancel(message.cancel);
    } else if (sandbox !== undefined) {
      void answer(port, sandbox, message);
    }
  });
}

function setUp(port: Port, sources: Sources, setup: Setup): kernel.SandboxKernel | undefined {
  try {
    instantiateKernel(setup.kernel);
    const programs = new Programs(new Archive(setup.programs, sources.files), setup.compiled, (file, module) => {
      port.send({ what: "compiled", file, module });
    });
    const { cancelled, options } = setup;
    configure(programs, {
      output: (id, stderr, bytes) => port.send({ what: "output", id, stderr, bytes }),
      ask: (ask) => port.send({ what: "asked", ask }),
      cancelled: (call) => cancelled !== undefined && Atomics.load(cancelled, call % cancelled.length) === call,
      broken: (error) => broken(port, error),
    });
    useFolders(sources.folders, options.mounts ?? []);
    const sandbox = new kernel.SandboxKernel(setup.programs, options, hasJspi());
    for (const changes of setup.changes) sandbox.apply(changes);
    port.send({ what: "ready", id: sandbox.id });
    return sandbox;
  } catch (error) {
    port.send({ what: "failed", failure: failure(error) });
    return undefined;
  }
}

/** Hands on what the application says of something that it does for the sandbox. */
function tell(port: Port, { tell, args }: Tell): void {
  try {
    (kernel[tell] as (...args: readonly unknown[]) => void)(...args);
  } catch (error) {
    broken(port, error);
  }
}

async function answer(port: Port, sandbox: kernel.SandboxKernel, { id, method, args }: Call): Promise<void> {
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
