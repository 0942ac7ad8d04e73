/** Export of a pack to a directory that a static file server can serve to pages. */

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

import { SandboxError } from "./error.js";
import type { ServedFile, ServedPack } from "./pack_file.js";
import { BLOCK, DATA, offsets, servedAs } from "./pack_file.js";
import { TREE, loadManifest, packsDir, recordOf } from "./packs.node.js";
import { findDefinition, RECORD, installCommand, INDEX, servedFiles, sha256 } from "./pack_manifest.js";

/** Options of {@link exportPack}. */
export interface ExportPackOptions {
  /** Directory that contains packs. Default: `tidebox/packs` in the user's cache directory. */
  packs?: string;
  /** Receives a description of the current step. */
  onProgress?: (what: string) => void;
}

/** Result of {@link exportPack}. */
export interface ExportedPack {
  /** SHA-256 of the `pack.json` that was written. Pass it as `sha256` of `PackOption` to pin the pack. */
  readonly sha256: string;
}

/**
 * Writes an installed pack into a directory for pages: `Sandbox.create({ packs: [{ name, from }] })` downloads it from a server
 * of that directory. About 60 MB for Python, 1.5 MB for Git. Requires pages with the same version of the package. Node and Deno.
 *
 * @throws {SandboxError} if the pack is not installed.
 */
export async function exportPack(name: string, to: string, options: ExportPackOptions = {}): Promise<ExportedPack> {
  const { packs = packsDir(), onProgress } = options;
  const dir = join(packs, name);
  const pack = findDefinition(await loadManifest(), name);
  const record = await recordOf(dir, pack);
  if (record === undefined) {
    throw new SandboxError(`the pack ${name} is not installed; install it with: ${installCommand(pack)}`, "SETUP_FAILED");
  }
  await mkdir(to, { recursive: true });
  const index = await readFile(join(dir, INDEX), "utf8");
  const files: ServedFile[] = [];
  for (const file of servedFiles(pack)) {
    onProgress?.(`packing ${file}`);
    const content = file === DATA ? tree(join(dir, TREE), index) : createReadStream(join(dir, file));
    files.push(await compress(file, content, join(to, servedAs(file))));
  }
  const { version, with: more = [], made_by = "", module } = record;
  const served: ServedPack = { name, version, with: more, made_by, module, files };
  const list = new TextEncoder().encode(`${JSON.stringify(served, undefined, 1)}\n`);
  await writeFile(join(to, RECORD), list);
  return { sha256: await sha256(list) };
}

/** Yields the files of a tree in the order of its index. */
async function* tree(dir: string, index: string): AsyncIterable<Uint8Array> {
  for (const [path, [, bytes]] of offsets(index)) {
    const content = await readFile(join(dir, path));
    if (content.length !== bytes) throw new SandboxError(`${path} of the pack is corrupt; remove the pack and add it again`, "SETUP_FAILED");
    yield content;
  }
}

/** Compresses a file and returns its entry of the list. */
async function compress(name: string, content: AsyncIterable<Uint8Array>, to: string): Promise<ServedFile> {
  const blocks: string[] = [];
  let bytes = 0;
  async function* hashed(): AsyncIterable<Uint8Array> {
    let hash = createHash("sha256");
    let remaining = BLOCK;
    for await (const chunk of content) {
      for (let at = 0; at < chunk.length; ) {
        const part = chunk.subarray(at, at + remaining);
        hash.update(part);
        at += part.length;
        remaining -= part.length;
        if (remaining > 0) continue;
        blocks.push(hash.digest("hex"));
        [hash, remaining] = [createHash("sha256"), BLOCK];
      }
      bytes += chunk.length;
      yield chunk;
    }
    if (remaining < BLOCK) blocks.push(hash.digest("hex"));
  }
  await pipeline(hashed, createGzip({ level: 9 }), createWriteStream(to));
  return { name, bytes, blocks };
}
