/**
 * The caller's side of a Worker: calls, their answers, and what happens when the Worker is no more.
 *
 * A Worker ends when the caller closes the sandbox; when a command does not end in time although it was told to, and the
 * Worker is terminated for it; and when it breaks. In the last two cases another one takes its place, with the files as they
 * were after the last call that was answered.
 */

import { SandboxError } from "./error.js";
import type { Changes, KernelOptions, Report } from "./messages.js";
import type { ExecuteOptions } from "./options.js";
import { checkExecuteOptions, defined } from "./options.js";
import type { Platform, SandboxWorker } from "./platform.js";
import type { ExecuteResult } from "./protocol.js";
import { shared } from "./shared.js";

/** Wall time of a command that names no timeout; as in `core/src/limits.rs`. */
const WALL_TIME_MS = 120_000;
/** How long after a command's time its Worker may still take to end it by itself. */
const GRACE_MS = 2_000;
/** The longest time that a timer can be set to. */
const LONGEST_MS = 2 ** 31 - 1;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  onOutput?: ExecuteOptions["onOutput"];
}

/** A command was not ended by its own Worker. */
class Overdue extends Error {}

export class Connection {
  readonly #platform: Platform;
  readonly #options: KernelOptions;
  readonly #pending = new Map<number, Pending>();
  #changes: Uint8Array[] = [];
  #worker: SandboxWorker | undefined;
  /** Set while a Worker starts. */
  #opened: Pending | undefined;
  /** Settled when calls can be made; rejected when none ever can be. */
  #ready: Promise<void> = Promise.resolve();
  #id = "";
  #last = 0;

  constructor(platform: Platform, options: KernelOptions) {
    this.#platform = platform;
    this.#options = options;
  }

  get id(): string {
    return this.#id;
  }

  get isOpen(): boolean {
    return this.#worker !== undefined;
  }

  /** Starts the Worker, and waits until the sandbox is there. */
  async open(): Promise<void> {
    // Starting a Worker takes the longest, so that comes first.
    const worker = this.#start();
    const opened = new Promise<unknown>((resolve, reject) => {
      this.#opened = { resolve, reject };
    });
    try {
      const { kernel, programs, compiled } = await shared(this.#platform);
      worker.send({ kernel, programs, compiled, options: this.#options, changes: this.#changes });
      await opened;
    } catch (error) {
      opened.catch(() => {});
      if (this.#worker === worker) this.#worker = undefined;
      worker.terminate();
      if (error instanceof SandboxError) throw error;
      throw new SandboxError(`create: ${error instanceof Error ? error.message : error}`, "SETUP_FAILED", { cause: error });
    } finally {
      this.#opened = undefined;
    }
    if (this.#pending.size === 0) worker.hold(false);
  }

  #start(): SandboxWorker {
    const worker: SandboxWorker = this.#platform.start({
      report: (report) => {
        if (this.#worker === worker) this.#report(report);
      },
      broke: (error) => {
        if (this.#worker === worker) this.#broke(error);
      },
    });
    this.#worker = worker;
    return worker;
  }

  #report(report: Report): void {
    switch (report.what) {
      case "ready":
        this.#id = report.id;
        return this.#opened?.resolve(undefined);
      case "failed":
        return this.#opened?.reject(new SandboxError(report.failure.message, "INVALID_OPTIONS"));
      case "broken":
        return this.#broke(new Error(report.reason));
      case "answer":
        this.#keep(report.changes);
        return this.#settle(report.id)?.resolve(report.value);
      case "refusal":
        return this.#settle(report.id)?.reject(new Error(report.failure.message));
      case "output": {
        const { stderr, bytes } = report;
        return this.#pending.get(report.id)?.onOutput?.({ stream: stderr ? "stderr" : "stdout", bytes });
      }
      case "compiled":
        return void shared(this.#platform).then(({ compiled }) => compiled.set(report.file, report.module));
    }
  }

  #keep(changes: Changes | undefined): void {
    if (changes === undefined) return;
    if (changes.joined) this.#changes = [];
    this.#changes.push(changes.bytes);
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker?.hold(false);
    return pending;
  }

  #broke(cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (this.#opened !== undefined) {
      this.#opened.reject(new Error(`the sandbox's Worker cannot start: ${reason}`));
      return;
    }
    const message = `the sandbox had to start again (${reason}); its files are those after the last call that was answered`;
    this.#restart(new Error(message));
  }

  /** Puts another Worker in the place of this one. Who waits for it learns `why`. */
  #restart(why: Error): void {
    const worker = this.#worker;
    this.#options.id = this.#id;
    this.#ready = this.open();
    // Whoever calls next is told.
    this.#ready.catch(() => {});
    worker?.terminate();
    this.#reject(why);
  }

  #reject(error: Error): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
  }

  /** Calls a method of the kernel's sandbox. */
  async call<T>(method: string, args: readonly unknown[], onOutput?: ExecuteOptions["onOutput"]): Promise<T> {
    await this.#ready;
    const worker = this.#worker;
    if (worker === undefined) throw new SandboxError("the sandbox is closed; create a new one", "CLOSED");
    const id = ++this.#last;
    // A command whose caller watches is told the number under which its output comes.
    const all = method === "execute" ? [...args, onOutput === undefined ? 0 : id] : args;
    // What cannot be sent is thrown here, before anybody waits for an answer.
    worker.send({ id, method, args: all });
    worker.hold(true);
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject, onOutput });
    });
  }

  async execute(command: string, given: ExecuteOptions): Promise<ExecuteResult> {
    const { onOutput, ...options } = checkExecuteOptions(given);
    const limit = options.timeoutMs ?? this.#options.limits?.["wallTimeMs"] ?? WALL_TIME_MS;
    await this.#ready;
    const worker = this.#worker;
    const late = () => {
      if (this.#worker === worker) this.#restart(new Overdue());
    };
    const timer = setTimeout(late, Math.min(limit + GRACE_MS, LONGEST_MS));
    try {
      return await this.call("execute", [String(command), defined(options)], onOutput);
    } catch (error) {
      if (!(error instanceof Overdue)) throw error;
      const output =
        `tidebox: the command was stopped because it ran for ${limit} ms, and with it all that ran beside it; ` +
        "the files are those after the last call that was answered\n";
      return { output, exitCode: 124, truncated: false, stoppedBy: "timeout" };
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    const worker = this.#worker;
    const error = new SandboxError("the sandbox was closed", "CLOSED");
    this.#worker = undefined;
    this.#changes = [];
    this.#opened?.reject(error);
    this.#reject(error);
    worker?.terminate();
  }
}
