/**
 * Instances that are used again. Creating an instance costs more than most commands, and causes a garbage collection every few
 * commands, because the engine charges the whole initial memory to its heap.
 *
 * When a process has ended, its instance is reset: stack, data, heap and globals are as in a new instance. Of the stack only the
 * part is cleared that the program has used. A program that was attacked may have written elsewhere, so an instance that goes to
 * another sandbox is reset completely: every byte of its memory.
 */

import { PAGE } from "./packs.js";
import type { Program } from "./programs.js";
import type { ZeroScan } from "./zero_scan.js";
import { SCAN_STEP, zeroScan } from "./zero_scan.js";

/** Prefix of the names of exported mutable globals; see `src/rewrite.rs`. */
const GLOBAL = "tidebox:global:";
const LOWEST_STACK = `${GLOBAL}lowest-stack`;
const MEMORY_SIZE = `${GLOBAL}memory-size`;

/** Bytes below the stack pointer that a function which calls no other may use without lowering it (LLVM's red zone). */
const RED_ZONE = 128;

/** Maximum bytes of resting instances, and number of those of one program. */
const MAX_RESTING_BYTES = 32 << 20;
const MAX_OF_PROGRAM = 6;
/** Bytes that a resting instance holds, unless a complete reset has overwritten its whole stack. */
const RESTING_BYTES = 1 << 20;

/** Pages of heap with which an instance is still kept. */
const MAX_GROWTH = 16;

/** An instance with the parts that a reset needs. */
export interface PooledInstance {
  readonly instance: WebAssembly.Instance;
  readonly memory: WebAssembly.Memory;
  /** The number of the guest in this worker, a global that the engine provides. */
  readonly slot: WebAssembly.Global;
  /** Its exported mutable globals. */
  readonly globals: readonly (readonly [string, WebAssembly.Global])[];
  /** The sandbox that used it last; `CLEAN` if it was reset completely since. */
  sandbox: number;
  /** Bytes of its memory that the system holds, about. */
  bytes: number;
  /** Set by the first complete reset. */
  scan?: ZeroScan;
}

/** No sandbox has this number. */
const CLEAN = 0;

/** The initial state of the instances of a program. */
interface InitialState {
  /** Memory from the end of the stack to the end of the data. */
  readonly data: Uint8Array;
  readonly globals: ReadonlyMap<string, unknown>;
}

/**
 * Uses of instances: again (the default), never, again with a comparison of each reset instance with a new one, or again with only
 * one resting instance of each program, so that all sandboxes use the same.
 */
export type ReuseMode = "on" | "off" | "check" | "one";

/** Returns a new instance for the pool. */
export function pooledInstance(instance: WebAssembly.Instance, memory: WebAssembly.Memory, slot: WebAssembly.Global, sandbox: number): PooledInstance {
  return { instance, memory, slot, globals: globals(instance), sandbox, bytes: RESTING_BYTES };
}

export class InstancePool {
  readonly #create: (program: Program) => PooledInstance | undefined;
  readonly #mode: ReuseMode;
  readonly #initial = new Map<Program, InitialState>();
  readonly #resting = new Map<Program, PooledInstance[]>();
  /** All resting instances with their programs, the longest resting one first. */
  readonly #oldest = new Map<PooledInstance, Program>();
  #bytes = 0;

  /** `create` returns a new instance to compare with. */
  constructor(create: (program: Program) => PooledInstance | undefined, mode: ReuseMode) {
    this.#create = create;
    this.#mode = mode;
  }

