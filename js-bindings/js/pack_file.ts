/** The form in which a pack is served to pages: a folder of packed files, and a list that has the hash of each piece of them. */

/** A file of the pack, as `pack.json` of that folder lists it. */
export interface ServedFile {
  readonly name: string;
  /** Unpacked. */
  readonly bytes: number;
  /** SHA-256 of each {@link BLOCK} bytes, unpacked. */
  readonly blocks: readonly string[];
}

/** `pack.json` of that folder. */
export interface ServedPack {
  readonly name: string;
  readonly version: string;
  readonly with: readonly string[];
  readonly made_by: string;
  readonly module: string;
  readonly files: readonly ServedFile[];
}

/** All files of the tree in the order of its index, one after the other. */
export const DATA = "tree.data";

/** Bytes that are checked, and written, at a time. */
export const BLOCK = 4 << 20;

/**
 * The name under which a file is served, packed by gzip. Not `.gz`: servers say of those that they are compressed, and browsers then unpack
 * them by themselves.
 */
export const servedAs = (name: string): string => `${name}.packed`;

/** Where each file of a tree is among the bytes of all. */
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
