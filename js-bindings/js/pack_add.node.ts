/** Installation of packs on this host: downloaded, verified, unpacked, rewritten and pre-initialized once. */

import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { Connection } from "./connection.js";
import { SandboxError } from "./error.js";
import { fetchWheel } from "./pack_fetch.node.js";
import type { AddPackOptions, PackDirectory, PackState, ProgressCallback } from "./pack_options.js";
import { PackTree } from "./pack_tree.node.js";
import { packWork, rewriteModule } from "./pack_work.js";
import { files } from "./pack_zip.node.js";
import { addProgram } from "./pack_program.node.js";
import type { LocatedPack, PackDefinition } from "./packs.js";
import { TREE, findPack, loadManifest, packsDir, recordOf } from "./packs.node.js";
import { IMAGE, MODULE, RECORD, SIGNALS, buildFingerprint, checkExceptions, contains, findDefinition, isProgram } from "./pack_manifest.js";
import { node } from "./platform.node.js";
import { cachedModules } from "./module_cache.js";

export type { AddPackOptions, ByteCount, PackDirectory, PackState, ProgressCallback } from "./pack_options.js";
export type { ExportedPack, ExportPackOptions } from "./pack_export.node.js";
export { exportPack } from "./pack_export.node.js";

/** Pre-initialization of the interpreter's memory; the same values as in `src/pack.rs`. */
const PREINIT = {
  setup: ["_initialize", "wizer.initialize"],
  importer: "PyImport_ImportModule",
  imports: ["_tidebox.image", "_tidebox.finalize"],
  interrupt: "PyErr_SetInterruptEx",
  signals: [1, 2, 3, 10, 12, 14, 15, 28],
  stackBytes: 16 << 20,
} as const;
const FIRST_PATH = "/usr/local/lib/python315.zip";
const FIRST_IMAGE = "first.image";
const FIRST_CODE = "first.wasm";

/** Limits for the pre-initialization of a pack. */
const LIMITS = { processMemoryBytes: 3 * 2 ** 30, sandboxMemoryBytes: 3 * 2 ** 30, wallTimeMs: 3_600_000 };

/** Lists all packs with their state. */
export async function listPacks({ folder: dir = packsDir() }: PackDirectory = {}): Promise<PackState[]> {
  const { packs, programs } = await loadManifest();
  return Promise.all([...packs, ...programs].map(async (pack) => {
    const record = await recordOf(join(dir, pack.name), pack);
    const { name, version, about } = pack;
    return { name, version, about, ready: record !== undefined, with: record?.with ?? [] };
  }));
}

/** Removes a pack. Returns whether it was installed. */
export async function removePack(name: string, { folder: dir = packsDir() }: PackDirectory = {}): Promise<boolean> {
  const pack = findDefinition(await loadManifest(), name);
  const existed = (await recordOf(join(dir, pack.name), pack)) !== undefined;
  await rm(join(dir, pack.name), { recursive: true, force: true });
  if (isProgram(pack)) return existed;
  // Packs share these.
  const { packs } = await loadManifest();
  const installed = packs.map((other) => stat(join(dir, other.name, RECORD)).then(() => true, () => false));
  if ((await Promise.all(installed)).includes(true)) return existed;
  await rm(join(dir, "native"), { recursive: true, force: true });
  await rm(join(dir, "downloads"), { recursive: true, force: true });
  return existed;
}

/**
 * Installs a pack, unless it is ready. Completed downloads are kept, so call it again after a failure.
 *
 * @throws {SandboxError} if the index is unreachable or delivers other content, or if the engine cannot run the pack.
 */
