/** What all sandboxes of a program share: compiled modules, which are code and no state. */

import type { Listed } from "./archive.js";
import { Archive } from "./archive.js";
import type { Platform } from "./platform.js";

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

/** What the first command of every sandbox runs. It is compiled while the first Worker starts, which takes longer. */
const SHELL = "sh.wasm";

async function load(platform: Platform): Promise<Shared> {
  const compiled = new Map<string, WebAssembly.Module>();
  const programs = platform.programs();
  const shelled = programs.then((listed) => shell(platform, listed, compiled));
  // All at once: who waited for one of them first would leave the failure of another to nobody.
  const [kernel, listed] = await Promise.all([platform.kernel(), programs, shelled]);
  return { kernel, programs: listed, compiled };
}

async function shell(platform: Platform, listed: readonly Listed[], compiled: Map<string, WebAssembly.Module>): Promise<void> {
  if (platform.files === undefined) return;
  compiled.set(SHELL, await WebAssembly.compile(await new Archive(listed, platform.files).module(SHELL)));
}
