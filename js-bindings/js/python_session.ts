/// <reference lib="esnext.disposable" preserve="true" />
/** Python interpreters that keep their variables. */

import { checkKeys } from "./check.js";
import type { Connection } from "./connection.js";
import { SandboxError } from "./error.js";
import type { ExecuteOptions } from "./options.js";
import type { ExecuteResult } from "./protocol.js";

/** Options of {@link PythonSession.run}. */
export type PythonOptions = Pick<ExecuteOptions, "timeoutMs" | "signal" | "onOutput" | "onStdout" | "onStderr">;

const OPTIONS = ["timeoutMs", "signal", "onOutput", "onStdout", "onStderr"];

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

/** @internal Required by the constructor, which only `Sandbox` may call. */
export const constructorKey = Symbol("python session");

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
export class PythonSession {
  readonly #connection: Connection;
  readonly #number: number;
  readonly #ended = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;

  /** Private: use `pythonSession` of the sandbox. */
  constructor(secret: symbol, input: unknown) {
    if (secret !== constructorKey) throw new SandboxError("use sandbox.pythonSession()", "NOT_INITIALIZED");
    const { connection, number } = input as { connection: Connection; number: number };
    this.#connection = connection;
    this.#number = number;
  }

  /** True if the interpreter has exited. Its variables are lost then. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Runs code for at most `timeoutMs` (default `limits.wallTimeMs`). Top-level `await` is supported. After a timeout or a
   * cancellation by `signal` the interpreter ends with all processes that it started; files stay.
   *
   * @throws {SandboxError} `INVALID_OPTIONS` if the interpreter has exited before, or for more than 8 MiB of code; `CLOSED` if
   * the sandbox is closed.
   */
  async run(code: string, options: PythonOptions = {}): Promise<PythonResult> {
    if (typeof code !== "string") throw new SandboxError("the code must be a string", "INVALID_OPTIONS");
    checkKeys("option", options, OPTIONS);
    const running = this.#last.then(() => this.#run(code, options));
    this.#last = running.catch(() => {});
    return running;
  }

  async #run(code: string, options: PythonOptions): Promise<PythonResult> {
    if (this.#isOver) {
      throw new SandboxError("the interpreter has exited and its variables are lost; start another session", "INVALID_OPTIONS");
    }
    const signals = [this.#ended.signal, ...(options.signal ? [options.signal] : [])];
    // A call that was cancelled before it started has no effect.
    const begins = !signals.some(({ aborted }) => aborted);
    try {
      const { reply, exited = begins, ...result } = await this.#connection.python(this.#number, code, { ...options, signal: AbortSignal.any(signals) });
      this.#isOver = exited;
      const { value, error, pictures = [] } = JSON.parse(reply ?? "{}") as Partial<PythonResult>;
      return { ...result, ...(value != null && { value }), ...(error != null && { error }), pictures };
    } catch (error) {
      // Invalid options and code have no effect.
      const isInvalid = error instanceof SandboxError && error.code === "INVALID_OPTIONS";
      this.#isOver = !isInvalid || error.message.includes("has exited");
      throw error;
    }
  }

  /**
   * Saves the session, so that another sandbox can continue it. Not supported in JavaScript: the Rust library and the Python
   * package can do it.
   *
   * @throws {SandboxError} Always `UNSUPPORTED`.
   */
  async save(): Promise<never> {
    const message = "Python sessions cannot be saved in JavaScript; save files with snapshot(), or use the Rust library or the Python package";
    throw new SandboxError(message, "UNSUPPORTED");
  }

  /** Ends the interpreter and the processes that it started. Closing twice is not an error. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#last;
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#connection.call("pythonEnd", [this.#number]).catch(() => {});
  }

  /** Like {@link close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
