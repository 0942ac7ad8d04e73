/** Pre-initialization of the memory of a pack, inside a process of its runtime. */

import type { PackHost, PackPreinit } from "./packs.js";

/** Calls an exported function, which may suspend. */
type Call = (name: string, ...values: number[]) => Promise<unknown>;

/** Initializes the runtime and stores its memory. Returns the exit code. */
export async function preinitMemory(preinit: PackPreinit, memory: WebAssembly.Memory, call: Call, host: PackHost): Promise<number> {
  for (const name of preinit.setup) await call(name);
  let signals = "";
  for (const [n, module] of preinit.imports.entries()) {
    if (!(await importModule(module, preinit, memory, call))) return 1;
    if (n === 0) signals = await detectSignalFlags(preinit, memory, call);
  }
  await host.keep(preinit.keep, new Uint8Array(memory.buffer));
  await host.keep(preinit.keepSignals, new TextEncoder().encode(signals));
  return 0;
}

async function importModule(module: string, { importer }: PackPreinit, memory: WebAssembly.Memory, call: Call): Promise<boolean> {
  const name = new TextEncoder().encode(`${module}\0`);
  const at = Number(await call("host_alloc", name.length)) >>> 0;
  new Uint8Array(memory.buffer).set(name, at);
  return (await call(importer, at)) !== 0;
}

/**
 * Determines the bits that the interpreter's signal handler sets for each signal: the engine sets them itself later, because no
 * handler can run while the program computes. Restores the memory except for the stack.
 */
async function detectSignalFlags(preinit: PackPreinit, memory: WebAssembly.Memory, call: Call): Promise<string> {
  const before = new Uint8Array(memory.buffer).slice();
  const lines: string[] = [];
  for (const signal of preinit.signals) {
    await call(preinit.interrupt, signal);
    const now = new Uint8Array(memory.buffer);
    for (const at of differences(before, now, preinit.stackBytes)) {
      const [old, fresh] = [before[at] ?? 0, now[at] ?? 0];
      lines.push(`${signal} ${at} ${fresh & ~old}\n`);
      now[at] = old;
    }
  }
  return lines.join("");
}

/** Returns the addresses of bytes that differ. */
function differences(before: Uint8Array, now: Uint8Array, from: number): number[] {
  const [old, fresh] = [before, now].map((bytes) => new BigUint64Array(bytes.buffer, 0, before.length >> 3)) as [BigUint64Array, BigUint64Array];
  const found = [];
  for (let word = from >> 3; word < old.length; word += 1) {
    if (old[word] === fresh[word]) continue;
    for (let at = word << 3; at < (word << 3) + 8; at += 1) if (before[at] !== now[at]) found.push(at);
  }
  return found;
}
