/** Cache of compiled modules, shared by all sandboxes of a program. */

import type { PackageProgram } from "./archive.js";
import { Archive } from "./archive.js";
import type { Platform } from "./platform.js";

/** The program of the first command of every sandbox. It is compiled while the first worker starts. */
export const SHELL = "sh.wasm";

/** Programs that are compiled before a command needs them, in this order. */
const COMMON = ["base.wasm", "text.wasm", "grep.wasm", "coreutils.wasm", "copy.wasm", "sed.wasm", "find.wasm"];
/** Milliseconds without the start or end of a call until one of them is compiled. A short application has ended by then. */
const PREFETCH_AFTER_MS = 20;
/** Milliseconds after which the first of them, and each further one, is compiled although calls follow each other. */
const FIRST_WITHIN_MS = 60;
const NEXT_WITHIN_MS = 20;

/** Receives modules that were compiled in this thread. */
type Receiver = (file: string, module: WebAssembly.Module) => void;

export interface ModuleCache {
  readonly kernel: WebAssembly.Module;
  readonly programs: readonly PackageProgram[];
  /** Programs that were compiled, by any thread. */
  readonly compiled: Map<string, WebAssembly.Module>;
  /** Compiles programs in this thread; `undefined` where the workers do. */
  readonly compiler: Compiler | undefined;
}

/**
 * Compiles programs for the workers. A worker may be terminated at any moment, and Node aborts the process if that happens while
 * a decompression is being set up. Decompression and compilation run in other threads.
 */
export class Compiler {
  /** Workers that receive each module when it is compiled. */
  readonly receivers = new Set<Receiver>();
  readonly #archive: Archive;
  readonly #compiled: Map<string, WebAssembly.Module>;
  readonly #compiling = new Map<string, Promise<WebAssembly.Module>>();
  #isPrefetching = false;

  constructor(archive: Archive, compiled: Map<string, WebAssembly.Module>) {
    [this.#archive, this.#compiled] = [archive, compiled];
  }

  /** Compiles a program once. A failure is not cached. */
  async module(file: string): Promise<WebAssembly.Module> {
    const compiled = this.#compiled.get(file);
    if (compiled !== undefined) return compiled;
    const compiling = this.#compiling.get(file) ?? this.#compile(file).finally(() => this.#compiling.delete(file));
    this.#compiling.set(file, compiling);
    return compiling;
  }

  async #compile(file: string): Promise<WebAssembly.Module> {
    const module = await WebAssembly.compile(await this.#archive.module(file));
    this.#compiled.set(file, module);
    for (const receive of this.receivers) receive(file, module);
    return module;
  }

  /**
   * Compiles the programs that most commands use, one after the other, once. The application ends between two of them. Compilation
   * takes all cores, so it waits a while if calls follow each other; `idleMs` returns the milliseconds since the last one started
   * or ended. Returns false if another call compiles them.
   */
  async prefetch(idleMs: () => number): Promise<boolean> {
    if (this.#isPrefetching) return false;
    this.#isPrefetching = true;
    let within = FIRST_WITHIN_MS;
    for (const file of COMMON) {
      await passIdleTime(idleMs, within);
      within = NEXT_WITHIN_MS;
      // A command that needs the program reports the error.
      await this.module(file).catch(() => {});
    }
    await passIdleTime(idleMs, within);
    return true;
  }
}

/** Waits until no call has started or ended for a while, at most `mostMs` milliseconds. */
async function passIdleTime(idleMs: () => number, mostMs: number): Promise<void> {
  const until = performance.now() + mostMs;
  do await passTime(Math.max(PREFETCH_AFTER_MS - idleMs(), 0));
  while (idleMs() < PREFETCH_AFTER_MS && performance.now() < until);
}

/** Waits without keeping the application running. */
function passTime(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    (timer as { unref?: () => void }).unref?.();
  });
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

async function load(platform: Platform): Promise<ModuleCache> {
  const compiled = new Map<string, WebAssembly.Module>();
  const [kernel, [programs, compiler]] = await Promise.all([
    platform.kernel(),
    platform.programs().then((listed) => [listed, startCompiler(platform, listed, compiled)] as const),
  ]);
  return { kernel, programs, compiled, compiler };
}

/** Starts to compile the shell, while the kernel is compiled. */
function startCompiler(platform: Platform, programs: readonly PackageProgram[], compiled: Map<string, WebAssembly.Module>): Compiler | undefined {
  if (platform.files === undefined) return undefined;
  const compiler = new Compiler(new Archive(programs, platform.files), compiled);
  // Every worker reports a failure itself.
  compiler.module(SHELL).catch(() => {});
  return compiler;
}
