/** Delivery of the output of a command: to callbacks, and as an async iterator. */

import type { ExecuteOptions, OutputChunk } from "./options.js";
import type { ExecuteResult } from "./protocol.js";
import { messageOf } from "./error_message.js";

type OutputCallbacks = Pick<ExecuteOptions, "onOutput" | "onStdout" | "onStderr">;

/** @internal Passes chunks to callbacks of the caller. If one throws, the command is stopped and the result has the error. */
export class OutputListener {
  readonly #callbacks: OutputCallbacks;
  readonly #stop: () => void;
  readonly #texts = { stdout: new Utf8(), stderr: new Utf8() };
  #failure: { error: unknown } | undefined;

  private constructor(callbacks: OutputCallbacks, stop: () => void) {
    this.#callbacks = callbacks;
    this.#stop = stop;
  }

  /** Returns `undefined` without callbacks. */
  static of(callbacks: OutputCallbacks, stop: () => void): OutputListener | undefined {
    const { onOutput, onStdout, onStderr } = callbacks;
    return onOutput || onStdout || onStderr ? new OutputListener(callbacks, stop) : undefined;
  }

  readonly chunk = (chunk: OutputChunk): void => {
    this.#catchErrors(() => {
      this.#callbacks.onOutput?.(chunk);
      this.#text(chunk.stream, this.#texts[chunk.stream].next(chunk.bytes));
    });
  };

  #text(stream: OutputChunk["stream"], text: string): void {
    if (text !== "") (stream === "stdout" ? this.#callbacks.onStdout : this.#callbacks.onStderr)?.(text);
  }

  /** Returns the result after all output was delivered. */
  finish(result: ExecuteResult): ExecuteResult {
    this.#catchErrors(() => {
      this.#text("stdout", this.#texts.stdout.rest());
      this.#text("stderr", this.#texts.stderr.rest());
    });
    if (this.#failure === undefined) return result;
    const { error } = this.#failure;
    const output = `${result.output}tidebox: the output callback failed: ${messageOf(error)}\n`;
    return { ...result, output, exitCode: null };
  }

  #catchErrors(work: () => void): void {
    if (this.#failure !== undefined) return;
    try {
      work();
    } catch (error) {
      this.#failure = { error };
      this.#stop();
    }
  }
}

/** @internal Decoder of chunks that may end within a character. */
export class Utf8 {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  next(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true });
  }

  rest(): string {
    return this.#decoder.decode();
  }
}

/** A chunk of output, as bytes and as text. */
export interface TextChunk extends OutputChunk {
  /** Decoded text up to the last complete character. U+FFFD replaces invalid UTF-8. */
  readonly text: string;
}

/**
 * A running command: `for await (const { stream, text } of running)` iterates over its output, and `await running.result` is its
 * result, which never rejects. Leaving the loop early stops the command. The output can be iterated over once.
 */
export interface RunningCommand extends AsyncIterable<TextChunk> {
  /** Result of the command, after its end. Never rejects. */
  readonly result: Promise<ExecuteResult>;
}

/** @internal */
type Run = (options: Pick<ExecuteOptions, "onOutput" | "signal">) => Promise<ExecuteResult>;

/** @internal Runs a command and buffers its output until it is iterated over. */
export function runCommand(run: Run, signal: AbortSignal | undefined): RunningCommand {
  const chunks: OutputChunk[] = [];
  const controller = new AbortController();
  let finish = false;
  let wake = () => {};
  const cancel = () => controller.abort(signal?.reason);
  if (signal?.aborted) cancel();
  else signal?.addEventListener?.("abort", cancel, { once: true });
  const onOutput = (chunk: OutputChunk) => {
    chunks.push(chunk);
    wake();
  };
  const result = run({ onOutput, signal: controller.signal }).finally(() => {
    finish = true;
    signal?.removeEventListener?.("abort", cancel);
    wake();
  });
  const texts = { stdout: new Utf8(), stderr: new Utf8() };
  async function* textChunks(): AsyncGenerator<TextChunk, void, undefined> {
    try {
      for (;;) {
        const chunk = chunks.shift();
        if (chunk !== undefined) yield { ...chunk, text: texts[chunk.stream].next(chunk.bytes) };
        else if (finish) break;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      for (const stream of ["stdout", "stderr"] as const) {
        const text = texts[stream].rest();
        if (text !== "") yield { stream, bytes: new Uint8Array(0), text };
      }
    } finally {
      if (!finish) controller.abort();
    }
  }
  const iterator = textChunks();
  return { result, [Symbol.asyncIterator]: () => iterator };
}
