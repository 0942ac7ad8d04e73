/**
 * The workers of this process and the sandboxes in them.
 *
 * Sandboxes share workers unless they have a separate one. There is one worker until a sandbox has waited for its turn, then a
 * further one, up to one for each core. Without JSPI a worker runs one command at a time; then a command that finds its worker
 * busy moves its sandbox to another one. The number of these is not limited.
 *
 * A worker that fails ends all of its sandboxes. Each is created again with its next call, from its options and its changes.
 *
 * The caller's thread counts as a worker too: sandboxes that require it share its kernel. It cannot be terminated.
 */

import { startCaller } from "./caller_worker.js";
import { hasJspi } from "./suspension.js";
import type { Call, Cancel, Create, SandboxReport, SandboxResponse, WorkerInput, WorkerOutput } from "./messages.js";
import { MESSAGE_COUNT, RECEIVED_COUNT, RESULT_COUNT, RUNNING_SANDBOX, SHARED_SLOTS, SPINS } from "./messages.js";
import type { Compiler } from "./module_cache.js";
import { SHELL, cachedModules } from "./module_cache.js";
import type { Platform, SandboxWorker } from "./platform.js";
import { AWAKE_MS, SpinControl } from "./spin_control.js";

/** The worker of a sandbox: shared with others, or separate, or the thread of its caller. */
export type Thread = "pool" | "own" | "caller";

/** Milliseconds in which a worker has to confirm that it has dropped a sandbox, before it is terminated. */
const DROP_MS = 3_000;
/** Uses the common programs, in pipelines and without. */
const WARM_UP = "seq 20 | grep 1 | sort -r | head -5 > a; cat a | wc -l; ls; cp a b; sed s/1/2/ b | tr 1 2; find . -name b; rm a b";
/** Milliseconds in which a worker without sandboxes has to end when it is requested to, before it is terminated. */
const END_MS = 1_000;
/** Milliseconds after which a shared worker without sandboxes is terminated. */
const IDLE_MS = 10_000;
/** Milliseconds for which a worker counts as busy after its report. */
const BUSY_FOR_MS = 200;
/** Sandboxes with calls in progress beyond which a further worker is started. */
const MAX_RUNNING = 64;
/** Sandboxes that a worker may have to create while no caller waits for it. Further ones wait, so that its queue stays short. */
const MAX_UNCONFIRMED = 8;
/** Random bytes that a new worker gets. Its sandboxes use more only if their programs do. */
const RANDOM_BYTES = 1024;
/** Without JSPI: milliseconds that a call waits for the command of another sandbox, before its sandbox moves. */
const TURN_MS = 50;
/** Without JSPI: milliseconds between the starts of two workers, when there are as many as cores. */
const START_MS = 200;

/** Receives the events of a sandbox in its worker. */
export interface SeatListener {
  report(report: SandboxReport): void;
  /** The worker has ended. `isCause` is true if it was running this sandbox. */
  crashed(error: unknown, isCause: boolean): void;
}

/** Unique in this process, so that a late message about a sandbox that has moved reaches nothing. */
let lastSandbox = 0;

const workers: PoolWorker[] = [];
/** The kernel in this thread, after the first sandbox that requires it. */
let caller: PoolWorker | undefined;
/** Prepared workers for sandboxes that have separate ones. */
const prepared: PoolWorker[] = [];
/** Number of workers that may be started. */
let wanted = 1;
/** Time at which a call last started or ended. */
let calledAt = 0;
/** Time at which the last worker was started. */
let startedAt = 0;

/** A sandbox in a worker. */
export class Seat {
  readonly sandbox = ++lastSandbox;
  readonly #worker: PoolWorker;
  readonly #listener: SeatListener;
  #isRunning = false;
  #isKept = false;
  #hasLeft = false;
  /** True until the worker has reported that it has created the sandbox, if the application does not wait for that. */
  #isUnconfirmed = false;

  constructor(worker: PoolWorker, listener: SeatListener) {
    this.#worker = worker;
    this.#listener = listener;
    worker.enter(this);
    this.hold(true);
  }

  /** Resolves when the worker accepts messages. */
  get ready(): Promise<void> {
    return this.#worker.ready;
  }

