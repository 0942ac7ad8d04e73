/** Packs: optional runtimes that are downloaded once and stored separately; see `docs/packs.md`. */

import type { PackSettings } from "./messages.js";

/** A file of a package index, identified by its hash. */
export interface Wheel {
  readonly project: string;
  readonly version: string;
  readonly file: string;
  readonly sha256: string;
}

/** Definition of a pack; from `packs/src/pack.rs` through `packs.json` of this package. */
export interface PackDefinition {
  readonly name: string;
  readonly version: string;
  readonly about: string;
  readonly commands: readonly string[];
  readonly runtime: Wheel;
  readonly module: string;
  readonly library: string;
  readonly libraryDir: string;
  readonly inner?: string;
  /** Top-level names of the library that are omitted: packages, modules, and distributions in `dist-info` directories. */
  readonly excluded: readonly string[];
  readonly wheels: readonly Wheel[];
  readonly siteDir: string;
  /** Tidebox's part of the runtime: paths in its library, and file contents. */
  readonly own: readonly (readonly [path: string, content: string])[];
}

/** Definition of a pack that is one program with its files; from `packs/src/program.rs` through `packs.json`. */
export interface ProgramDefinition {
  readonly name: string;
  readonly version: string;
  readonly about: string;
  /** File name of its wheel. */
  readonly wheel: string;
  /** Directory in the wheel with the module, and with the files of the sandbox below `files`. */
  readonly package: string;
  readonly commands: readonly string[];
  /** Describes how to get the wheel. */
  readonly source: string;
}

/** A file of a pack: a path on the host, or in a page the file itself from the storage of the browser. */
export type PackFile = string | Blob;

/** Locations of the files of an installed pack. */
export interface PackLocation {
  /** Key of its module. */
  readonly key: string;
  /** The module without its memory, as rewritten for this engine. Empty if the engine cannot run it. */
  readonly code: PackFile;
  /** The initial memory of its processes. Absent for a program pack, whose module has it. */
  readonly image?: PackFile;
  /**
   * Directory that contains its files by their paths in the sandbox. In a page, one file that contains them in the order of
   * `index`.
   */
  readonly tree: PackFile;
  /** Lengths and paths of its files, one per line; set if `tree` is one file. */
  readonly index?: string;
  /** Set while the pack is built: its process creates the memory instead of running. */
  readonly preinit?: PackPreinit;
}

/** Steps that create the initial memory of a pack. */
export interface PackPreinit {
  /** Exported functions to call first. */
  readonly setup: readonly string[];
  /** Exported function that is then called with the address of each of `imports`. */
  readonly importer: string;
  readonly imports: readonly [string, string];
  /** Exported function that records a signal, and the signals to probe it with. */
  readonly interrupt: string;
  readonly signals: readonly number[];
  /** Size of the stack at the start of the memory, in bytes. */
  readonly stackBytes: number;
  /** Paths for the memory and the signals. */
  readonly keep: string;
  readonly keepSignals: string;
}

/** A pack for both sides of a sandbox. */
export interface LocatedPack {
  readonly settings: PackSettings;
  readonly location: PackLocation;
}

/** Access to the files of packs, in the worker. */
export interface PackHost {
  /** Returns the module of a pack with its memory, ready to compile. */
  module(location: PackLocation): Uint8Array<ArrayBuffer>;
  /** Returns a file of a pack by its path in the sandbox. */
  file(location: PackLocation, path: string): Uint8Array;
  /** Stores a memory or a module. */
  keep(path: string, memory: Uint8Array): Promise<void>;
  read(path: string): Promise<Uint8Array<ArrayBuffer>>;
}

export const PAGE = 65536;

/** Granularity of the data segments, in bytes: blocks of zeros are omitted. */
const BLOCK = 4096;

/** Returns the non-zero segments of a memory with their addresses. */
export function chunks(memory: Uint8Array): [at: number, bytes: Uint8Array][] {
  const words = new BigUint64Array(memory.buffer, memory.byteOffset, memory.length >> 3);
  const step = BLOCK >> 3;
  const found: [number, Uint8Array][] = [];
  let begin = -1;
  for (let at = 0; at <= words.length; at += step) {
    const zero = at >= words.length || isZero(words, at, Math.min(at + step, words.length));
    if (!zero && begin < 0) begin = at;
    if (zero && begin >= 0) {
      found.push([begin << 3, memory.subarray(begin << 3, Math.min(at, words.length) << 3)]);
      begin = -1;
    }
  }
  return found;
}

function isZero(words: BigUint64Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (words[at] !== 0n) return false;
  return true;
}

/** Appends a memory to a module as its data section, which is the last section. */
export function withMemory(code: Uint8Array, memory: readonly (readonly [number, Uint8Array])[]): Uint8Array<ArrayBuffer> {
  const heads = memory.map(([at, bytes]) => Uint8Array.from([0, 0x41, ...signed(at), 0x0b, ...unsigned(bytes.length)]));
  const count = unsigned(memory.length);
  const length = memory.reduce((sum, [, bytes], n) => sum + (heads[n]?.length ?? 0) + bytes.length, count.length);
  const head = [11, ...unsigned(length)];
  const all = new Uint8Array(code.length + head.length + length);
  let at = 0;
  const put = (bytes: Uint8Array | readonly number[]) => {
    all.set(bytes, at);
    at += bytes.length;
  };
  put(code);
  put(head);
  put(count);
  for (const [n, [, bytes]] of memory.entries()) {
    put(heads[n] ?? []);
    put(bytes);
  }
  return all;
}

/** Unsigned LEB128. */
function unsigned(n: number): number[] {
  const bytes = [];
  for (; n >= 128; n = Math.floor(n / 128)) bytes.push((n % 128) + 128);
  bytes.push(n);
  return bytes;
}

/** Signed 32-bit LEB128. */
function signed(n: number): number[] {
  const bytes = [];
  for (let left = n | 0; ; left >>= 7) {
    const byte = left & 0x7f;
    const done = (left >> 7 === 0 && (byte & 0x40) === 0) || (left >> 7 === -1 && (byte & 0x40) !== 0);
    bytes.push(done ? byte : byte | 0x80);
    if (done) return bytes;
  }
}
