/** The worker's side of its sandboxes, on every platform. */

import type { PackageFiles } from "./archive.js";
import { Archive } from "./archive.js";
import { addSandbox, configure, cpuTimeMs, isIdle, removeSandbox } from "./engine.js";
import { useRandomBytes } from "./entropy.js";
import type { DirectoryHost } from "./directories.js";
import { closeDirectories, openDirectories, useDirectories } from "./directories.js";
import { hasJspi } from "./suspension.js";
import { instantiateKernel } from "./instance.js";
import type { ReuseMode } from "./instance_pool.js";
import * as kernel from "./kernel.js";
import type {
  Call, Changes, Create, Drop, Failure, KernelOptions, PackWork, SandboxResponse, Setup, WorkerInput, WorkerOutput,
} from "./messages.js";
import { BUSY_MS, CANCEL_SLOTS, MESSAGE_COUNT, RECEIVED_COUNT, RESULT_COUNT, RUNNING_SANDBOX, SPINS } from "./messages.js";
import type { PackHost } from "./packs.js";
import { PAGE } from "./packs.js";
import { PackagePrograms } from "./programs.js";
import { monotonic as now, yieldToEventLoop } from "./time.js";

/** Message channel between a worker and its owner. */
export interface Port {
  /** Sends a message. Buffers in `moved` are transferred instead of copied. */
  send(report: WorkerOutput, moved?: ArrayBuffer[]): void;
  receive(handle: (message: WorkerInput) => void): void;
  /** Takes the next message synchronously, even while a guest runs; `undefined` without a message. Absent if not supported. */
  take?(): WorkerInput | undefined;
  /** Ends the worker. Absent where only its owner can. */
  end?(): void;
}

/** Sources of files. */
export interface Sources {
  readonly files: PackageFiles;
  /** Host directories; absent if not supported. */
  readonly folders?: DirectoryHost;
  /** Files of packs; absent if not supported. */
  readonly packs?: PackHost;
  /** Returns random bytes of the system, where `crypto` has to be loaded first. */
  readonly randomBytes?: (count: number) => Uint8Array<ArrayBuffer>;
  /** Uses of instances; for tests. Default: they are used again. */
  readonly reuse?: ReuseMode;
  /** Milliseconds of work after which guests yield to the event loop. */
  readonly yieldMs?: number;
}

/** Runs the sandboxes that the owner creates. */
export function serve(port: Port, sources: Sources): void {
  new WorkerServer(port, sources);
}

/** A sandbox of this worker. */
interface HostedSandbox {
  readonly kernel: kernel.SandboxKernel;
  /** Its host directories: the number of the first one, and their number. */
  readonly directories: readonly [first: number, count: number];
}

/** Number of the sandbox that warms the worker up, and of its call. Others never reach it. */
const WARM_UP = 2 ** 31 - 1;

/**
 * Milliseconds for which the worker looks for the next call after a result, if the last one came quickly: until the owner has received
 * the result, and then. Collecting the owner's garbage takes less. An owner that has not received it may share the core of the
 * worker: on two cores, Linux often wakes a sleeping thread on the core of the thread that wakes it.
 */
const SPIN_MS = { first: 0.1, received: 1 };
/** Milliseconds within which a call follows a result quickly. */
const QUICK_MS = 0.3;
/** Milliseconds between two reports that the worker is busy. */
const BUSY_REPORT_MS = 100;

/** Handles the messages to a worker. */
class WorkerServer {
  readonly #port: Port;
  readonly #sources: Sources;
  /** Messages received while a guest ran; they are handled afterwards, in order. */
  readonly #deferred: (Call | Create | Drop)[] = [];
  readonly #sandboxes = new Map<number, HostedSandbox>();
  #programs: PackagePrograms | undefined;
  #shared: Int32Array | undefined;
  /** Number of messages of the owner when the event loop last handled some. */
  #seen = 0;
  #setUpMs = 0;
  #busyMs = 0;
  #mailbox: SyncMailbox | undefined;
  /** Time of the last result. */
  #resultAt = 0;
  #isSequence = false;

  constructor(port: Port, sources: Sources) {
    this.#port = port;
    this.#sources = sources;
    port.receive((message) => {
      this.#hasMessages();
      this.#handle(message, this.#deferred.length > 0);
    });
  }

