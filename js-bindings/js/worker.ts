/** The worker's side of a sandbox, on every platform. */

import type { PackageFiles } from "./archive.js";
import { Archive } from "./archive.js";
import { configure } from "./engine.js";
import type { DirectoryHost } from "./directories.js";
import { useDirectories } from "./directories.js";
import { hasJspi } from "./imports.js";
import { instantiateKernel } from "./instance.js";
import type { ReuseMode } from "./instance_pool.js";
import * as kernel from "./kernel.js";
import type { Call, Changes, Failure, WorkerInput, PackWork, WorkerOutput, Setup, HostResponse } from "./messages.js";
import { CANCEL_SLOTS, MESSAGE_COUNT } from "./messages.js";
import type { PackHost } from "./packs.js";
import { PAGE } from "./packs.js";
import { Programs } from "./programs.js";
import { yieldToEventLoop } from "./time.js";

/** Message channel between a worker and its owner. */
export interface Port {
  /** Sends a message. Buffers in `moved` are transferred instead of copied. */
  send(report: WorkerOutput, moved?: ArrayBuffer[]): void;
  receive(handle: (message: WorkerInput) => void): void;
  /** Takes the next message synchronously, even while a guest runs; `undefined` without a message. Absent if not supported. */
  take?(): WorkerInput | undefined;
}

/** Sources of files. */
export interface Sources {
  readonly files: PackageFiles;
  /** Host directories; absent if not supported. */
  readonly folders?: DirectoryHost;
  /** Files of packs; absent if not supported. */
  readonly packs?: PackHost;
  /** Uses of instances; for tests. Default: they are used again. */
  readonly reuse?: ReuseMode;
}

/** Runs the sandbox that the first message describes. */
export function serve(port: Port, sources: Sources): void {
  new WorkerServer(port, sources);
}

/** Handles the messages to a worker. */
class WorkerServer {
  readonly #port: Port;
  readonly #sources: Sources;
  /** Calls received while a guest ran; they start afterwards, in order. */
  readonly #deferred: Call[] = [];
  #sandbox: kernel.SandboxKernel | undefined;
  /** Set until programs are loaded ahead, after the first call. */
  #prefetch: (() => void) | undefined;

  constructor(port: Port, sources: Sources) {
    this.#port = port;
    this.#sources = sources;
    port.receive((message) => this.#handle(message, this.#deferred.length > 0));
  }

  #handle(message: WorkerInput, later: boolean): void {
    if ("kernel" in message) {
      this.#sandbox = this.#setUp(message);
    } else if ("kernelForPack" in message) {
      void this.#runPackJob(message);
    } else if ("callback" in message) {
      dispatchResponse(this.#port, message);
    } else if ("cancel" in message) {
      this.#sandbox?.cancel(message.cancel);
    } else if (later) {
      if (this.#deferred.push(message) === 1) yieldToEventLoop(() => this.#startDeferred());
    } else if (this.#sandbox !== undefined) {
      void handleCall(this.#port, this.#sandbox, message).then(() => {
        this.#prefetch?.();
        this.#prefetch = undefined;
      });
    }
  }

  #startDeferred(): void {
    for (const message of this.#deferred.splice(0)) this.#handle(message, false);
  }

  /** Handles pending messages; without any, waits for one up to `milliseconds`. */
  #listen(mailbox: SyncMailbox, milliseconds: number): void {
    const count = Atomics.load(mailbox.memory, mailbox.slot);
    if (this.#handleAll(mailbox)) return;
    Atomics.wait(mailbox.memory, mailbox.slot, count, milliseconds);
    this.#handleAll(mailbox);
  }

  #handleAll({ take }: SyncMailbox): boolean {
    let handled = false;
    for (let message = take(); message !== undefined; message = take()) {
      this.#handle(message, true);
      handled = true;
    }
    return handled;
  }

