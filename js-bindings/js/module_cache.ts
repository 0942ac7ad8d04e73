/** Cache of compiled modules, shared by all sandboxes of a program. */

import type { PackageProgram } from "./archive.js";
import { Archive } from "./archive.js";
import type { Platform } from "./platform.js";

export interface ModuleCache {
  readonly kernel: WebAssembly.Module;
  readonly programs: readonly PackageProgram[];
  /** Programs that a worker has compiled. */
  readonly compiled: Map<string, WebAssembly.Module>;
  /** Resolves when the shell is compiled, or immediately where the worker compiles it. */
  readonly shell: Promise<void>;
  /** True once a worker loads common programs ahead. */
  prefetching: boolean;
}

let loading: Promise<ModuleCache> | undefined;

/** Loads the modules once. A failure is not cached. */
export function cachedModules(platform: Platform): Promise<ModuleCache> {
  loading ??= load(platform).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** The program of the first command of every sandbox. It is compiled while the first worker starts. */
export const SHELL = "sh.wasm";

async function load(platform: Platform): Promise<ModuleCache> {
  const compiled = new Map<string, WebAssembly.Module>();
  const programs = platform.programs();
  const shell = programs.then((listed) => compileShell(platform, listed, compiled));
  // Every worker reports a failure itself.
  shell.catch(() => {});
  const [kernel, listed] = await Promise.all([platform.kernel(), programs]);
  return { kernel, programs: listed, compiled, shell, prefetching: false };
}

async function compileShell(platform: Platform, listed: readonly PackageProgram[], compiled: Map<string, WebAssembly.Module>): Promise<void> {
  if (platform.files === undefined) return;
  compiled.set(SHELL, await WebAssembly.compile(await new Archive(listed, platform.files).module(SHELL)));
}
