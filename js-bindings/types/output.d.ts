/** Delivery of the output of a command: to callbacks, and as an async iterator. */
import type { OutputChunk } from "./options.js";
import type { ExecuteResult } from "./protocol.js";
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
