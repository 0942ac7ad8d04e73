/**
 * The caller's side of a sandbox: its calls, their results, and its restart.
 *
 * A sandbox is restarted when a command does not end after its timeout or cancellation, or when its worker fails. It restarts
 * in the same or another worker, with the files as of the last completed call.
 */

import type { PortEndpoint } from "./agent_backend.js";
import { defined } from "./check.js";
import { NeighbourError, WorkerTimeoutError, abortedError, closedError, movedError, toSandboxError } from "./connection_error.js";
import { CreationState } from "./creation_state.js";
import { SandboxError } from "./error.js";
import { messageOf } from "./error_message.js";
import type { Gateway } from "./gateway.js";
import { fetchGateway } from "./gateway.js";
import { HostHandlers } from "./host_handlers.js";
import type { HostResponse, KernelOptions, SandboxReport } from "./messages.js";
import { CANCEL_SLOTS } from "./messages.js";
import type { Checked, Command, ExecuteOptions, OutputChunk } from "./options.js";
import { checkExecuteOptions } from "./options.js";
import { OutputListener } from "./output.js";
import { rewriteModule } from "./pack_work.js";
import type { PackLocation } from "./packs.js";
import type { Platform, Rewrite } from "./platform.js";
import type { PoolWorker, Seat } from "./pool.js";
import { takeSeat } from "./pool.js";
import type { PortStream } from "./port_streams.js";
import { ExposedPorts } from "./ports.js";
import type { ProcessInfo, ProcessKey, ProcessOptions, ProcessOutput } from "./process.js";
import { ProcessRegistry, replyOfLost } from "./process_registry.js";
import type { ExecuteResult } from "./protocol.js";
import { randomId } from "./random_id.js";
import { cancelledResult, notStartedResult, timeoutResult } from "./stopped_result.js";
import { hasJspi } from "./suspension.js";
import { ThreadChoice } from "./thread_choice.js";
import { MAX_TIMER_MS } from "./timer_limit.js";
import type { SandboxUsage } from "./usage.js";

/** Wall time of a command without a timeout, in milliseconds; as in `core/src/limits.rs`. */
const WALL_TIME_MS = 120_000;
/** Milliseconds that a worker has to end a command after its timeout or its cancellation, before the sandbox is restarted. */
const GRACE_MS = 2_000;
/** Milliseconds after which a closed sandbox kills processes that ignore SIGTERM; as in `vfs-backend/src/background.rs`. */
const TERMINATION_MS = 2_000;
/** Method that ends the processes of a sandbox which is closed. */
const TERMINATE = "terminate";
/** Methods that stream output and can be cancelled. */
const COMMANDS = ["execute", "pythonRun"];

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  onOutput: ((chunk: OutputChunk) => void) | undefined;
  /** Runs before any later message of the worker is handled. */
  onResult: ((value: unknown) => void) | undefined;
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
  onResult?: (value: unknown) => void;
  /** Receives the number of the call. */
  onCall?: (id: number) => void;
  /** Generation of the worker that the call is for; see `process_registry.ts`. */
  generation?: number;
}

/** Length of a text from which it is encoded here: generated code encodes one character at a time. */
const LONG_TEXT = 1024;

/**
 * Encodes the content of a file if it is a long text, except in Deno, which takes milliseconds to pass bytes to a worker. Returns the
 * buffers that can be moved to the worker.
 */
function encodeContent(args: unknown[]): ArrayBuffer[] | undefined {
  const content = args[1];
  if (typeof content !== "string" || content.length < LONG_TEXT || "Deno" in globalThis) return undefined;
  const bytes = new TextEncoder().encode(content);
  args[1] = bytes;
  return [bytes.buffer];
}

/** Bytes of changes beyond which a sandbox is not moved to another worker because its own is busy. */
const MAX_MOVED_BYTES = 8 << 20;
/**
 * Bytes of changes beyond which a sandbox moves to a separate worker. The memory of a kernel never shrinks, and all sandboxes of
 * a worker share its 4 GiB.
 */
