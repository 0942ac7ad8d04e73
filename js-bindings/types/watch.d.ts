/** Those who watch the output of a command, and the command as something to go through piece by piece. */
import type { ExecuteOptions, OutputPiece } from "./options.js";
import type { ExecuteResult } from "./protocol.js";
type Watchers = Pick<ExecuteOptions, "onOutput" | "onStdout" | "onStderr">;
/** Hands pieces to functions of the caller's. One that throws stops the command, and is heard of in its answer. */
export declare class Watch {
    #private;
    private constructor();
    /** Nothing when nobody watches. */
    static of(watchers: Watchers, stop: () => void): Watch | undefined;
    readonly piece: (piece: OutputPiece) => void;
    /** The answer, once all was handed out. */
    ended(result: ExecuteResult): ExecuteResult;
}
/** Text of pieces that may end in the middle of a character. */
export declare class Utf8 {
    #private;
    next(bytes: Uint8Array): string;
    rest(): string;
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
type Run = (options: Pick<ExecuteOptions, "onOutput" | "signal">) => Promise<ExecuteResult>;
/** Runs a command whose output is kept until somebody goes through it. */
export declare function running(run: Run, signal: AbortSignal | undefined): RunningCommand;
export {};
