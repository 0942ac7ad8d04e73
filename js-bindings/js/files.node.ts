/** Access to the files of the package in Node and Deno. */

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify } from "node:util";

import type { PackageFiles } from "./archive.js";

const userland = new URL("../userland/", import.meta.url);

/** Loads zlib when the first program is decompressed: importing the package should be quick. */
const zlib = () => createRequire(import.meta.url)("node:zlib") as typeof import("node:zlib");

export const files: PackageFiles = {
  readsRaw: true,
  read: (file) => readFile(new URL(file, userland)),
  readNow: (file) => readFileSync(new URL(file, userland)),
  // One chunk: the output is a few megabytes.
  unpack: (packed, bytes) => promisify(zlib().brotliDecompress)(packed, { chunkSize: bytes }),
  unpackNow: (packed, bytes) => zlib().brotliDecompressSync(packed, { chunkSize: bytes }),
};
