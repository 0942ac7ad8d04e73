/** Adding packs to this browser. */

export { addPack, listPacks, removePack } from "./packs.web.js";
export type { AddPackOptions, PackState } from "./pack_options.js";
