/** The files of packs in the Worker of a page. A guest that reads one waits for it; a Worker may. */

import { offsets } from "./pack_file.js";
import { file, write } from "./pack_store.web.js";
import type { PackFile, PackHost, PackPlace } from "./packs.js";
import { pieces, withMemory } from "./packs.js";

/** What the library of the page's own side does not declare: only Workers have it. */
declare const FileReaderSync: new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer };

const trees = new Map<string, ReturnType<typeof offsets>>();

function tree({ key, index = "" }: PackPlace): ReturnType<typeof offsets> {
  let found = trees.get(key);
  if (found === undefined) trees.set(key, (found = offsets(index)));
  return found;
}

export const packs: PackHost = {
  module: ({ code, image }) => withMemory(read(code), pieces(read(image))),
  file(place, path) {
    const [at, bytes] = tree(place).get(path) ?? [0, 0];
    return bytes === 0 ? new Uint8Array(0) : read(kept(place.tree).slice(at, at + bytes));
  },
  keep: (path, memory) => write(path, [memory as Uint8Array<ArrayBuffer>]),
  async read(path) {
    const found = await file(path);
    if (found === undefined) throw new Error(`${path} is no longer in the storage of the browser; fetch the pack again`);
    return read(found);
  },
};

function kept(file: PackFile): Blob {
  if (typeof file === "string") throw new Error("the pack is not one of a browser");
  return file;
}

function read(file: PackFile): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new FileReaderSync().readAsArrayBuffer(kept(file)));
}
