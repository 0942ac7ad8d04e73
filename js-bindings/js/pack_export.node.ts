/** Making a folder of a pack that a server of plain files can give to pages. */

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

import { SandboxError } from "./error.js";
import type { ServedFile, ServedPack } from "./pack_file.js";
import { BLOCK, DATA, offsets, servedAs } from "./pack_file.js";
import { TREE, known, packsFolder, recordOf } from "./packs.node.js";
import { IMAGE, INDEX, MODULE, RECORD, SIGNALS, define, sha256 } from "./packs_known.js";

/** How a pack is exported. */
export interface ExportPackOptions {
  /** The folder that packs are kept in. Default: `tidebox/packs` in the user's cache folder. */
  packs?: string;
  /** Is told what is being done. */
  onProgress?: (what: string) => void;
}

/** What came of it. */
export interface ExportedPack {
  /** SHA-256 of the `pack.json` that was written; `sha256` of `PackOption` holds a page to it. */
  readonly sha256: string;
}

/**
 * Writes a pack of this machine into a folder for pages: `Sandbox.create({ packs: [{ name, from }] })` fetches it from where a server
 * has that folder. Some 60 MB; pages with the same version of the package can use it. Node and Deno.
 *
 * @throws {SandboxError} where the pack is not on this machine.
 */
export async function exportPack(name: string, to: string, options: ExportPackOptions = {}): Promise<ExportedPack> {
  const { packs = packsFolder(), onProgress } = options;
  const folder = join(packs, name);
  const record = await recordOf(folder, define(await known(), name));
  if (record === undefined) {
    throw new SandboxError(`the pack ${name} is not here; add it with: npx tidebox pack add ${name}`, "SETUP_FAILED");
  }
  await mkdir(to, { recursive: true });
  const index = await readFile(join(folder, INDEX), "utf8");
  const files: ServedFile[] = [];
  for (const file of [MODULE, IMAGE, SIGNALS, INDEX, DATA]) {
    onProgress?.(`packing ${file}`);
    const content = file === DATA ? tree(join(folder, TREE), index) : createReadStream(join(folder, file));
    files.push(await pack(file, content, join(to, servedAs(file))));
  }
  const { version, with: more, made_by, module } = record;
  const served: ServedPack = { name, version, with: more, made_by, module, files };
  const list = new TextEncoder().encode(`${JSON.stringify(served, undefined, 1)}\n`);
  await writeFile(join(to, RECORD), list);
  return { sha256: await sha256(list) };
}

/** The files of a tree, in the order of its index. */
async function* tree(folder: string, index: string): AsyncIterable<Uint8Array> {
  for (const [path, [, bytes]] of offsets(index)) {
    const content = await readFile(join(folder, path));
    if (content.length !== bytes) throw new SandboxError(`${path} of the pack is damaged; remove the pack and add it again`, "SETUP_FAILED");
    yield content;
  }
}

/** Packs a file, and says what is in it. */
async function pack(name: string, content: AsyncIterable<Uint8Array>, to: string): Promise<ServedFile> {
  const blocks: string[] = [];
  let bytes = 0;
  async function* hashed(): AsyncIterable<Uint8Array> {
    let hash = createHash("sha256");
    let room = BLOCK;
    for await (const piece of content) {
      for (let at = 0; at < piece.length; ) {
        const part = piece.subarray(at, at + room);
        hash.update(part);
        at += part.length;
        room -= part.length;
        if (room > 0) continue;
        blocks.push(hash.digest("hex"));
        [hash, room] = [createHash("sha256"), BLOCK];
      }
      bytes += piece.length;
      yield piece;
    }
    if (room < BLOCK) blocks.push(hash.digest("hex"));
  }
  await pipeline(hashed, createGzip({ level: 9 }), createWriteStream(to));
  return { name, bytes, blocks };
}
