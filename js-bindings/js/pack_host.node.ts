/** The files of packs in the Worker of Node and Deno. */

import { readFileSync, renameSync, writeFileSync } from "node:fs";

import type { PackFile, PackHost } from "./packs.js";
import { pieces, withMemory } from "./packs.js";

export const packs: PackHost = {
  module: ({ code, image }) => withMemory(readFileSync(named(code)), pieces(plain(named(image)))),
  file: ({ tree }, path) => readFileSync(named(tree) + path),
  async keep(path, memory) {
    // There whole or not at all.
    writeFileSync(`${path}.new`, memory);
    renameSync(`${path}.new`, path);
  },
  read: async (path) => plain(path),
};

/** A file in memory of its own, where it begins at the beginning. */
function plain(path: string): Uint8Array<ArrayBuffer> {
  const bytes = readFileSync(path);
  return bytes.byteOffset === 0 ? bytes as Uint8Array<ArrayBuffer> : new Uint8Array(bytes);
}

function named(file: PackFile): string {
  if (typeof file !== "string") throw new Error("the pack is not one of this machine");
  return file;
}
