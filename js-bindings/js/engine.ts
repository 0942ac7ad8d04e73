/**
 * The engine: runs the guests of all sandboxes of this worker as WebAssembly instances, one at a time.
 *
 * The kernel's module imports the functions that are exported here; `src/js_imports.rs` declares them. A guest runs until it
 * blocks, its time slice ends, or it exits; then the next guest of the run queue runs. With JSPI (`WebAssembly.Suspending`) a
 * blocked guest is suspended with its stack. Without JSPI, the guests that it waits for run to completion on top of its stack.
 *
 * Guests, executions and sandboxes have numbers that are unique in this worker. Module state is the right scope for the tables,
 * because a worker has exactly one instance of the kernel.
 */

import { CpuShare } from "./cpu_share.js";
import type { EngineListener } from "./engine_events.js";
import { listener, setListener } from "./engine_events.js";
import * as kernel from "./kernel.js";
import { stopAlarm } from "./kernel_timers.js";
import type { PackagePrograms, Program } from "./programs.js";
import { Programs } from "./programs.js";
import { preinitMemory } from "./pack_memory.js";
import { imports } from "./imports.js";
import { hasJspi } from "./suspension.js";
import type { PooledInstance, ReuseMode } from "./instance_pool.js";
import { InstancePool, globals, memoryBytes, pooledInstance } from "./instance_pool.js";
import { BUSY_MS } from "./messages.js";
import { PAGE } from "./packs.js";
import type { SandboxQueue } from "./run_queue.js";
import { RunQueue, sandboxQueue } from "./run_queue.js";
import type { Timer } from "./time.js";
import { MAX_TIMER_MS } from "./timer_limit.js";
import { monotonic as now, queueMicrotask, sleep, startTimeout, yieldToEventLoop } from "./time.js";

// Imports of the kernel's module that other files implement.
export { random } from "./entropy.js";
export {
  cancelled, deliver, netBody, netBodyFailed, netCancelled, netPull, netResolve, netSend, portChunk, portEnded, portWritten, toolCall,
  toolCancelled, toolReply,
} from "./engine_events.js";
export { alarm, startTimer, stopTimer } from "./kernel_timers.js";
export { monotonic, realtime } from "./time.js";

/** Status codes of the kernel for a call or a check of a guest that cannot continue; see `src/syscalls.rs`. */
const BLOCK = -1;
const YIELDED = -4;
const INTERRUPTED = -5;

/** Values that resume a guest or make it exit; see `src/rewrite/wrapper.rs`. */
const GUEST_EXITED = 0;
const RETRY = 1;
const DONE = 2;

/** Export that is the entry of a forked child. */
const CHILD = "tidebox_fork_child";
/** Export of the module's start function, which runs before its entry. */
const START = "tidebox:start";
const STACK_POINTER = "__stack_pointer";
/** Entry of a pack's runtime, instead of `_start`. */
const RUN = "run";

/** Milliseconds of idleness after which instances are prepared for other sandboxes. */
const CLEAN_AFTER_MS = 20;
/** Milliseconds of work after which a worker yields to its event loop. */
const YIELD_INTERVAL_MS = 8;
/** Maximum milliseconds that a guest sleeps before it checks its deadline again, if no event loop can. */
const POLL_INTERVAL_MS = 50;

/** A sandbox of this worker. */
interface SandboxState extends SandboxQueue<Guest> {
  readonly number: number;
  readonly programs: Programs;
}

interface Guest {
  /** Its number in this worker. */
  readonly slot: number;
  readonly sandbox: SandboxState;
  readonly execution: number;
  readonly name: string;
  program?: Program;
  /** The reason why its program cannot be loaded. */
  loadError?: string;
  instance?: WebAssembly.Instance;
  /** Its instance with the parts that are needed to use it again. */
  pooled?: PooledInstance;
  memory?: WebAssembly.Memory;
  /** View of its whole memory. Its length is 0 after the memory has grown. */
  view: Uint8Array;
  /** Argument of the entry of a forked child. */
  forked?: number;
  /** Resumes the suspended guest. */
  resume?: (resumeValue: number) => void;
  resumeValue: number;
  parked: boolean;
  /** True if it was woken before it was suspended. */
  woken: boolean;
  /** True from its start to its end. */
  isLive?: boolean;
  timer?: Timer;
}

