/** Imports of guests: kernel exports of the same names, and the functions of the engine. */

import { raw } from "./instance.js";
import { hasJspi } from "./suspension.js";
import { functionNames } from "./kernel.js";

let preview1: WebAssembly.ModuleImports | undefined;
let tideboxV1: WebAssembly.ModuleImports | undefined;
let waiting: WebAssembly.ImportValue | undefined;

function pick(names: readonly string[]): WebAssembly.ModuleImports {
  const all = raw();
  // No prototype, so that a guest cannot import the properties of `Object`.
  const pick: WebAssembly.ModuleImports = Object.create(null);
  for (const name of names) pick[name] = all[name] as WebAssembly.ImportValue;
  return pick;
}

/** Functions that a blocked guest calls. */
export interface BlockingFunctions {
  /** Suspends the guest until it can continue. */
  suspend(slot: number, code: number): Promise<number>;
  /** Runs other guests on the same stack; used without JSPI. */
  blockOnStack(slot: number, code: number): number;
}

/** Returns the imports of a guest; `slot` is its number in this worker. */
export function imports(slot: WebAssembly.Global, blocking: BlockingFunctions): WebAssembly.Imports {
  preview1 ??= pick(functionNames("wasi_snapshot_preview1"));
  tideboxV1 ??= pick(functionNames("tidebox_v1"));
  waiting ??= (hasJspi() ? new WebAssembly.Suspending(blocking.suspend) : blocking.blockOnStack) as WebAssembly.ImportValue;
  const { tick, grow, write_response: writeResponse, hostCall } = raw();
  return {
    wasi_snapshot_preview1: preview1,
    tidebox_v1: tideboxV1,
    host: { call: hostCall as WebAssembly.ImportValue },
    tidebox_engine: {
      wait: waiting,
      tick: tick as WebAssembly.ImportValue,
      grow: grow as WebAssembly.ImportValue,
      answer: writeResponse as WebAssembly.ImportValue,
      pid: slot,
    },
  };
}
