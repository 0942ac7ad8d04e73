/** Packs in a page: fetched once from where the application has them, and kept by the browser. */

import { SandboxError } from "./error.js";
import type { PackSettings } from "./messages.js";
import type { PackOption } from "./options.js";
import { fetchFile, fetchList } from "./pack_fetch.web.js";
import { DATA } from "./pack_file.js";
import type { AddPackOptions, PackState } from "./pack_options.js";
import { alone, checkStore, file, names, remove, write } from "./pack_store.web.js";
import { packWork } from "./pack_work.js";
import type { FoundPack, PackDefinition } from "./packs.js";
import { PAGE } from "./packs.js";
import type { Definitions, PackRecord } from "./packs_known.js";
import {
  CODE, IMAGE, INDEX, MODULE, RECORD, SIGNALS, checkRuns, codeName, define, isReady, madeBy, runs, sha256,
} from "./packs_known.js";
import type { Rewrite } from "./platform.js";
import { load, web } from "./platform.web.js";
import { reasonOf } from "./reason.js";
import { shared } from "./shared.js";

const FILES = [MODULE, IMAGE, SIGNALS, INDEX, DATA];

let definitions: Promise<Definitions> | undefined;

function known(): Promise<Definitions> {
  definitions ??= load(new URL("../packs.json", import.meta.url), (response) => response.json() as Promise<Definitions>);
  definitions.catch(() => (definitions = undefined));
  return definitions;
}

