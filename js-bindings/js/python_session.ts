/// <reference lib="esnext.disposable" preserve="true" />
/** Interpreters of Python that keep their variables. */

import { known } from "./check.js";
import type { Connection } from "./connection.js";
import { SandboxError } from "./error.js";
import type { ExecuteOptions } from "./options.js";
import type { ExecuteResult } from "./protocol.js";

/** How a piece of code is run. */
export type PythonOptions = Pick<ExecuteOptions, "timeoutMs" | "signal" | "onOutput" | "onStdout" | "onStderr">;

const OPTIONS = ["timeoutMs", "signal", "onOutput", "onStdout", "onStderr"];

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

/** @internal Only the class of sandboxes has it. */
export const made = Symbol("python session");

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
export class PythonSession {
  readonly #connection: Connection;
  readonly #number: number;
  readonly #ended = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;

  /** Not to be called: see `pythonSession` of the sandbox. */
  constructor(secret: symbol, given: unknown) {
    if (secret !== made) throw new SandboxError("use sandbox.pythonSession()", "NOT_INITIALIZED");
    const { connection, number } = given as { connection: Connection; number: number };
    this.#connection = connection;
    this.#number = number;
  }

  /** Whether the interpreter has ended; its variables are gone then. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Runs a piece of code for at most `timeoutMs` (default `limits.wallTimeMs`); `await` works at its top level. When the time is up, and when the
   * call is given up by `signal`, the interpreter ends with all that it has started; files stay.
   *
   * @throws {SandboxError} `INVALID_OPTIONS` when the interpreter has ended before, and for more than 8 MiB of code; `CLOSED` with the sandbox.
   */
  async run(code: string, options: PythonOptions = {}): Promise<PythonResult> {
    if (typeof code !== "string") throw new SandboxError("the code must be a string", "INVALID_OPTIONS");
    known("option", options, OPTIONS);
    const running = this.#last.then(() => this.#run(code, options));
    this.#last = running.catch(() => {});
    return running;
  }

  async #run(code: string, options: PythonOptions): Promise<PythonResult> {
    if (this.#isOver) {
      throw new SandboxError("the interpreter has ended, and its variables are gone; begin another session", "INVALID_OPTIONS");
    }
    const signals = [this.#ended.signal, ...(options.signal ? [options.signal] : [])];
    // One that was given up before it began has changed nothing.
    const begins = !signals.some(({ aborted }) => aborted);
    try {
      const { reply, over = begins, ...result } = await this.#connection.python(this.#number, code, { ...options, signal: AbortSignal.any(signals) });
      this.#isOver = over;
      const { value, error, pictures = [] } = JSON.parse(reply ?? "{}") as Partial<PythonResult>;
      return { ...result, ...(value != null && { value }), ...(error != null && { error }), pictures };
    } catch (error) {
      // Options and code that cannot be have changed nothing.
      const refused = error instanceof SandboxError && error.code === "INVALID_OPTIONS";
      this.#isOver = !refused || error.message.includes("has ended");
      throw error;
    }
  }

  /** Ends the interpreter and what it has started. Closing twice is no error. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#last;
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#connection.call("pythonEnd", [this.#number]).catch(() => {});
  }

  /** The same, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
