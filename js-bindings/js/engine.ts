/**
 * The engine: runs guests as WebAssembly instances in this worker, one at a time from a run queue.
 *
 * The kernel's module imports the functions that are exported here; `src/js_imports.rs` declares them. A guest runs until it
 * blocks, its time slice ends, or it exits; then the next guest of the queue runs. With JSPI (`WebAssembly.Suspending`) a blocked
 * guest is suspended with its stack. Without JSPI, the guests that it waits for run to completion on top of its stack. Module
 * state is the right scope: a worker runs exactly one sandbox.
 */

import * as kernel from "./kernel.js";
import type { Program } from "./programs.js";
import { Programs } from "./programs.js";
import { preinitMemory } from "./pack_memory.js";
import { hasJspi, imports } from "./imports.js";
import type { PooledInstance, ReuseMode } from "./instance_pool.js";
import { InstancePool, globals, memoryBytes } from "./instance_pool.js";
import type { HostRequest, OutgoingRequest, ToolCall } from "./messages.js";
import { PAGE } from "./packs.js";
import { yieldToEventLoop, monotonic as now, sleep } from "./time.js";

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

/** Milliseconds of work after which the worker yields to its event loop. */
const YIELD_INTERVAL_MS = 8;
/** Maximum milliseconds that a guest sleeps before it checks its deadline again, if no event loop can. */
const POLL_INTERVAL_MS = 50;
/** Maximum delay of a timer, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface Guest {
  readonly pid: number;
  readonly execution: number;
  readonly name: string;
  program?: Program;
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
  timer?: ReturnType<typeof setTimeout>;
}

const guests = new Map<number, Guest>();
const queue: Guest[] = [];
let current: Guest | undefined;
let scheduled = false;
let lastYield = now();
let programs: Programs | undefined;
let pool: InstancePool | undefined;

/** Receives the events of the engine. */
export interface EngineListener {
  /** Output of a command whose caller streams it. */
  output(call: number, stderr: boolean, bytes: Uint8Array): void;
  /** A request to the application. */
  request(request: HostRequest): void;
  /** True if the caller has cancelled a call, without reading messages. */
  cancelled(call: number): boolean;
  /**
   * Handles messages of the application; without any, waits for one up to `milliseconds`. Absent if the worker cannot receive
   * messages while a guest is on the stack.
   */
  readonly listen?: ((milliseconds: number) => void) | undefined;
  /** Called after the kernel has trapped. Its state is no longer consistent. */
  crashed(error: unknown): void;
}

let listener: EngineListener | undefined;

/** Configures the engine. Called before the kernel creates a sandbox. */
export function configure(known: Programs, receiver: EngineListener, reuse: ReuseMode): void {
  programs = known;
  pool = new InstancePool((program) => createInstance(program, 0).pooled, reuse);
  listener = receiver;
}

function loadedPrograms(): Programs {
  if (programs === undefined) throw new Error("the engine is not configured");
  return programs;
}

// Guest memory ---------------------------------------------------------------------------------------------------------

const EMPTY = new Uint8Array(0);

function view(pid: number): Uint8Array {
  const guest = guests.get(pid);
  if (guest?.memory === undefined) return EMPTY;
  // Growth detaches the buffer, and the view then has length 0.
  if (guest.view.length === 0) guest.view = new Uint8Array(guest.memory.buffer);
  return guest.view;
}

export function guestRead(pid: number, at: number, to: Uint8Array): boolean {
  const memory = view(pid);
  const end = at + to.length;
  if (end > memory.length) return false;
  to.set(memory.subarray(at, end));
  return true;
}

export function guestWrite(pid: number, at: number, from: Uint8Array): boolean {
  const memory = view(pid);
  if (at + from.length > memory.length) return false;
  memory.set(from, at);
  return true;
}

// Run queue ------------------------------------------------------------------------------------------------------------

/** Guests of paused executions that would otherwise be in the run queue, by execution. */
const paused = new Map<number, Guest[]>();

function enqueue(guest: Guest): void {
  (paused.get(guest.execution) ?? queue).push(guest);
}

/** Guests of a paused execution are not scheduled. An interactive process is paused between two requests. */
export function pauseExecution(execution: number, isPaused: boolean): void {
  const pausedGuests = paused.get(execution);
  if (!isPaused) {
    paused.delete(execution);
    queue.push(...(pausedGuests ?? []));
    return schedule();
  }
  if (pausedGuests !== undefined) return;
  const waiting = queue.filter((guest) => guest.execution === execution);
  paused.set(execution, waiting);
  for (const guest of waiting) queue.splice(queue.indexOf(guest), 1);
}

