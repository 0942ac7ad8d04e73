/** Adding packs to this machine: fetched, verified, unpacked, rewritten and prepared once. */

import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { Connection } from "./connection.js";
import { SandboxError } from "./error.js";
import { fetchWheel } from "./pack_fetch.node.js";
import type { AddPackOptions, PackState } from "./pack_options.js";
import { PackTree } from "./pack_tree.node.js";
import { packWork } from "./pack_work.js";
import { files } from "./pack_zip.node.js";
import type { FoundPack, PackDefinition } from "./packs.js";
import { TREE, findPack, known, packsFolder, recordOf } from "./packs.node.js";
import { IMAGE, MODULE, RECORD, SIGNALS, checkRuns, define, madeBy } from "./packs_known.js";
import { node } from "./platform.node.js";
import { shared } from "./shared.js";

export type { AddPackOptions, PackState } from "./pack_options.js";
export type { ExportedPack, ExportPackOptions } from "./pack_export.node.js";
export { exportPack } from "./pack_export.node.js";

/** What makes an interpreter's memory; `src/pack.rs` has the same. */
const MAKING = {
  setup: ["_initialize", "wizer.initialize"],
  importer: "PyImport_ImportModule",
  imports: ["_tidebox.image", "_tidebox.settle"],
  interrupt: "PyErr_SetInterruptEx",
  signals: [1, 2, 3, 10, 12, 14, 15, 28],
  stackBytes: 16 << 20,
} as const;
const FIRST_PATH = "/usr/local/lib/python315.zip";
const FIRST_IMAGE = "first.image";
const FIRST_CODE = "first.wasm";

/** Memory and time for making the memory of a pack. */
const LIMITS = { processMemoryBytes: 3 * 2 ** 30, sandboxMemoryBytes: 3 * 2 ** 30, wallTimeMs: 3_600_000 };

/** All packs that there are, and whether they are here. */
export async function listPacks({ folder = packsFolder() }: { folder?: string } = {}): Promise<PackState[]> {
  const { packs } = await known();
  return Promise.all(packs.map(async (pack) => {
    const record = await recordOf(join(folder, pack.name), pack);
    const { name, version, about } = pack;
    return { name, version, about, ready: record !== undefined, with: record?.with ?? [] };
  }));
}

/** Removes a pack, and tells whether it was there. */
export async function removePack(name: string, { folder = packsFolder() }: { folder?: string } = {}): Promise<boolean> {
  const pack = define(await known(), name);
  const there = (await recordOf(join(folder, pack.name), pack)) !== undefined;
  await rm(join(folder, "native"), { recursive: true, force: true });
  await rm(join(folder, "downloads"), { recursive: true, force: true });
  await rm(join(folder, pack.name), { recursive: true, force: true });
  return there;
}

/**
 * Adds a pack, unless it is there and ready. What was fetched before is not fetched again, so after a failure call it again.
 *
 * @throws {SandboxError} when the index cannot be reached or delivers something else, and where the engine cannot run the pack.
 */
export async function addPack(name: string, options: AddPackOptions = {}): Promise<void> {
  const { folder = packsFolder(), index, signal, onProgress, from, sha256 } = options;
  if (from !== undefined || sha256 !== undefined) throw new SandboxError("'from' and 'sha256' are for pages", "INVALID_OPTIONS");
  const progress = (what: string) => onProgress?.(what);
  const pack = define(await known(), name);
  checkRuns();
  const place = join(folder, pack.name);
  if ((await recordOf(place, pack)) === undefined) {
    const downloads = join(folder, "downloads");
    await mkdir(downloads, { recursive: true });
    const paths: string[] = [];
    for (const wheel of [pack.runtime, ...pack.wheels]) {
      paths.push(await fetchWheel(wheel, downloads, { index, signal, progress }));
    }
    const made = await mkdtemp(join(folder, ".new-"));
    try {
      await make(pack, made, paths, progress);
      await rm(place, { recursive: true, force: true });
      await rename(made, place);
    } catch (error) {
      await rm(made, { recursive: true, force: true });
      throw error;
    }
  }
  progress("rewriting the module for JavaScript");
  const { kernel } = await shared(node);
  await findPack(name, folder, async (module, code, pages) => {
    await packWork(node, { kernelForPack: kernel, module, code, pages });
  });
}

async function make(pack: PackDefinition, folder: string, wheels: readonly string[], progress: (what: string) => void): Promise<void> {
  progress("unpacking");
  const tree = new PackTree(folder);
  const raw = await unpackRuntime(pack, tree, await readFile(wheels[0] as string));
  for (const wheel of wheels.slice(1)) await tree.unpack(await readFile(wheel), pack.siteDir);
  for (const [path, content] of pack.own) await tree.put(`${pack.libraryDir}/${path}`, content);
  const index = await tree.finish();
  progress("splitting code and memory");
  const { kernel } = await shared(node);
  const [module, image, code] = [MODULE, FIRST_IMAGE, FIRST_CODE].map((name) => join(folder, name)) as [string, string, string];
  const exports = [MAKING.importer, MAKING.interrupt];
  await packWork(node, { kernelForPack: kernel, raw: { wasm: raw, exports, image }, module, code });
  progress("preparing the memory that processes begin with");
  const [keep, keepSignals] = [join(folder, IMAGE), join(folder, SIGNALS)];
  const { version, commands, libraryDir } = pack;
  await prepare(commands[0] ?? "", {
    settings: { name: code, version, commands: [...commands], index, signals: "", libraryDir, firstPath: FIRST_PATH },
    place: { key: code, code, image, tree: join(folder, TREE), making: { ...MAKING, keep, keepSignals } },
  });
  await Promise.all([image, code].map((path) => rm(path)));
  const sha256 = createHash("sha256").update(await readFile(module)).digest("hex");
  const record = { name: pack.name, version, with: [], made_by: await madeBy(await known(), pack), module: sha256 };
  await writeFile(join(folder, RECORD), JSON.stringify(record, undefined, 2));
}

/** Puts the library of a runtime into the tree, and answers its module. */
async function unpackRuntime(pack: PackDefinition, tree: PackTree, wheel: Buffer): Promise<Uint8Array> {
  let module: Uint8Array | undefined;
  let found = false;
  for (const { name, unpack } of files(wheel)) {
    if (name === pack.module) module = await unpack();
    if (name !== pack.library) continue;
    found = true;
    await tree.unpack(Buffer.from(await unpack()), pack.libraryDir, pack.inner ?? undefined);
  }
  if (module === undefined || !found) throw new Error(`${pack.runtime.file} does not hold what the pack is made of`);
  return module;
}

async function prepare(command: string, making: FoundPack): Promise<void> {
  const connection = new Connection(node, { kernel: { limits: LIMITS }, tools: {}, fetch: undefined, packs: [], making });
  await connection.open();
  try {
    const { exitCode, output } = await connection.execute(command, {});
    if (exitCode === 0) return;
    throw new SandboxError(`the runtime could not be initialised, exit code ${exitCode}: ${output.trim()}`, "SETUP_FAILED");
  } finally {
    connection.close();
  }
}

