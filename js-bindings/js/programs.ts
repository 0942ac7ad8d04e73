/** Compiled programs: those of the package, loaded when they are first started, and those that guests brought. */

import type { Archive } from "./archive.js";
import type { PackHost, PackPlace } from "./packs.js";

/** A compiled module, and what its own section says of it; see `src/rewrite/sections.rs`. */
export interface Program {
  readonly module: WebAssembly.Module;
  readonly aware: boolean;
  readonly pages: number;
  /** Set for the runtime of a pack. */
  readonly pack?: PackPlace;
}

const SECTION = "tidebox";

/** In the words of `src/rewrite/check.rs`. */
const NO_EXCEPTIONS =
  "the module uses exceptions, which this JavaScript engine does not have; Node 24.15 and newer, Deno 2.4 and newer and " +
  "current browsers have them";
const VERSION = 1;

/** Compiled programs of guests that are kept, so that one which a script starts a thousand times is compiled once. */
const KEPT = 32;

export class Programs {
  readonly #archive: Archive;
  readonly #compiled = new Map<string, Program>();
  readonly #brought = new Map<string, Uint8Array<ArrayBuffer> | Program>();
  readonly #onCompiled: (file: string, module: WebAssembly.Module) => void;
  readonly #packs: ReadonlyMap<string, PackPlace>;
  readonly #packHost: PackHost | undefined;

  /** `compiled` are modules that other Workers have compiled; `onCompiled` is told of those of this one. */
  constructor(
    archive: Archive,
    compiled: ReadonlyMap<string, WebAssembly.Module>,
    onCompiled: (file: string, module: WebAssembly.Module) => void,
    packs: readonly PackPlace[] = [],
    packHost?: PackHost,
  ) {
    this.#packs = new Map(packs.map((place) => [place.key, place]));
    this.#packHost = packHost;
    this.#archive = archive;
    this.#onCompiled = onCompiled;
    for (const [file, module] of compiled) this.#compiled.set(file, about(module, this.#packs.get(file)));
  }

  has(name: string): boolean {
    return this.#archive.has(name) || this.#brought.has(name);
  }

  /** Takes a module that a guest brought, rewritten. */
  add(name: string, wasm: Uint8Array<ArrayBuffer>): void {
    if (this.#brought.size >= KEPT) {
      for (const oldest of this.#brought.keys()) {
        this.#brought.delete(oldest);
        break;
      }
    }
    this.#brought.set(name, wasm.slice());
  }

  bytes(file: string): Uint8Array {
    return this.#archive.has(file) ? this.#archive.moduleNow(file) : new Uint8Array(0);
  }

  /** A program that is compiled already. */
  ready(name: string): Program | undefined {
    const found = this.#compiled.get(name) ?? this.#brought.get(name);
    return found instanceof Uint8Array ? undefined : found;
  }

  /** Compiles a program while everything else waits. */
  loadNow(name: string): Program {
    const ready = this.ready(name);
    if (ready !== undefined) return ready;
    const brought = this.#brought.get(name);
    if (brought instanceof Uint8Array) {
      const program = about(new WebAssembly.Module(brought));
      this.#brought.set(name, program);
      return program;
    }
    return this.#keep(name, new WebAssembly.Module(this.#packed(name) ?? this.#archive.moduleNow(name)));
  }

  async load(name: string): Promise<Program> {
    const brought = this.#brought.get(name);
    if (brought instanceof Uint8Array) {
      const program = about(await WebAssembly.compile(brought));
      this.#brought.set(name, program);
      return program;
    }
    const packed = this.#packed(name);
    if (packed !== undefined) return this.#keep(name, await WebAssembly.compile(packed));
    if (!this.#archive.has(name)) throw new Error("the program is no longer there; start it again");
    return this.#keep(name, await WebAssembly.compile(await this.#archive.module(name)));
  }

  /** The module of a pack. */
  #packed(name: string): Uint8Array<ArrayBuffer> | undefined {
    const place = this.#packs.get(name);
    if (place === undefined) return undefined;
    if (place.code === "" || this.#packHost === undefined) throw new Error(NO_EXCEPTIONS);
    return this.#packHost.module(place);
  }

  /** What reaches the files of packs. */
  packHost(): PackHost {
    if (this.#packHost === undefined) throw new Error("there are no packs on this platform");
    return this.#packHost;
  }

  /** A file of a pack. */
  packFile(name: string, path: string): Uint8Array {
    const place = this.#packs.get(name);
    if (place === undefined) throw new Error(`the pack ${name} is not here`);
    return this.packHost().file(place, path);
  }

  #keep(name: string, module: WebAssembly.Module): Program {
    const program = about(module, this.#packs.get(name));
    this.#compiled.set(name, program);
    this.#onCompiled(name, module);
    return program;
  }
}

function about(module: WebAssembly.Module, pack?: PackPlace): Program {
  const [section] = WebAssembly.Module.customSections(module, SECTION);
  const view = new DataView(section ?? new ArrayBuffer(0));
  if (view.byteLength < 6 || view.getUint8(0) !== VERSION) throw new Error("the module was not rewritten for this engine");
  const program = { module, aware: view.getUint8(1) === 1, pages: view.getUint32(2, true) };
  return pack === undefined ? program : { ...program, pack };
}
