/** The files of packs in the Worker of Node and Deno. */

import { readFileSync, renameSync, writeFileSync } from "node:fs";

import type { PackHost } from "./packs.js";
import { pieces, withMemory } from "./packs.js";

export const packs: PackHost = {
  module: ({ code, image }) => withMemory(readFileSync(code), pieces(plain(image))),
  file: ({ tree }, path) => readFileSync(tree + path),
  keep(path, memory) {
    // There whole or not at all.
    writeFileSync(`${path}.new`, memory);
    renameSync(`${path}.new`, path);
  },
  read: plain,
};

/** A file in memory of its own, where it begins at the beginning. */
function plain(path: string): Uint8Array<ArrayBuffer> {
  const bytes = readFileSync(path);
  return bytes.byteOffset === 0 ? bytes as Uint8Array<ArrayBuffer> : new Uint8Array(bytes);
}
