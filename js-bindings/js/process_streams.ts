/** The output of a process for the adapters of agent frameworks: as pages, and as two streams. */

import type { OutputChunk } from "./options.js";
import type { Process, ProcessOutput } from "./process.js";

/** Milliseconds for which one call waits for output or the end. */
const LONG_POLL_MS = 20_000;
/** Bytes that are kept of a stream which is not read, while the other one is. The sandbox keeps as much of both by default. */
const KEPT_BYTES = 1 << 20;

/** Iterates over the output of a process until its end. The last page has its state. */
export async function* outputPages(process: Process): AsyncGenerator<ProcessOutput, void, undefined> {
  for (let after = 0, running = true; running; ) {
    const page = await process.read({ after, waitMs: LONG_POLL_MS });
    ({ next: after, running } = page);
    yield page;
  }
}

/** Chunks that were not read. If there are too many bytes, the oldest are dropped. */
class KeptChunks {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isRead = true;

  add(bytes: Uint8Array): void {
    if (!this.#isRead || bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    while (this.#bytes > KEPT_BYTES && this.#chunks.length > 1) this.take();
  }

  take(): Uint8Array | undefined {
    const chunk = this.#chunks.shift();
    this.#bytes -= chunk?.length ?? 0;
    return chunk;
  }

  /** The reader has cancelled the stream. */
  discard(): void {
    this.#isRead = false;
    this.#chunks = [];
    this.#bytes = 0;
  }
}

/** Standard output and standard error of a process. */
export interface OutputStreams {
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
}

/**
 * Returns the output of a process as streams. Output is requested from the sandbox while one of them is read. What is not read
 * stays in the sandbox, which keeps `limits.backgroundOutputBytes` of it, the newest. Cancelling a stream does not stop the process.
 */
export function outputStreams(process: Process): OutputStreams {
  const kept = { stdout: new KeptChunks(), stderr: new KeptChunks() };
  const pages = outputPages(process);
  let hasEnded = false;
  let reading: Promise<void> | undefined;
  const keep = ({ stream, bytes }: OutputChunk) => kept[stream].add(bytes);
  const readPage = async () => {
    try {
      const { done, value } = await pages.next();
      if (done) hasEnded = true;
      else value.chunks.forEach(keep);
    } catch {
      // The sandbox has ended. `wait` of the adapter reports it.
      hasEnded = true;
    } finally {
      reading = undefined;
    }
  };
  const stream = (name: OutputChunk["stream"]) => new ReadableStream<Uint8Array>({
    async pull(controller) {
      let chunk = kept[name].take();
      while (chunk === undefined && !hasEnded) {
        await (reading ??= readPage());
        chunk = kept[name].take();
      }
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: () => kept[name].discard(),
  }, { highWaterMark: 0 });
  return { stdout: stream("stdout"), stderr: stream("stderr") };
}

/** Returns the standard input of a process that was started with `stdin: true` as a stream. */
export function inputStream(process: Process): WritableStream<Uint8Array> {
  return new WritableStream({
    write: (chunk) => process.write(chunk),
    close: () => process.closeStdin(),
    abort: () => process.closeStdin(),
  });
}
