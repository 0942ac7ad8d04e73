/** Making the memory that the processes of a pack begin with, in a process of it. */

import type { PackHost, PackMaking } from "./packs.js";

/** Calls an exported function, which may have to wait. */
type Call = (name: string, ...values: number[]) => Promise<unknown>;

/** Has the runtime initialise itself and keeps its memory; answers the exit code. */
export async function makeMemory(making: PackMaking, memory: WebAssembly.Memory, call: Call, host: PackHost): Promise<number> {
  for (const name of making.setup) await call(name);
  let signals = "";
  for (const [n, module] of making.imports.entries()) {
    if (!(await imported(module, making, memory, call))) return 1;
    if (n === 0) signals = await learn(making, memory, call);
  }
  await host.keep(making.keep, new Uint8Array(memory.buffer));
  await host.keep(making.keepSignals, new TextEncoder().encode(signals));
  return 0;
}

async function imported(module: string, { importer }: PackMaking, memory: WebAssembly.Memory, call: Call): Promise<boolean> {
  const name = new TextEncoder().encode(`${module}\0`);
  const at = Number(await call("host_alloc", name.length)) >>> 0;
  new Uint8Array(memory.buffer).set(name, at);
  return (await call(importer, at)) !== 0;
}

/**
 * Which bits the interpreter's own function sets for each signal: nothing can run within a program that computes, so its engine sets them
 * itself. The memory is left as it was but for the stack.
 */
async function learn(making: PackMaking, memory: WebAssembly.Memory, call: Call): Promise<string> {
  const before = new Uint8Array(memory.buffer).slice();
  const lines: string[] = [];
  for (const signal of making.signals) {
    await call(making.interrupt, signal);
    const now = new Uint8Array(memory.buffer);
    for (const at of differences(before, now, making.stackBytes)) {
      const [old, fresh] = [before[at] ?? 0, now[at] ?? 0];
      lines.push(`${signal} ${at} ${fresh & ~old}\n`);
      now[at] = old;
    }
  }
  return lines.join("");
}

/** The addresses of bytes that are not the same. */
function differences(before: Uint8Array, now: Uint8Array, from: number): number[] {
  const [old, fresh] = [before, now].map((bytes) => new BigUint64Array(bytes.buffer, 0, before.length >> 3)) as [BigUint64Array, BigUint64Array];
  const found = [];
  for (let word = from >> 3; word < old.length; word += 1) {
    if (old[word] === fresh[word]) continue;
    for (let at = word << 3; at < (word << 3) + 8; at += 1) if (before[at] !== now[at]) found.push(at);
  }
  return found;
}