const sandboxes = new Map<number, SandboxState>();
const guests = new Map<number, Guest>();
/** The sandboxes of executions that have guests. */
const executions = new Map<number, SandboxState>();
const queue = new RunQueue<Guest>();
let current: Guest | undefined;
let sliceStart = 0;
let scheduled = false;
let lastYield = now();
let yieldIntervalMs = YIELD_INTERVAL_MS;
let programs: PackagePrograms | undefined;
let pool: InstancePool | undefined;

/** Configures the engine. Called before the kernel creates a sandbox. `yieldMs` is the time of work until guests yield to the event loop. */
export function configure(known: PackagePrograms, receiver: EngineListener, reuse: ReuseMode, yieldMs = YIELD_INTERVAL_MS): void {
  programs = known;
  yieldIntervalMs = yieldMs;
  pool = new InstancePool((program) => createInstance(program, 0, 0).pooled, reuse);
  setListener(receiver);
}

/** Adds a sandbox, with its processor time in other workers. Called before the kernel creates it. */
export function addSandbox(number: number, cpuTimeMs: number): void {
  sandboxes.set(number, { ...sandboxQueue<Guest>(cpuTimeMs), number, programs: new Programs(packagePrograms()) });
}

/** Returns the processor time of all guests of a sandbox, in milliseconds. */
export function cpuTimeMs(number: number): number {
  return sandboxes.get(number)?.totalMs ?? 0;
}

/** Removes a sandbox with its guests. */
export function removeSandbox(number: number): void {
  const sandbox = sandboxes.get(number);
  if (sandbox === undefined) return;
  sandboxes.delete(number);
  for (const [execution, owner] of [...executions]) if (owner === sandbox) dropGuests(execution);
}

function packagePrograms(): PackagePrograms {
  if (programs === undefined) throw new Error("the engine is not configured");
  return programs;
}

// Guest memory ---------------------------------------------------------------------------------------------------------

const EMPTY = new Uint8Array(0);

function view(slot: number): Uint8Array {
  const guest = guests.get(slot);
  if (guest?.memory === undefined) return EMPTY;
  // Growth detaches the buffer, and the view then has length 0.
  if (guest.view.length === 0) guest.view = new Uint8Array(guest.memory.buffer);
  return guest.view;
}

export function guestRead(slot: number, at: number, to: Uint8Array): boolean {
  const memory = view(slot);
  const end = at + to.length;
  if (end > memory.length) return false;
  to.set(memory.subarray(at, end));
  return true;
}

export function guestWrite(slot: number, at: number, from: Uint8Array): boolean {
  const memory = view(slot);
  if (at + from.length > memory.length) return false;
  memory.set(from, at);
  return true;
}

// Scheduling -----------------------------------------------------------------------------------------------------------

/** Guests of a paused execution are not scheduled. An interactive process is paused between two requests. */
export function pauseExecution(execution: number, isPaused: boolean): void {
  if (isPaused) return queue.pause(execution, executions.get(execution));
  queue.resume(execution);
  schedule();
}

function schedule(): void {
  if (current !== undefined || scheduled || queue.isEmpty) return;
  scheduled = true;
  if (now() - lastYield < yieldIntervalMs && !(listener?.hasMessages() ?? false)) {
    queueMicrotask(next);
  } else {
    yieldToEventLoop(() => {
      lastYield = now();
      next();
    });
  }
}

function next(): void {
  scheduled = false;
  const [guest, waitedMs] = queue.take() ?? [];
  if (guest === undefined) return;
  if (waitedMs !== undefined && waitedMs > BUSY_MS) listener?.busy();
  if (guests.get(guest.slot) !== guest) {
    schedule();
    return;
  }
  if (hasJspi() && kernel.parkIfStopped(guest.slot)) {
    guest.parked = true;
    schedule();
    return;
  }
  if (hasJspi() && !isLoaded(guest)) {
    void loadProgram(guest);
    schedule();
    return;
  }
  current = guest;
  sliceStart = now();
  listener?.running(guest.sandbox.number);
  const { resume } = guest;
  if (resume === undefined) {
    startGuest(guest).catch((error: unknown) => listener?.crashed(error, guest.sandbox.number));
  } else {
    guest.resume = undefined;
    kernel.switchGuest(guest.slot);
    resume(guest.resumeValue);
  }
}

