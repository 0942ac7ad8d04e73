/** Packs in a page: downloaded once from a server of the application and kept by the browser. */

import { SandboxError } from "./error.js";
import type { PackSettings } from "./messages.js";
import type { PackOption } from "./options.js";
import { fetchFile, fetchList } from "./pack_fetch.web.js";
import { DATA } from "./pack_file.js";
import type { AddPackOptions, PackState, ProgressCallback } from "./pack_options.js";
import { withLock, checkStore, file, names, remove, write } from "./pack_store.web.js";
import { rewriteModule } from "./pack_work.js";
import type { LocatedPack } from "./packs.js";
import { PAGE } from "./packs.js";
import type { AnyPack, Definitions, PackRecord } from "./pack_manifest.js";
import {
  CODE, IMAGE, INDEX, MODULE, RECORD, SIGNALS, checkExceptions, codeName, findDefinition, isProgram, isReady, buildFingerprint, servedFiles, sha256,
  supportsExceptions,
} from "./pack_manifest.js";
import type { Rewrite } from "./platform.js";
import { load, web } from "./platform.web.js";
import { messageOf } from "./error_message.js";

let definitions: Promise<Definitions> | undefined;

function loadManifest(): Promise<Definitions> {
  definitions ??= load(new URL("../packs.json", import.meta.url), (response) => response.json() as Promise<Definitions>);
  definitions.catch(() => (definitions = undefined));
  return definitions;
}

