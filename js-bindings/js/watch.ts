/** Those who watch the output of a command, and the command as something to go through piece by piece. */

import type { ExecuteOptions, OutputPiece } from "./options.js";
import type { ExecuteResult } from "./protocol.js";
import { reasonOf } from "./reason.js";

type Watchers = Pick<ExecuteOptions, "onOutput" | "onStdout" | "onStderr">;

/** @internal Hands pieces to functions of the caller's. One that throws stops the command, and is heard of in its answer. */
export class Watch {
  readonly #watchers: Watchers;
  readonly #stop: () => void;
  readonly #texts = { stdout: new Utf8(), stderr: new Utf8() };
  #failed: { error: unknown } | undefined;

  private constructor(watchers: Watchers, stop: () => void) {
    this.#watchers = watchers;
    this.#stop = stop;
  }

  /** Nothing when nobody watches. */
  static of(watchers: Watchers, stop: () => void): Watch | undefined {
    const { onOutput, onStdout, onStderr } = watchers;
    return onOutput || onStdout || onStderr ? new Watch(watchers, stop) : undefined;
  }

  readonly piece = (piece: OutputPiece): void => {
    this.#guarded(() => {
      this.#watchers.onOutput?.(piece);
      this.#text(piece.stream, this.#texts[piece.stream].next(piece.bytes));
    });
  };

  #text(stream: OutputPiece["stream"], text: string): void {
    if (text !== "") (stream === "stdout" ? this.#watchers.onStdout : this.#watchers.onStderr)?.(text);
  }

  /** The answer, once all was handed out. */
  ended(result: ExecuteResult): ExecuteResult {
    this.#guarded(() => {
      this.#text("stdout", this.#texts.stdout.rest());
      this.#text("stderr", this.#texts.stderr.rest());
    });
    if (this.#failed === undefined) return result;
    const { error } = this.#failed;
    const output = `${result.output}tidebox: the function that watches the output failed: ${reasonOf(error)}\n`;
    return { ...result, output, exitCode: null };
  }

  #guarded(work: () => void): void {
    if (this.#failed !== undefined) return;
    try {
      work();
    } catch (error) {
      this.#failed = { error };
      this.#stop();
    }
  }
}

/** @internal Text of pieces that may end in the middle of a character. */
export class Utf8 {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  next(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true });
  }

  rest(): string {
    return this.#decoder.decode();
  }
}

/** A piece of output, as its bytes and as text. */
export interface OutputChunk extends OutputPiece {
  /** What is complete of the text by now; U+FFFD for what is not UTF-8. */
  readonly text: string;
}

/**
 * A command that runs: `for await (const { stream, text } of running)` goes through its output, and `await running.result` is
 * its end, which never rejects. Leaving the loop before the end stops the command; a second loop finds nothing.
 */
export interface RunningCommand extends AsyncIterable<OutputChunk> {
  readonly result: Promise<ExecuteResult>;
}

/** @internal */
type Run = (options: Pick<ExecuteOptions, "onOutput" | "signal">) => Promise<ExecuteResult>;

/** @internal Runs a command whose output is kept until somebody goes through it. */
export function running(run: Run, signal: AbortSignal | undefined): RunningCommand {
  const pieces: OutputPiece[] = [];
  const controller = new AbortController();
  let ended = false;
  let wake = () => {};
  const giveUp = () => controller.abort(signal?.reason);
  if (signal?.aborted) giveUp();
  else signal?.addEventListener?.("abort", giveUp, { once: true });
  const onOutput = (piece: OutputPiece) => {
    pieces.push(piece);
    wake();
  };
  const result = run({ onOutput, signal: controller.signal }).finally(() => {
    ended = true;
    signal?.removeEventListener?.("abort", giveUp);
    wake();
  });
  const texts = { stdout: new Utf8(), stderr: new Utf8() };
  async function* chunks(): AsyncGenerator<OutputChunk, void, undefined> {
    try {
      for (;;) {
        const piece = pieces.shift();
        if (piece !== undefined) yield { ...piece, text: texts[piece.stream].next(piece.bytes) };
        else if (ended) break;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      for (const stream of ["stdout", "stderr"] as const) {
        const text = texts[stream].rest();
        if (text !== "") yield { stream, bytes: new Uint8Array(0), text };
      }
    } finally {
      if (!ended) controller.abort();
    }
  }
  const iterator = chunks();
  return { result, [Symbol.asyncIterator]: () => iterator };
}
