/** Making a folder of a pack that a server of plain files can give to pages. */
/** How a pack is exported. */
export interface ExportPackOptions {
    /** The folder that packs are kept in. Default: `tidebox/packs` in the user's cache folder. */
    packs?: string;
    /** Is told what is being done. */
    onProgress?: (what: string) => void;
}
/** What came of it. */
export interface ExportedPack {
    /** SHA-256 of the `pack.json` that was written; `sha256` of `PackOption` holds a page to it. */
    readonly sha256: string;
}
/**
 * Writes a pack of this machine into a folder for pages: `Sandbox.create({ packs: [{ name, from }] })` fetches it from where a server
 * has that folder. Some 60 MB; pages with the same version of the package can use it. Node and Deno.
 *
 * @throws {SandboxError} where the pack is not on this machine.
 */
export declare function exportPack(name: string, to: string, options?: ExportPackOptions): Promise<ExportedPack>;