/** Returns the record of a pack that is installed and ready. */
async function recordOf(pack: AnyPack): Promise<PackRecord | undefined> {
  try {
    const record: PackRecord = JSON.parse((await (await file(`${pack.name}/${RECORD}`))?.text()) ?? "");
    return (await isReady(record, await loadManifest(), pack)) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Lists all packs with their state in this browser. */
export async function listPacks(): Promise<PackState[]> {
  checkStore();
  const { packs, programs } = await loadManifest();
  return Promise.all([...packs, ...programs].map(async (pack) => {
    const record = await recordOf(pack);
    const { name, version, about } = pack;
    return { name, version, about, ready: record !== undefined, with: record?.with ?? [] };
  }));
}

/** Removes a pack. Returns whether it was installed. */
export async function removePack(name: string): Promise<boolean> {
  checkStore();
  const pack = findDefinition(await loadManifest(), name);
  return withLock(name, async () => {
    const existed = (await recordOf(pack)) !== undefined;
    await remove(name);
    return existed;
  });
}

/**
 * Downloads a pack from `options.from`, unless this browser has it. Completed files are kept, so call it again after a failure.
 *
 * @throws {SandboxError} if the server is unreachable or delivers other content, if the storage is full, or if packs cannot be
 * stored or run.
 */
export async function addPack(name: string, options: AddPackOptions = {}): Promise<void> {
  const { from, sha256: pinned, folder, index, onProgress, signal } = options;
  if (folder !== undefined || index !== undefined) throw new SandboxError("'folder' and 'index' are supported only in Node and Deno", "INVALID_OPTIONS");
  checkStore();
  const pack = findDefinition(await loadManifest(), name);
  if (!isProgram(pack)) checkExceptions();
  const progress: ProgressCallback = (step, bytes) => onProgress?.(step, bytes);
  await withLock(name, async () => {
    if ((await recordOf(pack)) === undefined) await get(pack, { from: packUrl(name, from), sha256: pinned, signal, progress });
    progress("rewriting the module for this browser");
    await rewrittenModule(pack, (module, code, pages) => rewriteModule(web, module, code, pages));
  });
}

function packUrl(name: string, from: string | URL | undefined): URL {
  if (from === undefined) {
    const message =
      `the pack ${name} is not in this browser and has no download URL; export it with: npx tidebox pack export ${name} DIRECTORY, ` +
      `serve that directory and pass its URL: packs: [{ name: "${name}", from: "/DIRECTORY/" }]`;
    throw new SandboxError(message, "SETUP_FAILED");
  }
  try {
    const url = new URL(from, globalThis.location.href);
    if (!url.pathname.endsWith("/")) url.pathname += "/";
    return url;
  } catch {
    throw new SandboxError(`invalid options: packs: 'from' of '${name}' must be a URL`, "INVALID_OPTIONS");
  }
}

async function get(pack: AnyPack, options: Parameters<typeof fetchList>[0]): Promise<void> {
  const { files, ...record } = await fetchList(options);
  if (!(await isReady(record, await loadManifest(), pack))) {
    const message =
      `${options.from} has ${record.name} ${record.version}${isProgram(pack) ? "" : `, made by ${record.made_by}`}; this package uses ${pack.name} ${pack.version}` +
      `${isProgram(pack) ? "" : `, made by ${await buildFingerprint(await loadManifest(), pack)}`}: export it again with this version of the package`;
    throw new SandboxError(message, "SETUP_FAILED");
  }
  for (const name of await names(pack.name)) if (!servedFiles(pack).includes(name)) await remove(`${pack.name}/${name}`);
  for (const name of servedFiles(pack)) {
    const entry = files.find((file) => file.name === name);
    if (entry === undefined) throw new SandboxError(`${options.from} does not list ${name}; export the pack again`, "SETUP_FAILED");
    await fetchFile(entry, `${pack.name}/${name}`, options);
  }
  // Written last: it marks the pack as complete.
  await write(`${pack.name}/${RECORD}`, [new TextEncoder().encode(JSON.stringify(record))]);
}

/** Locates a pack for a sandbox; downloads it if needed. */
export async function findPack({ name, from, sha256: pinned, folder }: PackOption, rewrite: Rewrite): Promise<LocatedPack> {
  if (folder !== undefined) throw new SandboxError(`the pack ${name}: 'folder' is not supported in pages; pass a URL as 'from'`, "UNSUPPORTED");
  checkStore();
  const pack = findDefinition(await loadManifest(), name);
  return withLock(name, async () => {
    if ((await recordOf(pack)) === undefined) {
      await get(pack, { from: packUrl(name, from), sha256: pinned, signal: undefined, progress: () => {} });
    }
    const { commands, version } = pack;
    if (isProgram(pack)) {
      const [code, tree, index] = [await rewrittenModule(pack, rewrite), await storedFile(pack, DATA), await (await storedFile(pack, INDEX)).text()];
      const settings: PackSettings = { name: code.name, version, commands: [...commands], index, signals: "", isProgram: true };
      return { settings, location: { key: code.name, code: code.file, tree, index } };
    }
    const code = supportsExceptions() ? await rewrittenModule(pack, rewrite) : undefined;
    const [index, signals] = await Promise.all([INDEX, SIGNALS].map(async (file) => (await storedFile(pack, file)).text())) as [string, string];
    const settings: PackSettings = { name: code?.name ?? `${name} cannot run`, version, commands: [...commands], index, signals };
    const [image, tree] = await Promise.all([storedFile(pack, IMAGE), storedFile(pack, DATA)]);
    return { settings, location: { key: settings.name, code: code?.file ?? "", image, tree, index } };
  });
}

/** Returns the module as rewritten by this version of the package. Rewrites it if needed and removes those of other versions. */
async function rewrittenModule(pack: AnyPack, rewrite: Rewrite): Promise<{ name: string; file: File }> {
  const bytes = await load(new URL("./kernel_bg.wasm", import.meta.url), async (response) => new Uint8Array(await response.arrayBuffer()));
  const pages = isProgram(pack) ? undefined : (await storedFile(pack, IMAGE)).size / PAGE;
  const name = codeName(await sha256(bytes), pages);
  if ((await file(`${pack.name}/${name}`)) === undefined) {
    try {
      await rewrite(`${pack.name}/${MODULE}`, `${pack.name}/${name}`, pages);
    } catch (cause) {
      throw new SandboxError(`cannot rewrite the pack ${pack.name} for this browser: ${messageOf(cause)}`, "SETUP_FAILED", { cause });
    }
    const old = (await names(pack.name)).filter((file) => file.startsWith(CODE) && file !== name);
    await Promise.all(old.map((file) => remove(`${pack.name}/${file}`)));
  }
  return { name, file: await storedFile(pack, name) };
}

async function storedFile(pack: AnyPack, name: string): Promise<File> {
  const found = await file(`${pack.name}/${name}`);
  if (found !== undefined) return found;
  throw new SandboxError(`${name} of the pack ${pack.name} is no longer in the storage of the browser; remove the pack and add it again`, "SETUP_FAILED");
}
