/** Compiled programs: those of the package, loaded when they are first started, and those of guests. */

import type { Archive } from "./archive.js";
import type { PackHost, PackLocation } from "./packs.js";

/** A compiled module with the data of its custom section; see `src/rewrite/sections.rs`. */
export interface Program {
  readonly module: WebAssembly.Module;
  readonly isTideboxGuest: boolean;
  readonly pages: number;
  /** Set for the runtime of a pack. */
  readonly pack?: PackLocation;
  /** Set if its instances can be used again. */
  readonly reuse?: MemoryLayout;
}

/** The parts of the initial memory of a program: its stack, its data, and zeros. */
export interface MemoryLayout {
  readonly stackEnd: number;
  readonly dataEnd: number;
}

const SECTION = "tidebox";

/** Identical to the message in `src/rewrite/check.rs`. */
const NO_EXCEPTIONS =
  "the module uses exceptions, which this JavaScript engine does not have; Node 24.15 and newer, Deno 2.4 and newer and " +
  "current browsers have them";
const VERSION = 2;

/** Maximum number of cached modules of guests, so that a program which a script starts repeatedly is compiled once. */
const MAX_GUEST_MODULES = 32;

/** Programs of the package and of packs, which all sandboxes of a worker share. */
export class PackagePrograms {
  readonly #archive: Archive;
  readonly #compiled = new Map<string, Program>();
  readonly #loading = new Map<string, Promise<Program>>();
  /** Modules that were compiled in other threads. */
  readonly #known: ReadonlyMap<string, WebAssembly.Module>;
  readonly #onCompiled: (file: string, module: WebAssembly.Module) => void;
  readonly #packs = new Map<string, PackLocation>();
  readonly #packHost: PackHost | undefined;

  /** Reports a program that is needed, if the owner compiles the programs of the package. */
  readonly #ask: ((file: string) => void) | undefined;
  /** Programs that the owner compiles. */
  readonly #asked = new Map<string, AskedProgram>();

  /**
   * `known` has the modules that were compiled in other threads. `onCompiled` receives those of this worker. With `ask`, the
   * response is passed to {@link add} or {@link reject}.
   */
  constructor(
    archive: Archive,
    known: ReadonlyMap<string, WebAssembly.Module>,
    onCompiled: (file: string, module: WebAssembly.Module) => void,
    packHost?: PackHost,
    ask?: (file: string) => void,
  ) {
    this.#archive = archive;
    this.#known = known;
    this.#onCompiled = onCompiled;
    this.#packHost = packHost;
    this.#ask = ask;
  }

  /** Adds the packs of a sandbox. The key of a pack is that of its content. */
  addPacks(packs: readonly PackLocation[]): void {
    for (const location of packs) this.#packs.set(location.key, location);
  }

  has(name: string): boolean {
    return this.#archive.has(name);
  }

  bytes(file: string): Uint8Array {
    return this.#archive.has(file) ? this.#archive.moduleNow(file) : new Uint8Array(0);
  }

