'use strict';
// `Atomics` for a program with one thread. The engine has none without threads; Node's library and packages use it.
const integer = (array) => {
  if (!ArrayBuffer.isView(array) || array instanceof DataView || array instanceof Float32Array || array instanceof Float64Array || array instanceof Uint8ClampedArray) {
    throw new TypeError('[object Array] is not an integer typed array.');
  }
};
const slot = (array, index) => {
  integer(array);
  const at = Number(index);
  if (!Number.isInteger(at) || at < 0 || at >= array.length) throw new RangeError('Invalid atomic access index');
  return at;
};
const changed = (compute) => (array, index, value) => {
  const at = slot(array, index);
  const before = array[at];
  const given = typeof before === 'bigint' ? BigInt(value) : Math.trunc(Number(value)) || 0;
  array[at] = compute(before, given);
  return before;
};
/** A wait can only end by its time: nobody else runs. */
function wait(array, index, value, timeout = Infinity) {
  const at = slot(array, index);
  if (!(array instanceof Int32Array || array instanceof BigInt64Array)) throw new TypeError('[object Array] is not an int32 or BigInt64 typed array.');
  if (!(array.buffer instanceof SharedArrayBuffer)) throw new TypeError('[object Int32Array] is not a shared typed array.');
  if (array[at] !== value) return 'not-equal';
  const ms = Number.isNaN(Number(timeout)) ? Infinity : Math.max(Number(timeout), 0);
  const end = native.milliseconds() + ms;
  for (let left = ms; left > 0; left = end - native.milliseconds()) native.poll([], Math.min(left, 1000));
  return 'timed-out';
}
const Atomics = {
  add: changed((one, other) => one + other), and: changed((one, other) => one & other), exchange: changed((_, other) => other), or: changed((one, other) => one | other),
  sub: changed((one, other) => one - other), xor: changed((one, other) => one ^ other),
  load(array, index) { return array[slot(array, index)]; },
  store(array, index, value) { const at = slot(array, index); array[at] = value; return value; },
  compareExchange(array, index, expected, replacement) {
    const at = slot(array, index);
    const before = array[at];
    if (before === expected) array[at] = replacement;
    return before;
  },
  isLockFree: (size) => size === 1 || size === 2 || size === 4 || size === 8, wait, notify(array, index) { slot(array, index); return 0; },
};
for (const name of Object.keys(Atomics)) Object.defineProperty(Atomics, name, { enumerable: false });
Object.defineProperty(Atomics, Symbol.toStringTag, { value: 'Atomics', configurable: true });
Object.defineProperty(globalThis, 'Atomics', { value: Atomics, writable: true, configurable: true });