  #handle(message: WorkerInput, later: boolean): void {
    if ("kernel" in message) {
      this.#setUp(message);
    } else if ("compiledFile" in message) {
      this.#programs?.add(message.compiledFile, message.module);
    } else if ("uncompiledFile" in message) {
      this.#programs?.reject(message.uncompiledFile, message.reason);
    } else if ("warmUp" in message) {
      void this.#warmUp(message.warmUp);
    } else if ("end" in message) {
      this.#port.end?.();
    } else if ("kernelForPack" in message) {
      void this.#runPackJob(message);
    } else if ("response" in message) {
      dispatchResponse(this.#port, message);
    } else if ("cancel" in message) {
      this.#sandboxes.get(message.sandbox)?.kernel.cancel(message.cancel);
    } else if (later) {
      if (this.#deferred.push(message) === 1) yieldToEventLoop(() => this.#startDeferred());
    } else if ("create" in message) {
      this.#create(message);
    } else if ("drop" in message) {
      this.#drop(message);
    } else {
      this.#call(message);
    }
  }

  /** Runs a command in a sandbox that is dropped: V8 compiles each function when it is first called. */
  async #warmUp(command: string): Promise<void> {
    addSandbox(WARM_UP, 0);
    try {
      const created = new kernel.SandboxKernel(WARM_UP, { firstDirectory: 0 }, hasJspi());
      await created.execute(command, {}, WARM_UP, false);
      created.free();
    } catch (error) {
      // A command of a user that needs the same reports other errors.
      if (error instanceof WebAssembly.RuntimeError) reportCrash(this.#port, error);
    } finally {
      removeSandbox(WARM_UP);
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

  /** Looks for the next message for a moment: waking a thread takes as long as a short command. */
  #spin({ memory, slot, take }: SyncMailbox, resultCount: number): void {
    if (Atomics.load(memory, SPINS) === 0) return;
    let until = this.#resultAt + SPIN_MS.first;
    while (now() < until) {
      if (Atomics.load(memory, slot) === this.#seen) {
        if (Atomics.load(memory, RESULT_COUNT) !== resultCount) until = this.#resultAt + SPIN_MS.received;
        continue;
      }
      const message = take();
      if (message === undefined) continue;
      this.#hasMessages();
      return this.#handle(message, this.#deferred.length > 0);
    }
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
  async #runPackJob({ kernelForPack, raw, module, code, pages: knownPages, isProgram }: PackWork): Promise<void> {
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
      const original = await host.read(module);
      await host.keep(code, isProgram ? kernel.rewriteProgram(original) : kernel.rewritePack(original, pages));
      this.#port.send({ type: "packed", pages });
    } catch (error) {
      this.#port.send({ type: "failed", failure: failure(error) });
    }
  }

  #setUp({ kernel: module, programs: listed, compiled, asks, random, shared }: Setup): void {
    const port = this.#port;
    try {
      instantiateKernel(module);
      kernel.usePrograms(listed);
      const ask = (file: string) => port.send({ type: "needed", file });
      const programs = new PackagePrograms(new Archive(listed, this.#sources.files), compiled, (file, program) => {
        port.send({ type: "compiled", file, module: program });
      }, this.#sources.packs, asks ? ask : undefined);
      const mailbox = (this.#mailbox = syncMailbox(port, shared));
      configure(programs, {
        output: (sandbox, id, stderr, bytes) => port.send({ type: "output", sandbox, id, stderr, bytes }),
        request: (sandbox, request) => {
          const moved = request.type === "portChunk" ? [request.chunk.buffer as ArrayBuffer] : undefined;
          port.send({ type: "request", sandbox, request }, moved);
        },
        cancelled: (call) => shared !== undefined && Atomics.load(shared, call % CANCEL_SLOTS) === call,
        listen: mailbox && ((milliseconds) => this.#listen(mailbox, milliseconds)),
        hasMessages: () => this.#hasMessages(),
        running: (sandbox) => this.#setRunning(sandbox),
        busy: () => this.#reportBusy(),
        crashed: (error, sandbox) => reportCrash(port, error, sandbox),
      }, this.#sources.reuse ?? "on", this.#sources.yieldMs);
      useDirectories(this.#sources.folders);
      useRandomBytes(random, this.#sources.randomBytes);
      [this.#programs, this.#shared, this.#setUpMs] = [programs, shared, Date.now()];
    } catch (error) {
      reportCrash(port, error);
    }
  }

  /** True if the owner has sent messages since the last call. */
  #hasMessages(): boolean {
    if (this.#shared === undefined) return false;
    const count = Atomics.load(this.#shared, MESSAGE_COUNT);
    const isNew = count !== this.#seen;
    this.#seen = count;
    Atomics.store(this.#shared, RECEIVED_COUNT, count);
    return isNew;
  }

  #reportBusy(): void {
    const time = Date.now();
    if (time - this.#busyMs < BUSY_REPORT_MS) return;
    this.#busyMs = time;
    this.#port.send({ type: "busy" });
  }

  #create({ create: sandbox, options, packs, changes, cpuTimeMs: usedMs }: Create): void {
    const port = this.#port;
    let directories: HostedSandbox["directories"] = [0, 0];
    this.#setRunning(sandbox);
    try {
      this.#programs?.addPacks(packs);
      const { seedDirectory, mounts = [] } = options;
      const opened = seedDirectory === undefined ? mounts : [...mounts, { path: "", directory: seedDirectory, mode: "readOnly" as const }];
      directories = [openDirectories(opened), opened.length];
      addSandbox(sandbox, usedMs);
      const input: KernelOptions & { firstDirectory: number } = { ...options, firstDirectory: directories[0] };
      const created = new kernel.SandboxKernel(sandbox, input, hasJspi());
      this.#sandboxes.set(sandbox, { kernel: created, directories });
      for (const bytes of changes) created.apply(bytes);
      port.send({ type: "ready", sandbox, id: created.id });
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) return reportCrash(port, error, sandbox);
      this.#sandboxes.get(sandbox)?.kernel.free();
      this.#sandboxes.delete(sandbox);
      removeSandbox(sandbox);
      closeDirectories(...directories);
      port.send({ type: "createFailed", sandbox, failure: failure(error) });
    } finally {
      this.#setRunning(0);
    }
  }

  /** Tells the owner which sandbox runs, for the case that the worker no longer responds. */
  #setRunning(sandbox: number): void {
    if (this.#shared !== undefined) Atomics.store(this.#shared, RUNNING_SANDBOX, sandbox);
  }

  #drop({ drop: sandbox, confirms }: Drop): void {
    const found = this.#sandboxes.get(sandbox);
    this.#sandboxes.delete(sandbox);
    try {
      removeSandbox(sandbox);
      found?.kernel.abort();
      found?.kernel.free();
      if (found !== undefined) closeDirectories(...found.directories);
      if (confirms) this.#port.send({ type: "dropped", sandbox });
    } catch (error) {
      reportCrash(this.#port, error, sandbox);
    }
  }

  #call(call: Call): void {
    this.#isSequence = now() - this.#resultAt < QUICK_MS;
    if (Date.now() - Math.max(call.sentMs, this.#setUpMs) > BUSY_MS) this.#reportBusy();
    const sandbox = this.#sandboxes.get(call.sandbox);
    if (sandbox === undefined) return;
    this.#setRunning(call.sandbox);
    void this.#handleCall(sandbox.kernel, call);
    this.#setRunning(0);
  }

  async #handleCall(target: kernel.SandboxKernel, { sandbox, id, method, args }: Call): Promise<void> {
    const port = this.#port;
    try {
      const call = (target as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[method];
      if (call === undefined) throw new Error(`the sandbox has no method ${method}`);
      const value = await call.apply(target, [...args]);
      if (this.#sandboxes.get(sandbox)?.kernel !== target) return;
      // Changes are sent with the result, so that the caller never sees the effects of a call whose changes could be lost.
      const changes = target.changes() as Changes | undefined;
      const result = { type: "result", sandbox, id, value, changes, cpuTimeMs: cpuTimeMs(sandbox) } as const;
      const resultCount = this.#shared === undefined ? 0 : Atomics.load(this.#shared, RESULT_COUNT);
      port.send(result, changes && [changes.bytes.buffer as ArrayBuffer]);
      this.#resultAt = now();
      if (this.#isSequence && this.#mailbox !== undefined && isIdle()) this.#spin(this.#mailbox, resultCount);
    } catch (error) {
      // A trap leaves the kernel inconsistent: the owner starts a new worker.
      if (error instanceof WebAssembly.RuntimeError) return reportCrash(port, error, sandbox);
      if (this.#sandboxes.get(sandbox)?.kernel === target) port.send({ type: "error", sandbox, id, failure: failure(error) });
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
function dispatchResponse(port: Port, { sandbox, response: { callback, args } }: SandboxResponse): void {
  try {
    (kernel[callback] as (...args: readonly unknown[]) => void)(sandbox, ...args);
  } catch (error) {
    reportCrash(port, error, sandbox);
  }
}

function reportCrash(port: Port, error: unknown, sandbox?: number): void {
  port.send({ type: "crashed", reason: `the kernel failed: ${failure(error).message}`, ...(sandbox !== undefined && { sandbox }) });
}

/** The kernel throws objects of `kind` and `message`; anything else is a bug. */
function failure(error: unknown): Failure {
  if (typeof error === "object" && error !== null && "kind" in error && "message" in error) {
    return { kind: String(error.kind), message: String(error.message) };
  }
  return { kind: "engine", message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}
