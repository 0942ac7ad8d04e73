/** Interpreters of Python that keep their variables. */
/// <reference lib="esnext.disposable" preserve="true" />
import type { ExecuteOptions } from "./options.js";
import type { ExecuteResult } from "./protocol.js";
/** How a piece of code is run. */
export type PythonOptions = Pick<ExecuteOptions, "timeoutMs" | "signal" | "onOutput" | "onStdout" | "onStderr">;
/** An exception of Python that nobody caught. */
export interface PythonError {
    /** Its class. */
    readonly name: string;
    /** What `str` makes of it. */
    readonly message: string;
    /** The whole text that Python prints of it. */
    readonly traceback: string;
}
/** How a piece of code went: what a command answers, and beside it what the interpreter says. */
export interface PythonResult extends ExecuteResult {
    /** `null` while the interpreter lives. */
    exitCode: number | null;
    /** What its last expression is worth, as `repr` shows it; absent when the code ends with a statement, a semicolon or `None`. */
    value?: string;
    /** The exception that nobody caught. Its traceback is on standard error, too. */
    error?: PythonError;
    /** Paths of pictures: the figures of matplotlib that the code showed or left open. `downloadFiles` fetches them. */
    pictures: string[];
}
/**
 * An interpreter that keeps its variables, as notebooks do: `await sandbox.pythonSession()`.
 *
 * ```js
 * const python = await sandbox.pythonSession();
 * await python.run("import pandas as pd; frame = pd.DataFrame({'a': [1, 2, 3]})");
 * const { value } = await python.run("frame.a.mean()"); // "np.float64(2.0)"
 * ```
 *
 * Nothing of it runs between two calls, and calls run one after the other. It ends when a call runs out of time or is given up, when the code
 * calls `exit`, when the sandbox is closed, restored or has to start again, and by {@link close}.
 */
export declare class PythonSession {
    #private;
    /** Not to be called: see `pythonSession` of the sandbox. */
    constructor(secret: symbol, given: unknown);
    /** Whether the interpreter has ended; its variables are gone then. */
    get isOver(): boolean;
    /**
     * Runs a piece of code for at most `timeoutMs` (default `limits.wallTimeMs`); `await` works at its top level. When the time is up, and when the
     * call is given up by `signal`, the interpreter ends with all that it has started; files stay.
     *
     * @throws {SandboxError} `INVALID_OPTIONS` when the interpreter has ended before, and for more than 8 MiB of code; `CLOSED` with the sandbox.
     */
    run(code: string, options?: PythonOptions): Promise<PythonResult>;
    /** Ends the interpreter and what it has started. Closing twice is no error. */
    close(): Promise<void>;
    /** The same, for `await using`. */
    [Symbol.asyncDispose](): Promise<void>;
}
