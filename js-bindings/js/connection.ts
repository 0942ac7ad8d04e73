/**
 * The caller's side of a worker: calls, their results, and replacement of a worker that has ended.
 *
 * A worker ends when the caller closes the sandbox, when a command does not end after its timeout or cancellation and the worker
 * is terminated, or when it fails. In the last two cases a new worker replaces it, with the files as of the last completed call.
 */

import { defined } from "./check.js";
import type { SandboxErrorCode } from "./error.js";
import { SandboxError } from "./error.js";
import type { Gateway } from "./gateway.js";
import { fetchGateway } from "./gateway.js";
import { HostCalls } from "./host_calls.js";
import type { Changes, Failure, HostRequest, HostResponse, KernelOptions, WorkerOutput } from "./messages.js";
import { CANCEL_SLOTS, MESSAGE_COUNT, SHARED_SLOTS } from "./messages.js";
import type { Checked, Command, ExecuteOptions, OutputChunk } from "./options.js";
import { checkExecuteOptions } from "./options.js";
import { packWork } from "./pack_work.js";
import type { PackLocation } from "./packs.js";
import type { Platform, Rewrite, SandboxWorker } from "./platform.js";
import type { ExecuteResult } from "./protocol.js";
import { messageOf } from "./error_message.js";
import { Requests } from "./requests.js";
import { cachedModules } from "./module_cache.js";
import { OutputListener } from "./output.js";

/** Wall time of a command without a timeout, in milliseconds; as in `core/src/limits.rs`. */
const WALL_TIME_MS = 120_000;
/** Milliseconds that a worker has to end a command after its timeout or its cancellation, before the worker is terminated. */
const GRACE_MS = 2_000;
/** Maximum delay of a timer, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Methods that stream output and can be cancelled. */
const COMMANDS = ["execute", "pythonRun"];

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  onOutput: ((chunk: OutputChunk) => void) | undefined;
  /** Runs before any later message of the worker is handled. */
  onResult: (() => void) | undefined;
}

/** Result fields of a Python interpreter, in addition to those of a command. */
export interface InterpreterReply {
  /** JSON. */
  readonly reply?: string;
  /** True if the interpreter has exited. */
  readonly exited?: boolean;
}

/** Options of a call to the worker. */
interface CallContext {
  onOutput?: ((chunk: OutputChunk) => void) | undefined;
  onResult?: () => void;
  /** Receives the number of the call. */
  onCall?: (id: number) => void;
}

/** The worker did not end a command in time and was terminated. */
class WorkerTimeoutError extends Error {
  constructor() {
    super("the sandbox was restarted because a command did not end; files are as of the last completed call");
  }
}

/** A worker and the handlers of its requests to the application. */
interface WorkerState {
  readonly worker: SandboxWorker;
  readonly tools: HostCalls;
  readonly requests: Requests;
  /** ModuleCache memory that the worker reads while it runs guests. */
  readonly shared: Int32Array | undefined;
}

export class Connection {
  readonly #platform: Platform;
  readonly #checked: Checked;
  readonly #pending = new Map<number, Pending>();
  #options: KernelOptions;
  #gateway: Gateway | undefined;
  #changes: Uint8Array[] = [];
  #state: WorkerState | undefined;
  /** Set while a worker starts. */
  #opened: { resolve(value: unknown): void; reject(error: Error): void } | undefined;
  /** Resolves when calls can be made. Rejects if the worker cannot be started. */
  #ready: Promise<void> = Promise.resolve();
  #id = "";
  #last = 0;

  constructor(platform: Platform, checked: Checked) {
    this.#platform = platform;
    this.#checked = checked;
    this.#options = checked.kernel;
  }

  get id(): string {
    return this.#id;
  }

  /** Returns a number that is unique in this sandbox, across its workers. */
  nextNumber(): number {
    return ++this.#last;
  }

  get isOpen(): boolean {
    return this.#state !== undefined;
  }