  /** Splits the module of a pack if requested, and rewrites it. */
  async #runPackJob({ kernelForPack, raw, module, code, pages: knownPages }: PackWork): Promise<void> {
    try {
      const host = this.#sources.packs;
      if (host === undefined) throw new Error("packs are not supported on this platform");
      instantiateKernel(kernelForPack);
      let pages = knownPages ?? 0;
      if (raw !== undefined) {
        const [wasm, bytes, data] = kernel.splitPackModule(raw.wasm, [...raw.exports]) as [Uint8Array, number, unknown[]];
        const memory = new Uint8Array(bytes);
        for (let at = 0; at < data.length; at += 2) memory.set(data[at + 1] as Uint8Array, data[at] as number);
        await host.keep(module, wasm);
        await host.keep(raw.image, memory);
        pages = bytes / PAGE;
      }
      await host.keep(code, kernel.rewritePack(await host.read(module), pages));
      this.#port.send({ type: "packed", pages });
    } catch (error) {
      this.#port.send({ type: "failed", failure: failure(error) });
    }
  }

  #setUp(setup: Setup): kernel.SandboxKernel | undefined {
    const port = this.#port;
    try {
      instantiateKernel(setup.kernel);
      const programs = new Programs(new Archive(setup.programs, this.#sources.files), setup.compiled, (file, module) => {
        port.send({ type: "compiled", file, module });
      }, setup.packs, this.#sources.packs);
      const { shared, options } = setup;
      const mailbox = syncMailbox(port, shared);
      configure(programs, {
        output: (id, stderr, bytes) => port.send({ type: "output", id, stderr, bytes }),
        request: (request) => port.send({ type: "request", request }),
        cancelled: (call) => shared !== undefined && Atomics.load(shared, call % CANCEL_SLOTS) === call,
        listen: mailbox && ((milliseconds) => this.#listen(mailbox, milliseconds)),
        crashed: (error) => reportCrash(port, error),
      }, this.#sources.reuse ?? "on");
      const seed = options.seedDirectory === undefined ? [] : [{ path: "", directory: options.seedDirectory, mode: "readOnly" as const }];
      useDirectories(this.#sources.folders, [...(options.mounts ?? []), ...seed]);
      const sandbox = new kernel.SandboxKernel(setup.programs, options, hasJspi());
      for (const changes of setup.changes) sandbox.apply(changes);
      if (setup.prefetch) this.#prefetch = () => void programs.prefetch();
      port.send({ type: "ready", id: sandbox.id });
      return sandbox;
    } catch (error) {
      port.send({ type: "failed", failure: failure(error) });
      return undefined;
    }
  }
}

/** Synchronous access to messages while a guest is on the stack. */
interface SyncMailbox {
  readonly memory: Int32Array;
  /** Slot of the number of messages that the owner has sent. */
  readonly slot: number;
  readonly take: () => WorkerInput | undefined;
}

function syncMailbox(port: Port, memory: Int32Array | undefined): SyncMailbox | undefined {
  const take = port.take?.bind(port);
  return memory === undefined || take === undefined ? undefined : { memory, slot: MESSAGE_COUNT, take };
}

/** Passes a response of the application to the kernel. */
function dispatchResponse(port: Port, { callback, args }: HostResponse): void {
  try {
    (kernel[callback] as (...args: readonly unknown[]) => void)(...args);
  } catch (error) {
    reportCrash(port, error);
  }
}

async function handleCall(port: Port, sandbox: kernel.SandboxKernel, { id, method, args }: Call): Promise<void> {
  try {
    const call = (sandbox as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[method];
    if (call === undefined) throw new Error(`the sandbox has no method ${method}`);
    const value = await call.apply(sandbox, [...args]);
    // Changes are sent with the result, so that the caller never sees the effects of a call whose changes could be lost.
    const changes = sandbox.changes() as Changes | undefined;
    port.send({ type: "result", id, value, changes }, changes && [changes.bytes.buffer as ArrayBuffer]);
  } catch (error) {
    // A trap leaves the kernel inconsistent: the owner starts a new worker.
    if (error instanceof WebAssembly.RuntimeError) return reportCrash(port, error);
    port.send({ type: "error", id, failure: failure(error) });
  }
}

function reportCrash(port: Port, error: unknown): void {
  port.send({ type: "crashed", reason: `the kernel failed: ${failure(error).message}` });
}

/** The kernel throws objects of `kind` and `message`; anything else is a bug. */
function failure(error: unknown): Failure {
  if (typeof error === "object" && error !== null && "kind" in error && "message" in error) {
    return { kind: String(error.kind), message: String(error.message) };
  }
  return { kind: "engine", message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}
