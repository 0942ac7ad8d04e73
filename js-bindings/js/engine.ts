/**
 * The engine: guests as instances of WebAssembly in this Worker, which take turns.
 *
 * The kernel's module imports the functions that are exported here under the names of `src/host.rs`. A guest runs until it
 * has to wait, has run for a while, or ends; then the next one of the queue has its turn. With JSPI (`WebAssembly.Suspending`)
 * a guest that waits is suspended with its stack. Without it, those that it waits for run to completion on top of its stack.
 * Module state is the right scope: a Worker is one sandbox.
 */

import * as kernel from "./kernel.js";
import type { Program } from "./programs.js";
import { Programs } from "./programs.js";
import { makeMemory } from "./pack_memory.js";
import { hasJspi, imports } from "./imports.js";
import type { Ask, Outgoing, ToolCall } from "./messages.js";
import { breathe, monotonic as now, sleep } from "./time.js";

/** What the kernel answers to a call, or to a check, of a guest that cannot go on now; see `src/syscalls.rs`. */
const BLOCK = -1;
const YIELDED = -4;
const INTERRUPTED = -5;

/** What a guest is told when it goes on, or that it is to leave; see `src/rewrite/wrapper.rs`. */
const ENDED = 0;
const AGAIN = 1;
const DONE = 2;

/** The export that a fork's child enters. */
const CHILD = "tidebox_fork_child";
/** The start function of a module, which runs before its entry. */
const START = "tidebox:start";
/** Mutable globals of a module that forks. */
const GLOBAL = "tidebox:global:";
const STACK_POINTER = "__stack_pointer";
/** What the runtime of a pack exports in the place of `_start`. */
const RUN = "run";
const PAGE = 65536;

/** Milliseconds of work after which the Worker looks at its messages and timers. */
const BREATH_MS = 8;
/** Milliseconds that a guest sleeps at a time where only it can look whether its time is up. */
const LOOK_MS = 50;
/** The longest time that a timer can be set to. */
const LONGEST_MS = 2 ** 31 - 1;

interface Guest {
  readonly pid: number;
  readonly session: number;
  readonly name: string;
  program?: Program;
  instance?: WebAssembly.Instance;
  memory?: WebAssembly.Memory;
  /** All of its memory; of length 0 after the memory has grown. */
  view: Uint8Array;
  /** Set for the child of a fork: what its entry is given. */
  forked?: number;
  /** Lets the suspended guest go on. */
  resume?: (answer: number) => void;
  answer: number;
  parked: boolean;
  /** It was woken before it was suspended. */
  woken: boolean;
  timer?: ReturnType<typeof setTimeout>;
}

const guests = new Map<number, Guest>();
const queue: Guest[] = [];
let current: Guest | undefined;
let scheduled = false;
let breathed = now();
let programs: Programs | undefined;

/** Who hears of what happens here. */
export interface Owner {
  /** A piece of the output of a command whose caller watches. */
  output(call: number, stderr: boolean, bytes: Uint8Array): void;
  /** Something that the application does for the sandbox. */
  ask(ask: Ask): void;
  /** Whether the caller has given a call up, as far as can be known without taking messages. */
  cancelled(call: number): boolean;
  /**
   * Takes in what the application has told, and waits so many milliseconds for that when there is nothing. Absent where a
   * Worker cannot do so while something runs.
   */
  readonly listen?: ((milliseconds: number) => void) | undefined;
  /** The kernel trapped; nothing here can be trusted any more. */
  broken(error: unknown): void;
}

let owner: Owner | undefined;

/** Sets the engine up, before the kernel makes a sandbox. */
export function configure(known: Programs, told: Owner): void {
  programs = known;
  owner = told;
}

function known(): Programs {
  if (programs === undefined) throw new Error("the engine is not configured");
  return programs;
}

// Guest memory ---------------------------------------------------------------------------------------------------------

const NOTHING = new Uint8Array(0);

