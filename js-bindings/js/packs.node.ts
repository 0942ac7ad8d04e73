/** Packs on this machine: the folder that the native Tidebox keeps them in, too. */

import { createHash } from "node:crypto";
import { readFile, readdir, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import { SandboxError } from "./error.js";
import type { PackSettings } from "./messages.js";
import type { FoundPack, PackDefinition } from "./packs.js";
import { PAGE } from "./packs.js";
import type { Rewrite } from "./platform.js";
import { reasonOf } from "./reason.js";

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
export const TREE = "tree";

interface Definitions {
  readonly version: string;
  readonly packs: readonly PackDefinition[];
}

let definitions: Promise<Definitions> | undefined;

export function known(): Promise<Definitions> {
  definitions ??= readFile(new URL("../packs.json", import.meta.url), "utf8").then((text) => JSON.parse(text));
  return definitions;
}

/** `tidebox/packs` in the user's cache folder. */
export function packsFolder(): string {
  const { XDG_CACHE_HOME, HOME } = process.env;
  // Asking the system is one more leave that Deno would have to be given.
  return join(XDG_CACHE_HOME || join(HOME || homedir(), ".cache"), "tidebox", "packs");
}

export async function define(name: string): Promise<PackDefinition> {
  const { packs } = await known();
  const found = packs.find((pack) => pack.name === name);
  if (found !== undefined) return found;
  const names = packs.map((pack) => pack.name).join(", ");
  throw new SandboxError(`there is no pack '${name}'; there are: ${names}`, "INVALID_OPTIONS");
}

/** What a pack depends on beside its own files: who makes one of the same can use it. As in `src/pack.rs`. */
export async function madeBy(pack: PackDefinition): Promise<string> {
  const hash = createHash("sha256");
  for (const [path, content] of pack.own) hash.update(`${path}\0`).update(content).update("\0");
  return `${(await known()).version} ${hash.digest("hex").slice(0, 16)}`;
}

/** What was noted of a pack that is there and ready. */
export async function recordOf(folder: string, pack: PackDefinition): Promise<PackRecord | undefined> {
  try {
    const record: PackRecord = JSON.parse(await readFile(join(folder, RECORD), "utf8"));
    const ready = record.name === pack.name && record.version === pack.version && record.made_by === (await madeBy(pack));
    return ready ? record : undefined;
  } catch {
    return undefined;
  }
}

/** A pack for a sandbox. */
export async function findPack(name: string, packs: string, rewrite: Rewrite): Promise<FoundPack> {
  const pack = await define(name);
  const folder = join(packs, name);
  if ((await recordOf(folder, pack)) === undefined) {
    throw new SandboxError(`the pack ${name} is not here; add it with: npx tidebox pack add ${name}`, "SETUP_FAILED");
  }
  const image = join(folder, IMAGE);
  const [index, signals, { size }] = await Promise.all([
    readFile(join(folder, INDEX), "utf8"), readFile(join(folder, SIGNALS), "utf8"), stat(image),
  ]);
  const { commands, version } = pack;
  const code = runs() ? await codeOf(folder, size / PAGE, rewrite) : "";
  const settings: PackSettings = { name: code || `${folder} cannot run`, version, commands: [...commands], index, signals };
  return { settings, place: { key: settings.name, code, image, tree: join(folder, TREE) } };
}

/** `try_table end`. */
const PROBE = [
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 0x1f, 0x40, 0, 0x0b, 0x0b,
];

/** Whether the engine has exceptions, which the runtimes of packs use. */
export function runs(): boolean {
  return WebAssembly.validate(Uint8Array.from(PROBE));
}

const rewriting = new Map<string, Promise<void>>();

/** The module as this version of the package rewrites it. It is made once, and takes the place of that of other versions. */
async function codeOf(folder: string, pages: number, rewrite: Rewrite): Promise<string> {
  const prefix = "javascript-";
  const kernel = createHash("sha256").update(await readFile(new URL("./kernel_bg.wasm", import.meta.url))).digest("hex");
  const name = `${prefix}${kernel.slice(0, 16)}-${pages}.wasm`;
  const code = join(folder, name);
  let made = rewriting.get(code);
  if (made === undefined) {
    made = exists(code).then(async (there) => {
      if (there) return;
      await rewrite(join(folder, MODULE), code, pages);
      const old = (await readdir(folder)).filter((file) => file.startsWith(prefix) && file !== name);
      await Promise.all(old.map((file) => rm(join(folder, file), { force: true })));
    });
    rewriting.set(code, made);
    made.catch(() => rewriting.delete(code));
  }
  try {
    await made;
  } catch (cause) {
    throw new SandboxError(`the pack in ${folder} cannot be made ready for JavaScript: ${reasonOf(cause)}`, "SETUP_FAILED", { cause });
  }
  return code;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(() => true, () => false);
}
