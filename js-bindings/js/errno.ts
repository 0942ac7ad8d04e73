/** Error codes of the host as errno values of preview1. */

/** Values of `kernel/src/errno.rs` by the error codes of Node. */
export const numbers = {
  E2BIG: 1, EACCES: 2, EAGAIN: 6, EBADF: 8, EBUSY: 10, EDQUOT: 19, EEXIST: 20, EFBIG: 22, EILSEQ: 25, EINTR: 27,
  EINVAL: 28, EIO: 29, EISDIR: 31, ELOOP: 32, EMFILE: 41, EMLINK: 34, ENAMETOOLONG: 37, ENFILE: 41, ENODEV: 43, ENOENT: 44,
  ENOMEM: 48, ENOSPC: 51, ENOSYS: 52, ENOTDIR: 54, ENOTEMPTY: 55, ENOTSUP: 58, ENXIO: 60, EOVERFLOW: 61, EPERM: 63,
  EROFS: 69, ESPIPE: 70, ESTALE: 72, ETXTBSY: 74, EXDEV: 75,
} as const;

/** Returns the errno value for a thrown value. Unknown errors map to `EIO`. */
export function errno(thrown: unknown): number {
  if (typeof thrown === "number") return thrown;
  if (typeof thrown !== "object" || thrown === null) return numbers.EIO;
  const { code, name } = thrown as { code?: unknown; name?: unknown };
  // Deno without the permission.
  if (name === "NotCapable" || name === "PermissionDenied") return numbers.EACCES;
  return typeof code === "string" && Object.hasOwn(numbers, code) ? numbers[code as keyof typeof numbers] : numbers.EIO;
}