/** What was noted of a pack that is there and ready. */
async function recordOf(pack: PackDefinition): Promise<PackRecord | undefined> {
  try {
    const record: PackRecord = JSON.parse((await (await file(`${pack.name}/${RECORD}`))?.text()) ?? "");
    return (await isReady(record, await known(), pack)) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** All packs that there are, and whether this browser has them. */
export async function listPacks(): Promise<PackState[]> {
  checkStore();
  const { packs } = await known();
  return Promise.all(packs.map(async (pack) => {
    const record = await recordOf(pack);
    const { name, version, about } = pack;
    return { name, version, about, ready: record !== undefined, with: record?.with ?? [] };
  }));
}

/** Removes a pack, and tells whether it was there. */
export async function removePack(name: string): Promise<boolean> {
  checkStore();
  const pack = define(await known(), name);
  return alone(name, async () => {
    const there = (await recordOf(pack)) !== undefined;
    await remove(name);
    return there;
  });
}

/**
 * Fetches a pack from `options.from`, unless this browser has it. Files that were fetched before are not fetched again, so after a
 * failure call it again.
 *
 * @throws {SandboxError} when the server cannot be reached or delivers something else, when the browser has no room, and where packs
 * cannot be kept or run.
 */
export async function addPack(name: string, options: AddPackOptions = {}): Promise<void> {
  const { from, sha256: pinned, folder, index, onProgress, signal } = options;
  if (folder !== undefined || index !== undefined) throw new SandboxError("'folder' and 'index' are for Node and Deno", "INVALID_OPTIONS");
  checkStore();
  const pack = define(await known(), name);
  checkRuns();
  const progress = (what: string) => onProgress?.(what);
  await alone(name, async () => {
    if ((await recordOf(pack)) === undefined) await get(pack, { from: address(name, from), sha256: pinned, signal, progress });
    progress("rewriting the module for this browser");
    await codeOf(pack, (module, code, pages) => rewritten(module, code, pages));
  });
}

async function rewritten(module: string, code: string, pages: number): Promise<void> {
  const { kernel } = await shared(web);
  await packWork(web, { kernelForPack: kernel, module, code, pages });
}

function address(name: string, from: string | URL | undefined): URL {
  if (from === undefined) {
    const message =
      `the pack ${name} is not in this browser, and nothing says where it is; make a folder of it with: npx tidebox pack export ${name} FOLDER, ` +
      `serve that and name its address: packs: [{ name: "${name}", from: "/FOLDER/" }]`;
    throw new SandboxError(message, "SETUP_FAILED");
  }
  try {
    const url = new URL(from, globalThis.location.href);
    if (!url.pathname.endsWith("/")) url.pathname += "/";
    return url;
  } catch {
    throw new SandboxError(`wrong options: packs: 'from' of '${name}' is no address`, "INVALID_OPTIONS");
  }
}

async function get(pack: PackDefinition, fetching: Parameters<typeof fetchList>[0]): Promise<void> {
  const { files, ...record } = await fetchList(fetching);
  if (!(await isReady(record, await known(), pack))) {
    const message =
      `${fetching.from} has ${record.name} ${record.version}, made by ${record.made_by}; this package uses ${pack.name} ${pack.version}, made by ` +
      `${await madeBy(await known(), pack)}: export it again with this version of the package`;
    throw new SandboxError(message, "SETUP_FAILED");
  }
  for (const name of await names(pack.name)) if (!FILES.includes(name)) await remove(`${pack.name}/${name}`);
  for (const name of FILES) {
    const wanted = files.find((file) => file.name === name);
    if (wanted === undefined) throw new SandboxError(`${fetching.from} lists no ${name}; export the pack again`, "SETUP_FAILED");
    await fetchFile(wanted, `${pack.name}/${name}`, fetching);
  }
  // Last: with it the pack is there.
  await write(`${pack.name}/${RECORD}`, [new TextEncoder().encode(JSON.stringify(record))]);
}

/** A pack for a sandbox. */
export async function findPack({ name, from, sha256: pinned, folder }: PackOption, rewrite: Rewrite): Promise<FoundPack> {
  if (folder !== undefined) throw new SandboxError(`the pack ${name}: a page has no folders; name an address in 'from'`, "UNSUPPORTED");
  checkStore();
  const pack = define(await known(), name);
  return alone(name, async () => {
    if ((await recordOf(pack)) === undefined) {
      await get(pack, { from: address(name, from), sha256: pinned, signal: undefined, progress: () => {} });
    }
    const code = runs() ? await codeOf(pack, rewrite) : undefined;
    const [index, signals] = await Promise.all([INDEX, SIGNALS].map(async (file) => (await there(pack, file)).text())) as [string, string];
    const { commands, version } = pack;
    const settings: PackSettings = { name: code?.name ?? `${name} cannot run`, version, commands: [...commands], index, signals };
    const [image, tree] = await Promise.all([there(pack, IMAGE), there(pack, DATA)]);
    return { settings, place: { key: settings.name, code: code?.file ?? "", image, tree, index } };
  });
}

/** The module as this version of the package rewrites it. It is made once, and takes the place of that of other versions. */
async function codeOf(pack: PackDefinition, rewrite: Rewrite): Promise<{ name: string; file: File }> {
  const bytes = await load(new URL("./kernel_bg.wasm", import.meta.url), async (response) => new Uint8Array(await response.arrayBuffer()));
  const name = codeName(await sha256(bytes), (await there(pack, IMAGE)).size / PAGE);
  if ((await file(`${pack.name}/${name}`)) === undefined) {
    try {
      await rewrite(`${pack.name}/${MODULE}`, `${pack.name}/${name}`, (await there(pack, IMAGE)).size / PAGE);
    } catch (cause) {
      throw new SandboxError(`the pack ${pack.name} cannot be made ready for this browser: ${reasonOf(cause)}`, "SETUP_FAILED", { cause });
    }
    const old = (await names(pack.name)).filter((file) => file.startsWith(CODE) && file !== name);
    await Promise.all(old.map((file) => remove(`${pack.name}/${file}`)));
  }
  return { name, file: await there(pack, name) };
}

async function there(pack: PackDefinition, name: string): Promise<File> {
  const found = await file(`${pack.name}/${name}`);
  if (found !== undefined) return found;
  throw new SandboxError(`${name} of the pack ${pack.name} is no longer in the storage of the browser; remove the pack and add it again`, "SETUP_FAILED");
}