/** True if no guest can run. */
export function isIdle(): boolean {
  return current === undefined && queue.isEmpty;
}

/** Ends the time slice of a guest that has blocked or exited: the kernel checks for new work, and the next guest runs. */
function endSlice(guest: Guest): void {
  if (current === guest) {
    current = undefined;
    const usedMs = now() - sliceStart;
    queue.charge(guest.sandbox, usedMs);
    chargeShare(guest.execution, usedMs);
    listener?.running(0);
  }
  // A guest that was dropped while it started may end while another one runs.
  if (current === undefined) kernel.switchGuest(0);
  kernel.wakeExecution(guest.execution);
  schedule();
}

/** Pauses an execution that has used up its share of processor time. */
function chargeShare(execution: number, usedMs: number): void {
  const share = shares.get(execution);
  const pauseMs = share?.charge(usedMs) ?? 0;
  if (share === undefined || pauseMs === 0) return;
  pauseExecution(execution, true);
  share.pause(pauseMs, () => pauseExecution(execution, false));
}

let cleaning: Timer | undefined;

/** Prepares instances for other sandboxes, one at a time, while no guest can run. */
function cleanWhenIdle(): void {
  if (sandboxes.size < 2) return;
  clearTimeout(cleaning);
  cleaning = startTimeout(() => {
    if (isIdle() && pool?.cleanOne() === true) cleanWhenIdle();
  }, CLEAN_AFTER_MS);
}

/**
 * Runs a function that guests call. A guest could catch an exception that passes through it, which would leave the kernel in an
 * inconsistent state. So exceptions are caught here, and the sandbox is restarted.
 */
function catchErrors<T>(work: () => T, instead: T): T {
  try {
    return work();
  } catch (error) {
    listener?.crashed(error, current?.sandbox.number);
    return instead;
  }
}

/** Called by a guest that cannot continue. The guest is suspended until the promise is resolved. */
function suspend(slot: number, code: number): Promise<number> {
  return new Promise((resolve) => catchErrors(() => {
    const guest = guests.get(slot);
    // Its execution has ended.
    if (guest === undefined) return resolve(GUEST_EXITED);
    guest.resume = resolve;
    guest.resumeValue = code === YIELDED ? DONE : RETRY;
    if (code === BLOCK && !guest.woken) {
      park(guest);
    } else if (code === INTERRUPTED && kernel.isDeterministic(slot)) {
      queue.addFirst(guest);
    } else {
      queue.add(guest);
    }
    guest.woken = false;
    endSlice(guest);
  }, undefined));
}

function park(guest: Guest): void {
  guest.parked = true;
  const wait = kernel.waitTimeoutMs(guest.slot);
  if (wait < 0) return;
  const milliseconds = Math.min(Math.ceil(wait), MAX_TIMER_MS);
  guest.timer = startTimeout(() => guestWake(guest.slot), milliseconds);
}

export function guestWake(slot: number): void {
  const guest = guests.get(slot);
  if (guest === undefined) return;
  if (!guest.parked) {
    guest.woken = true;
    return;
  }
  guest.parked = false;
  clearTimeout(guest.timer);
  queue.add(guest);
  schedule();
}

// Start and exit -------------------------------------------------------------------------------------------------------

export function guestStart(sandboxNumber: number, execution: number, slot: number, name: string): void {
  const sandbox = sandboxes.get(sandboxNumber);
  if (sandbox === undefined) return;
  add({ slot, sandbox, execution, name, view: EMPTY, resumeValue: RETRY, parked: false, woken: false });
}

function add(guest: Guest): void {
  guests.set(guest.slot, guest);
  executions.set(guest.execution, guest.sandbox);
  queue.add(guest);
  schedule();
}

export function guestCanFork(slot: number): boolean {
  const { memory, instance } = guests.get(slot) ?? {};
  const { [CHILD]: child, [STACK_POINTER]: stack } = instance?.exports ?? {};
  return memory !== undefined && typeof child === "function" && stack instanceof WebAssembly.Global;
}

