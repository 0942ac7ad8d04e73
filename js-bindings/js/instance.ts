/** The kernel's instance: one in a Worker. */

import { initSync } from "./kernel.js";

let exports: Record<string, unknown> | undefined;

/** Instantiates the kernel; once. */
export function instantiateKernel(module: WebAssembly.Module): void {
  exports = initSync({ module }) as unknown as Record<string, unknown>;
}

/** The exports of the kernel's module as they are, without JavaScript in between. */
export function raw(): Record<string, unknown> {
  if (exports === undefined) throw new Error("the kernel is not instantiated");
  return exports;
}
