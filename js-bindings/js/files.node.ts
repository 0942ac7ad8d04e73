/** Access to the files of the package in Node and Deno. */

import type { PackageFiles } from "./archive.js";
import { builtin, fs } from "./builtins.node.js";

const userland = new URL("../userland/", import.meta.url);

/** Loads zlib when the first program is decompressed: importing the package should be quick. */
const zlib = () => builtin("node:zlib");

/** Reads a file in one step: `readFile` reads half a megabyte at a time, and waits for the event loop before each. */
export async function readWhole(path: URL): Promise<Uint8Array<ArrayBuffer>> {
  const file = await fs.promises.open(path);
  try {
    const bytes = new Uint8Array((await file.stat()).size);
    let at = 0;
    while (at < bytes.length) {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, at);
      if (bytesRead === 0) throw new Error(`${path.pathname} was truncated while it was read`);
      at += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}

export const files: PackageFiles = {
  readsRaw: true,
  read: (file) => readWhole(new URL(file, userland)),
  readNow: (file) => fs.readFileSync(new URL(file, userland)),
  // One chunk: the output is a few megabytes.
  unpack: (packed, bytes) => new Promise((resolve, reject) => {
    zlib().brotliDecompress(packed, { chunkSize: bytes }, (error, unpacked) => (error ? reject(error) : resolve(unpacked)));
  }),
  unpackNow: (packed, bytes) => zlib().brotliDecompressSync(packed, { chunkSize: bytes }),
};
