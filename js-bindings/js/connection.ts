/** The caller's side of a Worker: calls, their answers, and what happens when the Worker is no more. */

import { SandboxError } from "./error.js";
import type { KernelOptions, Report } from "./messages.js";
import type { ExecuteOptions } from "./options.js";
import { defined } from "./options.js";
import type { Platform, SandboxWorker } from "./platform.js";
import type { ExecuteResult } from "./protocol.js";
import { shared } from "./shared.js";

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  onOutput?: ExecuteOptions["onOutput"];
}

export class Connection {
  readonly #platform: Platform;
  readonly #options: KernelOptions;
  readonly #pending = new Map<number, Pending>();
  #worker: SandboxWorker | undefined;
  #id = "";
  #last = 0;
  #opened: Pending | undefined;

  constructor(platform: Platform, options: KernelOptions) {
    this.#platform = platform;
    this.#options = options;
  }

  get id(): string {
    return this.#id;
  }

  get isOpen(): boolean {
    return this.#worker !== undefined && this.#opened === undefined;
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
      worker.send({ kernel, programs, compiled, options: this.#options });
      await opened;
    } catch (error) {
      worker.terminate();
      this.#worker = undefined;
      opened.catch(() => {});
      if (error instanceof SandboxError) throw error;
      throw new SandboxError(`create: ${error instanceof Error ? error.message : error}`, "SETUP_FAILED", { cause: error });
    } finally {
      this.#opened = undefined;
    }
    worker.hold(false);
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
      case "answer":
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

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker?.hold(false);
    return pending;
  }

  #broke(cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#end(new SandboxError(`the sandbox's Worker has ended: ${reason}; create a new one`, "CLOSED", { cause }));
  }

  #end(error: SandboxError): void {
    this.#worker = undefined;
    this.#opened?.reject(error);
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  /** Calls a method of the kernel's sandbox. */
  call<T>(method: string, args: readonly unknown[], onOutput?: ExecuteOptions["onOutput"]): Promise<T> {
    const worker = this.#worker;
    if (worker === undefined) throw new SandboxError("the sandbox is closed; create a new one", "CLOSED");
    const id = ++this.#last;
    // A command whose caller watches is told the number under which its output comes.
    const all = method === "execute" ? [...args, onOutput === undefined ? 0 : id] : args;
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject, onOutput });
      worker.hold(true);
      worker.send({ id, method, args: all });
    });
  }

  execute(command: string, { onOutput, ...options }: ExecuteOptions): Promise<ExecuteResult> {
    return this.call("execute", [String(command), defined(options)], onOutput);
  }

  close(): void {
    const worker = this.#worker;
    this.#end(new SandboxError("the sandbox was closed", "CLOSED"));
    worker?.terminate();
  }
}
