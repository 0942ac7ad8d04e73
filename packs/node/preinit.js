// Run by the pinned Node: passes the library to a module, calls its `tidebox_preinit`, and writes a module that starts with the
// memory which that call left.
// Usage: preinit.js MODULE LIBRARY OUTPUT
'use strict';
const fs = require('fs');
const [, , input, library, output] = process.argv;
const bytes = fs.readFileSync(input);

/** Reads the numbers of a module. */
class Reader {
  constructor(data) { this.data = data; this.at = 0; }
  get done() { return this.at >= this.data.length; }
  byte() { return this.data[this.at++]; }
  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }
  take(length) { return this.data.subarray(this.at, this.at += length); }
}
function number(value) {
  const out = [];
  do {
    const byte = value % 128;
    value = Math.floor(value / 128);
    out.push(value > 0 ? byte + 128 : byte);
  } while (value > 0);
  return Buffer.from(out);
}
/** An address as the signed number of `i32.const`. */
function signed(value) {
  const out = [];
  for (let rest = value | 0; ; rest >>= 7) {
    const byte = rest & 127;
    const last = (rest >> 7 === 0 && byte < 64) || (rest >> 7 === -1 && byte >= 64);
    out.push(last ? byte : byte + 128);
    if (last) return Buffer.from(out);
  }
}
function sections() {
  const reader = new Reader(bytes);
  reader.take(8);
  const found = [];
  while (!reader.done) {
    const id = reader.byte();
    found.push([id, reader.take(reader.number())]);
  }
  return found;
}
/** Only the stack pointer may be mutable: a global is not stored, and the stack is empty again after the call. */
function checkGlobals(section) {
  const reader = new Reader(section);
  let mutable = 0;
  for (let count = reader.number(); count > 0; count--) {
    reader.byte();
    mutable += reader.byte();
    if (reader.byte() !== 0x41) throw new Error('a global does not start with a constant of 32 bits');
    reader.number();
    reader.byte();
  }
  if (mutable !== 1) throw new Error(`${mutable} globals are mutable`);
}
/** Runs the module. It may read clocks and random numbers, which are constants, and write messages. */
function run() {
  let memory;
  const view = () => new DataView(memory.buffer);
  const allowed = {
    clock_time_get(id, precision, out) { view().setBigUint64(out, 1n, true); return 0; },
    random_get(out, length) { new Uint8Array(memory.buffer, out, length).fill(1); return 0; },
    fd_write(fd, vectors, count, written) {
      let total = 0;
      for (let at = 0; at < count; at++) {
        const [start, length] = [view().getUint32(vectors + 8 * at, true), view().getUint32(vectors + 8 * at + 4, true)];
        process.stderr.write(Buffer.from(memory.buffer, start, length));
        total += length;
      }
      view().setUint32(written, total, true);
      return 0;
    },
  };
  const module = new WebAssembly.Module(bytes);
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = allowed[name] ?? (() => { throw new Error(`tidebox_preinit called ${from}.${name}`); });
  }
  const { exports } = new WebAssembly.Instance(module, imports);
  ({ memory } = exports);
  const archive = fs.readFileSync(library);
  const place = exports.tidebox_library(archive.length);
  new Uint8Array(memory.buffer, place, archive.length).set(archive);
  const code = exports.tidebox_preinit();
  if (code !== 0) throw new Error(`tidebox_preinit returned ${code}`);
  clearRead(Buffer.from(memory.buffer, place, archive.length), exports.tidebox_was_read);
  return Buffer.from(memory.buffer);
}
/** Overwrites the files of the library that were read with zeros: they are compiled, and are not read again. */
function clearRead(archive, wasRead) {
  let number = 0;
  let kept = 0;
  for (let at = 0; at < archive.length; number++) {
    at += 4 + archive.readUInt32LE(at);
    const length = archive.readUInt32LE(at);
    at += 4;
    if (wasRead(number)) archive.fill(0, at, at + length);
    else kept += length;
    at += length;
  }
  console.log(`${kept} of ${archive.length} bytes of the library are kept`);
}
/** Returns the ranges of a memory that are not zero. Short gaps of zeros are cheaper than another range. */
function ranges(memory) {
  const found = [];
  const words = new Uint32Array(memory.buffer, memory.byteOffset, memory.length / 4);
  let start = -1;
  let last = -1;
  for (let at = 0; at < words.length; at++) {
    if (words[at] === 0) continue;
    if (start >= 0 && at - last > 16) {
      found.push([start * 4, (last + 1) * 4]);
      start = -1;
    }
    if (start < 0) start = at;
    last = at;
  }
  if (start >= 0) found.push([start * 4, (last + 1) * 4]);
  return found;
}
function write(memory) {
  const parts = [bytes.subarray(0, 8)];
  const put = (id, content) => parts.push(Buffer.from([id]), number(content.length), content);
  const data = ranges(memory);
  for (const [id, content] of sections()) {
    if (id === 8) throw new Error('the module has a start function');
    else if (id === 5) put(5, Buffer.concat([number(1), Buffer.from([0]), number(memory.length / 65536)]));
    else if (id === 6) { checkGlobals(content); put(6, content); }
    else if (id === 12) put(12, number(data.length));
    else if (id === 11) {
      const segments = data.map(([start, end]) => Buffer.concat([Buffer.from([0, 0x41]), signed(start), Buffer.from([0x0b]), number(end - start), memory.subarray(start, end)]));
      put(11, Buffer.concat([number(data.length), ...segments]));
    } else put(id, content);
  }
  fs.writeFileSync(output, Buffer.concat(parts));
  console.log(`${data.length} ranges, ${memory.length} bytes of memory`);
}
write(run());