function schedule(): void {
  if (current !== undefined || scheduled || queue.length === 0) return;
  scheduled = true;
  if (now() - lastYield < YIELD_INTERVAL_MS) {
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
  const guest = queue.shift();
  if (guest === undefined) return;
  if (guests.get(guest.pid) !== guest) {
    schedule();
    return;
  }
  if (hasJspi() && kernel.parkIfStopped(guest.pid)) {
    guest.parked = true;
    schedule();
    return;
  }
  current = guest;
  const { resume } = guest;
  if (resume === undefined) {
    startGuest(guest).catch((error: unknown) => listener?.crashed(error));
  } else {
    guest.resume = undefined;
    kernel.switchGuest(guest.pid);
    resume(guest.resumeValue);
  }
}

/** Ends the time slice of a guest that has blocked or exited: the kernel checks for new work, and the next guest runs. */
function endSlice(guest: Guest): void {
  if (current === guest) current = undefined;
  kernel.switchGuest(0);
  kernel.wakeExecution(guest.execution);
  schedule();
}

/**
 * Runs a function that guests call. A guest could catch an exception that passes through it, which would leave the kernel in an
 * inconsistent state. So exceptions are caught here, and the sandbox is restarted.
 */
function catchErrors<T>(work: () => T, instead: T): T {
  try {
    return work();
  } catch (error) {
    listener?.crashed(error);
    return instead;
  }
}

/** Called by a guest that cannot continue. The guest is suspended until the promise is resolved. */
function suspend(pid: number, code: number): Promise<number> {
  return new Promise((resolve) => catchErrors(() => {
    const guest = guests.get(pid);
    // A guest whose execution has ended is never resumed; it is garbage-collected.
    if (guest === undefined) return;
    guest.resume = resolve;
    guest.resumeValue = code === YIELDED ? DONE : RETRY;
    if (code === BLOCK && !guest.woken) {
      park(guest);
    } else if (code === INTERRUPTED && kernel.isDeterministic(pid)) {
      (paused.get(guest.execution) ?? queue).unshift(guest);
    } else {
      enqueue(guest);
    }
    guest.woken = false;
    endSlice(guest);
  }, undefined));
}

function park(guest: Guest): void {
  guest.parked = true;
  const wait = kernel.waitTimeoutMs(guest.pid);
  if (wait < 0) return;
  const milliseconds = Math.min(Math.ceil(wait), MAX_TIMER_MS);
  guest.timer = setTimeout(() => guestWake(guest.pid), milliseconds);
}

export function guestWake(pid: number): void {
  const guest = guests.get(pid);
  if (guest === undefined) return;
  if (!guest.parked) {
    guest.woken = true;
    return;
  }
  guest.parked = false;
  clearTimeout(guest.timer);
  enqueue(guest);
  schedule();
}

// Start and exit -------------------------------------------------------------------------------------------------------

export function guestStart(execution: number, pid: number, name: string): void {
  const guest: Guest = { pid, execution, name, view: EMPTY, resumeValue: RETRY, parked: false, woken: false };
  guests.set(pid, guest);
  enqueue(guest);
  schedule();
}

export function guestCanFork(pid: number): boolean {
  const { memory, instance } = guests.get(pid) ?? {};
  const { [CHILD]: child, [STACK_POINTER]: stack } = instance?.exports ?? {};
  return memory !== undefined && typeof child === "function" && stack instanceof WebAssembly.Global;
}

export function guestFork(execution: number, parentPid: number, pid: number, argument: number): boolean {
  const parent = guests.get(parentPid);
  const { program, instance, memory, name } = parent ?? {};
  if (program === undefined || instance === undefined || memory === undefined || name === undefined) return false;
  const pages = memoryBytes(instance, memory) / PAGE;
  if (!kernel.registerInstance(pid, program.isTideboxGuest, pages, true)) return false;
  const guest: Guest = {
    pid, execution, name, program, view: EMPTY, forked: argument, resumeValue: RETRY, parked: false, woken: false,
  };
  try {
    instantiate(guest, program);
    copy(instance, memory, guest);
  } catch {
    return false;
  }
  guests.set(pid, guest);
  enqueue(guest);
  schedule();
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

function createInstance(program: Program, number: number): { instance: WebAssembly.Instance; pooled?: PooledInstance } {
  const pid = new WebAssembly.Global({ value: "i32", mutable: program.reuse !== undefined }, number);
  const instance = new WebAssembly.Instance(program.module, imports(pid, { suspend, blockOnStack }));
  const { memory } = instance.exports;
  if (program.reuse === undefined || !(memory instanceof WebAssembly.Memory)) return { instance };
  return { instance, pooled: { instance, memory, pid } };
}

/** Gives a guest an instance: one that has been used, or a new one. */
function instantiate(guest: Guest, program: Program): WebAssembly.Instance {
  guest.program = program;
  let pooled = pool?.take(program);
  let instance = pooled?.instance;
  if (instance === undefined) {
    ({ instance, pooled } = createInstance(program, guest.pid));
    if (pooled !== undefined) pool?.register(program, pooled);
  } else if (pooled !== undefined) {
    pooled.pid.value = guest.pid;
  }
  const { memory } = instance.exports;
  guest.instance = instance;
  if (pooled !== undefined) guest.pooled = pooled;
  if (memory instanceof WebAssembly.Memory) guest.memory = memory;
  return instance;
}

/** Lets the instance of a guest that has ended be used again. One that was dropped while it was suspended is still on its stack. */
function releaseInstance(guest: Guest): void {
  const { program, pooled } = guest;
  delete guest.pooled;
  if (program !== undefined && pooled !== undefined) pool?.release(program, pooled);
}

/** Runs a guest for the first time. */
async function startGuest(guest: Guest): Promise<void> {
  try {
    if (!hasJspi()) return runNow(guest);
    const instance = guest.instance ?? (await load(guest));
    if (instance !== undefined) await run(guest, instance);
  } finally {
    if (guests.get(guest.pid) === guest) guests.delete(guest.pid);
    releaseInstance(guest);
    endSlice(guest);
  }
}

/** Instantiates the program of a guest. Returns `undefined` if the guest has exited instead or was dropped. */
async function load(guest: Guest): Promise<WebAssembly.Instance | undefined> {
  try {
    const program = loadedPrograms().ready(guest.name) ?? (await loadedPrograms().load(guest.name));
    if (guests.get(guest.pid) !== guest) return undefined;
    if (!kernel.registerInstance(guest.pid, program.isTideboxGuest, program.pages, false)) return undefined;
    return await instantiateWithRetry(guest, program);
  } catch (error) {
    kernel.guestCannotStart(guest.pid, message(error));
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
    }
    await new Promise((resolve) => setTimeout(resolve, INSTANTIATE_PAUSE_MS));
    if (guests.get(guest.pid) !== guest) return undefined;
  }
}

async function run(guest: Guest, instance: WebAssembly.Instance): Promise<void> {
  kernel.switchGuest(guest.pid);
  try {
    const { exports } = instance;
    if (guest.program?.pack !== undefined) return await runPack(guest, exports);
    if (guest.forked !== undefined) {
      await call(exports[CHILD], guest.forked);
    } else {
      if (exports[START] !== undefined) await call(exports[START]);
      await call(exports["_start"]);
    }
    kernel.guestEnded(guest.pid);
  } catch (error) {
    kernel.guestEnded(guest.pid, message(error));
  }
}

/** The entry of a pack's runtime returns the exit code. */
async function runPack(guest: Guest, exports: WebAssembly.Exports): Promise<void> {
  const { pid, memory, program } = guest;
  const preinit = program?.pack?.preinit;
  const code = preinit === undefined || memory === undefined
    ? await call(exports[RUN])
    : await preinitMemory(preinit, memory, (name, ...values) => call(exports[name], ...values), loadedPrograms().packHost());
  kernel.guestReturned(pid, code as number);
}

// Without JSPI ---------------------------------------------------------------------------------------------------------

/** Runs a guest from start to end, on top of the stack of the guest that waits for it. */
function runNow(guest: Guest): void {
  let instance = guest.instance;
  try {
    if (instance === undefined) {
      const program = loadedPrograms().loadNow(guest.name);
      if (!kernel.registerInstance(guest.pid, program.isTideboxGuest, program.pages, false)) return;
      instance = instantiate(guest, program);
    }
  } catch (error) {
    kernel.guestCannotStart(guest.pid, message(error));
    return;
  }
  const below = kernel.switchGuest(guest.pid);
  try {
    const exports = instance.exports as Record<string, (argument?: number) => unknown>;
    if (guest.program?.pack !== undefined) return kernel.guestReturned(guest.pid, exports[RUN]?.() as number);
    if (guest.forked !== undefined) {
      exports[CHILD]?.(guest.forked);
    } else {
      exports[START]?.();
      exports["_start"]?.();
    }
    kernel.guestEnded(guest.pid);
  } catch (error) {
    kernel.guestEnded(guest.pid, message(error));
  } finally {
    kernel.switchGuest(below);
    if (guests.get(guest.pid) === guest) guests.delete(guest.pid);
    releaseInstance(guest);
  }
}

/**
 * Called by a guest that cannot continue: runs another guest, then the guest retries. A guest that could wait for one below it on
 * the stack starts last.
 */
function blockOnStack(pid: number, code: number): number {
  return catchErrors(() => {
    kernel.switchGuest(0);
    const resumeValue = runOthers(pid, code);
    kernel.switchGuest(pid);
    return resumeValue;
  }, GUEST_EXITED);
}

function runOthers(pid: number, code: number): number {
  const guest = guests.get(pid);
  if (guest === undefined) return GUEST_EXITED;
  kernel.acceptNewGuests(guest.execution, listener?.listen !== undefined);
  const others = queue.filter((other) => other.execution === guest.execution && guests.get(other.pid) === other);
  const ready = others.find((other) => !kernel.wouldBlock(other.pid));
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
  queue.splice(queue.indexOf(guest), 1);
  runNow(guest);
}

/**
 * Advances host processes or the clock for a blocked guest, else runs `other`, which would block, too. Returns whether the guest
 * may retry.
 */
function advanceOrRun(guest: Guest, other: Guest | undefined): boolean {
  const { pid, execution } = guest;
  const hasHosts = kernel.pollHostProcesses(execution);
  // Deliver pending output before a long wait.
  if (guest.woken || kernel.advanceClock(execution)) return kernel.tick(pid) >= 0;
  const wait = kernel.waitTimeoutMs(pid);
  const rest = Math.min(wait < 0 ? POLL_INTERVAL_MS : wait, POLL_INTERVAL_MS);
  if (hasHosts || wait >= 0) {
    if (kernel.tick(pid) < 0) return false;
    if (hasHosts) listener?.listen?.(rest);
    else sleep(rest);
    return kernel.tick(pid) >= 0;
  }
  if (other === undefined) {
    kernel.rejectWait(pid);
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
  for (const guest of guests.values()) {
    if (guest.execution !== execution) continue;
    clearTimeout(guest.timer);
    guests.delete(guest.pid);
    if (current === guest) current = undefined;
  }
  clearTimeout(alarms.get(execution));
  alarms.delete(execution);
  paused.delete(execution);
  schedule();
}

// Other imports of the kernel ------------------------------------------------------------------------------------------

const alarms = new Map<number, ReturnType<typeof setTimeout>>();

export function alarm(execution: number, milliseconds: number): void {
  clearTimeout(alarms.get(execution));
  if (milliseconds > MAX_TIMER_MS) return void alarms.delete(execution);
  const due = now() + milliseconds;
  const wait = (rest: number) => alarms.set(execution, setTimeout(() => {
    // A timer may fire up to a millisecond early, when the kernel finds the deadline in the future. No other alarm follows.
    const left = due - now();
    if (left > 0) wait(left);
    else kernel.wakeExecution(execution);
  }, Math.ceil(rest)));
  wait(milliseconds);
}

export function hasProgram(name: string): boolean {
  return loadedPrograms().has(name);
}

export function addProgram(name: string, wasm: Uint8Array<ArrayBuffer>): void {
  loadedPrograms().add(name, wasm);
}

/** If a file of the package cannot be read, the guest must not get other content: the sandbox fails. */
export function programBytes(name: string): Uint8Array {
  try {
    return catchErrors(() => loadedPrograms().bytes(name), EMPTY);
  } catch (error) {
    listener?.crashed(error);
    return new Uint8Array(0);
  }
}

/** Like {@link programBytes}, for a file of a pack. */
export function packFile(name: string, path: string): Uint8Array {
  return catchErrors(() => loadedPrograms().packFile(name, path), EMPTY);
}

export function deliver(call: number, stderr: boolean, bytes: Uint8Array): void {
  listener?.output(call, stderr, bytes.slice());
}

export function cancelled(call: number): boolean {
  return listener?.cancelled(call) ?? false;
}

export function toolCall(call: number, details: ToolCall): void {
  listener?.request({ type: "toolCall", call, details });
}

export function toolReply(call: number, request: number, good: boolean, bytes: Uint8Array): void {
  listener?.request({ type: "toolReply", call, request, good, bytes: bytes.slice() });
}

export function toolCancelled(call: number): void {
  listener?.request({ type: "toolCancelled", call });
}

export function netResolve(request: number, name: string, withinMs: number): void {
  listener?.request({ type: "netResolve", request, name, withinMs });
}

export function netSend(request: number, details: OutgoingRequest): void {
  listener?.request({ type: "netSend", request, details });
}

export function netBody(request: number, chunk: Uint8Array, end: boolean): void {
  listener?.request({ type: "netBody", request, chunk: chunk.slice(), end });
}

export function netBodyFailed(request: number): void {
  listener?.request({ type: "netBodyFailed", request });
}

export function netPull(request: number): void {
  listener?.request({ type: "netPull", request });
}

export function netCancelled(request: number): void {
  listener?.request({ type: "netCancelled", request });
}

export function realtime(): number {
  return performance.timeOrigin + performance.now();
}

export function monotonic(): number {
  return now();
}

/** Maximum bytes per call of `crypto.getRandomValues`. */
const RANDOM_BYTES = 65536;

export function random(to: Uint8Array<ArrayBuffer>): void {
  for (let at = 0; at < to.length; at += RANDOM_BYTES) {
    crypto.getRandomValues(to.subarray(at, at + RANDOM_BYTES));
  }
}
