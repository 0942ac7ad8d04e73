/** Ids of sandboxes whose worker does not choose them. */

import type { Platform } from "./platform.js";

const ID_BYTES = 16;
/** Bytes per read, which may cost as much as a message. */
const READ_BYTES = 64 * ID_BYTES;

/** Random bytes that are not used yet. */
let unused: Uint8Array = new Uint8Array(0);

/** Returns an id in the form of those of the kernel: `sb-` and 128 random bits. */
export function randomId(platform: Platform): string {
  if (unused.length < ID_BYTES) unused = platform.randomBytes(READ_BYTES);
  const bytes = unused.subarray(0, ID_BYTES);
  unused = unused.subarray(ID_BYTES);
  return `sb-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
