/** Installation of packs on this host: downloaded, verified, unpacked, rewritten and pre-initialized once. */
import type { AddPackOptions, PackDirectory, PackState } from "./pack_options.js";
export type { AddPackOptions, ByteCount, PackDirectory, PackState, ProgressCallback } from "./pack_options.js";
export type { ExportedPack, ExportPackOptions } from "./pack_export.node.js";
export { exportPack } from "./pack_export.node.js";
/** Lists all packs with their state. */
export declare function listPacks({ folder: dir }?: PackDirectory): Promise<PackState[]>;
/** Removes a pack. Returns whether it was installed. */
export declare function removePack(name: string, { folder: dir }?: PackDirectory): Promise<boolean>;
/**
 * Installs a pack, unless it is ready. Completed downloads are kept, so call it again after a failure.
 *
 * @throws {SandboxError} if the index is unreachable or delivers other content, or if the engine cannot run the pack.
 */
export declare function addPack(name: string, options?: AddPackOptions): Promise<void>;
