/** Results of commands that have none of a worker: their output is lost, only a message remains. */

import type { ExecuteResult } from "./protocol.js";

export function notStartedResult(): ExecuteResult {
  return messageOnly("the command was not started: its caller had cancelled it", 137, "cancelled");
}

/** `lost` names further state that the sandbox has lost, as a clause. */
export function timeoutResult(limitMs: number, lost: string): ExecuteResult {
  const reason = `the command was stopped because it ran for ${limitMs} ms`;
  return messageOnly(`${reason}, with all other running commands; files are as of the last completed call${lost}`, 124, "timeout");
}

/** `lost` as in {@link timeoutResult}. */
export function cancelledResult(lost: string): ExecuteResult {
  const reason = "the command was stopped because its caller cancelled it";
  return messageOnly(`${reason}, with all other running commands; files are as of the last completed call${lost}`, 137, "cancelled");
}

function messageOnly(message: string, exitCode: number, stoppedBy: "timeout" | "cancelled"): ExecuteResult {
  const output = `tidebox: ${message}\n`;
  const stderrBytes = new TextEncoder().encode(output);
  return { output, stdout: "", stderr: output, stdoutBytes: new Uint8Array(0), stderrBytes, truncated: false, exitCode, stoppedBy };
}
