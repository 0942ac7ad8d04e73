/** Random bytes for the kernel. */

/** Maximum bytes per call of `crypto.getRandomValues`. */
const RANDOM_BYTES = 65536;

/** Number of bytes per read from a source other than `crypto`. */
const READ_BYTES = 4096;

/** Random bytes that are not used yet. */
let randomBytes = new Uint8Array(0);
let moreBytes: ((count: number) => Uint8Array<ArrayBuffer>) | undefined;

/**
 * Uses random bytes of the owner first: in Node the first use of `crypto` takes some milliseconds in every thread, which the owner
 * has while a worker starts. `more` returns further ones; absent if `crypto` does.
 */
export function useRandomBytes(bytes: Uint8Array<ArrayBuffer>, more: typeof moreBytes): void {
  [randomBytes, moreBytes] = [bytes, more];
}

export function random(to: Uint8Array<ArrayBuffer>): void {
  if (to.length > randomBytes.length && to.length <= READ_BYTES && moreBytes !== undefined) randomBytes = moreBytes(READ_BYTES);
  if (to.length <= randomBytes.length) {
    const used = randomBytes.subarray(0, to.length);
    to.set(used);
    // Bytes must never be used twice.
    used.fill(0);
    randomBytes = randomBytes.subarray(to.length);
    return;
  }
  for (let at = 0; at < to.length; at += RANDOM_BYTES) {
    crypto.getRandomValues(to.subarray(at, at + RANDOM_BYTES));
  }
}