const MAX_SHARED_BYTES = 64 << 20;
/** Attempts to create a sandbox whose worker fails because of another one. */
const CREATE_ATTEMPTS = 3;
/** Options that the kernel cannot reject: all their values have been checked, and the initial files do not depend on them. */
const SAFE_OPTIONS = ["shellMode", "limits"];
const SAFE_LIMITS = ["wallTimeMs", "cpuTimeMs", "outputBytes", "moduleBytes"];

/** The seat of a sandbox in a worker, and the handlers of its requests to the application. */
interface SeatState {
  readonly seat: Seat;
  readonly handlers: HostHandlers;
}

/** The number of the last call, interpreter or connection in this process. */
let lastNumber = 0;

export class Connection {
  /** Capacity of a pipe by default: more would be sent to the worker again. */
  readonly maxWriteBytes = 64 << 10;
  readonly #platform: Platform;
  readonly #checked: Checked;
  readonly #pending = new Map<number, Pending>();
  readonly #choice: ThreadChoice;
  readonly #creation: CreationState;
  #gateway: Gateway | undefined;
  #state: SeatState | undefined;
  /** Set while a sandbox is created in a worker. */
  #opened: { resolve(value: unknown): void; reject(error: Error): void } | undefined;
  /** Resolves when calls can be made. Rejects if the sandbox cannot be created. */
  #ready: Promise<void> = Promise.resolve();
  /** Set if the sandbox has to be created again before the next call. */
  #recreate: (() => Promise<void>) | undefined;
  #isOpen = false;
  #hasInterpreters = false;
  readonly #processes = new ProcessRegistry();
  /** Ports of this computer that lead to the sandbox. They stay open when it is restarted. */
  readonly exposed: ExposedPorts;
  /** Set when the sandbox is closed. */
  #closing: Promise<void> | undefined;
  #id = "";
  /** The worker that the sandbox warms up. */
  readonly #warmed: PoolWorker | undefined;

  constructor(platform: Platform, checked: Checked, warmed?: PoolWorker) {
    this.#platform = platform;
    this.#warmed = warmed;
    this.#checked = checked;
    this.#choice = new ThreadChoice(checked.thread);
    this.#creation = new CreationState(checked.kernel);
    this.exposed = new ExposedPorts({
      listen: (hostPort, connect) => platform.listen(hostPort, connect),
      connectPort: (port, waits, signal) => this.connectPort(port, waits, signal),
    });
  }

  get id(): string {
    return this.#id;
  }

