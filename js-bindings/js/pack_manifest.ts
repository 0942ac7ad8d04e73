/** The manifest of packs, `packs.json`, on every platform, and the check of whether an installed pack is usable. */

import { SandboxError } from "./error.js";
import { DATA } from "./pack_file.js";
import type { PackDefinition, ProgramDefinition } from "./packs.js";

/** Content of `packs.json`. */
export interface Definitions {
  readonly version: string;
  readonly packs: readonly PackDefinition[];
  readonly programs: readonly ProgramDefinition[];
}

/** Record of a complete pack and of its build inputs; `Record` in the native Tidebox. */
export interface PackRecord {
  readonly name: string;
  readonly version: string;
  /** Missing for a program pack. */
  readonly with?: readonly string[];
  /** Missing for a program pack. */
  readonly made_by?: string;
  readonly module: string;
}

export const RECORD = "pack.json";
export const MODULE = "module.wasm";
export const IMAGE = "main.image";
export const SIGNALS = "main.signals";
export const INDEX = "tree.index";

/** A pack of either kind. */
export type AnyPack = PackDefinition | ProgramDefinition;

/** True for a pack that is one program with its files. */
export function isProgram(pack: AnyPack): pack is ProgramDefinition {
  return "wheel" in pack;
}

/** Returns the names of the files that are served to pages. */
export function servedFiles(pack: AnyPack): string[] {
  return isProgram(pack) ? [MODULE, INDEX, DATA] : [MODULE, IMAGE, SIGNALS, INDEX, DATA];
}

/** Returns the command that installs a pack on this host. */
export function installCommand(pack: AnyPack): string {
  return `npx tidebox pack add ${pack.name}${isProgram(pack) ? " --from FILE" : ""}`;
}

/** Returns the definition of a pack. */
export function findDefinition({ packs, programs }: Definitions, name: string): AnyPack {
  const definition = [...packs, ...programs].find((pack) => pack.name === name);
  if (definition !== undefined) return definition;
  const names = [...packs, ...programs].map((pack) => pack.name).join(", ");
  throw new SandboxError(`unknown pack '${name}'; expected one of: ${names}`, "INVALID_OPTIONS");
}

/**
 * Returns a fingerprint of the build inputs of a pack other than its own files. A pack with the same fingerprint can be reused.
 * As in `src/pack.rs`.
 */
export async function buildFingerprint({ version }: Definitions, pack: PackDefinition): Promise<string> {
  const own = pack.own.map(([path, content]) => `${path}\0${content}\0`);
  const wheels = [pack.runtime, ...pack.wheels].map((wheel) => wheel.sha256);
  const inputs = [...own, ...[...wheels, ...pack.excluded].map((name) => `${name}\0`)].join("");
  return `${version} ${(await sha256(new TextEncoder().encode(inputs))).slice(0, 16)}`;
}

/** True if the pack contains this file of the library. As `Pack::contains` in `packs/src/pack.rs`. */
export function contains({ excluded }: PackDefinition, path: string): boolean {
  const [first = ""] = path.split("/");
  const [name = ""] = first.endsWith(".dist-info") ? first.split("-") : first.split(".");
  return !excluded.includes(name);
}

/** Returns the SHA-256 in hexadecimal digits. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** True if a pack with this record is the one that this package uses. */
export async function isReady(record: PackRecord, definitions: Definitions, pack: AnyPack): Promise<boolean> {
  if (record.name !== pack.name || record.version !== pack.version) return false;
  return isProgram(pack) || record.made_by === (await buildFingerprint(definitions, pack));
}

/** A module with `try_table end`. */
const PROBE = [
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 0x1f, 0x40, 0, 0x0b, 0x0b,
];

/** True if the engine supports WebAssembly exceptions, which the runtimes of packs use. */
export function supportsExceptions(): boolean {
  return WebAssembly.validate(Uint8Array.from(PROBE));
}

/** Throws if the engine cannot run packs. */
export function checkExceptions(): void {
  if (supportsExceptions()) return;
  const message =
    "this JavaScript engine does not support WebAssembly exceptions, which the pack requires; use Node 24.20 or newer, Deno or a current browser";
  throw new SandboxError(message, "UNSUPPORTED");
}

/** Returns the file name of a pack's module as rewritten by this version; `kernel` is the hash of the kernel's module. */
export function codeName(kernel: string, pages: number | undefined): string {
  return `${CODE}${kernel.slice(0, 16)}-${pages ?? "program"}.wasm`;
}

/** Prefix of these file names. */
export const CODE = "javascript-";