function view(pid: number): Uint8Array {
  const guest = guests.get(pid);
  if (guest?.memory === undefined) return NOTHING;
  // Growth detaches the buffer, which shows as a view without bytes.
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

// Turns ----------------------------------------------------------------------------------------------------------------

/** Guests of sessions that rest, by session: they would have a turn otherwise. */
const resting = new Map<number, Guest[]>();

function enqueue(guest: Guest): void {
  (resting.get(guest.session) ?? queue).push(guest);
}

/** Between two calls of a conversation nothing of it runs. */
export function sessionRests(session: number, rests: boolean): void {
  const held = resting.get(session);
  if (!rests) {
    resting.delete(session);
    queue.push(...(held ?? []));
    return schedule();
  }
  if (held !== undefined) return;
  const waiting = queue.filter((guest) => guest.session === session);
  resting.set(session, waiting);
  for (const guest of waiting) queue.splice(queue.indexOf(guest), 1);
}

function schedule(): void {
  if (current !== undefined || scheduled || queue.length === 0) return;
  scheduled = true;
  if (now() - breathed < BREATH_MS) {
    queueMicrotask(next);
  } else {
    breathe(() => {
      breathed = now();
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
  current = guest;
  const { resume } = guest;
  if (resume === undefined) {
    begin(guest).catch((error: unknown) => owner?.broken(error));
  } else {
    guest.resume = undefined;
    resume(guest.answer);
  }
}

/** The guest waits or is no more: the kernel looks what there is to do, and another one has a turn. */
function turnOver(guest: Guest): void {
  if (current === guest) current = undefined;
  kernel.wakeSession(guest.session);
  schedule();
}

/**
 * Runs what guests call. A guest can catch an exception that passes through it, and the kernel below it would be left in the
 * middle of something: so none passes, and the sandbox starts again.
 */
function sealed<T>(work: () => T, instead: T): T {
  try {
    return work();
  } catch (error) {
    owner?.broken(error);
    return instead;
  }
}

/** What a guest calls when it cannot go on; it is suspended until the promise is resolved. */
function suspend(pid: number, code: number): Promise<number> {
  return new Promise((resolve) => sealed(() => {
    const guest = guests.get(pid);
    // A guest whose session is over is never resumed, and collected.
    if (guest === undefined) return;
    guest.resume = resolve;
    guest.answer = code === YIELDED ? DONE : AGAIN;
    if (code === BLOCK && !guest.woken) {
      park(guest);
    } else if (code === INTERRUPTED && kernel.isRepeatable(pid)) {
      (resting.get(guest.session) ?? queue).unshift(guest);
    } else {
      enqueue(guest);
    }
    guest.woken = false;
    turnOver(guest);
  }, undefined));
}

function park(guest: Guest): void {
  guest.parked = true;
  const wait = kernel.waitsFor(guest.pid);
  if (wait < 0) return;
  const milliseconds = Math.min(Math.ceil(wait), LONGEST_MS);
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

// Lives ----------------------------------------------------------------------------------------------------------------

export function guestStart(session: number, pid: number, name: string): void {
  const guest: Guest = { pid, session, name, view: NOTHING, answer: AGAIN, parked: false, woken: false };
  guests.set(pid, guest);
  enqueue(guest);
  schedule();
}

export function guestForks(pid: number): boolean {
  const { memory, instance } = guests.get(pid) ?? {};
  const { [CHILD]: child, [STACK_POINTER]: stack } = instance?.exports ?? {};
  return memory !== undefined && typeof child === "function" && stack instanceof WebAssembly.Global;
}

export function guestFork(session: number, parentPid: number, pid: number, argument: number): boolean {
  const parent = guests.get(parentPid);
  const { program, instance, memory, name } = parent ?? {};
  if (program === undefined || instance === undefined || memory === undefined || name === undefined) return false;
  const pages = memory.buffer.byteLength / PAGE;
  if (!kernel.guestBegins(pid, program.aware, pages, true)) return false;
  const guest: Guest = {
    pid, session, name, program, view: NOTHING, forked: argument, answer: AGAIN, parked: false, woken: false,
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

/** Gives the child its parent's memory and globals. */
function copy(parent: WebAssembly.Instance, from: WebAssembly.Memory, child: Guest): void {
  const stack = parent.exports[STACK_POINTER];
  if (child.memory === undefined || !(stack instanceof WebAssembly.Global)) throw new Error("the module cannot fork");
  const missing = from.buffer.byteLength - child.memory.buffer.byteLength;
  if (missing > 0) child.memory.grow(missing / PAGE);
  child.view = new Uint8Array(child.memory.buffer);
  // Below the stack pointer lies what no frame uses any more: the larger part of a stack that is sized for recursion.
  const live = Math.min(Math.max(stack.value as number, 0), from.buffer.byteLength);
  child.view.set(new Uint8Array(from.buffer, live), live);
  for (const [name, global] of Object.entries(parent.exports)) {
    if (!name.startsWith(GLOBAL)) continue;
    (child.instance?.exports[name] as WebAssembly.Global).value = (global as WebAssembly.Global).value;
  }
}

function instantiate(guest: Guest, program: Program): WebAssembly.Instance {
  const instance = new WebAssembly.Instance(program.module, imports(guest.pid, { suspend, stay }));
  const { memory } = instance.exports;
  guest.program = program;
  guest.instance = instance;
  guest.memory = memory instanceof WebAssembly.Memory ? memory : undefined;
  return instance;
}

/** The first turn of a guest. */
async function begin(guest: Guest): Promise<void> {
  try {
    if (!hasJspi()) return runNow(guest);
    const instance = guest.instance ?? (await load(guest));
    if (instance !== undefined) await run(guest, instance);
  } finally {
    if (guests.get(guest.pid) === guest) guests.delete(guest.pid);
    turnOver(guest);
  }
}

/** Answers nothing when the guest has ended instead, or is wanted no more. */
async function load(guest: Guest): Promise<WebAssembly.Instance | undefined> {
  try {
    const program = known().ready(guest.name) ?? (await known().load(guest.name));
    if (guests.get(guest.pid) !== guest) return undefined;
    if (!kernel.guestBegins(guest.pid, program.aware, program.pages, false)) return undefined;
    return await withRoom(guest, program);
  } catch (error) {
    kernel.guestCannotStart(guest.pid, message(error));
    return undefined;
  }
}

/** How often an instance is tried that found no room for its memory, and the milliseconds between. */
const ROOM_ATTEMPTS = 25;
const ROOM_PAUSE = 20;

/**
 * An instance of the program. Memories of guests that are over take addresses until the engine collects them, and a browser has few
 * addresses to give, so that a flood of short programs may find none for a moment.
 */
async function withRoom(guest: Guest, program: Program): Promise<WebAssembly.Instance | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return instantiate(guest, program);
    } catch (error) {
      if (!(error instanceof RangeError) || attempt === ROOM_ATTEMPTS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, ROOM_PAUSE));
    if (guests.get(guest.pid) !== guest) return undefined;
  }
}

async function run(guest: Guest, instance: WebAssembly.Instance): Promise<void> {
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

/** The runtime of a pack does what its arguments say and returns the exit code. */
async function runPack(guest: Guest, exports: WebAssembly.Exports): Promise<void> {
  const { pid, memory, program } = guest;
  const making = program?.pack?.making;
  const code = making === undefined || memory === undefined
    ? await call(exports[RUN])
    : await makeMemory(making, memory, (name, ...values) => call(exports[name], ...values), known().packHost());
  kernel.guestReturned(pid, code as number);
}

// Without JSPI ---------------------------------------------------------------------------------------------------------

/** A guest from its start to its end, on top of whoever waits for it. */
function runNow(guest: Guest): void {
  let instance = guest.instance;
  try {
    if (instance === undefined) {
      const program = known().loadNow(guest.name);
      if (!kernel.guestBegins(guest.pid, program.aware, program.pages, false)) return;
      instance = instantiate(guest, program);
    }
  } catch (error) {
    kernel.guestCannotStart(guest.pid, message(error));
    return;
  }
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
    if (guests.get(guest.pid) === guest) guests.delete(guest.pid);
  }
}

/**
 * What a guest calls when it cannot go on: something else does, and it looks again. What could wait for a guest below it on
 * the stack begins last.
 */
function stay(pid: number, code: number): number {
  return sealed(() => othersRan(pid, code), ENDED);
}

function othersRan(pid: number, code: number): number {
  const guest = guests.get(pid);
  if (guest === undefined) return ENDED;
  kernel.admitNow(guest.session, owner?.listen !== undefined);
  const others = queue.filter((other) => other.session === guest.session && guests.get(other.pid) === other);
  const ready = others.find((other) => !kernel.wouldWait(other.pid));
  const blocked = code === BLOCK && !guest.woken;
  guest.woken = false;
  if (ready !== undefined) {
    runQueued(ready);
  } else if (blocked && !pass(guest, others[0])) {
    return ENDED;
  }
  return code === YIELDED ? DONE : AGAIN;
}

function runQueued(guest: Guest): void {
  queue.splice(queue.indexOf(guest), 1);
  runNow(guest);
}

/** Lets the application or time go on for a guest that waits, else the one that would wait, too. Whether it may go on. */
function pass(guest: Guest, other: Guest | undefined): boolean {
  const { pid, session } = guest;
  const helped = kernel.hostsGoOn(session);
  // Who watches sees what was written so far before this takes long.
  if (guest.woken || kernel.skipWaiting(session)) return kernel.tick(pid) >= 0;
  const wait = kernel.waitsFor(pid);
  const rest = Math.min(wait < 0 ? LOOK_MS : wait, LOOK_MS);
  if (helped || wait >= 0) {
    if (kernel.tick(pid) < 0) return false;
    if (helped) owner?.listen?.(rest);
    else sleep(rest);
    return kernel.tick(pid) >= 0;
  }
  if (other === undefined) {
    kernel.cannotWait(pid);
    return false;
  }
  runQueued(other);
  return true;
}

function call(entry: WebAssembly.ExportValue | undefined, ...values: number[]): Promise<unknown> {
  return WebAssembly.promising(entry as (...values: number[]) => unknown)(...values);
}

function message(error: unknown): string {
  if (error instanceof WebAssembly.Exception) return "an exception that nobody caught";
  return error instanceof Error ? error.message : String(error);
}

export function guestsDrop(session: number): void {
  for (const guest of guests.values()) {
    if (guest.session !== session) continue;
    clearTimeout(guest.timer);
    guests.delete(guest.pid);
    if (current === guest) current = undefined;
  }
  clearTimeout(alarms.get(session));
  alarms.delete(session);
  resting.delete(session);
  schedule();
}

// The rest of what the kernel asks for ---------------------------------------------------------------------------------

const alarms = new Map<number, ReturnType<typeof setTimeout>>();

export function alarm(session: number, milliseconds: number): void {
  clearTimeout(alarms.get(session));
  if (milliseconds > LONGEST_MS) return void alarms.delete(session);
  alarms.set(session, setTimeout(() => kernel.wakeSession(session), Math.ceil(milliseconds)));
}

export function programKnown(name: string): boolean {
  return known().has(name);
}

export function programAdd(name: string, wasm: Uint8Array<ArrayBuffer>): void {
  known().add(name, wasm);
}

/** A file of the package that cannot be read is no reason to give a guest something else: the sandbox cannot go on. */
export function programBytes(name: string): Uint8Array {
  try {
    return sealed(() => known().bytes(name), NOTHING);
  } catch (error) {
    owner?.broken(error);
    return new Uint8Array(0);
  }
}

/** A file of a pack that cannot be read is no reason to give a guest something else either. */
export function packFile(name: string, path: string): Uint8Array {
  return sealed(() => known().packFile(name, path), NOTHING);
}

export function deliver(call: number, stderr: boolean, bytes: Uint8Array): void {
  owner?.output(call, stderr, bytes.slice());
}

export function cancelled(call: number): boolean {
  return owner?.cancelled(call) ?? false;
}

export function toolCall(call: number, told: ToolCall): void {
  owner?.ask({ ask: "toolCall", call, told });
}

export function toolReply(call: number, request: number, good: boolean, bytes: Uint8Array): void {
  owner?.ask({ ask: "toolReply", call, request, good, bytes: bytes.slice() });
}

export function toolOver(call: number): void {
  owner?.ask({ ask: "toolOver", call });
}

export function netResolve(request: number, name: string, withinMs: number): void {
  owner?.ask({ ask: "netResolve", request, name, withinMs });
}

export function netSend(request: number, told: Outgoing): void {
  owner?.ask({ ask: "netSend", request, told });
}

export function netBody(request: number, piece: Uint8Array, end: boolean): void {
  owner?.ask({ ask: "netBody", request, piece: piece.slice(), end });
}

export function netBroken(request: number): void {
  owner?.ask({ ask: "netBroken", request });
}

export function netPull(request: number): void {
  owner?.ask({ ask: "netPull", request });
}

export function netOver(request: number): void {
  owner?.ask({ ask: "netOver", request });
}

export function realtime(): number {
  return performance.timeOrigin + performance.now();
}

export function monotonic(): number {
  return now();
}

/** Most bytes of randomness that the platform gives at a time. */
const RANDOM_BYTES = 65536;

export function random(to: Uint8Array<ArrayBuffer>): void {
  for (let at = 0; at < to.length; at += RANDOM_BYTES) {
    crypto.getRandomValues(to.subarray(at, at + RANDOM_BYTES));
  }
}
