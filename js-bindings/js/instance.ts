/** The kernel's instance; one per worker. */

import { initSync } from "./kernel.js";

let exports: Record<string, unknown> | undefined;

/** Instantiates the kernel. Called once. */
export function instantiateKernel(module: WebAssembly.Module): void {
  exports = initSync({ module }) as unknown as Record<string, unknown>;
}

/** Returns the raw exports of the kernel's module, without JavaScript wrappers. */
export function raw(): Record<string, unknown> {
  if (exports === undefined) throw new Error("the kernel is not instantiated");
  return exports;
}
