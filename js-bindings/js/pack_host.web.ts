/** Files of packs in the worker of a page. Reads are synchronous, which workers allow. */

import { offsets } from "./pack_file.js";
import { file, write } from "./pack_store.web.js";
import type { PackFile, PackHost, PackLocation } from "./packs.js";
import { chunks, withMemory } from "./packs.js";

/** Declared here because TypeScript's DOM library omits it: only workers have it. */
declare const FileReaderSync: new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer };

const trees = new Map<string, ReturnType<typeof offsets>>();

function tree({ key, index = "" }: PackLocation): ReturnType<typeof offsets> {
  let found = trees.get(key);
  if (found === undefined) trees.set(key, (found = offsets(index)));
  return found;
}

export const packs: PackHost = {
  module: ({ code, image }) => (image === undefined ? read(code) : withMemory(read(code), chunks(read(image)))),
  file(location, path) {
    const [at, bytes] = tree(location).get(path) ?? [0, 0];
    return bytes === 0 ? new Uint8Array(0) : read(blob(location.tree).slice(at, at + bytes));
  },
  keep: (path, memory) => write(path, [memory as Uint8Array<ArrayBuffer>]),
  async read(path) {
    const found = await file(path);
    if (found === undefined) throw new Error(`${path} is no longer in the storage of the browser; add the pack again`);
    return read(found);
  },
};

function blob(file: PackFile): Blob {
  if (typeof file === "string") throw new Error("the pack is not stored in a browser");
  return file;
}

function read(file: PackFile): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new FileReaderSync().readAsArrayBuffer(blob(file)));
}
