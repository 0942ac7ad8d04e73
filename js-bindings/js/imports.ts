/** What guests may import: the kernel's exports of these names, and the four things of the engine. Nothing else. */

import { raw } from "./instance.js";
import { functionsOf } from "./kernel.js";

let preview1: WebAssembly.ModuleImports | undefined;
let tideboxV1: WebAssembly.ModuleImports | undefined;
let waiting: WebAssembly.ImportValue | undefined;

function some(names: readonly string[]): WebAssembly.ModuleImports {
  const all = raw();
  // Without a prototype, so that a guest cannot import what every object has.
  const some: WebAssembly.ModuleImports = Object.create(null);
  for (const name of names) some[name] = all[name] as WebAssembly.ImportValue;
  return some;
}

/** Whether guests can be suspended here. */
export function hasJspi(): boolean {
  return typeof WebAssembly.Suspending === "function" && typeof WebAssembly.promising === "function";
}

/** What a guest calls when it cannot go on. */
export interface Waits {
  /** Suspends the guest until it can. */
  suspend(pid: number, code: number): Promise<number>;
  /** Runs others meanwhile, on the same stack; where guests cannot be suspended. */
  stay(pid: number, code: number): number;
}

/** The imports of the guest with this number. */
export function imports(pid: number, waits: Waits): WebAssembly.Imports {
  preview1 ??= some(functionsOf("wasi_snapshot_preview1"));
  tideboxV1 ??= some(functionsOf("tidebox_v1"));
  waiting ??= (hasJspi() ? new WebAssembly.Suspending(waits.suspend) : waits.stay) as WebAssembly.ImportValue;
  const { tick, grow, answer, hostCall } = raw();
  return {
    wasi_snapshot_preview1: preview1,
    tidebox_v1: tideboxV1,
    host: { call: hostCall as WebAssembly.ImportValue },
    tidebox_engine: {
      wait: waiting,
      tick: tick as WebAssembly.ImportValue,
      grow: grow as WebAssembly.ImportValue,
      answer: answer as WebAssembly.ImportValue,
      pid: new WebAssembly.Global({ value: "i32" }, pid),
    },
  };
}
