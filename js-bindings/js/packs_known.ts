/** What the package knows of packs, on every platform: `packs.json`, and when one that is there can be used. */

import { SandboxError } from "./error.js";
import type { PackDefinition } from "./packs.js";

/** `packs.json` of this package. */
export interface Definitions {
  readonly version: string;
  readonly packs: readonly PackDefinition[];
}

/** What says that a pack is whole, and what it was made of; the native `Record`. */
export interface PackRecord {
  readonly name: string;
  readonly version: string;
  readonly with: readonly string[];
  readonly made_by: string;
  readonly module: string;
}

export const RECORD = "pack.json";
export const MODULE = "module.wasm";
export const IMAGE = "main.image";
export const SIGNALS = "main.signals";
export const INDEX = "tree.index";

/** The pack of this name. */
export function define({ packs }: Definitions, name: string): PackDefinition {
  const found = packs.find((pack) => pack.name === name);
  if (found !== undefined) return found;
  const names = packs.map((pack) => pack.name).join(", ");
  throw new SandboxError(`there is no pack '${name}'; there are: ${names}`, "INVALID_OPTIONS");
}

/** What a pack depends on beside its own files: who makes one of the same can use it. As in `src/pack.rs`. */
export async function madeBy({ version }: Definitions, pack: PackDefinition): Promise<string> {
  const own = pack.own.map(([path, content]) => `${path}\0${content}\0`).join("");
  return `${version} ${(await sha256(new TextEncoder().encode(own))).slice(0, 16)}`;
}

/** SHA-256 in hexadecimal digits. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether a pack of this record is the one that this package uses. */
export async function isReady(record: PackRecord, definitions: Definitions, pack: PackDefinition): Promise<boolean> {
  return record.name === pack.name && record.version === pack.version && record.made_by === (await madeBy(definitions, pack));
}

/** `try_table end`. */
const PROBE = [
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 0x1f, 0x40, 0, 0x0b, 0x0b,
];

/** Whether the engine has exceptions, which the runtimes of packs use. */
export function runs(): boolean {
  return WebAssembly.validate(Uint8Array.from(PROBE));
}

/** Refuses to get what could not be run. */
export function checkRuns(): void {
  if (runs()) return;
  const message =
    "this JavaScript engine has no WebAssembly exceptions, which the pack uses; Node 24.20 and newer, Deno and current browsers have them";
  throw new SandboxError(message, "UNSUPPORTED");
}

/** The name of the module of a pack as this version of the package rewrites it; `kernel` is the hash of the kernel's module. */
export function codeName(kernel: string, pages: number): string {
  return `${CODE}${kernel.slice(0, 16)}-${pages}.wasm`;
}

/** How such names begin. */
export const CODE = "javascript-";
