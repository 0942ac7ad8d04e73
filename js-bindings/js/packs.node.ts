/** Packs on this host, in the directory that the native Tidebox uses, too. */

import { createHash } from "node:crypto";
import { readFile, readdir, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import { SandboxError } from "./error.js";
import type { PackSettings } from "./messages.js";
import type { LocatedPack } from "./packs.js";
import { PAGE } from "./packs.js";
import type { AnyPack, Definitions, PackRecord } from "./pack_manifest.js";
import {
  CODE, IMAGE, INDEX, MODULE, RECORD, SIGNALS, codeName, findDefinition, installCommand, isProgram, isReady, supportsExceptions,
} from "./pack_manifest.js";
import type { Rewrite } from "./platform.js";
import { messageOf } from "./error_message.js";

export const TREE = "tree";

let definitions: Promise<Definitions> | undefined;

export function loadManifest(): Promise<Definitions> {
  definitions ??= readFile(new URL("../packs.json", import.meta.url), "utf8").then((text) => JSON.parse(text));
  return definitions;
}

/** Returns `tidebox/packs` in the user's cache directory. */
export function packsDir(): string {
  const { XDG_CACHE_HOME, HOME } = process.env;
  // `os.homedir()` would need another permission in Deno.
  return join(XDG_CACHE_HOME || join(HOME || homedir(), ".cache"), "tidebox", "packs");
}

/** Returns the record of a pack that is installed and ready. */
export async function recordOf(dir: string, pack: AnyPack): Promise<PackRecord | undefined> {
  try {
    const record: PackRecord = JSON.parse(await readFile(join(dir, RECORD), "utf8"));
    return (await isReady(record, await loadManifest(), pack)) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Locates a pack for a sandbox. */
export async function findPack(name: string, packs: string, rewrite: Rewrite): Promise<LocatedPack> {
  const pack = findDefinition(await loadManifest(), name);
  const dir = join(packs, name);
  if ((await recordOf(dir, pack)) === undefined) {
    throw new SandboxError(`the pack ${name} is not installed; install it with: ${installCommand(pack)}`, "SETUP_FAILED");
  }
  const { commands, version } = pack;
  const tree = join(dir, TREE);
  if (isProgram(pack)) {
    const [index, code] = [await readFile(join(dir, INDEX), "utf8"), await rewrittenModule(dir, undefined, rewrite)];
    return { settings: { name: code, version, commands: [...commands], index, signals: "", isProgram: true }, location: { key: code, code, tree } };
  }
  const image = join(dir, IMAGE);
  const [index, signals, { size }] = await Promise.all([
    readFile(join(dir, INDEX), "utf8"), readFile(join(dir, SIGNALS), "utf8"), stat(image),
  ]);
  const code = supportsExceptions() ? await rewrittenModule(dir, size / PAGE, rewrite) : "";
  const settings: PackSettings = { name: code || `${dir} cannot run`, version, commands: [...commands], index, signals };
  return { settings, location: { key: settings.name, code, image, tree } };
}

const rewriting = new Map<string, Promise<void>>();

/** Returns the module as rewritten by this version of the package. Rewrites it if needed and removes those of other versions. */
async function rewrittenModule(dir: string, pages: number | undefined, rewrite: Rewrite): Promise<string> {
  const kernel = createHash("sha256").update(await readFile(new URL("./kernel_bg.wasm", import.meta.url))).digest("hex");
  const name = codeName(kernel, pages);
  const code = join(dir, name);
  let rewritten = rewriting.get(code);
  if (rewritten === undefined) {
    rewritten = exists(code).then(async (isRewritten) => {
      if (isRewritten) return;
      await rewrite(join(dir, MODULE), code, pages);
      const old = (await readdir(dir)).filter((file) => file.startsWith(CODE) && file !== name);
      await Promise.all(old.map((file) => rm(join(dir, file), { force: true })));
    });
    rewriting.set(code, rewritten);
    rewritten.catch(() => rewriting.delete(code));
  }
  try {
    await rewritten;
  } catch (cause) {
    throw new SandboxError(`cannot rewrite the pack in ${dir} for JavaScript: ${messageOf(cause)}`, "SETUP_FAILED", { cause });
  }
  return code;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(() => true, () => false);
}
