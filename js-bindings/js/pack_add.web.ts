/** Installation of packs in this browser. */

export { addPack, listPacks, removePack } from "./packs.web.js";
export type { AddPackOptions, ByteCount, PackState, ProgressCallback } from "./pack_options.js";
