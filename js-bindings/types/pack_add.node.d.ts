/** Adding packs to this machine: fetched, verified, unpacked, rewritten and prepared once. */
import type { AddPackOptions, PackState } from "./pack_options.js";
export type { AddPackOptions, PackState } from "./pack_options.js";
export type { ExportedPack, ExportPackOptions } from "./pack_export.node.js";
export { exportPack } from "./pack_export.node.js";
/** All packs that there are, and whether they are here. */
export declare function listPacks({ folder }?: {
    folder?: string;
}): Promise<PackState[]>;
/** Removes a pack, and tells whether it was there. */
export declare function removePack(name: string, { folder }?: {
    folder?: string;
}): Promise<boolean>;
/**
 * Adds a pack, unless it is there and ready. What was fetched before is not fetched again, so after a failure call it again.
 *
 * @throws {SandboxError} when the index cannot be reached or delivers something else, and where the engine cannot run the pack.
 */
export declare function addPack(name: string, options?: AddPackOptions): Promise<void>;
