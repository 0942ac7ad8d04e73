/** The error class of this package. The tools of an agent never throw it. */

/**
 * Error codes of Deep Agents, and these: `INVALID_OPTIONS` for invalid options and snapshots, `SETUP_FAILED` if a sandbox cannot
 * be created, `CLOSED`, `UNSUPPORTED` if this kind of sandbox lacks the operation, `ABORTED` for a call that its caller aborted,
 * `RESTARTED` for a call that was in progress when the sandbox had to restart, `QUOTA_EXCEEDED` for a process or a connection beyond
 * the limit of the sandbox, `UNAVAILABLE` for a port without a server or in use, `TIMEOUT` for a server that does not start in
 * time. Cloud providers add: requests that they reject (`UNAUTHENTICATED`, `FORBIDDEN`, `RATE_LIMITED`, `QUOTA_EXCEEDED`,
 * `SANDBOX_NOT_FOUND`), no response (`UNAVAILABLE`, `TIMEOUT`) or an invalid one (`PROTOCOL`), and failed set-up scripts
 * (`COMMAND_TIMEOUT`, `COMMAND_FAILED`).
 */
export type SandboxErrorCode =
  | "NOT_INITIALIZED" | "ALREADY_INITIALIZED" | "FILE_OPERATION_FAILED"
  | "INVALID_OPTIONS" | "SETUP_FAILED" | "CLOSED" | "UNSUPPORTED" | "ABORTED" | "RESTARTED"
  | "UNAUTHENTICATED" | "FORBIDDEN" | "RATE_LIMITED" | "QUOTA_EXCEEDED" | "SANDBOX_NOT_FOUND" | "UNAVAILABLE" | "TIMEOUT"
  | "PROTOCOL" | "COMMAND_TIMEOUT" | "COMMAND_FAILED";

const BRAND = Symbol.for("sandbox.error");

/**
 * A sandbox could not be created or could not perform an operation. Deep Agents recognizes it across copies of packages by its
 * brand.
 */
export class SandboxError extends Error {
  /** Brand of the class, by which {@link isInstance} recognizes errors of other copies. */
  readonly [BRAND] = true;
  /** Error code. */
  readonly code: SandboxErrorCode;

  /** Creates an error, for a backend that an application implements. */
  constructor(message: string, code: SandboxErrorCode, options?: ErrorOptions) {
    super(message, options);
    this.name = "SandboxError";
    this.code = code;
  }

  /** True if a value is such an error, including one of another copy of this package or of Deep Agents. */
  static isInstance(value: unknown): value is SandboxError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}
