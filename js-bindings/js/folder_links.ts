/**
 * Which symbolic links a guest may leave behind in a folder of the host; the rules of `mounts/src/host_dir/link.rs`.
 *
 * Inside the sandbox no link leads out, because the kernel follows them there. But programs of the host follow them too, so
 * none is made that leads out of the folder: a target is relative, and goes up at its beginning only and no further than to
 * the folder's root. A `..` behind a name is refused, since that name may be a link to somewhere less deep.
 */

import { numbers } from "./errno.js";
import type { FolderHost } from "./folders.js";

const SLASH = 47;

/** Links that a directory may hold when it is moved to where it is less deep: each has to be looked at. */
const LOOKED_AT = 100_000;

const DIRECTORY = 2;
const LINK = 3;

/** How many directories lie between a path's directory and the root. */
export function depth(path: Uint8Array): number {
  return path.filter((byte) => byte === SLASH).length;
}

/** Throws an errno when a link in a directory this deep may not hold the target. */
export function checkTarget(target: Uint8Array, deep: number): void {
  const parts = Buffer.from(target).toString("latin1").split("/").filter((part) => part !== "" && part !== ".");
  const first = parts.findIndex((part) => part !== "..");
  const up = first < 0 ? parts.length : first;
  if (target[0] === SLASH || up > deep || parts.indexOf("..", up) >= 0) throw numbers.EPERM;
}

/** Throws an errno when what is at `from` may not be moved to `to`. */
export function checkMove(host: FolderHost, folder: number, from: Uint8Array, to: Uint8Array, kind: number): void {
  if (depth(to) >= depth(from)) return;
  const pending: [path: Uint8Array, kind: number, deep: number][] = [[from, kind, depth(to)]];
  let left = LOOKED_AT;
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    const [path, what, deep] = one;
    if (left-- === 0) throw numbers.EXDEV;
    if (what === LINK) checkTarget(host.folderReadLink(folder, path), deep);
    if (what !== DIRECTORY) continue;
    for (const [name, below] of host.folderList(folder, path)) {
      pending.push([Buffer.concat([path, Buffer.of(SLASH), name]), below, deep + 1]);
    }
  }
}
