/** Access to the files of the package in Node and Deno. */

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliDecompress, brotliDecompressSync } from "node:zlib";

import type { PackageFiles } from "./archive.js";

const userland = new URL("../userland/", import.meta.url);
const decompress = promisify(brotliDecompress);

export const files: PackageFiles = {
  read: (file) => readFile(new URL(file, userland)),
  readNow: (file) => readFileSync(new URL(file, userland)),
  // One chunk: the output is a few megabytes.
  unpack: (packed, bytes) => decompress(packed, { chunkSize: bytes }),
  unpackNow: (packed, bytes) => brotliDecompressSync(packed, { chunkSize: bytes }),
};