  /** Returns a program if it is compiled. */
  ready(name: string): Program | undefined {
    const known = this.#known.get(name);
    if (known !== undefined && !this.#compiled.has(name)) this.#compiled.set(name, describe(known, this.#packs.get(name)));
    return this.#compiled.get(name);
  }

  /** Compiles a program synchronously. */
  loadNow(name: string): Program {
    return this.ready(name) ?? this.#keep(name, new WebAssembly.Module(this.#packModule(name) ?? this.#archive.moduleNow(name)));
  }

  /** Compiles a program. Sandboxes that load the same one concurrently wait for the same compilation. */
  load(name: string): Promise<Program> {
    const loading = this.#loading.get(name) ?? this.#load(name).finally(() => this.#loading.delete(name));
    this.#loading.set(name, loading);
    return loading;
  }

  /** Adds a program that the owner has compiled. */
  add(name: string, module: WebAssembly.Module): void {
    const program = this.#keep(name, module, true);
    this.#asked.get(name)?.resolve(program);
    this.#asked.delete(name);
  }

  /** Called if the owner cannot compile a program. */
  reject(name: string, reason: string): void {
    this.#asked.get(name)?.reject(new Error(reason));
    this.#asked.delete(name);
  }

  async #load(name: string): Promise<Program> {
    const packModule = this.#packModule(name);
    if (packModule !== undefined) return this.#keep(name, await WebAssembly.compile(packModule));
    if (!this.#archive.has(name)) throw new Error("the program was evicted from the cache; start it again");
    if (this.#ask === undefined) return this.#keep(name, await WebAssembly.compile(await this.#archive.module(name)));
    const asked = askedProgram();
    this.#asked.set(name, asked);
    this.#ask(name);
    return asked.promise;
  }

  /** Returns the module of a pack. */
  #packModule(name: string): Uint8Array<ArrayBuffer> | undefined {
    const location = this.#packs.get(name);
    if (location === undefined) return undefined;
    if (location.code === "" || this.#packHost === undefined) throw new Error(NO_EXCEPTIONS);
    return this.#packHost.module(location);
  }

  /** Returns the access to the files of packs. */
  packHost(): PackHost {
    if (this.#packHost === undefined) throw new Error("packs are not supported on this platform");
    return this.#packHost;
  }

  /** Returns a file of a pack. */
  packFile(name: string, path: string): Uint8Array {
    const location = this.#packs.get(name);
    if (location === undefined) throw new Error(`the pack ${name} is not installed`);
    return this.packHost().file(location, path);
  }

  /** The pool of instances knows a program by its object, so the first one stays. */
  #keep(name: string, module: WebAssembly.Module, isKnown = false): Program {
    const found = this.#compiled.get(name);
    if (found !== undefined) return found;
    const program = describe(module, this.#packs.get(name));
    this.#compiled.set(name, program);
    if (!isKnown) this.#onCompiled(name, module);
    return program;
  }
}

/** A program that the owner compiles. */
interface AskedProgram {
  readonly promise: Promise<Program>;
  readonly resolve: (program: Program) => void;
  readonly reject: (error: Error) => void;
}

function askedProgram(): AskedProgram {
  let resolve: (program: Program) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<Program>((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject };
}

/** Programs of a sandbox: the shared ones, and the modules of its guests. */
export class Programs {
  readonly shared: PackagePrograms;
  readonly #guestModule = new Map<string, Uint8Array<ArrayBuffer> | Program>();

  constructor(shared: PackagePrograms) {
    this.shared = shared;
  }

  has(name: string): boolean {
    return this.shared.has(name) || this.#guestModule.has(name);
  }

  /** Adds the rewritten module of a guest. */
  add(name: string, wasm: Uint8Array<ArrayBuffer>): void {
    if (this.#guestModule.size >= MAX_GUEST_MODULES) {
      for (const oldest of this.#guestModule.keys()) {
        this.#guestModule.delete(oldest);
        break;
      }
    }
    this.#guestModule.set(name, wasm.slice());
  }

  /** Returns a program if it is compiled. */
  ready(name: string): Program | undefined {
    const found = this.shared.ready(name) ?? this.#guestModule.get(name);
    return found instanceof Uint8Array ? undefined : found;
  }

  /** Compiles a program synchronously. */
  loadNow(name: string): Program {
    const ready = this.ready(name);
    if (ready !== undefined) return ready;
    const guestModule = this.#guestModule.get(name);
    if (!(guestModule instanceof Uint8Array)) return this.shared.loadNow(name);
    const program = describe(new WebAssembly.Module(guestModule));
    this.#guestModule.set(name, program);
    return program;
  }

  async load(name: string): Promise<Program> {
    const guestModule = this.#guestModule.get(name);
    if (!(guestModule instanceof Uint8Array)) return this.shared.load(name);
    const program = describe(await WebAssembly.compile(guestModule));
    this.#guestModule.set(name, program);
    return program;
  }
}

function describe(module: WebAssembly.Module, pack?: PackLocation): Program {
  const [section] = WebAssembly.Module.customSections(module, SECTION);
  const view = new DataView(section ?? new ArrayBuffer(0));
  if (view.byteLength < 6 || view.getUint8(0) !== VERSION) throw new Error("the module was not rewritten for this engine");
  const program = { module, isTideboxGuest: view.getUint8(1) === 1, pages: view.getUint32(2, true) };
  // A program pack is started like a program of the package.
  if (pack?.image !== undefined) return { ...program, pack };
  if (view.byteLength < 14) return program;
  return { ...program, reuse: { stackEnd: view.getUint32(6, true), dataEnd: view.getUint32(10, true) } };
}
