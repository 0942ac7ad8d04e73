/**
 * Rules for symbolic links that a guest creates in a host directory; as in `mounts/src/host_dir/link.rs`.
 *
 * The kernel resolves links inside the sandbox, so they cannot escape it. Host programs follow them too, so links that lead out
 * of the directory are rejected: a target must be relative, and `..` is allowed only at its start and no further up than the
 * mounted directory. A `..` after a name is rejected, because that name may be a link to a directory at a lower depth.
 */

import { numbers } from "./errno.js";
import type { DirectoryHost } from "./directories.js";

const SLASH = 47;

/** Maximum entries checked when a directory moves to a lower depth; each link in it has to be checked again. */
const MAX_CHECKED = 100_000;

const DIRECTORY = 2;
const LINK = 3;

/** Returns the number of directories between a path's directory and the root. */
export function depth(path: Uint8Array): number {
  return path.filter((byte) => byte === SLASH).length;
}

/** Throws an errno if a link in a directory of this depth must not have the target. */
export function checkTarget(target: Uint8Array, deep: number): void {
  const parts = Buffer.from(target).toString("latin1").split("/").filter((part) => part !== "" && part !== ".");
  const first = parts.findIndex((part) => part !== "..");
  const up = first < 0 ? parts.length : first;
  if (target[0] === SLASH || up > deep || parts.indexOf("..", up) >= 0) throw numbers.EPERM;
}

/** Throws an errno if `from` must not be moved to `to`. */
export function checkMove(host: DirectoryHost, dir: number, from: Uint8Array, to: Uint8Array, kind: number): void {
  if (depth(to) >= depth(from)) return;
  const pending: [path: Uint8Array, kind: number, deep: number][] = [[from, kind, depth(to)]];
  let left = MAX_CHECKED;
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    const [path, what, deep] = entry;
    if (left-- === 0) throw numbers.EXDEV;
    if (what === LINK) checkTarget(host.dirReadLink(dir, path), deep);
    if (what !== DIRECTORY) continue;
    for (const [name, below] of host.dirList(dir, path)) {
      pending.push([Buffer.concat([path, Buffer.of(SLASH), name]), below, deep + 1]);
    }
  }
}