  /** Returns the number of an interpreter, unique in this process. */
  nextInterpreter(): number {
    this.#hasInterpreters = true;
    return ++lastNumber;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Creates the sandbox in a worker and waits until it is ready. */
  async open(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#create();
        this.#isOpen = true;
        return;
      } catch (error) {
        if (error instanceof NeighbourError && attempt < CREATE_ATTEMPTS) continue;
        if (error instanceof SandboxError) throw error;
        throw new SandboxError(`create: ${messageOf(error)}`, "SETUP_FAILED", { cause: error });
      }
    }
  }

  async #create(): Promise<void> {
    // It may have been closed before a sandbox that has to be created again was.
    if (this.#closing !== undefined) throw closedError();
    const opened = new Promise<unknown>((resolve, reject) => {
      this.#opened = { resolve, reject };
    });
    // The worker may fail before `opened` is awaited below.
    opened.catch(() => {});
    const state = this.#start();
    const creation = this.#creation;
    if (!this.#isOpen && state.seat.isResponsive && cannotFail(creation.options, this.#checked)) return this.#createAhead(state);
    try {
      await state.seat.ready;
      if (creation.options.network !== undefined) this.#gateway ??= await this.#makeGateway();
      const packs = await this.#packs();
      const { options, changes, cpuTimeMs } = creation;
      state.seat.send({ create: state.seat.sandbox, options, packs, changes, cpuTimeMs });
      await opened;
    } catch (error) {
      if (this.#state === state) this.#state = undefined;
      state.handlers.stop(closedError());
      void state.seat.leave(false);
      throw error;
    } finally {
      this.#opened = undefined;
    }
    // The directory may have changed by the time the sandbox is restarted.
    if (creation.options.seedDirectory !== undefined) {
      const { bytes } = await this.#callNow<{ bytes: Uint8Array }>("snapshot", []);
      creation.startFrom(bytes);
    }
    if (this.#pending.size === 0) state.seat.hold(false);
  }

  /**
   * Creates the sandbox without waiting for the worker, whose first call follows immediately. A failure, which only a defect
   * causes, is that of a worker.
   */
  #createAhead({ seat }: SeatState): void {
    this.#opened = undefined;
    const { options } = this.#creation;
    this.#id = options.id = randomId(this.#platform);
    seat.send({ create: seat.sandbox, options, packs: [], changes: [], cpuTimeMs: 0 });
    seat.expectReady();
    seat.hold(false);
  }

  /** Locates the packs of the options for the worker and adds their settings to the options of the kernel. */
  async #packs(): Promise<readonly PackLocation[]> {
    const { packs, preinit } = this.#checked;
    if (packs.length === 0 && preinit === undefined) return [];
    const rewrite: Rewrite = (module, code, pages) => rewriteModule(this.#platform, module, code, pages);
    const located = await Promise.all(packs.map((pack) => this.#platform.pack(pack, rewrite)));
    if (preinit !== undefined) located.push(preinit);
    this.#creation.options = { ...this.#creation.options, packs: located.map(({ settings }) => settings) };
    return located.map(({ location }) => location);
  }

  async #makeGateway(): Promise<Gateway> {
    return this.#checked.fetch === undefined ? await this.#platform.gateway() : fetchGateway(this.#checked.fetch);
  }

  #start(): SeatState {
    const seat: Seat = takeSeat(this.#platform, this.#choice.thread, {
      report: (report) => {
        if (this.#state?.seat === seat) this.#report(report, this.#state);
      },
      crashed: (error, isCause) => {
        if (this.#state?.seat === seat) this.#crashed(error, isCause);
      },
    }, this.#warmed);
    const respond = (response: HostResponse) => {
      if (this.#state?.seat === seat) seat.send({ sandbox: seat.sandbox, response });
    };
    const handlers = new HostHandlers(this.#checked.tools, () => this.#gateway, respond, (isKept) => seat.keep(isKept));
    this.#state = { seat, handlers };
    return this.#state;
  }

  #report(report: SandboxReport, state: SeatState): void {
    switch (report.type) {
      case "ready":
        this.#id = report.id;
        return this.#opened?.resolve(undefined);
      case "createFailed":
        if (this.#opened === undefined) return this.#crashed(new Error(report.failure.message), true);
        return this.#opened.reject(new SandboxError(report.failure.message, "INVALID_OPTIONS"));
      case "dropped":
        return;
      case "result": {
        this.#creation.record(report.changes);
        this.#creation.cpuTimeMs = report.cpuTimeMs;
        const pending = this.#complete(report.id);
        pending?.onResult?.(report.value);
        if (this.#choice.returnsToPool(() => this.#isMovable)) this.#leave(state);
        return pending?.resolve(report.value);
      }
      case "error":
        return this.#complete(report.id)?.reject(toSandboxError(report.failure));
      case "output": {
        const { stderr, bytes } = report;
        return this.#pending.get(report.id)?.onOutput?.({ stream: stderr ? "stderr" : "stdout", bytes });
      }
      case "request":
        return state.handlers.handle(report.request);
    }
  }

  #complete(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0 && this.#opened === undefined) this.#state?.seat.hold(false);
    return pending;
  }

  #crashed(cause: unknown, isCause: boolean): void {
    const reason = messageOf(cause);
    if (this.#closing !== undefined) {
      const error = new SandboxError(`the worker of the sandbox has ended: ${reason}`, "CLOSED");
      this.#state?.handlers.stop(error);
      this.#state = undefined;
      return this.#reject(error);
    }
    if (isCause) this.#choice.separateForTrial();
    if (this.#opened !== undefined) {
      const message = `cannot start the worker of the sandbox: ${reason}`;
      const isNeighbour = this.#choice.thread !== "own" && !isCause;
      this.#opened.reject(isNeighbour ? new NeighbourError(message) : new Error(message));
      return;
    }
    const message = `the sandbox was restarted (${reason}); files are as of the last completed call`;
    this.#restart(new SandboxError(message + this.#lossNote(), "RESTARTED"));
  }

  /** Returns a clause for error messages that names the state lost with a worker. */
  #lossNote(): string {
    return this.#creation.copiesOnWrite ? ", and changes in copy-on-write mounts are lost" : "";
  }

  /** Ends the sandbox in its worker. It is created again with the next call. Pending calls reject with `why`. */
  #restart(why: SandboxError): void {
    const state = this.#state;
    this.#state = undefined;
    this.#hasInterpreters = false;
    this.#processes.workerEnded();
    this.#creation.options.id = this.#id;
    state?.handlers.stop(why);
    const left = state?.seat.leave(this.#pending.size > 0);
    this.#recreate = async () => {
      if (await left) this.#choice.separateForTrial();
      await this.open();
    };
    // A separate worker takes a while to start. The next call reports an error.
    if (this.#choice.required === "own") this.#opening().catch(() => {});
    this.#reject(why);
  }

  /** Ends the sandbox in its worker, which no call needs. The next call creates it in another one. */
  #leave(state: SeatState): void {
    this.#creation.options.id = this.#id;
    this.#state = undefined;
    state.handlers.stop(movedError());
    this.#recreate = () => this.open();
    void state.seat.leave(false);
  }

  /** Resolves when calls can be made. */
  #opening(): Promise<void> {
    const recreate = this.#recreate;
    if (recreate === undefined) return this.#ready;
    this.#recreate = undefined;
    this.#ready = recreate().catch((error: unknown) => {
      // A later call tries again, unless the sandbox was closed.
      if (this.#isOpen) this.#recreate ??= recreate;
      throw error;
    });
    return this.#ready;
  }

  /**
   * Waits until a call can be sent, moves the sandbox if its worker is busy with others, and sends the call by `send`. Nothing may
   * happen between the decision and the call: a concurrent call could move the sandbox, and its new worker ignores calls that arrive
   * before the sandbox is created there.
   */
  async #withSeat<T>(send: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new SandboxError("the sandbox is closed; create a new one", "CLOSED");
    for (;;) {
      const ready = this.#opening();
      await ready;
      if (ready !== this.#ready || this.#recreate !== undefined) continue;
      const state = this.#state;
      if (state === undefined || this.#choice.thread !== "pool" || !this.#isMovable) return send();
      if (this.#creation.bytes > MAX_SHARED_BYTES) {
        this.#choice.separateForEver();
        this.#move(state);
        continue;
      }
      const isTurn = hasJspi() ? !state.seat.isCrowded : await state.seat.waitForTurn();
      if (ready !== this.#ready || this.#recreate !== undefined) continue;
      if (isTurn || !this.#isMovable || this.#creation.bytes > MAX_MOVED_BYTES) return send();
      this.#move(state);
    }
  }

  /** True if another worker can continue from the options and the changes. */
  get #isMovable(): boolean {
    const isUsed = this.#hasInterpreters || this.#processes.isUsed || this.#state?.handlers.ports.isUsed === true;
    return this.#pending.size === 0 && !isUsed && !this.#creation.copiesOnWrite;
  }

  #move(state: SeatState): void {
    this.#creation.options.id = this.#id;
    state.handlers.stop(movedError());
    this.#recreate = () => this.open();
    const ready = this.#opening();
    ready.catch(() => {});
    void state.seat.leave(false);
  }

  #reject(error: Error): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
  }

  /** Returns the resources in use. */
  async usage(signal: AbortSignal | undefined): Promise<SandboxUsage> {
    const usage = await this.callUntil<Omit<SandboxUsage, "cpuTimeMs">>(signal, "usage", []);
    return { ...usage, cpuTimeMs: this.#creation.cpuTimeMs };
  }

  /** Calls a method of the kernel's sandbox. */
  async call<T>(method: string, args: readonly unknown[], context: CallContext = {}): Promise<T> {
    return this.#withSeat(async () => {
      if (context.generation !== undefined && context.generation !== this.#processes.generation) {
        throw new SandboxError("the sandbox was restarted, which has ended the process", "RESTARTED");
      }
      return this.#callNow<T>(method, args, context);
    });
  }

  async #callNow<T>(method: string, args: readonly unknown[], context: CallContext = {}): Promise<T> {
    const seat = this.#closing === undefined || method === TERMINATE ? this.#state?.seat : undefined;
    // It was closed after the call.
    if (seat === undefined) throw closedError();
    const id = ++lastNumber;
    const { onOutput, onResult, onCall } = context;
    // A command gets its number, which identifies its output and its cancellation.
    const all = COMMANDS.includes(method) ? [...args, id, onOutput !== undefined] : [...args];
    const moved = method === "write" ? encodeContent(all) : undefined;
    // Arguments that cannot be cloned throw here, before the call is pending.
    try {
      seat.hold(true);
      seat.send({ sandbox: seat.sandbox, id, method, args: all, sentMs: Date.now() }, moved);
    } catch (error) {
      if (this.#pending.size === 0) seat.hold(false);
      throw error;
    }
    onCall?.(id);
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject, onOutput, onResult });
    });
  }

  /** Like {@link call}, but rejects when `signal` is aborted. */
  async callUntil<T>(
    signal: AbortSignal | undefined, method: string, args: readonly unknown[], context: CallContext = {},
  ): Promise<T> {
    if (!signal) return this.call<T>(method, args, context);
    if (signal.aborted) throw abortedError(signal);
    let stop = () => {};
    const cancelled = new Promise<never>((_, reject) => {
      stop = () => reject(abortedError(signal));
      signal.addEventListener("abort", stop, { once: true });
    });
    try {
      return await Promise.race([this.call<T>(method, args, context), cancelled]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async execute(command: Command, options: ExecuteOptions): Promise<ExecuteResult> {
    return this.#run("execute", [command], options);
  }

  async spawn(command: Command, options: Omit<ProcessOptions, "signal">, signal: AbortSignal | undefined): Promise<ProcessKey> {
    const onResult = (info: unknown) => this.#processes.started(info as ProcessInfo);
    const { id } = await this.callUntil<ProcessInfo>(signal, "spawn", [command, options], { onResult });
    return this.processKey(id);
  }

  async processes(signal: AbortSignal | undefined): Promise<ProcessInfo[]> {
    return this.#processes.listed(await this.callUntil<ProcessInfo[]>(signal, "processes", []));
  }

  processKey(id: string): ProcessKey {
    return this.#processes.key(id);
  }

  async callProcess<T>(process: ProcessKey, method: string, args: readonly unknown[], signal: AbortSignal | undefined): Promise<T> {
    const { id, generation } = process;
    // A process that ended with its worker has ended for its callers too, also for those that were waiting.
    const reply = () => {
      const lost = this.#isOpen ? this.#processes.lost(process) : undefined;
      return lost && { value: replyOfLost(lost, method, args) as T };
    };
    const known = reply();
    if (known !== undefined) return known.value;
    const onResult = (value: unknown) => {
      if (method === "readProcess") this.#processes.read(id, value as ProcessOutput);
    };
    try {
      return await this.callUntil<T>(signal, method, [id, ...args], { onResult, generation });
    } catch (error) {
      const isRestart = error instanceof SandboxError && error.code === "RESTARTED";
      const late = isRestart ? reply() : undefined;
      if (late === undefined) throw error;
      return late.value;
    }
  }

  /** Connects to a server of the sandbox. `waits`: until the server accepts the connection. */
  async connectPort(port: number, waits: boolean, signal: AbortSignal | undefined): Promise<PortStream> {
    const number = ++lastNumber;
    let stream: PortStream | undefined;
    const onCall = () => {
      stream = this.#state?.handlers.ports.add(number);
      // It was aborted while the call waited for its worker.
      if (signal?.aborted) stream?.close();
    };
    try {
      await this.callUntil<void>(signal, "connectPort", [number, port, waits], { onCall });
    } catch (error) {
      stream?.close();
      throw error;
    }
    if (stream === undefined) throw closedError();
    stream.start();
    return stream;
  }

  async portEndpoint(port: number, signal: AbortSignal | undefined): Promise<PortEndpoint> {
    if (signal?.aborted) throw abortedError(signal);
    const { url } = await this.exposed.endpoint(port);
    return { url, headers: {} };
  }

  /** Runs code in the interpreter with this number. */
  async python(interpreter: number, code: string, options: ExecuteOptions): Promise<ExecuteResult & InterpreterReply> {
    return this.#run("pythonRun", [interpreter, code], options);
  }

  async #run<T extends ExecuteResult>(method: string, args: readonly unknown[], input: ExecuteOptions): Promise<T> {
    const options = checkExecuteOptions(input);
    if (options.signal?.aborted) return notStartedResult() as T;
    return this.#withSeat(() => this.#runNow<T>(method, args, options));
  }

  async #runNow<T extends ExecuteResult>(method: string, args: readonly unknown[], input: ExecuteOptions): Promise<T> {
    const { onOutput, onStdout, onStderr, signal, ...options } = input;
    const limit = options.timeoutMs ?? this.#creation.options.limits?.["wallTimeMs"] ?? WALL_TIME_MS;
    const state = this.#state;
    const onTimeout = () => {
      if (this.#state === state) this.#restart(new WorkerTimeoutError());
    };
    const timers = [setTimeout(onTimeout, Math.min(limit + GRACE_MS, MAX_TIMER_MS))];
    let call = 0;
    const cancel = () => {
      if (call === 0 || this.#state !== state || state === undefined) return;
      const { seat } = state;
      if (seat.shared !== undefined) Atomics.store(seat.shared, call % CANCEL_SLOTS, call);
      seat.send({ sandbox: seat.sandbox, cancel: call });
      timers.push(setTimeout(onTimeout, GRACE_MS));
    };
    const listener = OutputListener.of({ onOutput, onStdout, onStderr }, cancel);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const given = defined(options);
      const result = await this.#callNow<T>(method, [...args, Object.keys(given).length > 0 ? given : undefined], {
        onOutput: listener?.chunk,
        onResult: (value) => this.#recordKept(args[0], value as ExecuteResult),
        onCall: (id) => {
          call = id;
          if (signal?.aborted) cancel();
        },
      });
      return (listener?.finish(result) ?? result) as T;
    } catch (error) {
      if (!(error instanceof WorkerTimeoutError)) throw error;
      return (signal?.aborted ? cancelledResult(this.#lossNote()) : timeoutResult(limit, this.#lossNote())) as T;
    } finally {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Records what a command has left. */
  #recordKept(command: unknown, { process }: ExecuteResult): void {
    if (process === undefined) return;
    const line = Array.isArray(command) ? command.join(" ") : String(command);
    this.#processes.started({ id: process, command: line, startedMs: Date.now(), writtenBytes: 0, running: true, exitCode: null });
  }

  /** Throws if the operation would silently lose changes. */
  checkSnapshotable(operation: string): void {
    if (!this.#creation.copiesOnWrite) return;
    const message = `cannot ${operation} a sandbox with copy-on-write mounts: snapshots do not include their changes; copy the files out instead`;
    throw new SandboxError(message, "UNSUPPORTED");
  }

  /** Restores a snapshot. Later changes are relative to it. */
  async restore(bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw abortedError(signal);
    await this.call<void>("restore", [bytes], { onResult: () => this.#creation.startFrom(bytes) });
  }

  /** Resolves when processes have ended; without any, the sandbox is closed synchronously. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const error = closedError();
    const exposed = this.exposed.close();
    this.#recreate = undefined;
    this.#isOpen = false;
    this.#opened?.reject(error);
    let hasCalls = this.#pending.size > 0;
    this.#reject(error);
    if (this.#processes.isUsed && this.#state !== undefined) hasCalls = await this.#terminate();
    const state = this.#state;
    this.#state = undefined;
    this.#creation.forgetChanges();
    state?.handlers.stop(error);
    void state?.seat.leave(hasCalls);
    this.#reject(error);
    await exposed;
  }

  /** Ends the commands and processes of the sandbox. Returns true if the worker does not respond. */
  async #terminate(): Promise<boolean> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(true), TERMINATION_MS + GRACE_MS);
    });
    const ended = this.#callNow(TERMINATE, []).then(() => false, () => true);
    try {
      return await Promise.race([ended, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** True if the kernel cannot reject the options of a sandbox. */
function cannotFail(options: KernelOptions, { packs, preinit }: Checked): boolean {
  const isSafe = Object.keys(options).every((name) => SAFE_OPTIONS.includes(name));
  return isSafe && Object.keys(options.limits ?? {}).every((name) => SAFE_LIMITS.includes(name)) && packs.length === 0 && preinit === undefined;
}