  /** Returns an instance in its initial state, if one rests: preferably one that the sandbox has used, or a clean one. */
  take(program: Program, sandbox: number): PooledInstance | undefined {
    const resting = this.#resting.get(program) ?? [];
    const found = resting.find((pooled) => pooled.sandbox === sandbox) ?? resting.find(isClean) ?? resting.at(-1);
    if (found === undefined) return undefined;
    this.#remove(found, resting);
    if (found.sandbox !== sandbox && !isClean(found) && !this.#clean(program, found)) return undefined;
    found.sandbox = sandbox;
    return found;
  }

  /**
   * Resets one instance completely, so that another sandbox can use it immediately, if its program has none that is clean. Returns
   * false if there is nothing to do. Called while the worker is idle: a shell has 8 MiB of stack to check.
   */
  cleanOne(): boolean {
    for (const [program, resting] of this.#resting) {
      const [oldest] = resting;
      if (oldest === undefined || resting.some(isClean)) continue;
      if (!this.#clean(program, oldest)) this.#remove(oldest, resting);
      return true;
    }
    return false;
  }

  #clean(program: Program, pooled: PooledInstance): boolean {
    const initial = this.#initial.get(program);
    const before = pooled.bytes;
    if (initial === undefined || !reset(program, pooled, initial, true)) return false;
    if (this.#oldest.has(pooled)) this.#bytes += pooled.bytes - before;
    if (this.#mode === "check") compare(pooled, this.#create(program));
    pooled.sandbox = CLEAN;
    return true;
  }

  /** Gives up all resting instances. Called when memory for another one is missing. */
  clear(): void {
    this.#resting.clear();
    this.#oldest.clear();
    this.#bytes = 0;
  }

  #remove(pooled: PooledInstance, resting: PooledInstance[]): void {
    resting.splice(resting.indexOf(pooled), 1);
    this.#oldest.delete(pooled);
    this.#bytes -= pooled.bytes;
  }

  /** Keeps the initial state of a program. Called with every new instance, before it runs. */
  register(program: Program, { globals: initial, memory }: PooledInstance): void {
    const { reuse } = program;
    if (reuse === undefined || this.#mode === "off" || this.#initial.has(program)) return;
    const data = new Uint8Array(memory.buffer).slice(reuse.stackEnd, reuse.dataEnd);
    this.#initial.set(program, { data, globals: new Map(initial.map(([name, global]) => [name, global.value])) });
  }

  /** Resets the instance of a process that has ended, and keeps it. */
  release(program: Program, pooled: PooledInstance): void {
    const initial = this.#initial.get(program);
    if (initial === undefined || !reset(program, pooled, initial, false)) return;
    if (this.#mode === "check") compare(pooled, this.#create(program));
    const resting = this.#resting.get(program) ?? [];
    if (resting.length >= (this.#mode === "one" ? 1 : MAX_OF_PROGRAM)) return;
    resting.push(pooled);
    this.#resting.set(program, resting);
    this.#oldest.set(pooled, program);
    this.#bytes += pooled.bytes;
    for (const [oldest, owner] of this.#oldest) {
      if (this.#bytes <= MAX_RESTING_BYTES) return;
      this.#remove(oldest, this.#resting.get(owner) ?? []);
    }
  }
}

function isClean({ sandbox }: PooledInstance): boolean {
  return sandbox === CLEAN;
}

/** Returns the size of a memory that its program sees, in bytes. The memory of an instance that is used again may be larger. */
export function memoryBytes(instance: WebAssembly.Instance, memory: WebAssembly.Memory): number {
  const size = instance.exports[MEMORY_SIZE];
  return size instanceof WebAssembly.Global ? Number(size.value) * PAGE : memory.buffer.byteLength;
}

/** Returns the names and values of the exported mutable globals. A module that neither forks nor is used again has none. */
export function globals(instance: WebAssembly.Instance): [string, WebAssembly.Global][] {
  return Object.entries(instance.exports).filter((entry): entry is [string, WebAssembly.Global] => entry[0].startsWith(GLOBAL));
}

/** Restores the initial state. Returns false if the instance has grown too much to be kept. */
function reset(program: Program, pooled: PooledInstance, initial: InitialState, completely: boolean): boolean {
  const { reuse } = program;
  const { instance, memory, globals: changed } = pooled;
  const lowest = instance.exports[LOWEST_STACK];
  if (reuse === undefined || !(lowest instanceof WebAssembly.Global)) return false;
  if (memory.buffer.byteLength / PAGE > program.pages + MAX_GROWTH) return false;
  const bytes = new Uint8Array(memory.buffer);
  const used = Math.max(0, Math.min(Number(lowest.value) >>> 0, reuse.stackEnd) - RED_ZONE);
  bytes.fill(0, used, reuse.stackEnd);
  if (completely) clearUnused(pooled, bytes, used);
  bytes.set(initial.data, reuse.stackEnd);
  bytes.fill(0, reuse.dataEnd, completely ? bytes.length : memoryBytes(instance, memory));
  for (const [name, global] of changed) global.value = initial.globals.get(name);
  return true;
}

/** Clears the stack below the part that the program has used, to which only a program that was attacked writes. */
function clearUnused(pooled: PooledInstance, bytes: Uint8Array, used: number): void {
  const end = used - (used % SCAN_STEP);
  bytes.fill(0, end, used);
  pooled.scan ??= zeroScan(pooled.memory);
  const first = pooled.scan(0, end);
  if (first === end) return;
  bytes.fill(0, first, end);
  pooled.bytes = bytes.length;
}

/** Compares a reset instance with a new one. */
function compare({ instance, memory }: PooledInstance, fresh: PooledInstance | undefined): void {
  if (fresh === undefined) throw new Error("the program has no memory");
  const [found, expected] = [new Int32Array(memory.buffer), new Int32Array(fresh.memory.buffer)];
  for (let at = 0; at < found.length; at += 1) {
    const word = at < expected.length ? expected[at] : 0;
    if (found[at] !== word) throw new Error(`an instance that was reset differs from a new one at address ${at * 4}`);
  }
  const others = new Map(globals(fresh.instance).map(([name, global]) => [name, global.value]));
  for (const [name, global] of globals(instance)) {
    if (global.value !== others.get(name)) throw new Error(`an instance that was reset differs from a new one in ${name}`);
  }
}
