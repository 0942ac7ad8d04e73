/**
 * The caller's side of a Worker: calls, their answers, and what happens when the Worker is no more.
 *
 * A Worker ends when the caller closes the sandbox; when a command does not end in time although it was told to, and the
 * Worker is terminated for it; and when it breaks. In the last two cases another one takes its place, with the files as they
 * were after the last call that was answered.
 */

import { defined } from "./check.js";
import type { SandboxErrorCode } from "./error.js";
import { SandboxError } from "./error.js";
import type { Gateway } from "./gateway.js";
import { fetchGateway } from "./gateway.js";
import { HostCalls } from "./host_calls.js";
import type { Ask, Changes, Failure, KernelOptions, Report, Tell } from "./messages.js";
import { CANCELLED, SHARED, TOLD } from "./messages.js";
import type { Checked, ExecuteOptions, OutputPiece } from "./options.js";
import { checkExecuteOptions } from "./options.js";
import { packWork } from "./pack_work.js";
import type { PackPlace } from "./packs.js";
import type { Platform, Rewrite, SandboxWorker } from "./platform.js";
import type { ExecuteResult } from "./protocol.js";
import { reasonOf } from "./reason.js";
import { Requests } from "./requests.js";
import { shared } from "./shared.js";
import { Watch } from "./watch.js";

/** Wall time of a command that names no timeout; as in `core/src/limits.rs`. */
const WALL_TIME_MS = 120_000;
/** How long after a command's time, or after it was given up, its Worker may still take to end it by itself. */
const GRACE_MS = 2_000;
/** The longest time that a timer can be set to. */
const LONGEST_MS = 2 ** 31 - 1;

/** Methods of which the output can be watched and which can be given up. */
const COMMANDS = ["execute", "pythonRun"];

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  onOutput: ((piece: OutputPiece) => void) | undefined;
  /** Runs before anything that was answered later is looked at. */
  onAnswer: (() => void) | undefined;
}

/** What an interpreter answers beside what a command does. */
export interface Replied {
  /** JSON. */
  readonly reply?: string;
  /** Set while it goes on. */
  readonly over?: boolean;
}

/** How a call is made. */
interface Calling {
  onOutput?: ((piece: OutputPiece) => void) | undefined;
  onAnswer?: () => void;
  /** Is told the number of the call. */
  onCall?: (id: number) => void;
}

/** A command was not ended by its own Worker. */
class Overdue extends Error {
  constructor() {
    super("the sandbox had to start again because a command did not end; its files are those after the last call that was answered");
  }
}

/** A Worker and what the application does for it. */
interface Served {
  readonly worker: SandboxWorker;
  readonly tools: HostCalls;
  readonly requests: Requests;
  /** What the Worker sees while it runs guests. */
  readonly shared: Int32Array | undefined;
}

export class Connection {
  readonly #platform: Platform;
  readonly #checked: Checked;
  readonly #pending = new Map<number, Pending>();
  #options: KernelOptions;
  #gateway: Gateway | undefined;
  #changes: Uint8Array[] = [];
  #served: Served | undefined;
  /** Set while a Worker starts. */
  #opened: { resolve(value: unknown): void; reject(error: Error): void } | undefined;
  /** Settled when calls can be made; rejected when none ever can be. */
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

  /** A number that nothing of this sandbox has had, whichever Worker it is in. */
  nextNumber(): number {
    return ++this.#last;
  }

  get isOpen(): boolean {
    return this.#served !== undefined;
  }

