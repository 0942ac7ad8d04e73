/** The result of a command as an object. `src/command_result.rs` calls it. */

import type { ExecuteResult } from "./protocol.js";

/** Keeps a byte order mark, because it is data of the guest. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Creates the result of a command from views of the kernel's memory. `numbers` are exit code, truncation, duration, processor time,
 * memory, whether the output equals `stdout`, and whether it is UTF-8; NaN for a missing one. Like
 * `values/src/response.rs` with its order of properties.
 */
export function commandResult(
  numbers: Float64Array, output: Uint8Array, stdout: Uint8Array, stderr: Uint8Array, stoppedBy?: string, process?: string,
): ExecuteResult {
  const [exitCode = NaN, truncated, durationMs = 0, cpuTimeMs = NaN, peakMemoryBytes = NaN, equalsStdout, isText] = numbers;
  const text = decoder.decode(stdout);
  const result = {
    output: equalsStdout ? text : decoder.decode(output),
    exitCode: Number.isNaN(exitCode) ? null : exitCode,
    truncated: truncated === 1,
    stdout: text,
    stderr: stderr.length === 0 ? "" : decoder.decode(stderr),
    stdoutBytes: stdout.slice(),
    stderrBytes: stderr.slice(),
    ...(!isText && { outputBytes: (equalsStdout ? stdout : output).slice() }),
    ...(stoppedBy !== undefined && { stoppedBy }),
    durationMs,
    ...(!Number.isNaN(cpuTimeMs) && { cpuTimeMs }),
    ...(!Number.isNaN(peakMemoryBytes) && { peakMemoryBytes }),
    ...(process !== undefined && { process }),
  };
  return result as ExecuteResult;
}
