/** Files of packs in the worker of Node and Deno. */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { PackFile, PackHost } from "./packs.js";
import { chunks, withMemory } from "./packs.js";

export const packs: PackHost = {
  module({ code, image }) {
    const module = readAligned(filePath(code));
    return image === undefined ? module : withMemory(module, chunks(readAligned(filePath(image))));
  },
  file: ({ tree }, path) => readFileSync(filePath(tree) + path),
  async keep(path, memory) {
    // Atomic: write to a temporary file and rename it. Its name is unique, because several processes may do this.
    const temp = join(dirname(path), `.new-${crypto.randomUUID()}`);
    writeFileSync(temp, memory);
    renameSync(temp, path);
  },
  read: async (path) => readAligned(path),
};

/** Reads a file into its own buffer, at offset 0. */
function readAligned(path: string): Uint8Array<ArrayBuffer> {
  const bytes = readFileSync(path);
  return bytes.byteOffset === 0 ? bytes as Uint8Array<ArrayBuffer> : new Uint8Array(bytes);
}

function filePath(file: PackFile): string {
  if (typeof file !== "string") throw new Error("the pack is not stored on this host");
  return file;
}
