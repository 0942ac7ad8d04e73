/** Format of a pack that is served to pages: a directory of compressed files, and a list with the hash of each block. */

/** A file of the pack, an entry of `pack.json`. */
export interface ServedFile {
  readonly name: string;
  /** Uncompressed size. */
  readonly bytes: number;
  /** SHA-256 of each {@link BLOCK} uncompressed bytes. */
  readonly blocks: readonly string[];
}

/** Content of `pack.json`. */
export interface ServedPack {
  readonly name: string;
  readonly version: string;
  readonly with: readonly string[];
  readonly made_by: string;
  readonly module: string;
  readonly files: readonly ServedFile[];
}

/** All files of the tree in the order of its index, concatenated. */
export const DATA = "tree.data";

/** Bytes that are verified and written at a time. */
export const BLOCK = 4 << 20;

/**
 * Returns the name of the served file, compressed with gzip. Not `.gz`: servers would send it with `Content-Encoding: gzip`, and
 * browsers would decompress it automatically.
 */
export const servedAs = (name: string): string => `${name}.packed`;

/** Returns the offset and length of each file within {@link DATA}. */
export function offsets(index: string): Map<string, readonly [at: number, bytes: number]> {
  const found = new Map<string, readonly [number, number]>();
  let at = 0;
  for (const line of index.split("\n")) {
    const space = line.indexOf(" ");
    if (space < 0) continue;
    const bytes = Number(line.slice(0, space));
    found.set(line.slice(space + 1), [at, bytes]);
    at += bytes;
  }
  return found;
}