export function guestFork(parentSlot: number, slot: number, argument: number): boolean {
  const parent = guests.get(parentSlot);
  const { program, instance, memory } = parent ?? {};
  if (parent === undefined || program === undefined || instance === undefined || memory === undefined) return false;
  const pages = memoryBytes(instance, memory) / PAGE;
  if (!kernel.registerInstance(slot, program.isTideboxGuest, pages, true)) return false;
  const { sandbox, execution, name } = parent;
  const guest: Guest = {
    slot, sandbox, execution, name, program, view: EMPTY, forked: argument, resumeValue: RETRY, parked: false, woken: false,
  };
  try {
    instantiate(guest, program);
    copy(instance, memory, guest);
  } catch {
    return false;
  }
  add(guest);
  return true;
}

/** Copies the parent's memory and globals to the child. */
function copy(parent: WebAssembly.Instance, from: WebAssembly.Memory, child: Guest): void {
  const stack = parent.exports[STACK_POINTER];
  if (child.memory === undefined || !(stack instanceof WebAssembly.Global)) throw new Error("the module cannot fork");
  const end = memoryBytes(parent, from);
  const missing = end - child.memory.buffer.byteLength;
  if (missing > 0) child.memory.grow(missing / PAGE);
  child.view = new Uint8Array(child.memory.buffer);
  // Memory below the stack pointer is unused: the larger part of a stack that is sized for recursion.
  const live = Math.min(Math.max(stack.value as number, 0), end);
  child.view.set(new Uint8Array(from.buffer, live, end - live), live);
  for (const [name, global] of globals(parent)) (child.instance?.exports[name] as WebAssembly.Global).value = global.value;
}

function createInstance(program: Program, number: number, sandbox: number): { instance: WebAssembly.Instance; pooled?: PooledInstance } {
  const slot = new WebAssembly.Global({ value: "i32", mutable: program.reuse !== undefined }, number);
  const instance = new WebAssembly.Instance(program.module, imports(slot, { suspend, blockOnStack }));
  const { memory } = instance.exports;
  if (program.reuse === undefined || !(memory instanceof WebAssembly.Memory)) return { instance };
  return { instance, pooled: pooledInstance(instance, memory, slot, sandbox) };
}

/** Gives a guest an instance: one that has been used, or a new one. */
function instantiate(guest: Guest, program: Program): WebAssembly.Instance {
  guest.program = program;
  let pooled = pool?.take(program, guest.sandbox.number);
  let instance = pooled?.instance;
  if (instance === undefined) {
    ({ instance, pooled } = createInstance(program, guest.slot, guest.sandbox.number));
    if (pooled !== undefined) pool?.register(program, pooled);
  } else if (pooled !== undefined) {
    pooled.slot.value = guest.slot;
  }
  const { memory } = instance.exports;
  guest.instance = instance;
  if (pooled !== undefined) guest.pooled = pooled;
  if (memory instanceof WebAssembly.Memory) guest.memory = memory;
  return instance;
}

/** Lets the instance of a guest that has ended be used again. */
function releaseInstance(guest: Guest): void {
  const { program, pooled } = guest;
  delete guest.pooled;
  if (program === undefined || pooled === undefined) return;
  pool?.release(program, pooled);
  cleanWhenIdle();
}

/** True if the guest can be started without waiting. Otherwise its program has to be compiled. */
function isLoaded(guest: Guest): boolean {
  if (guest.program !== undefined || guest.loadError !== undefined) return true;
  const program = guest.sandbox.programs.ready(guest.name);
  if (program !== undefined) guest.program = program;
  return program !== undefined;
}

/** Compiles the program of a guest, while other sandboxes run. */
async function loadProgram(guest: Guest): Promise<void> {
  queue.startLoading(guest);
  try {
    guest.program = await guest.sandbox.programs.load(guest.name);
  } catch (error) {
    guest.loadError = message(error);
  }
  if (guests.get(guest.slot) === guest) queue.addFirst(guest);
  queue.endLoading(guest);
  schedule();
}

/** Runs a guest for the first time. */
async function startGuest(guest: Guest): Promise<void> {
  setLive(guest, true);
  try {
    if (!hasJspi()) return runNow(guest);
    const instance = guest.instance ?? (await prepare(guest));
    if (instance !== undefined) await run(guest, instance);
  } finally {
    if (guests.get(guest.slot) === guest) guests.delete(guest.slot);
    setLive(guest, false);
    releaseInstance(guest);
    endSlice(guest);
  }
}

