/** Conversion of thrown values to error messages and codes. */

import type { SandboxErrorCode } from "./error.js";
import { SandboxError } from "./error.js";

/**
 * Returns the message of a thrown value. Callbacks of the caller may throw anything, including values that cannot be converted.
 */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "an error that cannot be shown";
  }
}

/** Returns the code of an error of this package. */
export function errorCode(error: unknown): { code?: SandboxErrorCode } {
  try {
    return error instanceof SandboxError ? { code: error.code } : {};
  } catch {
    return {};
  }
}
