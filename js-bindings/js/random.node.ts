/** Random bytes in Node and Deno. */

import { fs } from "./builtins.node.js";

const DEVICE = "/dev/urandom";

/**
 * Returns random bytes of the system. Node takes several milliseconds to load `crypto`, for which the first sandbox would wait, so
 * they come from the device that it is seeded from. Deno has `crypto` loaded, and reading the device there takes a permission.
 */
export function randomBytes(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(count);
  return process.versions["deno"] === undefined && fillFromDevice(bytes) ? bytes : crypto.getRandomValues(bytes);
}

/** Returns false where the system has no such device. */
function fillFromDevice(bytes: Uint8Array): boolean {
  let file: number | undefined;
  try {
    file = fs.openSync(DEVICE, "r");
    return fs.fstatSync(file).isCharacterDevice() && fs.readSync(file, bytes) === bytes.length;
  } catch {
    return false;
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}
