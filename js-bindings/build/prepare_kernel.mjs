// Stores the base image of the sandboxes in the kernel's module: `node prepare_kernel.mjs PACKAGE` runs `preparePrograms` of
// `PACKAGE/dist/kernel_bg.wasm` with the list `PACKAGE/userland/programs.json`, and replaces the data of the module by the memory
// afterwards. The first sandbox of a Worker is created without building the image, whose code V8 would have to compile.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Numbers of sections; see the binary format of WebAssembly. */
const [MEMORY, DATA, DATA_COUNT] = [5, 11, 12];
const HEADER_BYTES = 8;
const PAGE = 65536;
/** A segment ends where at least so many bytes are zero. Fewer segments are instantiated and compressed better. */
const GAP = 64;

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error("usage: node prepare_kernel.mjs PACKAGE");
  process.exit(2);
}
const file = join(folder, "dist/kernel_bg.wasm");

/** Reads an unsigned LEB128 integer. Returns it with the position after it. */
function readInteger(bytes, at) {
  let [value, shift] = [0, 0];
  for (;;) {
    const byte = bytes[at++];
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return [value >>> 0, at];
    shift += 7;
  }
}

function unsigned(value) {
  const bytes = [];
  for (; value >= 0x80; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  return [...bytes, value];
}

/** An address as the operand of `i32.const`, which is signed. */
function signed(value) {
  const bytes = [];
  for (; value < -0x40 || value >= 0x40; value >>= 7) bytes.push((value & 0x7f) | 0x80);
  return [...bytes, value & 0x7f];
}

/** Returns the sections of a module: number and content. */
function sections(wasm) {
  const found = [];
  for (let at = HEADER_BYTES; at < wasm.length; ) {
    const id = wasm[at];
    const [length, start] = readInteger(wasm, at + 1);
    found.push([id, wasm.subarray(start, start + length)]);
    at = start + length;
  }
  return found;
}

/** Runs the module. An import that it calls would leave state outside of its memory. */
function run(wasm, list) {
  const module = new WebAssembly.Module(wasm);
  const imports = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    assert.equal(kind, "function", `the kernel imports ${name}`);
    (imports[from] ??= {})[name] = () => assert.fail(`the kernel calls ${name} while it is prepared`);
  }
  const { exports } = new WebAssembly.Instance(module, imports);
  const text = new TextEncoder().encode(list);
  const at = exports.__wbindgen_malloc(text.length, 1);
  new Uint8Array(exports.memory.buffer).set(text, at);
  // It frees the text.
  assert.equal(exports.preparePrograms(at, text.length), 1, "the kernel cannot create the base image");
  return new Uint8Array(exports.memory.buffer);
}

/** Returns the address of the first byte that is not part of the stack, which is at the beginning. */
function endOfStack(data) {
  const [, flags] = readInteger(data, 0);
  // Flags, then an `i32.const` with the address of the first segment.
  assert.deepEqual([data[flags], data[flags + 1]], [0, 0x41], "the first data segment has no constant address");
  return readInteger(data, flags + 2)[0];
}

/** Returns a data section with all bytes from `start` that are not zero. */
function dataSection(memory, start) {
  const segments = [];
  for (let at = start; at < memory.length; ) {
    if (memory[at] === 0) {
      at += 1;
      continue;
    }
    let end = at + 1;
    for (let zeros = 0, next = end; next < memory.length && zeros < GAP; next++) {
      zeros = memory[next] === 0 ? zeros + 1 : 0;
      if (zeros === 0) end = next + 1;
    }
    segments.push(Buffer.from([0, 0x41, ...signed(at), 0x0b, ...unsigned(end - at)]), memory.subarray(at, end));
    at = end;
  }
  return Buffer.concat([Buffer.from(unsigned(segments.length / 2)), ...segments]);
}

const wasm = readFileSync(file);
const programs = JSON.parse(readFileSync(join(folder, "userland/programs.json"), "utf8"));
const list = programs.map(({ file: name, bytes, sha256, commands }) => [name, bytes, sha256, ...commands].join(" ")).join("\n");
const memory = run(wasm, list);
const parts = [wasm.subarray(0, HEADER_BYTES)];
for (const [id, content] of sections(wasm)) {
  assert.notEqual(id, DATA_COUNT, "the kernel has passive data segments");
  let changed = content;
  // One memory without a maximum.
  if (id === MEMORY) {
    assert.deepEqual([...content.subarray(0, 2)], [1, 0], "the memory has a maximum");
    changed = Buffer.from([1, 0, ...unsigned(memory.length / PAGE)]);
  }
  if (id === DATA) changed = dataSection(memory, endOfStack(content));
  parts.push(Buffer.from([id, ...unsigned(changed.length)]), changed);
}
const prepared = Buffer.concat(parts);
assert.ok(WebAssembly.validate(prepared), "the prepared kernel is not valid");
writeFileSync(file, prepared);
