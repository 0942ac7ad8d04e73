/** Progress of the command line on standard error: one line that changes on a terminal, lines of text otherwise. */

import type { ByteCount, ProgressCallback } from "./pack_options.js";

/** Interval of updates on a terminal, and of lines about the same step otherwise, in milliseconds. */
const [FRAME, LINE] = [200, 10_000];

/** Width of the bar, in characters. */
const BAR = 24;

/** A running display. */
export interface ProgressDisplay {
  /** Shows an event. */
  readonly report: ProgressCallback;
  /** Ends the display. */
  stop(): void;
}

/** Starts a display; `name` is written before each step. */
export function showProgress(name: string): ProgressDisplay {
  const { isTTY: terminal = false } = process.stderr;
  let [step, started, bytes] = ["", Date.now(), undefined as ByteCount | undefined];
  const seconds = () => Math.floor((Date.now() - started) / 1000);
  const update = () => {
    if (step === "") return;
    process.stderr.write(terminal ? `\r\x1b[K${name}: ${step} ${bar(bytes, seconds())}` : `${name}: ${step}: ${amount(bytes, seconds())}\n`);
  };
  const timer = setInterval(update, terminal ? FRAME : LINE);
  timer.unref();
  return {
    report(next, size) {
      bytes = size;
      if (next === step) return;
      if (terminal && step !== "") process.stderr.write(`\r\x1b[K${name}: ${step} (${seconds()} s)\n`);
      [step, started] = [next, Date.now()];
      if (!terminal) process.stderr.write(`${name}: ${step}\n`);
    },
    stop() {
      clearInterval(timer);
      if (terminal) process.stderr.write("\r\x1b[K");
    },
  };
}

function bar(bytes: ByteCount | undefined, seconds: number): string {
  if (!bytes?.total) return amount(bytes, seconds);
  const share = Math.min(1, bytes.done / bytes.total);
  const filled = Math.floor(BAR * share);
  return `[${"=".repeat(filled)}${" ".repeat(BAR - filled)}] ${Math.floor(100 * share)} % ${amount(bytes, seconds)}`;
}

function amount(bytes: ByteCount | undefined, seconds: number): string {
  if (bytes === undefined) return `${seconds} s`;
  const megabytes = (count: number) => (count / 1e6).toFixed(1);
  return bytes.total === undefined ? `${megabytes(bytes.done)} MB` : `${megabytes(bytes.done)} of ${megabytes(bytes.total)} MB`;
}
