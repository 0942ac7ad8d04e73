/** Implementation of remote sandboxes: loads the module with the provider adapters, which runs in the caller's thread. */

import type { BackendConnection, PortEndpoint } from "./agent_backend.js";
import { defined } from "./check.js";
import { abortedError } from "./connection_error.js";
import type { SandboxErrorCode } from "./error.js";
import { SandboxError } from "./error.js";
import type { Command, ExecuteOptions } from "./options.js";
import { checkExecuteOptions } from "./options.js";
import { platform } from "./platform.js";
import type { ProcessInfo, ProcessKey, ProcessOptions } from "./process.js";
import type { ExecuteResult } from "./protocol.js";
import { messageOf } from "./error_message.js";
import type { RemoteSandbox as ModuleSandbox } from "./remote_kernel.js";
import { OutputListener } from "./output.js";

type Module = typeof import("./remote_kernel.js");

let loading: Promise<Module> | undefined;

/** Loads the module once, when the first provider is opened. A failure is not cached. */
export function remoteModule(): Promise<Module> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw new SandboxError(`cannot load the module with the provider adapters: ${messageOf(error)}`, "SETUP_FAILED");
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

/** The module throws objects of `kind` and `message`; anything else is a bug. */
function failure(error: unknown): SandboxError {
  if (error instanceof SandboxError) return error;
  if (typeof error === "object" && error !== null && "kind" in error && "message" in error) {
    return new SandboxError(String(error.message), CODES[String(error.kind)] ?? "FILE_OPERATION_FAILED");
  }
  return new SandboxError(`the module with the provider adapters failed: ${messageOf(error)}`, "FILE_OPERATION_FAILED");
}

/** Calls the module and converts its errors. */
export async function callModule<T>(call: () => unknown): Promise<T> {
  try {
    return (await call()) as T;
  } catch (error) {
    throw failure(error);
  }
}

/** One sandbox at a provider. */
export class RemoteConnection implements BackendConnection {
  /** As in `remote-adapters/src/process.rs`: each write is a command at the provider. */
  readonly maxWriteBytes = 1 << 20;
  readonly #sandbox: ModuleSandbox;
  #isOpen = true;
  #last = 0;

  constructor(sandbox: ModuleSandbox) {
    this.#sandbox = sandbox;
  }

  get id(): string {
    return this.#sandbox.id;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async execute(command: Command, input: ExecuteOptions): Promise<ExecuteResult> {
    const { onOutput, onStdout, onStderr, signal, ...options } = checkExecuteOptions(input);
    if (signal?.aborted) {
      const output = "tidebox: the command was not started: its caller had cancelled it\n";
      return { output, exitCode: 137, truncated: false, stoppedBy: "cancelled" };
    }
    const call = ++this.#last;
    const cancel = () => this.#sandbox.cancel(call);
    const listener = OutputListener.of({ onOutput, onStdout, onStderr }, cancel);
    const onChunk = listener && ((stderr: boolean, bytes: Uint8Array) => listener.chunk({ stream: stderr ? "stderr" : "stdout", bytes }));
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const streams = Boolean(signal) || listener !== undefined;
      const result = await callModule<ExecuteResult>(
        () => this.#sandbox.execute(command, defined(options), call, streams, onChunk),
      );
      return listener?.finish(result) ?? result;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  async callUntil<T>(signal: AbortSignal | undefined, method: string, args: readonly unknown[]): Promise<T> {
    const call = () => (this.#sandbox as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[method]!(...args);
    if (!signal) return callModule<T>(call);
    if (signal.aborted) throw abortedError(signal);
    let stop = () => {};
    const input = new Promise<never>((_, reject) => {
      stop = () => reject(abortedError(signal));
      signal.addEventListener("abort", stop, { once: true });
    });
    try {
      return await Promise.race([callModule<T>(call), input]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async spawn(command: Command, options: Omit<ProcessOptions, "signal">, signal: AbortSignal | undefined): Promise<ProcessKey> {
    const { id } = await this.callUntil<ProcessInfo>(signal, "spawn", [command, options]);
    return this.processKey(id);
  }

  processes(signal: AbortSignal | undefined): Promise<ProcessInfo[]> {
    return this.callUntil(signal, "processes", []);
  }

  /** The module with the processes lives as long as this thread. */
  processKey(id: string): ProcessKey {
    return { id, generation: 0 };
  }

  callProcess<T>({ id }: ProcessKey, method: string, args: readonly unknown[], signal: AbortSignal | undefined): Promise<T> {
    return this.callUntil<T>(signal, method, [id, ...args]);
  }

  async portEndpoint(port: number, signal: AbortSignal | undefined): Promise<PortEndpoint> {
    const { url, headers } = await this.callUntil<{ url: string; headers: [string, string][] }>(signal, "portEndpoint", [port]);
    return { url, headers: Object.fromEntries(headers) };
  }

  async usage(): Promise<never> {
    const message = "cannot report the usage of a sandbox at a provider: the providers have no common way to ask for it; use the provider's own interface";
    throw new SandboxError(message, "UNSUPPORTED");
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await callModule(() => this.#sandbox.close());
  }
}
