/** Python interpreters that keep their variables. */
/// <reference lib="esnext.disposable" preserve="true" />
import type { ExecuteOptions } from "./options.js";
import type { ExecuteResult } from "./protocol.js";
/** Options of {@link PythonSession.run}. */
export type PythonOptions = Pick<ExecuteOptions, "timeoutMs" | "signal" | "onOutput" | "onStdout" | "onStderr">;
/** An uncaught Python exception. */
export interface PythonError {
    /** Name of its class. */
    readonly name: string;
    /** Its text, as returned by `str`. */
    readonly message: string;
    /** The traceback as printed by Python. */
    readonly traceback: string;
}
/** Result of {@link PythonSession.run}: the fields of a command, and those of the interpreter. */
export interface PythonResult extends ExecuteResult {
    /** `null` while the interpreter runs. */
    exitCode: number | null;
    /** `repr` of the last expression. Absent if the code ends with a statement, a semicolon or `None`. */
    value?: string;
    /** The uncaught exception. Its traceback is also written to standard error. */
    error?: PythonError;
    /** Paths of images: the matplotlib figures that the code showed or left open. `downloadFiles` fetches them. */
    pictures: string[];
}
/**
 * A Python interpreter that keeps its variables, as in a notebook: `await sandbox.pythonSession()`.
 *
 * ```js
 * const python = await sandbox.pythonSession();
 * await python.run("import pandas as pd; frame = pd.DataFrame({'a': [1, 2, 3]})");
 * const { value } = await python.run("frame.a.mean()"); // "np.float64(2.0)"
 * ```
 *
 * It is paused between two calls, and calls run one after the other. It ends when a call times out or is cancelled, when the code
 * calls `exit`, when the sandbox is closed, restored or restarted, and by {@link close}.
 */
export declare class PythonSession {
    #private;
    /** Private: use `pythonSession` of the sandbox. */
    constructor(secret: symbol, input: unknown);
    /** True if the interpreter has exited. Its variables are lost then. */
    get isOver(): boolean;
    /**
     * Runs code for at most `timeoutMs` (default `limits.wallTimeMs`). Top-level `await` is supported. After a timeout or a
     * cancellation by `signal` the interpreter ends with all processes that it started; files stay.
     *
     * @throws {SandboxError} `INVALID_OPTIONS` if the interpreter has exited before, or for more than 8 MiB of code; `CLOSED` if
     * the sandbox is closed.
     */
    run(code: string, options?: PythonOptions): Promise<PythonResult>;
    /**
     * Saves the session, so that another sandbox can continue it. Not supported in JavaScript: the Rust library and the Python
     * package can do it.
     *
     * @throws {SandboxError} Always `UNSUPPORTED`.
     */
    save(): Promise<never>;
    /** Ends the interpreter and the processes that it started. Closing twice is not an error. */
    close(): Promise<void>;
    /** Like {@link close}, for `await using`. */
    [Symbol.asyncDispose](): Promise<void>;
}
