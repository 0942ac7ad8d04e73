/** The Worker's side of a sandbox, on every platform. */

import type { PackageFiles } from "./archive.js";
import { Archive } from "./archive.js";
import { configure } from "./engine.js";
import type { FolderHost } from "./folders.js";
import { useFolders } from "./folders.js";
import { hasJspi } from "./imports.js";
import { instantiateKernel } from "./instance.js";
import * as kernel from "./kernel.js";
import type { Call, Changes, Failure, Order, PackWork, Report, Setup, Tell } from "./messages.js";
import { CANCELLED, TOLD } from "./messages.js";
import type { PackHost } from "./packs.js";
import { PAGE } from "./packs.js";
import { Programs } from "./programs.js";
import { breathe } from "./time.js";

/** How a Worker speaks with its owner. */
export interface Port {
  send(report: Report): void;
  receive(handle: (message: Order) => void): void;
  /** Takes the next message at once, also while a guest runs; nothing when there is none. Absent where that cannot be done. */
  take?(): Order | undefined;
}

/** Where files come from. */
export interface Sources {
  readonly files: PackageFiles;
  /** Folders of the host; absent where there are none. */
  readonly folders?: FolderHost;
  /** The files of packs; absent where there are none. */
  readonly packs?: PackHost;
}

/** Serves the sandbox that the first message asks for. */
export function serve(port: Port, sources: Sources): void {
  new Service(port, sources);
}

/** What a Worker does with what it is told. */
class Service {
  readonly #port: Port;
  readonly #sources: Sources;
  /** Calls that came in while a guest ran to its end; they begin afterwards, in their order. */
  readonly #put: Call[] = [];
  #sandbox: kernel.SandboxKernel | undefined;

  constructor(port: Port, sources: Sources) {
    this.#port = port;
    this.#sources = sources;
    port.receive((order) => this.#take(order, this.#put.length > 0));
  }

  #take(order: Order, later: boolean): void {
    if ("kernel" in order) {
      this.#sandbox = this.#setUp(order);
    } else if ("kernelForPack" in order) {
      void this.#work(order);
    } else if ("tell" in order) {
      tell(this.#port, order);
    } else if ("cancel" in order) {
      this.#sandbox?.cancel(order.cancel);
    } else if (later) {
      if (this.#put.push(order) === 1) breathe(() => this.#begin());
    } else if (this.#sandbox !== undefined) {
      void answer(this.#port, this.#sandbox, order);
    }
  }

  #begin(): void {
    for (const order of this.#put.splice(0)) this.#take(order, false);
  }

  /** Takes in what was told, and waits for it at most so long when there is nothing. */
  #listen(waiting: WaitingRoom, milliseconds: number): void {
    const told = Atomics.load(waiting.memory, waiting.told);
    if (this.#takeAll(waiting)) return;
    Atomics.wait(waiting.memory, waiting.told, told, milliseconds);
    this.#takeAll(waiting);
  }

  #takeAll({ take }: WaitingRoom): boolean {
    let some = false;
    for (let order = take(); order !== undefined; order = take()) {
      this.#take(order, true);
      some = true;
    }
    return some;
  }

  /** Takes the module of a pack apart, and rewrites it. */
  async #work({ kernelForPack, raw, module, code, pages: told }: PackWork): Promise<void> {
    try {
      const host = this.#sources.packs;
      if (host === undefined) throw new Error("there are no packs on this platform");
      instantiateKernel(kernelForPack);
      let pages = told ?? 0;
      if (raw !== undefined) {
        const [wasm, bytes, data] = kernel.takePackApart(raw.wasm, [...raw.exports]) as [Uint8Array, number, unknown[]];
        const memory = new Uint8Array(bytes);
        for (let at = 0; at < data.length; at += 2) memory.set(data[at + 1] as Uint8Array, data[at] as number);
        await host.keep(module, wasm);
        await host.keep(raw.image, memory);
        pages = bytes / PAGE;
      }
      await host.keep(code, kernel.rewritePack(await host.read(module), pages));
      this.#port.send({ what: "packed", pages });
    } catch (error) {
      this.#port.send({ what: "failed", failure: failure(error) });
    }
  }

  #setUp(setup: Setup): kernel.SandboxKernel | undefined {
    const port = this.#port;
    try {
      instantiateKernel(setup.kernel);
      const programs = new Programs(new Archive(setup.programs, this.#sources.files), setup.compiled, (file, module) => {
        port.send({ what: "compiled", file, module });
      }, setup.packs, this.#sources.packs);
      const { shared, options } = setup;
      const waiting = waitingRoom(port, shared);
      configure(programs, {
        output: (id, stderr, bytes) => port.send({ what: "output", id, stderr, bytes }),
        ask: (ask) => port.send({ what: "asked", ask }),
        cancelled: (call) => shared !== undefined && Atomics.load(shared, call % CANCELLED) === call,
        listen: waiting && ((milliseconds) => this.#listen(waiting, milliseconds)),
        broken: (error) => broken(port, error),
      });
      const seed = options.seedFolder === undefined ? [] : [{ path: "", folder: options.seedFolder, mode: "readOnly" as const }];
      useFolders(this.#sources.folders, [...(options.mounts ?? []), ...seed]);
      const sandbox = new kernel.SandboxKernel(setup.programs, options, hasJspi());
      for (const changes of setup.changes) sandbox.apply(changes);
      port.send({ what: "ready", id: sandbox.id });
      return sandbox;
    } catch (error) {
      port.send({ what: "failed", failure: failure(error) });
      return undefined;
    }
  }
}

/** What it takes to wait for messages while a guest is on the stack. */
interface WaitingRoom {
  readonly memory: Int32Array;
  /** Where the owner counts its messages. */
  readonly told: number;
  readonly take: () => Order | undefined;
}

function waitingRoom(port: Port, memory: Int32Array | undefined): WaitingRoom | undefined {
  const take = port.take?.bind(port);
  return memory === undefined || take === undefined ? undefined : { memory, told: TOLD, take };
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
