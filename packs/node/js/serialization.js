'use strict';
// `v8.serialize`: the form of the bytes is not that of V8, so only this program can read them.
const { native } = state;
const HEADER = [0xff, 0x0f];
/** Turns a value into one that JSON has: objects become lists of a kind and its parts, and later references a number. */
function pack(value, known) {
  switch (typeof value) {
    case 'string': case 'boolean': return value;
    case 'number': return Number.isFinite(value) && !Object.is(value, -0) ? value : ['n', Object.is(value, -0) ? '-0' : String(value)];
    case 'undefined': return ['u'];
    case 'bigint': return ['b', String(value)];
    case 'function': case 'symbol': state.clone(value); return ['u'];
    default:
  }
  if (value === null) return null;
  if (known.has(value)) return ['r', known.get(value)];
  known.set(value, known.size);
  const types = state.bindingOf('types');
  const all = (values) => values.map((one) => pack(one, known));
  if (types.isDate(value)) return ['d', pack(value.getTime(), known)];
  if (types.isRegExp(value)) return ['x', value.source, value.flags];
  if (types.isMap(value)) return ['m', ...all([...value].flat())];
  if (types.isSet(value)) return ['s', ...all([...value])];
  if (types.isAnyArrayBuffer(value)) return ['a', 'ArrayBuffer', native.decode(value, 'base64', 0, value.byteLength)];
  if (ArrayBuffer.isView(value)) {
    const kind = state.require('buffer').Buffer.isBuffer(value) ? 'Buffer' : value.constructor.name;
    return ['a', kind, value.byteLength === 0 ? '' : native.decode(value, 'base64', 0, value.byteLength)];
  }
  if (types.isNativeError(value)) return ['e', value.name, value.message, pack(value.stack, known), 'cause' in value ? pack(value.cause, known) : ['u']];
  if (types.isBoxedPrimitive(value)) return ['o', pack(value.valueOf(), known)];
  if (Array.isArray(value)) return ['l', ...all(Array.from(value))];
  if (types.isPromise(value) || types.isProxy(value) || types.isWeakMap(value) || types.isWeakSet(value)) state.clone(value);
  return ['p', ...Object.keys(value).flatMap((key) => [key, pack(value[key], known)])];
}
const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
function unpack(packed, known) {
  if (!Array.isArray(packed)) return packed;
  const [kind, ...parts] = packed;
  const keep = (value) => { known.push(value); return value; };
  switch (kind) {
    case 'n': return Number(parts[0]);
    case 'u': return undefined;
    case 'b': return BigInt(parts[0]);
    case 'r': return known[parts[0]];
    case 'd': return keep(new Date(unpack(parts[0], known)));
    case 'x': return keep(new RegExp(parts[0], parts[1]));
    case 'o': return keep(Object(unpack(parts[0], known)));
    case 'm': {
      const map = keep(new Map());
      for (let at = 0; at < parts.length; at += 2) { const key = unpack(parts[at], known); map.set(key, unpack(parts[at + 1], known)); }
      return map;
    }
    case 's': {
      const set = keep(new Set());
      for (const part of parts) set.add(unpack(part, known));
      return set;
    }
    case 'a': {
      const { Buffer } = state.require('buffer');
      const bytes = Buffer.from(parts[1], 'base64');
      if (parts[0] === 'Buffer') return keep(bytes);
      const buffer = new Uint8Array(bytes).buffer;
      return keep(parts[0] === 'ArrayBuffer' ? buffer : new globalThis[parts[0]](buffer));
    }
    case 'e': {
      const error = keep(new (ERRORS[parts[0]] ?? Error)(parts[1]));
      Object.defineProperty(error, 'stack', { value: unpack(parts[2], known), writable: true, configurable: true, enumerable: false });
      const cause = unpack(parts[3], known);
      if (cause !== undefined) Object.defineProperty(error, 'cause', { value: cause, writable: true, configurable: true, enumerable: false });
      return error;
    }
    case 'l': {
      const list = keep([]);
      for (const part of parts) list.push(unpack(part, known));
      return list;
    }
    default: {
      const object = keep({});
      for (let at = 0; at < parts.length; at += 2) object[parts[at]] = unpack(parts[at + 1], known);
      return object;
    }
  }
}
state.Serializer = class Serializer {
  #parts = [];
  writeHeader() { this.#parts.push(Uint8Array.from(HEADER)); }
  writeValue(value) {
    const bytes = native.encode(JSON.stringify(pack(value, new Map())), 'utf8');
    this.writeUint32(bytes.length);
    this.#parts.push(bytes);
    return true;
  }
  writeUint32(number) {
    const { Buffer } = state.require('buffer');
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(number);
    this.#parts.push(bytes);
  }
  writeUint64(high, low) { this.writeUint32(high); this.writeUint32(low); }
  writeDouble(number) { this.#parts.push(new Uint8Array(new Float64Array([number]).buffer)); }
  writeRawBytes(bytes) { this.#parts.push(Uint8Array.from(state.bytesOf(bytes))); }
  transferArrayBuffer() {}
  releaseBuffer() {
    const all = state.require('buffer').Buffer.concat(this.#parts);
    this.#parts = [];
    return all;
  }
  _setTreatArrayBufferViewsAsHostObjects() {}
};
state.Deserializer = class Deserializer {
  #at = 0;
  constructor(buffer) { this.buffer = buffer; this.view = state.bytesOf(buffer); }
  #take(count) {
    const part = this.view.subarray(this.#at, this.#at + count);
    if (part.length < count) throw new Error('Unable to deserialize cloned data.');
    this.#at += count;
    return part;
  }
  readHeader() {
    const header = this.#take(2);
    if (header[0] !== HEADER[0] || header[1] !== HEADER[1]) throw new Error('Unable to deserialize cloned data due to invalid or unsupported version.');
    return true;
  }
  readUint32() { const part = this.#take(4); return new DataView(part.buffer, part.byteOffset, 4).getUint32(0, true); }
  readUint64() { return [this.readUint32(), this.readUint32()]; }
  readDouble() { return new Float64Array(this.#take(8).slice().buffer)[0]; }
  _readRawBytes(count) { const at = this.#at; this.#take(count); return at; }
  readRawBytes(count) { return this.#take(count); }
  readValue() {
    const bytes = this.#take(this.readUint32());
    return unpack(JSON.parse(native.decode(bytes, 'utf8', 0, bytes.length)), []);
  }
  getWireFormatVersion() { return HEADER[1]; }
  transferArrayBuffer() {}
};