function setLive(guest: Guest, isLive: boolean): void {
  if ((guest.isLive ?? false) === isLive) return;
  guest.isLive = isLive;
  guest.sandbox.live += isLive ? 1 : -1;
}

/** Instantiates the program of a guest. Returns `undefined` if the guest has exited instead or was dropped. */
async function prepare(guest: Guest): Promise<WebAssembly.Instance | undefined> {
  try {
    const { program, loadError } = guest;
    if (program === undefined) throw new Error(loadError);
    if (!kernel.registerInstance(guest.slot, program.isTideboxGuest, program.pages, false)) return undefined;
    return await instantiateWithRetry(guest, program);
  } catch (error) {
    kernel.guestCannotStart(guest.slot, message(error));
    return undefined;
  }
}

/** Attempts to create an instance, and the milliseconds between them. */
const INSTANTIATE_ATTEMPTS = 25;
const INSTANTIATE_PAUSE_MS = 20;

/**
 * Instantiates the program. Memories of exited guests occupy address space until the engine collects them, and browsers limit it,
 * so that many short programs may exhaust it for a moment.
 */
async function instantiateWithRetry(guest: Guest, program: Program): Promise<WebAssembly.Instance | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return instantiate(guest, program);
    } catch (error) {
      if (!(error instanceof RangeError) || attempt === INSTANTIATE_ATTEMPTS) throw error;
      pool?.clear();
    }
    await new Promise<void>((resolve) => startTimeout(resolve, INSTANTIATE_PAUSE_MS));
    if (guests.get(guest.slot) !== guest) return undefined;
  }
}

async function run(guest: Guest, instance: WebAssembly.Instance): Promise<void> {
  kernel.switchGuest(guest.slot);
  try {
    const { exports } = instance;
    if (guest.program?.pack !== undefined) return await runPack(guest, exports);
    if (guest.forked !== undefined) {
      await call(exports[CHILD], guest.forked);
    } else {
      if (exports[START] !== undefined) await call(exports[START]);
      await call(exports["_start"]);
    }
    kernel.guestEnded(guest.slot);
  } catch (error) {
    kernel.guestEnded(guest.slot, message(error));
  }
}

/** The entry of a pack's runtime returns the exit code. */
async function runPack(guest: Guest, exports: WebAssembly.Exports): Promise<void> {
  const { slot, memory, program } = guest;
  const preinit = program?.pack?.preinit;
  const code = preinit === undefined || memory === undefined
    ? await call(exports[RUN])
    : await preinitMemory(preinit, memory, (name, ...values) => call(exports[name], ...values), packagePrograms().packHost());
  kernel.guestReturned(slot, code as number);
}

// Without JSPI ---------------------------------------------------------------------------------------------------------

/** Runs a guest from start to end, on top of the stack of the guest that waits for it. */
function runNow(guest: Guest): void {
  let instance = guest.instance;
  try {
    if (instance === undefined) {
      const program = guest.sandbox.programs.loadNow(guest.name);
      if (!kernel.registerInstance(guest.slot, program.isTideboxGuest, program.pages, false)) return;
      instance = instantiate(guest, program);
    }
  } catch (error) {
    kernel.guestCannotStart(guest.slot, message(error));
    return;
  }
  const below = kernel.switchGuest(guest.slot);
  try {
    const exports = instance.exports as Record<string, (argument?: number) => unknown>;
    if (guest.program?.pack !== undefined) return kernel.guestReturned(guest.slot, exports[RUN]?.() as number);
    if (guest.forked !== undefined) {
      exports[CHILD]?.(guest.forked);
    } else {
      exports[START]?.();
      exports["_start"]?.();
    }
    kernel.guestEnded(guest.slot);
  } catch (error) {
    kernel.guestEnded(guest.slot, message(error));
  } finally {
    kernel.switchGuest(below);
    if (guests.get(guest.slot) === guest) guests.delete(guest.slot);
    releaseInstance(guest);
  }
}

/**
 * Called by a guest that cannot continue: runs another guest, then the guest retries. A guest that could wait for one below it on
 * the stack starts last.
 */
