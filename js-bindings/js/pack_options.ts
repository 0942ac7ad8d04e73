/** How packs are added, and what is told of them. */

/** How a pack is added. */
export interface AddPackOptions {
  /**
   * The folder that packs are kept in. Default: `tidebox/packs` in the user's cache folder, where the native Tidebox has them, too.
   * Node and Deno; a page keeps packs in the storage of the browser.
   */
  folder?: string;
  /** Address of the package index (PEP 503 or 691). Default: the variable `PIP_INDEX_URL`, else that of PyPI. Node and Deno. */
  index?: string;
  /** Pages only, and needed there: where the pack is; see `from` of `PackOption`. */
  from?: string | URL;
  /** Pages only: what {@link from} must deliver; see `sha256` of `PackOption`. */
  sha256?: string;
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
