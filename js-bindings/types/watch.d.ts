/** Those who watch the output of a command, and the command as something to go through piece by piece. */
import type { OutputPiece } from "./options.js";
import type { ExecuteResult } from "./protocol.js";
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
