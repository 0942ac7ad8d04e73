/** The one error that this package throws, and only outside of the tools of an agent. */

/**
 * Codes of Deep Agents, and beside them: `INVALID_OPTIONS` for options and snapshots that cannot be, `SETUP_FAILED` for a
 * sandbox that could not be made, `CLOSED`, `UNSUPPORTED` for what such a sandbox cannot do, `ABORTED` for a call that its
 * caller gave up, `RESTARTED` for one that was in progress when the sandbox had to start again. Providers in the cloud have the
 * others: what they refuse (`UNAUTHENTICATED`, `FORBIDDEN`, `RATE_LIMITED`, `QUOTA_EXCEEDED`, `SANDBOX_NOT_FOUND`), that they do not
 * answer (`UNAVAILABLE`, `TIMEOUT`) or not as they should (`PROTOCOL`), and set-up scripts that fail.
 */
export type SandboxErrorCode =
  | "NOT_INITIALIZED" | "ALREADY_INITIALIZED" | "FILE_OPERATION_FAILED"
  | "INVALID_OPTIONS" | "SETUP_FAILED" | "CLOSED" | "UNSUPPORTED" | "ABORTED" | "RESTARTED"
  | "UNAUTHENTICATED" | "FORBIDDEN" | "RATE_LIMITED" | "QUOTA_EXCEEDED" | "SANDBOX_NOT_FOUND" | "UNAVAILABLE" | "TIMEOUT"
  | "PROTOCOL" | "COMMAND_TIMEOUT" | "COMMAND_FAILED";

const BRAND = Symbol.for("sandbox.error");

/** A sandbox could not be made, or could not do what it was asked. Deep Agents recognises it across copies of packages by its brand. */
export class SandboxError extends Error {
  readonly [BRAND] = true;
  readonly code: SandboxErrorCode;

  constructor(message: string, code: SandboxErrorCode, options?: ErrorOptions) {
    super(message, options);
    this.name = "SandboxError";
    this.code = code;
  }

  /** Whether a value is such an error, also of another copy of this package or of Deep Agents. */
  static isInstance(value: unknown): value is SandboxError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}
