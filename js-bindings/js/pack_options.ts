/** Options of installing packs, and the state of packs. */

/** Amount of a download, in bytes. */
export interface ByteCount {
  /** Bytes that are stored. */
  readonly done: number;
  /** Size of the file. Missing if the server does not report it. */
  readonly total?: number;
}

/** Receives a description of the current step, and during downloads how much is stored. */
export type ProgressCallback = (step: string, bytes?: ByteCount) => void;

/** Options of installing a pack. */
export interface AddPackOptions {
  /**
   * Directory that contains packs. Default: `tidebox/packs` in the user's cache directory, shared with the native Tidebox. Node
   * and Deno; a page keeps packs in the storage of the browser.
   */
  folder?: string;
  /** URL of the package index (PEP 503 or 691). Default: the variable `PIP_INDEX_URL`, else PyPI. Node and Deno. */
  index?: string;
  /**
   * In pages, and required there: URL of the exported pack; see `from` of `PackOption`. In Node and Deno only for `git`: path of its
   * wheel, which `cargo xtask pack git` writes.
   */
  from?: string | URL;
  /** Pages only: SHA-256 of the list at {@link from}; see `sha256` of `PackOption`. */
  sha256?: string;
  /** Receives the current step, and during downloads their progress. */
  onProgress?: ProgressCallback;
  /** Aborts the installation. Completed downloads are kept. */
  signal?: AbortSignal;
}

/** Options of listing and removing packs. */
export interface PackDirectory {
  /** Directory that contains packs. Default: as for {@link addPack}. Node and Deno. */
  folder?: string;
}

/** State of a pack. */
export interface PackState {
  /** Name of the pack. */
  readonly name: string;
  /** Version of the runtime, such as that of CPython. */
  readonly version: string;
  /** Description of the pack in one line. */
  readonly about: string;
  /** True if it is installed and ready. */
  readonly ready: boolean;
  /** Additional requirements that were installed into it, as specified; supported by the native Tidebox. */
  readonly with: readonly string[];
}
