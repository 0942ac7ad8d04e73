/** Errors of calls that were not completed. */

import type { SandboxErrorCode } from "./error.js";
import { SandboxError } from "./error.js";
import type { Failure } from "./messages.js";

/** The worker failed because of another sandbox. */
export class NeighbourError extends Error {}

/** The worker did not end a command in time. */
export class WorkerTimeoutError extends SandboxError {
  constructor() {
    super("the sandbox was restarted because a command did not end; files are as of the last completed call", "RESTARTED");
  }
}

export function closedError(): SandboxError {
  return new SandboxError("the sandbox was closed", "CLOSED");
}

/** For what a sandbox that moves does not have. */
export function movedError(): SandboxError {
  return new SandboxError("the sandbox was restarted in another worker", "RESTARTED");
}

export function abortedError(signal: AbortSignal): SandboxError {
  return new SandboxError("the call was aborted by its caller", "ABORTED", { cause: signal.reason });
}

const CODES: Readonly<Record<string, SandboxErrorCode>> = {
  closed: "CLOSED", invalid_request: "INVALID_OPTIONS", file_operation_failed: "FILE_OPERATION_FAILED", unsupported: "UNSUPPORTED",
  quota_exceeded: "QUOTA_EXCEEDED", unavailable: "UNAVAILABLE", timeout: "TIMEOUT",
};

export function toSandboxError({ kind, message }: Failure): SandboxError {
  return new SandboxError(message, CODES[kind] ?? "FILE_OPERATION_FAILED");
}
