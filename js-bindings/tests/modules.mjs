// Small WebAssembly modules, put together by hand: one function `_start` with the given body, and what it needs.

const letters = (text) => [...new TextEncoder().encode(text)];
const string = (text) => [text.length, ...letters(text)];
const section = (id, items) => [id, ...number(items.flat().length + 1), items.length, ...items.flat()];

/** An unsigned number as WebAssembly writes it. */
export function number(n) {
  return n < 128 ? [n] : [(n & 127) | 128, ...number(n >>> 7)];
}

/** A module whose function 0, after `imports` (pairs of module and name, of type `(i32) -> i32`), has this body. */
export function module(body, { imports = [], memory = [1], start = false, table, tag = false } = {}) {
  const code = [0, ...body, 0x0b];
  const kinds = imports.map(([from, name]) => [...string(from), ...string(name), 0, 1]);
  const exports = [[...string("_start"), 0, ...number(imports.length)], [...string("memory"), 2, 0]];
  return Uint8Array.from([
    ...letters("\0asm"), 1, 0, 0, 0,
    ...section(1, [[0x60, 0, 0], [0x60, 1, 0x7f, 1, 0x7f]]),
    ...(kinds.length > 0 ? section(2, kinds) : []),
    ...section(3, [[0]]),
    ...(table === undefined ? [] : section(4, [[0x70, 0, ...number(table)]])),
    ...section(5, [[0, ...number(memory[0])]]),
    ...(tag ? section(13, [[0, 0]]) : []),
    ...section(7, exports),
    ...(start ? [8, 1, ...number(imports.length)] : []),
    ...section(10, [[...number(code.length), ...code]]),
  ]);
}

/** Bodies, by what they do. */
export const bodies = {
  nothing: [],
  loop: [0x03, 0x40, 0x0c, 0, 0x0b],
  recursion: [0x10, 0],
  unreachable: [0x00],
  division: [0x41, 1, 0x41, 0, 0x6d, 0x1a],
  outOfMemory: [0x41, 0x7f, 0x28, 2, 0, 0x1a],
  grow: [0x03, 0x40, 0x41, 16, 0x40, 0, 0x1a, 0x0c, 0, 0x0b],
};
