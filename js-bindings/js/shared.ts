/** What all sandboxes of a program share: compiled modules, which are code and no state. */

import type { Platform } from "./platform.js";
import type { Listed } from "./programs.js";

export interface Shared {
  readonly kernel: WebAssembly.Module;
  readonly programs: readonly Listed[];
  /** Programs that some Worker has compiled. */
  readonly compiled: Map<string, WebAssembly.Module>;
}

let loading: Promise<Shared> | undefined;

/** Loaded once; a failure is not kept. */
export function shared(platform: Platform): Promise<Shared> {
  loading ??= load(platform).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(platform: Platform): Promise<Shared> {
  const [kernel, programs] = await Promise.all([platform.kernel(), platform.programs()]);
  return { kernel, programs, compiled: new Map() };
}