export async function addPack(name: string, options: AddPackOptions = {}): Promise<void> {
  const { folder: dir = packsDir(), index, signal, onProgress, from, sha256 } = options;
  const progress: ProgressCallback = (step, bytes) => onProgress?.(step, bytes);
  const pack = findDefinition(await loadManifest(), name);
  if (sha256 !== undefined) throw new SandboxError("'sha256' is supported only in pages", "INVALID_OPTIONS");
  if (isProgram(pack)) {
    await addProgram(pack, dir, from, progress);
    progress("rewriting the module for JavaScript");
    await findPack(name, dir, (module, code, pages) => rewriteModule(node, module, code, pages));
    return;
  }
  if (from !== undefined) throw new SandboxError(`'from' is supported only in pages, and for ${(await loadManifest()).programs.map((program) => program.name).join(", ")}`, "INVALID_OPTIONS");
  checkExceptions();
  const location = join(dir, pack.name);
  if ((await recordOf(location, pack)) === undefined) {
    const downloads = join(dir, "downloads");
    await mkdir(downloads, { recursive: true });
    const paths: string[] = [];
    for (const wheel of [pack.runtime, ...pack.wheels]) {
      paths.push(await fetchWheel(wheel, downloads, { index, signal, progress }));
    }
    const temp = await mkdtemp(join(dir, ".new-"));
    try {
      await build(pack, temp, paths, progress);
      await rm(location, { recursive: true, force: true });
      await rename(temp, location);
    } catch (error) {
      await rm(temp, { recursive: true, force: true });
      throw error;
    }
  }
  progress("rewriting the module for JavaScript");
  await findPack(name, dir, (module, code, pages) => rewriteModule(node, module, code, pages));
}

async function build(pack: PackDefinition, dir: string, wheels: readonly string[], progress: ProgressCallback): Promise<void> {
  progress("unpacking");
  const tree = new PackTree(dir);
  const raw = await unpackRuntime(pack, tree, await readFile(wheels[0] as string));
  for (const wheel of wheels.slice(1)) await tree.unpack(await readFile(wheel), pack.siteDir);
  for (const [path, content] of pack.own) await tree.put(`${pack.libraryDir}/${path}`, content);
  const index = await tree.finish();
  progress("splitting code and memory");
  const { kernel } = await cachedModules(node);
  const [module, image, code] = [MODULE, FIRST_IMAGE, FIRST_CODE].map((name) => join(dir, name)) as [string, string, string];
  const exports = [PREINIT.importer, PREINIT.interrupt];
  await packWork(node, { kernelForPack: kernel, raw: { wasm: raw, exports, image }, module, code });
  progress("pre-initializing the memory");
  const [keep, keepSignals] = [join(dir, IMAGE), join(dir, SIGNALS)];
  const { version, commands, libraryDir } = pack;
  await prepare(commands[0] ?? "", {
    settings: { name: code, version, commands: [...commands], index, signals: "", libraryDir, firstPath: FIRST_PATH },
    location: { key: code, code, image, tree: join(dir, TREE), preinit: { ...PREINIT, keep, keepSignals } },
  });
  await Promise.all([image, code].map((path) => rm(path)));
  const sha256 = createHash("sha256").update(await readFile(module)).digest("hex");
  const record = { name: pack.name, version, with: [], made_by: await buildFingerprint(await loadManifest(), pack), module: sha256 };
  await writeFile(join(dir, RECORD), JSON.stringify(record, undefined, 2));
}

/** Unpacks the library of a runtime into the tree and returns its module. */
async function unpackRuntime(pack: PackDefinition, tree: PackTree, wheel: Buffer): Promise<Uint8Array> {
  let module: Uint8Array | undefined;
  let found = false;
  for (const { name, unpack } of files(wheel)) {
    if (name === pack.module) module = await unpack();
    if (name !== pack.library) continue;
    found = true;
    await tree.unpack(Buffer.from(await unpack()), pack.libraryDir, pack.inner ?? undefined, (path) => contains(pack, path));
  }
  if (module === undefined || !found) throw new Error(`${pack.runtime.file} does not contain the module and the library of the pack`);
  return module;
}

async function prepare(command: string, preinit: LocatedPack): Promise<void> {
  const connection = new Connection(node, { kernel: { limits: LIMITS }, tools: {}, fetch: undefined, packs: [], thread: "own", preinit });
  await connection.open();
  try {
    const { exitCode, output } = await connection.execute(command, {});
    if (exitCode === 0) return;
    throw new SandboxError(`cannot initialize the runtime: exit code ${exitCode}: ${output.trim()}`, "SETUP_FAILED");
  } finally {
    connection.close();
  }
}