  /** True if the sandbox has state that only its worker holds. */
  get #copiesOnWrite(): boolean {
    return this.#options.mounts?.some(({ mode }) => mode === "copyOnWrite") ?? false;
  }

  /** Starts the worker and waits until the sandbox is ready. */
  async open(): Promise<void> {
    const opened = new Promise<unknown>((resolve, reject) => {
      this.#opened = { resolve, reject };
    });
    // The worker may fail before `opened` is awaited below.
    opened.catch(() => {});
    let state: WorkerState | undefined;
    try {
      // Starting a worker takes the longest, so it comes first.
      state = this.#start();
      const { worker, shared: memory } = state;
      const modules = await cachedModules(this.#platform);
      const { kernel, programs, compiled } = modules;
      if (this.#options.network !== undefined) this.#gateway ??= await this.#makeGateway();
      const packs = await this.#packs(kernel);
      const prefetch = this.#platform.files !== undefined && !modules.prefetching;
      modules.prefetching ||= prefetch;
      worker.send({ kernel, programs, compiled, options: this.#options, packs, prefetch, changes: this.#changes, shared: memory });
      await opened;
    } catch (error) {
      if (this.#state === state) this.#state = undefined;
      state?.worker.terminate();
      if (error instanceof SandboxError) throw error;
      throw new SandboxError(`create: ${messageOf(error)}`, "SETUP_FAILED", { cause: error });
    } finally {
      this.#opened = undefined;
    }
    // The directory may have changed by the time another worker replaces this one.
    if (this.#options.seedDirectory !== undefined) this.#startFrom((await this.#callNow<{ bytes: Uint8Array }>("snapshot", [])).bytes);
    if (this.#pending.size === 0) state.worker.hold(false);
  }

  /** Locates the packs of the options for the worker and adds their settings to the options of the kernel. */
  async #packs(kernel: WebAssembly.Module): Promise<readonly PackLocation[]> {
    const { packs, preinit } = this.#checked;
    if (packs.length === 0 && preinit === undefined) return [];
    const rewrite: Rewrite = (module, code, pages) =>
      packWork(this.#platform, { kernelForPack: kernel, module, code, pages }).then(() => {});
    const located = await Promise.all(packs.map((pack) => this.#platform.pack(pack, rewrite)));
    if (preinit !== undefined) located.push(preinit);
    this.#options = { ...this.#options, packs: located.map(({ settings }) => settings) };
    return located.map(({ location }) => location);
  }

  async #makeGateway(): Promise<Gateway> {
    return this.#checked.fetch === undefined ? await this.#platform.gateway() : fetchGateway(this.#checked.fetch);
  }

  #start(): WorkerState {
    const worker: SandboxWorker = this.#platform.start({
      report: (report) => {
        if (this.#state?.worker === worker) this.#report(report, this.#state);
      },
      crashed: (error) => {
        if (this.#state?.worker === worker) this.#crashed(error);
      },
    });
    // Pages without cross-origin isolation cannot share memory.
    const shares = typeof SharedArrayBuffer === "function";
    const memory = shares ? new Int32Array(new SharedArrayBuffer(4 * SHARED_SLOTS)) : undefined;
    const respond = (response: HostResponse) => {
      if (this.#state?.worker !== worker) return;
      worker.send(response);
      notifyWorker(memory);
    };
    this.#state = {
      worker,
      tools: new HostCalls(this.#checked.tools, respond),
      requests: new Requests(() => this.#gateway, respond),
      shared: memory,
    };
    return this.#state;
  }

  #report(report: WorkerOutput, state: WorkerState): void {
    switch (report.type) {
      case "ready":
        this.#id = report.id;
        return this.#opened?.resolve(undefined);
      case "failed":
        return this.#opened?.reject(new SandboxError(report.failure.message, "INVALID_OPTIONS"));
      case "packed":
        return;
      case "crashed":
        return this.#crashed(new Error(report.reason));
      case "result": {
        this.#recordChanges(report.changes);
        const pending = this.#complete(report.id);
        pending?.onResult?.();
        return pending?.resolve(report.value);
      }
      case "error":
        return this.#complete(report.id)?.reject(toSandboxError(report.failure));
      case "output": {
        const { stderr, bytes } = report;
        return this.#pending.get(report.id)?.onOutput?.({ stream: stderr ? "stderr" : "stdout", bytes });
      }
      case "request":
        return handleRequest(state, report.request);
      case "compiled":
        return void cachedModules(this.#platform).then(({ compiled }) => compiled.set(report.file, report.module));
    }
  }

  #recordChanges(changes: Changes | undefined): void {
    if (changes === undefined) return;
    if (changes.merged) this.#changes = [];
    this.#changes.push(changes.bytes);
  }

  #complete(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#state?.worker.hold(false);
    return pending;
  }

  #crashed(cause: unknown): void {
    const reason = messageOf(cause);
    if (this.#opened !== undefined) {
      this.#opened.reject(new Error(`cannot start the worker of the sandbox: ${reason}`));
      return;
    }
    const message = `the sandbox was restarted (${reason}); files are as of the last completed call`;
    this.#restart(new SandboxError(message + this.#lossNote(), "RESTARTED"));
  }

  /** Returns a clause for error messages that names the state lost with a worker. */
  #lossNote(): string {
    return this.#copiesOnWrite ? ", and changes in copy-on-write mounts are lost" : "";
  }

  /** Replaces the worker. Pending calls reject with `why`. */
  #restart(why: Error): void {
    const state = this.#state;
    this.#options.id = this.#id;
    this.#ready = this.open();
    // The next call reports the error.
    this.#ready.catch(() => {});
    terminateState(state);
    this.#reject(why);
  }

  #reject(error: Error): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
  }

  /** Calls a method of the kernel's sandbox. */
  async call<T>(method: string, args: readonly unknown[], context: CallContext = {}): Promise<T> {
    await this.#ready;
    return this.#callNow(method, args, context);
  }

  async #callNow<T>(method: string, args: readonly unknown[], context: CallContext = {}): Promise<T> {
    const worker = this.#state?.worker;
    if (worker === undefined) throw new SandboxError("the sandbox is closed; create a new one", "CLOSED");
    const id = ++this.#last;
    const { onOutput, onResult, onCall } = context;
    // A command gets its number, which identifies its output and its cancellation.
    const all = COMMANDS.includes(method) ? [...args, id, onOutput !== undefined] : args;
    // Arguments that cannot be cloned throw here, before the call is pending.
    worker.send({ id, method, args: all });
    worker.hold(true);
    onCall?.(id);
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject, onOutput, onResult });
    });
  }

  /** Like {@link call}, but rejects when `signal` is aborted. */
  async callUntil<T>(signal: AbortSignal | undefined, method: string, args: readonly unknown[]): Promise<T> {
    if (!signal) return this.call<T>(method, args);
    const aborted = () => new SandboxError("the call was aborted by its caller", "ABORTED", { cause: signal.reason });
    if (signal.aborted) throw aborted();
    let stop = () => {};
    const cancelled = new Promise<never>((_, reject) => {
      stop = () => reject(aborted());
      signal.addEventListener("abort", stop, { once: true });
    });
    try {
      return await Promise.race([this.call<T>(method, args), cancelled]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async execute(command: Command, options: ExecuteOptions): Promise<ExecuteResult> {
    return this.#run("execute", [command], options);
  }

  /** Runs code in the interpreter with this number. */
  async python(interpreter: number, code: string, options: ExecuteOptions): Promise<ExecuteResult & InterpreterReply> {
    return this.#run("pythonRun", [interpreter, code], options);
  }

  async #run<T extends ExecuteResult>(method: string, args: readonly unknown[], input: ExecuteOptions): Promise<T> {
    const { onOutput, onStdout, onStderr, signal, ...options } = checkExecuteOptions(input);
    if (signal?.aborted) {
      const output = "tidebox: the command was not started: its caller had cancelled it\n";
      return { ...messageOnlyResult(output), exitCode: 137, stoppedBy: "cancelled" } as ExecuteResult as T;
    }
    const limit = options.timeoutMs ?? this.#options.limits?.["wallTimeMs"] ?? WALL_TIME_MS;
    await this.#ready;
    const state = this.#state;
    const onTimeout = () => {
      if (this.#state === state) this.#restart(new WorkerTimeoutError());
    };
    const timers = [setTimeout(onTimeout, Math.min(limit + GRACE_MS, MAX_TIMER_MS))];
    let call = 0;
    const cancel = () => {
      if (call === 0 || this.#state !== state || state === undefined) return;
      if (state.shared !== undefined) Atomics.store(state.shared, call % CANCEL_SLOTS, call);
      state.worker.send({ cancel: call });
      notifyWorker(state.shared);
      timers.push(setTimeout(onTimeout, GRACE_MS));
    };
    const listener = OutputListener.of({ onOutput, onStdout, onStderr }, cancel);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const result = await this.call<T>(method, [...args, defined(options)], {
        onOutput: listener?.chunk,
        onCall: (id) => {
          call = id;
          if (signal?.aborted) cancel();
        },
      });
      return (listener?.finish(result) ?? result) as T;
    } catch (error) {
      if (!(error instanceof WorkerTimeoutError)) throw error;
      return (signal?.aborted ? this.#cancelledResult() : this.#timeoutResult(limit)) as T;
    } finally {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }

  #timeoutResult(limit: number): ExecuteResult {
    const output =
      `tidebox: the command was stopped because it ran for ${limit} ms, with all other running commands; ` +
      `files are as of the last completed call${this.#lossNote()}\n`;
    return { ...messageOnlyResult(output), exitCode: 124, stoppedBy: "timeout" };
  }

  #cancelledResult(): ExecuteResult {
    const output =
      "tidebox: the command was stopped because its caller cancelled it, with all other running commands; " +
      `files are as of the last completed call${this.#lossNote()}\n`;
    return { ...messageOnlyResult(output), exitCode: 137, stoppedBy: "cancelled" };
  }

  /** Throws if the operation would silently lose changes. */
  checkSnapshotable(operation: string): void {
    if (!this.#copiesOnWrite) return;
    const message = `cannot ${operation} a sandbox with copy-on-write mounts: snapshots do not include their changes; copy the files out instead`;
    throw new SandboxError(message, "UNSUPPORTED");
  }

  /** Restores a snapshot. Later changes are relative to it. */
  async restore(bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw new SandboxError("the call was aborted by its caller", "ABORTED");
    const onResult = () => {
      this.#startFrom(bytes);
      this.#changes = [];
    };
    await this.call<void>("restore", [bytes], { onResult });
  }

  /** A replacement worker starts from this snapshot and without the initial files of the options. */
  #startFrom(snapshot: Uint8Array): void {
    const { files: _, tar: __, seedDirectory: ___, ...options } = this.#options;
    this.#options = { ...options, snapshot };
  }

  close(): void {
    const state = this.#state;
    const error = new SandboxError("the sandbox was closed", "CLOSED");
    this.#state = undefined;
    this.#changes = [];
    this.#opened?.reject(error);
    this.#reject(error);
    terminateState(state);
  }
}

function handleRequest({ tools, requests }: WorkerState, request: HostRequest): void {
  if (request.type.startsWith("tool")) tools.handle(request);
  else requests.handle(request);
}

/** Wakes a worker that waits for messages while a guest is on the stack. */
function notifyWorker(memory: Int32Array | undefined): void {
  if (memory === undefined) return;
  Atomics.add(memory, MESSAGE_COUNT, 1);
  Atomics.notify(memory, MESSAGE_COUNT);
}

/** Result of a command whose worker was terminated: its output is lost, only the message remains. */
function messageOnlyResult(output: string) {
  const stderrBytes = new TextEncoder().encode(output);
  return { output, stdout: "", stderr: output, stdoutBytes: new Uint8Array(0), stderrBytes, truncated: false };
}

/** Terminates a worker and the handlers of its requests. */
function terminateState(state: WorkerState | undefined): void {
  state?.tools.stop();
  state?.requests.stop();
  state?.worker.terminate();
}

const CODES: Readonly<Record<string, SandboxErrorCode>> = {
  closed: "CLOSED", invalid_request: "INVALID_OPTIONS", file_operation_failed: "FILE_OPERATION_FAILED", unsupported: "UNSUPPORTED",
};

function toSandboxError({ kind, message }: Failure): SandboxError {
  return new SandboxError(message, CODES[kind] ?? "FILE_OPERATION_FAILED");
}
