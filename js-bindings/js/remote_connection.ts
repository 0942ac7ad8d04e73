/** What stands behind a remote sandbox: the module that speaks to providers, in the caller's thread. */

import type { Backing } from "./agent_backend.js";
import { defined } from "./check.js";
import type { SandboxErrorCode } from "./error.js";
import { SandboxError } from "./error.js";
import type { ExecuteOptions } from "./options.js";
import { checkExecuteOptions } from "./options.js";
import { platform } from "./platform.js";
import type { ExecuteResult } from "./protocol.js";
import { reasonOf } from "./reason.js";
import type { RemoteSandbox as Made } from "./remote_kernel.js";
import { Watch } from "./watch.js";

type Module = typeof import("./remote_kernel.js");

let loading: Promise<Module> | undefined;

/** The module, loaded when the first provider is opened; a failure is not kept. */
export function remoteModule(): Promise<Module> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw new SandboxError(`the module that speaks to providers cannot be loaded: ${reasonOf(error)}`, "SETUP_FAILED");
  });
  return loading;
}

async function load(): Promise<Module> {
  const used = platform();
  const [module, compiled] = await Promise.all([import("./remote_kernel.js"), used.remote()]);
  module.initSync({ module: compiled });
  return module;
}

const CODES: Readonly<Record<string, SandboxErrorCode>> = {
  closed: "CLOSED", invalid_request: "INVALID_OPTIONS", unsupported: "UNSUPPORTED", unauthenticated: "UNAUTHENTICATED",
  forbidden: "FORBIDDEN", rate_limited: "RATE_LIMITED", quota_exceeded: "QUOTA_EXCEEDED", timeout: "TIMEOUT",
  unavailable: "UNAVAILABLE", protocol: "PROTOCOL", sandbox_not_found: "SANDBOX_NOT_FOUND",
  command_timeout: "COMMAND_TIMEOUT", command_failed: "COMMAND_FAILED",
};

/** What the module throws are objects of `kind` and `message`; anything else is a defect of ours. */
function failure(error: unknown): SandboxError {
  if (error instanceof SandboxError) return error;
  if (typeof error === "object" && error !== null && "kind" in error && "message" in error) {
    return new SandboxError(String(error.message), CODES[String(error.kind)] ?? "FILE_OPERATION_FAILED");
  }
  return new SandboxError(`the module that speaks to providers has failed: ${reasonOf(error)}`, "FILE_OPERATION_FAILED");
}

/** What comes of a call of the module, or an error of ours. */
export async function told<T>(call: () => unknown): Promise<T> {
  try {
    return (await call()) as T;
  } catch (error) {
    throw failure(error);
  }
}

/** One sandbox at a provider. */
export class RemoteConnection implements Backing {
  readonly #sandbox: Made;
  #isOpen = true;
  #last = 0;

  constructor(sandbox: Made) {
    this.#sandbox = sandbox;
  }

  get id(): string {
    return this.#sandbox.id;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async execute(command: string, given: ExecuteOptions): Promise<ExecuteResult> {
    const { onOutput, onStdout, onStderr, signal, ...options } = checkExecuteOptions(given);
    if (signal?.aborted) {
      const output = "tidebox: the command was not started because its caller had given it up\n";
      return { output, exitCode: 137, truncated: false, stoppedBy: "cancelled" };
    }
    const call = ++this.#last;
    const cancel = () => this.#sandbox.cancel(call);
    const watch = Watch.of({ onOutput, onStdout, onStderr }, cancel);
    const piece = watch && ((stderr: boolean, bytes: Uint8Array) => watch.piece({ stream: stderr ? "stderr" : "stdout", bytes }));
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const streams = Boolean(signal) || watch !== undefined;
      const result = await told<ExecuteResult>(
        () => this.#sandbox.execute(String(command), defined(options), call, streams, piece),
      );
      return watch?.ended(result) ?? result;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  async callUntil<T>(signal: AbortSignal | undefined, method: string, args: readonly unknown[]): Promise<T> {
    const call = () => (this.#sandbox as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[method]!(...args);
    if (!signal) return told<T>(call);
    const aborted = () => new SandboxError("the call was given up by its caller", "ABORTED", { cause: signal.reason });
    if (signal.aborted) throw aborted();
    let stop = () => {};
    const given = new Promise<never>((_, reject) => {
      stop = () => reject(aborted());
      signal.addEventListener("abort", stop, { once: true });
    });
    try {
      return await Promise.race([told<T>(call), given]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await told(() => this.#sandbox.close());
  }
}