  /** Whether something of the sandbox is kept by its Worker alone. */
  get #copiesOnWrite(): boolean {
    return this.#options.mounts?.some(({ mode }) => mode === "copyOnWrite") ?? false;
  }

  /** Starts the Worker, and waits until the sandbox is there. */
  async open(): Promise<void> {
    const opened = new Promise<unknown>((resolve, reject) => {
      this.#opened = { resolve, reject };
    });
    // The Worker may break before anybody waits for it here.
    opened.catch(() => {});
    let served: Served | undefined;
    try {
      // Starting a Worker takes the longest, so that comes first.
      served = this.#start();
      const { worker, shared: memory } = served;
      const { kernel, programs, compiled } = await shared(this.#platform);
      if (this.#options.network !== undefined) this.#gateway ??= await this.#makeGateway();
      const packs = await this.#packs(kernel);
      worker.send({ kernel, programs, compiled, options: this.#options, packs, changes: this.#changes, shared: memory });
      await opened;
    } catch (error) {
      if (this.#served === served) this.#served = undefined;
      served?.worker.terminate();
      if (error instanceof SandboxError) throw error;
      throw new SandboxError(`create: ${reasonOf(error)}`, "SETUP_FAILED", { cause: error });
    } finally {
      this.#opened = undefined;
    }
    // The folder may be another one by the time that a Worker has to take the place of this one.
    if (this.#options.seedFolder !== undefined) this.#beginWith((await this.#called<{ bytes: Uint8Array }>("snapshot", [])).bytes);
    if (this.#pending.size === 0) served.worker.hold(false);
  }

  /** The packs of the options, as the Worker reaches them. The kernel's options have what it takes in of them. */
  async #packs(kernel: WebAssembly.Module): Promise<readonly PackPlace[]> {
    const { packs, making } = this.#checked;
    if (packs.length === 0 && making === undefined) return [];
    const rewrite: Rewrite = (module, code, pages) =>
      packWork(this.#platform, { kernelForPack: kernel, module, code, pages }).then(() => {});
    const found = await Promise.all(packs.map((wanted) => this.#platform.pack(wanted, rewrite)));
    if (making !== undefined) found.push(making);
    this.#options = { ...this.#options, packs: found.map(({ settings }) => settings) };
    return found.map(({ place }) => place);
  }

  async #makeGateway(): Promise<Gateway> {
    return this.#checked.fetch === undefined ? await this.#platform.gateway() : fetchGateway(this.#checked.fetch);
  }

  #start(): Served {
    const worker: SandboxWorker = this.#platform.start({
      report: (report) => {
        if (this.#served?.worker === worker) this.#report(report, this.#served);
      },
      broke: (error) => {
        if (this.#served?.worker === worker) this.#broke(error);
      },
    });
    // Pages without cross-origin isolation share no memory.
    const shares = typeof SharedArrayBuffer === "function";
    const memory = shares ? new Int32Array(new SharedArrayBuffer(4 * SHARED)) : undefined;
    const tell = (tell: Tell) => {
      if (this.#served?.worker !== worker) return;
      worker.send(tell);
      ring(memory);
    };
    this.#served = {
      worker,
      tools: new HostCalls(this.#checked.tools, tell),
      requests: new Requests(() => this.#gateway, tell),
      shared: memory,
    };
    return this.#served;
  }

  #report(report: Report, served: Served): void {
    switch (report.what) {
      case "ready":
        this.#id = report.id;
        return this.#opened?.resolve(undefined);
      case "failed":
        return this.#opened?.reject(new SandboxError(report.failure.message, "INVALID_OPTIONS"));
      case "packed":
        return;
      case "broken":
        return this.#broke(new Error(report.reason));
      case "answer": {
        this.#keep(report.changes);
        const pending = this.#settle(report.id);
        pending?.onAnswer?.();
        return pending?.resolve(report.value);
      }
      case "refusal":
        return this.#settle(report.id)?.reject(refusal(report.failure));
      case "output": {
        const { stderr, bytes } = report;
        return this.#pending.get(report.id)?.onOutput?.({ stream: stderr ? "stderr" : "stdout", bytes });
      }
      case "asked":
        return asked(served, report.ask);
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
    if (this.#pending.size === 0) this.#served?.worker.hold(false);
    return pending;
  }

  #broke(cause: unknown): void {
    const reason = reasonOf(cause);
    if (this.#opened !== undefined) {
      this.#opened.reject(new Error(`the sandbox's Worker cannot start: ${reason}`));
      return;
    }
    const message = `the sandbox had to start again (${reason}); its files are those after the last call that was answered`;
    this.#restart(new SandboxError(message + this.#loss(), "RESTARTED"));
  }

  /** What is lost with a Worker, as the end of a sentence. */
  #loss(): string {
    return this.#copiesOnWrite ? ", and what was changed in copy-on-write mounts is lost" : "";
  }

  /** Puts another Worker in the place of this one. Who waits for it learns `why`. */
  #restart(why: Error): void {
    const served = this.#served;
    this.#options.id = this.#id;
    this.#ready = this.open();
    // Whoever calls next is told.
    this.#ready.catch(() => {});
    leave(served);
    this.#reject(why);
  }

  #reject(error: Error): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
  }

  /** Calls a method of the kernel's sandbox. */
  async call<T>(method: string, args: readonly unknown[], calling: Calling = {}): Promise<T> {
    await this.#ready;
    return this.#called(method, args, calling);
  }

  async #called<T>(method: string, args: readonly unknown[], calling: Calling = {}): Promise<T> {
    const worker = this.#served?.worker;
    if (worker === undefined) throw new SandboxError("the sandbox is closed; create a new one", "CLOSED");
    const id = ++this.#last;
    const { onOutput, onAnswer, onCall } = calling;
    // A command is told its number, under which its output comes and under which it is given up.
    const all = COMMANDS.includes(method) ? [...args, id, onOutput !== undefined] : args;
    // What cannot be sent is thrown here, before anybody waits for an answer.
    worker.send({ id, method, args: all });
    worker.hold(true);
    onCall?.(id);
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject, onOutput, onAnswer });
    });
  }

  /** The same, as far as its caller waits for it. */
  async callUntil<T>(signal: AbortSignal | undefined, method: string, args: readonly unknown[]): Promise<T> {
    if (!signal) return this.call<T>(method, args);
    const aborted = () => new SandboxError("the call was given up by its caller", "ABORTED", { cause: signal.reason });
    if (signal.aborted) throw aborted();
    let stop = () => {};
    const given = new Promise<never>((_, reject) => {
      stop = () => reject(aborted());
      signal.addEventListener("abort", stop, { once: true });
    });
    try {
      return await Promise.race([this.call<T>(method, args), given]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async execute(command: string, given: ExecuteOptions): Promise<ExecuteResult> {
    return this.#run("execute", [String(command)], given);
  }

  /** Runs a piece of code in an interpreter of this number. */
  async python(interpreter: number, code: string, given: ExecuteOptions): Promise<ExecuteResult & Replied> {
    return this.#run("pythonRun", [interpreter, code], given);
  }

  async #run<T extends ExecuteResult>(method: string, args: readonly unknown[], given: ExecuteOptions): Promise<T> {
    const { onOutput, onStdout, onStderr, signal, ...options } = checkExecuteOptions(given);
    if (signal?.aborted) {
      const output = "tidebox: the command was not started because its caller had given it up\n";
      return { ...onlyTold(output), exitCode: 137, stoppedBy: "cancelled" } as ExecuteResult as T;
    }
    const limit = options.timeoutMs ?? this.#options.limits?.["wallTimeMs"] ?? WALL_TIME_MS;
    await this.#ready;
    const served = this.#served;
    const late = () => {
      if (this.#served === served) this.#restart(new Overdue());
    };
    const timers = [setTimeout(late, Math.min(limit + GRACE_MS, LONGEST_MS))];
    let call = 0;
    const cancel = () => {
      if (call === 0 || this.#served !== served || served === undefined) return;
      if (served.shared !== undefined) Atomics.store(served.shared, call % CANCELLED, call);
      served.worker.send({ cancel: call });
      ring(served.shared);
      timers.push(setTimeout(late, GRACE_MS));
    };
    const watch = Watch.of({ onOutput, onStdout, onStderr }, cancel);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const result = await this.call<T>(method, [...args, defined(options)], {
        onOutput: watch?.piece,
        onCall: (id) => {
          call = id;
          if (signal?.aborted) cancel();
        },
      });
      return (watch?.ended(result) ?? result) as T;
    } catch (error) {
      if (!(error instanceof Overdue)) throw error;
      return (signal?.aborted ? this.#givenUp() : this.#late(limit)) as T;
    } finally {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }

  #late(limit: number): ExecuteResult {
    const output =
      `tidebox: the command was stopped because it ran for ${limit} ms, and with it all that ran beside it; ` +
      `the files are those after the last call that was answered${this.#loss()}\n`;
    return { ...onlyTold(output), exitCode: 124, stoppedBy: "timeout" };
  }

  #givenUp(): ExecuteResult {
    const output =
      "tidebox: the command was stopped because its caller gave it up, and with it all that ran beside it; " +
      `the files are those after the last call that was answered${this.#loss()}\n`;
    return { ...onlyTold(output), exitCode: 137, stoppedBy: "cancelled" };
  }

  /** Refuses what would lose changes silently. */
  checkKept(what: string): void {
    if (!this.#copiesOnWrite) return;
    const message = `a sandbox with copy-on-write mounts cannot ${what}: their changes are in no snapshot; copy the files out instead`;
    throw new SandboxError(message, "UNSUPPORTED");
  }

  /** Puts the sandbox back to a snapshot, and begins to count changes from there. */
  async restore(bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw new SandboxError("the call was given up by its caller", "ABORTED");
    const onAnswer = () => {
      this.#beginWith(bytes);
      this.#changes = [];
    };
    await this.call<void>("restore", [bytes], { onAnswer });
  }

  /** A Worker that takes the place of this one begins with a snapshot, and with nothing that the options give beside it. */
  #beginWith(snapshot: Uint8Array): void {
    const { files: _, tar: __, seedFolder: ___, ...options } = this.#options;
    this.#options = { ...options, snapshot };
  }

  close(): void {
    const served = this.#served;
    const error = new SandboxError("the sandbox was closed", "CLOSED");
    this.#served = undefined;
    this.#changes = [];
    this.#opened?.reject(error);
    this.#reject(error);
    leave(served);
  }
}

function asked({ tools, requests }: Served, ask: Ask): void {
  if (ask.ask.startsWith("tool")) tools.asked(ask);
  else requests.asked(ask);
}

/** Wakes a Worker that waits for messages on top of a guest. */
function ring(memory: Int32Array | undefined): void {
  if (memory === undefined) return;
  Atomics.add(memory, TOLD, 1);
  Atomics.notify(memory, TOLD);
}

/** The output of a command of which nothing is left but what we say about it. What it wrote is gone with its Worker. */
function onlyTold(output: string) {
  const stderrBytes = new TextEncoder().encode(output);
  return { output, stdout: "", stderr: output, stdoutBytes: new Uint8Array(0), stderrBytes, truncated: false };
}

/** Ends a Worker and what the application does for it. */
function leave(served: Served | undefined): void {
  served?.tools.stop();
  served?.requests.stop();
  served?.worker.terminate();
}

const CODES: Readonly<Record<string, SandboxErrorCode>> = {
  closed: "CLOSED", invalid_request: "INVALID_OPTIONS", file_operation_failed: "FILE_OPERATION_FAILED", unsupported: "UNSUPPORTED",
};

function refusal({ kind, message }: Failure): SandboxError {
  return new SandboxError(message, CODES[kind] ?? "FILE_OPERATION_FAILED");
}
