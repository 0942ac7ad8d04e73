/** Export of a pack to a directory that a static file server can serve to pages. */
/** Options of {@link exportPack}. */
export interface ExportPackOptions {
    /** Directory that contains packs. Default: `tidebox/packs` in the user's cache directory. */
    packs?: string;
    /** Receives a description of the current step. */
    onProgress?: (what: string) => void;
}
/** Result of {@link exportPack}. */
export interface ExportedPack {
    /** SHA-256 of the `pack.json` that was written. Pass it as `sha256` of `PackOption` to pin the pack. */
    readonly sha256: string;
}
/**
 * Writes an installed pack into a directory for pages: `Sandbox.create({ packs: [{ name, from }] })` downloads it from a server
 * of that directory. About 60 MB for Python, 1.5 MB for Git. Requires pages with the same version of the package. Node and Deno.
 *
 * @throws {SandboxError} if the pack is not installed.
 */
export declare function exportPack(name: string, to: string, options?: ExportPackOptions): Promise<ExportedPack>;