function blockOnStack(slot: number, code: number): number {
  return catchErrors(() => {
    kernel.switchGuest(0);
    const resumeValue = runOthers(slot, code);
    kernel.switchGuest(slot);
    return resumeValue;
  }, GUEST_EXITED);
}

function runOthers(slot: number, code: number): number {
  const guest = guests.get(slot);
  if (guest === undefined) return GUEST_EXITED;
  kernel.acceptNewGuests(guest.execution, listener?.listen !== undefined);
  const others = guest.sandbox.queue.filter((other) => other.execution === guest.execution && guests.get(other.slot) === other);
  const ready = others.find((other) => !kernel.wouldBlock(other.slot));
  const blocked = code === BLOCK && !guest.woken;
  guest.woken = false;
  if (ready !== undefined) {
    runQueued(ready);
  } else if (blocked && !advanceOrRun(guest, others[0])) {
    return GUEST_EXITED;
  }
  return code === YIELDED ? DONE : RETRY;
}

function runQueued(guest: Guest): void {
  queue.remove(guest);
  runNow(guest);
}

/**
 * Advances host processes or the clock for a blocked guest, else runs `other`, which would block, too. Returns whether the guest
 * may retry.
 */
function advanceOrRun(guest: Guest, other: Guest | undefined): boolean {
  const { slot, execution } = guest;
  const hasHosts = kernel.pollHostProcesses(execution);
  // Deliver pending output before a long wait.
  if (guest.woken || kernel.advanceClock(execution)) return kernel.tick(slot) >= 0;
  const wait = kernel.waitTimeoutMs(slot);
  const rest = Math.min(wait < 0 ? POLL_INTERVAL_MS : wait, POLL_INTERVAL_MS);
  if (hasHosts || wait >= 0) {
    if (kernel.tick(slot) < 0) return false;
    if (hasHosts) listener?.listen?.(rest);
    else sleep(rest);
    return kernel.tick(slot) >= 0;
  }
  if (other === undefined) {
    kernel.rejectWait(slot);
    return false;
  }
  runQueued(other);
  return true;
}

function call(entry: WebAssembly.ExportValue | undefined, ...values: number[]): Promise<unknown> {
  return WebAssembly.promising(entry as (...values: number[]) => unknown)(...values);
}

function message(error: unknown): string {
  if (error instanceof WebAssembly.Exception) return "uncaught exception";
  return error instanceof Error ? error.message : String(error);
}

export function dropGuests(execution: number): void {
  for (const guest of [...guests.values()]) if (guest.execution === execution) dropGuest(guest);
  executions.delete(execution);
  stopAlarm(execution);
  shares.get(execution)?.drop();
  shares.delete(execution);
  queue.forget(execution);
  schedule();
}

/** Removes a guest. If it is suspended, it exits: V8 keeps a suspended stack, with its instance and memory, for ever. */
function dropGuest(guest: Guest): void {
  clearTimeout(guest.timer);
  guests.delete(guest.slot);
  setLive(guest, false);
  queue.remove(guest);
  guest.resume?.(GUEST_EXITED);
  guest.resume = undefined;
  if (current !== guest) return;
  current = undefined;
  queue.charge(guest.sandbox, now() - sliceStart);
  listener?.running(0);
}

// Other imports of the kernel ------------------------------------------------------------------------------------------

/** Shares of processor time of executions that have one. */
const shares = new Map<number, CpuShare>();

export function limitCpu(execution: number, percent: number): void {
  shares.set(execution, new CpuShare(percent));
}

export function endCpuPauses(sandbox: number): void {
  for (const [execution, share] of shares) if (executions.get(execution)?.number === sandbox) share.endPause();
}

export function hasProgram(sandbox: number, name: string): boolean {
  return sandboxes.get(sandbox)?.programs.has(name) ?? false;
}

export function addProgram(sandbox: number, name: string, wasm: Uint8Array<ArrayBuffer>): void {
  sandboxes.get(sandbox)?.programs.add(name, wasm);
}

/** If a file of the package cannot be read, the guest must not get other content: the sandbox fails. */
export function programBytes(name: string): Uint8Array {
  return catchErrors(() => packagePrograms().bytes(name), EMPTY);
}

/** Like {@link programBytes}, for a file of a pack. */
export function packFile(name: string, path: string): Uint8Array {
  return catchErrors(() => packagePrograms().packFile(name, path), EMPTY);
}
