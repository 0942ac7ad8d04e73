/** Packs on this machine: the folder that the native Tidebox keeps them in, too. */

import { createHash } from "node:crypto";
import { readFile, readdir, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import { SandboxError } from "./error.js";
import type { PackSettings } from "./messages.js";
import type { FoundPack, PackDefinition } from "./packs.js";
import { PAGE } from "./packs.js";
import type { Definitions, PackRecord } from "./packs_known.js";
import { CODE, IMAGE, INDEX, MODULE, RECORD, SIGNALS, codeName, define, isReady, runs } from "./packs_known.js";
import type { Rewrite } from "./platform.js";
import { reasonOf } from "./reason.js";

export const TREE = "tree";

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

/** What was noted of a pack that is there and ready. */
export async function recordOf(folder: string, pack: PackDefinition): Promise<PackRecord | undefined> {
  try {
    const record: PackRecord = JSON.parse(await readFile(join(folder, RECORD), "utf8"));
    return (await isReady(record, await known(), pack)) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** A pack for a sandbox. */
export async function findPack(name: string, packs: string, rewrite: Rewrite): Promise<FoundPack> {
  const pack = define(await known(), name);
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

const rewriting = new Map<string, Promise<void>>();

/** The module as this version of the package rewrites it. It is made once, and takes the place of that of other versions. */
async function codeOf(folder: string, pages: number, rewrite: Rewrite): Promise<string> {
  const kernel = createHash("sha256").update(await readFile(new URL("./kernel_bg.wasm", import.meta.url))).digest("hex");
  const name = codeName(kernel, pages);
  const code = join(folder, name);
  let made = rewriting.get(code);
  if (made === undefined) {
    made = exists(code).then(async (there) => {
      if (there) return;
      await rewrite(join(folder, MODULE), code, pages);
      const old = (await readdir(folder)).filter((file) => file.startsWith(CODE) && file !== name);
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