  /** True if the worker creates sandboxes without delay, so that a caller need not wait for it. */
  get isResponsive(): boolean {
    return this.#worker.isResponsive;
  }

  /** Called when a sandbox was created without waiting for the worker. */
  expectReady(): void {
    this.#worker.unconfirmed += 1;
    this.#isUnconfirmed = true;
  }

  /** Memory that the worker reads while it runs guests. */
  get shared(): Int32Array | undefined {
    return this.#worker.shared;
  }

  /**
   * Sends a message, unless the sandbox has ended: one that is closed while it is created must not be created afterwards. Buffers in
   * `moved` are transferred instead of copied.
   *
   * @throws if the message cannot be cloned.
   */
  send(message: Create | Call | Cancel | SandboxResponse, moved?: ArrayBuffer[]): void {
    if (!this.#hasLeft) this.#worker.send(message, moved);
  }

  /** Sets whether calls are in progress. They keep the process alive. */
  hold(isRunning: boolean): void {
    if (this.#isRunning === isRunning || (isRunning && this.#hasLeft)) return;
    this.#isRunning = isRunning;
    this.#worker.countRunning(isRunning ? 1 : -1);
  }

  /** Sets whether a connection of the application waits for data. It keeps the process alive, and does not count as work. */
  keep(isKept: boolean): void {
    if (this.#isKept === isKept || (isKept && this.#hasLeft)) return;
    this.#isKept = isKept;
    this.#worker.countKept(isKept ? 1 : -1);
  }

  /** True if a call should move the sandbox: its worker is busy with others, and another one has less to do. */
  get isCrowded(): boolean {
    return this.#worker.isBusy && this.#worker.running > (this.#isRunning ? 1 : 0) && hasFreeWorker(this.#worker);
  }

  /**
   * Without JSPI: waits until no other sandbox of the worker has calls in progress. Returns false if that takes longer than a
   * call should wait, and the sandbox can move.
   */
  async waitForTurn(): Promise<boolean> {
    let until = performance.now() + TURN_MS;
    while (!this.#hasLeft && this.#worker.running > (this.#isRunning ? 1 : 0)) {
      const rest = until - performance.now();
      if (rest <= 0 && this.#worker.mayLeave) return false;
      if (rest <= 0) until = performance.now() + TURN_MS;
      else await this.#worker.runningChanged(rest);
    }
    // Others that wait for the same turn see immediately that it is taken.
    this.hold(true);
    return true;
  }

  /**
   * Ends the sandbox, with its calls in progress if it `hasCalls`. Returns true if its worker did not respond and was terminated,
   * probably because of this sandbox.
   */
  leave(hasCalls: boolean): Promise<boolean> {
    this.#release();
    return this.#worker.leave(this, hasCalls);
  }

  report(report: SandboxReport): void {
    this.#confirm();
    this.#listener.report(report);
  }

  #confirm(): void {
    if (!this.#isUnconfirmed) return;
    this.#isUnconfirmed = false;
    this.#worker.unconfirmed -= 1;
  }

  crashed(error: unknown, isCause: boolean): void {
    this.#release();
    this.#listener.crashed(error, isCause);
  }

  #release(): void {
    this.#confirm();
    this.hold(false);
    this.keep(false);
    this.#hasLeft = true;
  }
}

/** Gives a sandbox a worker. One that warms a worker up names it. */
export function takeSeat(platform: Platform, thread: Thread, listener: SeatListener, warmed?: PoolWorker): Seat {
  if (warmed !== undefined) return new Seat(warmed, listener);
  const worker = workerFor(platform, thread);
  worker.use();
  return new Seat(worker, listener);
}

function workerFor(platform: Platform, thread: Thread): PoolWorker {
  switch (thread) {
    case "own":
      return prepared.shift() ?? new PoolWorker(platform, "own");
    case "caller":
      return (caller ??= new PoolWorker(platform, "caller"));
    case "pool":
      return chooseWorker(platform);
  }
}

/**
 * Starts workers before a sandbox needs them, and keeps them until one uses them: up to `count`, including existing ones. Returns
 * the new ones.
 */
export function reserveWorkers(platform: Platform, thread: Thread, count: number): PoolWorker[] {
  const present = { pool: workers.length, own: prepared.length, caller: caller === undefined ? 0 : 1 }[thread];
  const most = { pool: platform.maxWorkers, own: Infinity, caller: 1 }[thread];
  const started: PoolWorker[] = [];
  if (thread === "pool") for (const worker of workers.slice(0, count)) worker.reserve();
  for (let number = present; number < Math.min(count, most); number++) {
    const worker = new PoolWorker(platform, thread, true);
    started.push(worker);
    if (thread === "pool") workers.push(worker);
    else if (thread === "own") prepared.push(worker);
    else caller = worker;
  }
  if (thread === "pool") wanted = Math.max(wanted, Math.min(count, most));
  return started;
}

/** Returns the worker that runs the fewest sandboxes, or a new one. */
function chooseWorker(platform: Platform): PoolWorker {
  let best: PoolWorker | undefined;
  for (const worker of workers) if (best === undefined || worker.load < best.load) best = worker;
  if (best === undefined || (best.running > 0 && mayStartWorker(platform, best))) {
    best = new PoolWorker(platform, "pool");
    startedAt = performance.now();
    workers.push(best);
  }
  return best;
}

function mayStartWorker(platform: Platform, best: PoolWorker): boolean {
  if (hasJspi()) return workers.length < (best.running < MAX_RUNNING ? wanted : platform.maxWorkers);
  // A worker without JSPI may have to wait for another one, in a function of the application that calls a sandbox. So there is no
  // limit, but many concurrent calls must not start as many workers.
  return workers.length < platform.maxWorkers || performance.now() - startedAt >= START_MS;
}

function hasFreeWorker(than: PoolWorker): boolean {
  return workers.length < wanted || workers.some((worker) => worker.running + 1 < than.running);
}

/** A worker and its sandboxes. */
export class PoolWorker {
  readonly shared: Int32Array | undefined;
  readonly ready: Promise<void>;
  /** Sandboxes with calls in progress. */
  running = 0;
  /** Sandboxes that were created without waiting for the worker, and which it has not reported yet. */
  unconfirmed = 0;
  /** True when it has created a sandbox. */
  #hasCreated = false;
  /** Sandboxes with connections that wait for data. */
  #kept = 0;
  readonly #platform: Platform;
  readonly #thread: Thread;
  /** True until a sandbox uses a worker that was started ahead. */
  #isReserved: boolean;
  readonly #worker: SandboxWorker;
  readonly #seats = new Map<number, Seat>();
  /** Called when a sandbox is dropped. */
  readonly #dropped = new Map<number, () => void>();
  #changed: (() => void)[] = [];
  #hasEnded = false;
  /** Set after its setup, where this thread compiles programs. */
  #compiler: Compiler | undefined;
  #busyUntil = 0;
  /** Absent if the threads do not share memory, or the platform has one core. */
  readonly #spin: SpinControl | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(platform: Platform, thread: Thread, isReserved = false) {
    this.#platform = platform;
    this.#thread = thread;
    this.#isReserved = isReserved;
    const listener = {
      report: (report: WorkerOutput) => this.#report(report),
      crashed: (error: unknown) => this.#end(error, this.#runningSandbox()),
    };
    // Starting a worker takes the longest, so it comes first.
    this.#worker = thread === "caller" ? startCaller(platform, listener) : platform.start(listener);
    // Pages without cross-origin isolation cannot share memory. The caller's thread needs none.
    const shares = thread !== "caller" && typeof SharedArrayBuffer === "function";
    this.shared = shares ? new Int32Array(new SharedArrayBuffer(4 * SHARED_SLOTS)) : undefined;
    if (shares && platform.stayAwake !== undefined) this.#spin = new SpinControl();
    this.ready = this.#setUp();
    this.ready.catch((error: unknown) => this.#end(error));
  }

  async #setUp(): Promise<void> {
    const modules = await cachedModules(this.#platform);
    const { kernel, programs, compiled, compiler } = modules;
    // Without JSPI the worker cannot wait for a module.
    if (!hasJspi()) await compiler?.module(SHELL);
    if (this.#hasEnded) return;
    const random = this.#platform.randomBytes(RANDOM_BYTES);
    this.send({ kernel, programs, compiled, asks: hasJspi() && compiler !== undefined, random, shared: this.shared });
    if (compiler === undefined) return;
    this.#compiler = compiler;
    compiler.receivers.add(this.#receiveModule);
    compiler.module(SHELL).catch((error: unknown) => this.#end(error));
  }

  readonly #receiveModule = (file: string, module: WebAssembly.Module): void => {
    this.send({ compiledFile: file, module });
  };

  /** Prepares what the commands after the first one need. */
  async #prefetch(): Promise<void> {
    // The application's thread is not used for commands that it has not requested.
    const warmsUp = hasJspi() && this.#thread !== "caller";
    const idleMs = () => performance.now() - calledAt;
    if ((await this.#compiler?.prefetch(idleMs)) === true && warmsUp) this.send({ warmUp: WARM_UP });
  }

  /** Compiles a program that the worker waits for. */
  async #compile(file: string): Promise<void> {
    try {
      const module = await this.#compiler?.module(file);
      if (module !== undefined) this.#receiveModule(file, module);
    } catch (error) {
      this.send({ uncompiledFile: file, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  /** Order in which workers are chosen: by the running sandboxes, then by all of them. */
  get load(): number {
    return this.running + this.#seats.size / 2 ** 32;
  }

  /** Without JSPI: true if a sandbox that waits for its turn would find another worker, or could start one. */
  get mayLeave(): boolean {
    return workers.some((worker) => worker.running === 0) || mayStartWorker(this.#platform, this);
  }

  /** True if no other sandbox of the pool runs: then active waiting takes no time from others. */
  get #runsAlone(): boolean {
    return this.running <= 1 && workers.every((worker) => worker === this || worker.running === 0);
  }

  get isBusy(): boolean {
    return performance.now() < this.#busyUntil;
  }

  /** True if it has created a sandbox before and few others wait for it. */
  get isResponsive(): boolean {
    return this.#hasCreated && !this.#hasEnded && this.unconfirmed < MAX_UNCONFIRMED && !this.isBusy;
  }

  /** Called by a sandbox that uses it: it is no longer kept for one. */
  use(): void {
    this.#isReserved = false;
  }

  /** Keeps it for the next sandbox, whenever that comes, unless some use it. */
  reserve(): void {
    if (this.#seats.size > 0) return;
    this.#isReserved = true;
    clearTimeout(this.#idle);
  }

  enter(seat: Seat): void {
    clearTimeout(this.#idle);
    this.#seats.set(seat.sandbox, seat);
  }

  send(message: WorkerInput, moved?: ArrayBuffer[]): void {
    if (this.#hasEnded) return;
    if ("create" in message || "method" in message) calledAt = performance.now();
    // The worker looks at the count between time slices. It must not find the message first, and then another count.
    if (this.shared !== undefined) Atomics.add(this.shared, MESSAGE_COUNT, 1);
    this.#worker.send(message, moved);
    // It may wait for messages while a guest is on the stack.
    if (this.shared !== undefined) Atomics.notify(this.shared, MESSAGE_COUNT);
    if ("method" in message && this.#spin?.spins === true && this.#runsAlone) this.#platform.stayAwake?.(AWAKE_MS, this.#isReceived);
  }

  /** True if the worker has received all messages. */
  readonly #isReceived = (): boolean =>
    this.shared !== undefined && Atomics.load(this.shared, RECEIVED_COUNT) === Atomics.load(this.shared, MESSAGE_COUNT);

  countRunning(change: number): void {
    this.running += change;
    this.#hold();
    for (const changed of this.#changed.splice(0)) changed();
  }

  countKept(change: number): void {
    this.#kept += change;
    this.#hold();
  }

  #hold(): void {
    this.#worker.hold(this.running + this.#kept > 0);
  }

  /** Resolves when the number of running sandboxes changes, at the latest after `milliseconds`. */
  runningChanged(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#changed.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async leave(seat: Seat, hasCalls: boolean): Promise<boolean> {
    if (!this.#seats.delete(seat.sandbox) || this.#hasEnded) return false;
    if (this.#thread === "own" && this.#seats.size === 0 && !this.#isReserved) {
      this.#end(undefined);
      return false;
    }
    // Without JSPI its guests are on the stack of the worker, which handles no message before they end.
    const isStuck = hasCalls && (!hasJspi() || !(await this.#drop(seat.sandbox)));
    if (!hasCalls) this.send({ drop: seat.sandbox, confirms: false });
    const running = this.#runningSandbox();
    if (isStuck) this.#end(new Error("a command did not end"), running);
    else if (this.#seats.size === 0 && this.#thread === "pool" && !this.#isReserved) this.#rest();
    return isStuck && (running === undefined || running === seat.sandbox);
  }

  /** Returns false if the worker does not respond. The caller's thread does: this code runs in it. */
  #drop(sandbox: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#thread === "caller" ? undefined : setTimeout(() => {
        this.#dropped.delete(sandbox);
        resolve(false);
      }, DROP_MS);
      this.#dropped.set(sandbox, () => {
        clearTimeout(timer);
        this.#dropped.delete(sandbox);
        resolve(true);
      });
      this.send({ drop: sandbox, confirms: true });
    });
  }

  /** A worker without sandboxes is kept for the next one, for a while. It does not keep the process alive. */
  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#end(undefined), IDLE_MS);
    (this.#idle as { unref?: () => void }).unref?.();
  }

  #runningSandbox(): number | undefined {
    const running = this.shared === undefined ? 0 : Atomics.load(this.shared, RUNNING_SANDBOX);
    return running === 0 ? undefined : running;
  }

  #report(report: WorkerOutput): void {
    switch (report.type) {
      case "busy":
        this.#busyUntil = performance.now() + BUSY_FOR_MS;
        wanted = Math.min(Math.max(wanted, workers.length + 1), this.#platform.maxWorkers);
        return;
      case "compiled":
        return void cachedModules(this.#platform).then(({ compiled }) => compiled.set(report.file, report.module));
      case "needed":
        return void this.#compile(report.file);
      case "crashed":
        return this.#end(new Error(report.reason), report.sandbox ?? this.#runningSandbox());
      case "dropped":
        return this.#dropped.get(report.sandbox)?.();
      case "failed":
      case "packed":
        return;
      case "result":
        this.#measureCall();
        void this.#prefetch();
        return this.#seats.get(report.sandbox)?.report(report);
      case "ready":
        this.#hasCreated = true;
        return this.#seats.get(report.sandbox)?.report(report);
      default:
        this.#seats.get(report.sandbox)?.report(report);
    }
  }

  /** Decides how both threads wait for the next messages. */
  #measureCall(): void {
    const sentAt = calledAt;
    calledAt = performance.now();
    const spin = this.#spin;
    if (spin === undefined || this.shared === undefined) return;
    Atomics.add(this.shared, RESULT_COUNT, 1);
    if (spin.spins) this.#platform.maySleep?.();
    const runsAlone = this.#runsAlone;
    if (runsAlone) spin.record(calledAt - sentAt);
    Atomics.store(this.shared, SPINS, runsAlone && spin.spins ? 1 : 0);
  }

  /**
   * Ends the worker. One that works well ends between two tasks: Node aborts the process if a worker is terminated while it sets up
   * a decompression.
   */
  #stop(worksWell: boolean): void {
    if (!worksWell || this.#worker.canEnd !== true) return this.#worker.terminate();
    this.#worker.send({ end: true });
    const timer = setTimeout(() => this.#worker.terminate(), END_MS);
    (timer as { unref?: () => void }).unref?.();
  }

  /** Terminates the worker. Its sandboxes have failed, probably because of the sandbox `cause`. */
  #end(error: unknown, cause?: number): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#idle);
    for (const list of [workers, prepared]) {
      const at = list.indexOf(this);
      if (at >= 0) list.splice(at, 1);
    }
    if (caller === this) caller = undefined;
    if (workers.length === 0) wanted = 1;
    this.#compiler?.receivers.delete(this.#receiveModule);
    this.#stop(error === undefined);
    for (const dropped of [...this.#dropped.values()]) dropped();
    const seats = [...this.#seats.values()];
    this.#seats.clear();
    for (const seat of seats) seat.crashed(error, seat.sandbox === cause);
  }
}
