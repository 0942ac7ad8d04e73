/** What was thrown, as answers tell it. */

import type { SandboxErrorCode } from "./error.js";
import { SandboxError } from "./error.js";

/** What an error says. Whatever was thrown: functions of the caller's throw anything, and some of it cannot be looked at. */
export function reasonOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "an error that cannot be shown";
  }
}

/** The code of an error of this package. */
export function codeOf(error: unknown): { code?: SandboxErrorCode } {
  try {
    return error instanceof SandboxError ? { code: error.code } : {};
  } catch {
    return {};
  }
}
