'use strict';
// Buffers, decoders of strings, and addresses.
const { native } = state;
const ENCODINGS = state.facts.bindings.string_decoder.encodings.a;
const nameOf = (encoding) => (typeof encoding === 'number' ? ENCODINGS[encoding] : String(encoding).toLowerCase());
const bytesOf = (value) => (ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : new Uint8Array(value));
state.bytesOf = bytesOf;
const encodingOf = (name) => ({ __proto__: null, 'utf-8': 'utf8', ucs2: 'utf16le', 'ucs-2': 'utf16le', 'utf-16le': 'utf16le', binary: 'latin1' }[name] ?? name);
function slice(encoding) {
  return function(start = 0, end = this.byteLength) {
    const from = Math.max(0, start | 0);
    const to = Math.min(Math.max(0, end), this.byteLength);
    if (to <= from) return '';
    if (to - from > 536870888) throw Object.assign(new Error('Cannot create a string longer than 0x1fffffe8 characters'), { code: 'ERR_STRING_TOO_LONG' });
    return native.decode(this, encoding, from, to);
  };
}
const clipped = (buffer, offset = 0, length = buffer.byteLength - offset) => {
  if (offset > buffer.byteLength) {
    const { ERR_BUFFER_OUT_OF_BOUNDS } = state.require('internal/errors').codes;
    throw new ERR_BUFFER_OUT_OF_BOUNDS('offset');
  }
  return native.encodeInto.bind(null);
};
const writeTo = (encoding) => function(string, offset = 0, length = this.byteLength - offset) {
  clipped(this, offset);
  return native.encodeInto(string, encoding, this, offset, Math.max(0, Math.min(length, this.byteLength - offset)));
};
const writeStatic = (encoding) => (buffer, string, offset = 0, length = buffer.byteLength - offset) => {
  clipped(buffer, offset);
  return native.encodeInto(string, encoding, buffer, offset, Math.max(0, Math.min(length, buffer.byteLength - offset)));
};
const swap = (size) => (buffer) => {
  const bytes = bytesOf(buffer);
  for (let at = 0; at + size <= bytes.length; at += size) {
    for (let one = 0; one < size / 2; one++) {
      const other = size - 1 - one;
      const kept = bytes[at + one];
      bytes[at + one] = bytes[at + other];
      bytes[at + other] = kept;
    }
  }
  return buffer;
};
const indexOf = (buffer, what, offset, forward, step) => native.indexOfBytes(buffer, what, Number.isNaN(offset) ? (forward ? 0 : buffer.byteLength) : offset, forward, step);
bindings.buffer = () => ({
  setBufferPrototype(prototype) { state.bufferPrototype = prototype; },
  kMaxLength: Number.MAX_SAFE_INTEGER, kStringMaxLength: 536870888,
  asciiSlice: slice('ascii'), base64Slice: slice('base64'), base64urlSlice: slice('base64url'), latin1Slice: slice('latin1'),
  hexSlice: slice('hex'), ucs2Slice: slice('utf16le'), utf8Slice: slice('utf8'),
  base64Write: writeTo('base64'), base64urlWrite: writeTo('base64url'), hexWrite: writeTo('hex'), ucs2Write: writeTo('utf16le'),
  asciiWriteStatic: writeStatic('latin1'), latin1WriteStatic: writeStatic('latin1'), utf8WriteStatic: writeStatic('utf8'),
  byteLengthUtf8: native.byteLengthUtf8,
  compare: native.compareBytes,
  compareOffset: (source, target, targetStart, sourceStart, targetLength, sourceLength) =>
    native.compareBytes(bytesOf(source).subarray(sourceStart, sourceStart + sourceLength), bytesOf(target).subarray(targetStart, targetStart + targetLength)),
  copy: (source, target, targetStart, sourceStart, length) => native.copyBytes(source, target, targetStart, sourceStart, length),
  copyArrayBuffer(to, toOffset, from, fromOffset, length) { native.copyBytes(from, to, toOffset, fromOffset, length); },
  createUnsafeArrayBuffer: (size) => new ArrayBuffer(size),
  isUtf8: native.isUtf8, isAscii: native.isAscii,
  swap16: swap(2), swap32: swap(4), swap64: swap(8),
  indexOfString: (buffer, text, offset, encoding, forward) => {
    const name = nameOf(encoding);
    return indexOf(buffer, native.encode(text, name), offset, forward, name === 'utf16le' ? 2 : 1);
  },
  indexOfBuffer: (buffer, what, offset, encoding, forward) => indexOf(buffer, what, offset, forward, nameOf(encoding) === 'utf16le' ? 2 : 1),
  indexOfNumber: (buffer, number, offset, forward) => indexOf(buffer, new Uint8Array([number]), offset, forward, 1),
  fill(buffer, value, start, end, encoding) {
    const bytes = bytesOf(buffer);
    if (start > end || end > bytes.length || start < 0) return -2;
    if (typeof value === 'number') return void bytes.fill(value & 255, start, end);
    const pattern = typeof value === 'string' ? native.encode(value, encodingOf(String(encoding ?? 'utf8').toLowerCase())) : bytesOf(value);
    if (start === end) return;
    if (pattern.length === 0) return -1;
    for (let at = start; at < end; at += pattern.length) native.copyBytes(pattern, bytes, at, 0, Math.min(pattern.length, end - at));
  },
  btoa(text) {
    for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 255) return -1;
    const bytes = native.encode(text, 'latin1');
    return native.decode(bytes, 'base64', 0, bytes.length);
  },
  atob(text) {
    const clean = text.replace(/[\t\n\f\r ]/g, '');
    const bare = clean.length % 4 === 0 ? clean.replace(/={1,2}$/, '') : clean;
    if (/[^A-Za-z0-9+/]/.test(bare)) return -1;
    if (bare.length % 4 === 1) return -3;
    const bytes = native.encode(bare, 'base64');
    return native.decode(bytes, 'latin1', 0, bytes.length);
  },
});
/** Returns how many bytes at the end belong to a character of UTF-8 that is not whole, and how many are missing. */
function openTail(bytes) {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if ((byte & 0xc0) === 0x80) continue;
    const need = byte >= 0xf0 && byte < 0xf5 ? 4 : byte >= 0xe0 ? (byte < 0xf0 ? 3 : 0) : byte >= 0xc2 ? 2 : 0;
    if (need <= back) return [0, 0];
    // A second byte that cannot follow ends the character.
    const second = bytes[bytes.length - back + 1];
    if (back > 1 && ((byte === 0xe0 && second < 0xa0) || (byte === 0xed && second > 0x9f) || (byte === 0xf0 && second < 0x90) || (byte === 0xf4 && second > 0x8f))) return [0, 0];
    return [back, need - back];
  }
  return [0, 0];
}
function tailOf(encoding, bytes) {
  switch (encoding) {
    case 'utf8': return openTail(bytes);
    case 'utf16le': {
      if (bytes.length % 2 === 1) {
        const high = bytes.length >= 3 && (bytes[bytes.length - 2] & 0xfc) === 0xd8;
        return high ? [3, 1] : [1, 1];
      }
      return bytes.length >= 2 && (bytes[bytes.length - 1] & 0xfc) === 0xd8 ? [2, 2] : [0, 0];
    }
    case 'base64': case 'base64url': return [bytes.length % 3, bytes.length % 3 === 0 ? 0 : 3 - bytes.length % 3];
    default: return [0, 0];
  }
}
bindings.string_decoder = (binding) => {
  const { kMissingBytes, kBufferedBytes, kEncodingField } = binding;
  return {
    decode(decoder, chunk) {
      if (typeof chunk === 'string') return chunk;
      if (!ArrayBuffer.isView(chunk)) {
        const { ERR_INVALID_ARG_TYPE } = state.require('internal/errors').codes;
        throw new ERR_INVALID_ARG_TYPE('buf', ['Buffer', 'TypedArray', 'DataView'], chunk);
      }
      const encoding = ENCODINGS[decoder[kEncodingField]];
      let bytes = bytesOf(chunk);
      const kept = decoder[kBufferedBytes];
      if (kept > 0) {
        const joined = new Uint8Array(kept + bytes.length);
        joined.set(decoder.subarray(0, kept));
        joined.set(bytes, kept);
        bytes = joined;
      }
      const [open, missing] = tailOf(encoding, bytes);
      const whole = bytes.length - open;
      decoder.set(bytes.subarray(whole), 0);
      decoder[kBufferedBytes] = open;
      decoder[kMissingBytes] = missing;
      return whole === 0 ? '' : native.decode(bytes, encoding, 0, whole);
    },
    flush(decoder) {
      const encoding = ENCODINGS[decoder[kEncodingField]];
      const kept = decoder[kBufferedBytes];
      decoder[kBufferedBytes] = 0;
      decoder[kMissingBytes] = 0;
      if (kept === 0) return '';
      return native.decode(decoder, encoding, 0, encoding === 'utf16le' ? kept & ~1 : kept);
    },
  };
};
function decodeWhole(bytes, ignoreBom, fatal) {
  if (fatal && !native.isUtf8(bytes)) {
    const { ERR_ENCODING_INVALID_ENCODED_DATA } = state.require('internal/errors').codes;
    throw new ERR_ENCODING_INVALID_ENCODED_DATA('utf-8', undefined);
  }
  const bom = !ignoreBom && bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.length === 0 ? '' : native.decode(bytes, 'utf8', bom ? 3 : 0, bytes.length);
}
function inputBytes(input) {
  if (ArrayBuffer.isView(input) || input instanceof ArrayBuffer || state.bindingOf('types').isAnyArrayBuffer(input)) return bytesOf(input);
  const { ERR_INVALID_ARG_TYPE } = state.require('internal/errors').codes;
  throw new ERR_INVALID_ARG_TYPE('list', ['ArrayBuffer', 'ArrayBufferView'], input);
}
bindings.encoding_binding = (binding) => ({
  encodeUtf8String: (text) => native.encode(text, 'utf8'),
  encodeInto(source, dest) {
    const written = native.encodeInto(source, 'utf8', dest, 0);
    binding.encodeIntoResults[0] = native.decode(dest, 'utf8', 0, written).length;
    binding.encodeIntoResults[1] = written;
  },
  decodeUTF8: (input, ignoreBom, fatal) => decodeWhole(inputBytes(input), ignoreBom, fatal),
  decodeWindows1252: (input) => { const bytes = inputBytes(input); return native.decode(bytes, 'latin1', 0, bytes.length); },
  // An address in digits stays what it is, also if it is not complete.
  toASCII: (name) => (/^[\x00-\x7f]*$/.test(name) ? name : native.domainToAscii(name)), toUnicode: native.domainToUnicode,
});
const isWide = (code) => code >= 0x1100 && (code <= 0x115f || code === 0x2329 || code === 0x232a || (code >= 0x2e80 && code <= 0x3247 && code !== 0x303f) ||
  (code >= 0x3250 && code <= 0x4dbf) || (code >= 0x4e00 && code <= 0xa4c6) || (code >= 0xa960 && code <= 0xa97c) || (code >= 0xac00 && code <= 0xd7a3) ||
  (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe10 && code <= 0xfe19) || (code >= 0xfe30 && code <= 0xfe6b) || (code >= 0xff01 && code <= 0xff60) ||
  (code >= 0xffe0 && code <= 0xffe6) || (code >= 0x1b000 && code <= 0x1b001) || (code >= 0x1f200 && code <= 0x1f251) || (code >= 0x1f300 && code <= 0x1f64f) ||
  (code >= 0x1f680 && code <= 0x1f6ff) || (code >= 0x1f900 && code <= 0x1f9ff) || (code >= 0x20000 && code <= 0x3fffd));
const isZeroWidth = (code) => code <= 0x1f || (code >= 0x7f && code <= 0x9f) || (code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200f) ||
  (code >= 0x20d0 && code <= 0x20ff) || (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xfe20 && code <= 0xfe2f) || (code >= 0xe0100 && code <= 0xe01ef);
bindings.icu = () => ({
  getStringWidth(text) {
    let width = 0;
    for (const character of text.normalize('NFC')) {
      const code = character.codePointAt(0);
      if (isWide(code)) width += 2;
      else if (!isZeroWidth(code)) width++;
    }
    return width;
  },
  icuErrName: (number) => `U_ERROR_${number}`,
  hasConverter: (name) => ['utf-8', 'utf8', 'utf-16le', 'iso-8859-1', 'latin1', 'us-ascii'].includes(name),
  getConverter(name, flags) {
    const encoding = { __proto__: null, 'utf-8': 'utf8', 'utf-16le': 'utf16le', 'iso-8859-1': 'latin1', 'windows-1252': 'latin1' }[name];
    return encoding && { encoding, flags, kept: new Uint8Array(0), begun: false };
  },
  decode(converter, input, flags, name) {
    let bytes = inputBytes(input);
    const joined = new Uint8Array(converter.kept.length + bytes.length);
    joined.set(converter.kept);
    joined.set(bytes, converter.kept.length);
    const flush = (flags & 1) !== 0;
    const [open] = flush ? [0] : tailOf(converter.encoding, joined);
    bytes = joined.subarray(0, joined.length - open);
    converter.kept = joined.slice(joined.length - open);
    const odd = converter.encoding === 'utf16le' && bytes.length % 2 === 1;
    if ((converter.flags & 2) !== 0 && (odd || (converter.encoding === 'utf8' && !native.isUtf8(bytes)))) {
      const { ERR_ENCODING_INVALID_ENCODED_DATA } = state.require('internal/errors').codes;
      throw new ERR_ENCODING_INVALID_ENCODED_DATA(name, undefined);
    }
    let text = bytes.length === 0 ? '' : native.decode(bytes, converter.encoding, 0, bytes.length & (converter.encoding === 'utf16le' ? ~1 : ~0));
    if (odd) text += '\ufffd';
    if (converter.encoding === 'utf16le') text = text.toWellFormed();
    if (!converter.begun && text.length > 0) {
      if ((converter.flags & 4) === 0 && text[0] === '\ufeff') text = text.slice(1);
      converter.begun = true;
    }
    if (flush) converter.begun = false;
    return text;
  },
  transcode(source, from, to) {
    const bytes = bytesOf(source);
    const names = [from, to].map((name) => encodingOf(String(name).toLowerCase()));
    const text = native.decode(bytes, names[0], 0, bytes.length);
    const fits = names[1] === 'latin1' ? [...text].map((c) => (c.codePointAt(0) > 255 ? '?' : c)).join('') : names[1] === 'ascii' ? [...text].map((c) => (c.codePointAt(0) > 127 ? '?' : c)).join('') : text;
    return state.require('buffer').Buffer.from(fits, names[1]);
  },
});
bindings.url = (binding) => {
  const set = (parts) => {
    for (let at = 0; at < 9; at++) binding.urlComponents[at] = Number(parts[at + 1]);
    return parts[0];
  };
  const CHANGES = ['protocol', 'host', 'hostname', 'port', 'username', 'password', 'pathname', 'search', 'hash', 'href'];
  const api = {
    parse(input, base, raise) {
      const parts = native.parseUrl(input, base);
      if (parts) return set(parts);
      if (!raise) return undefined;
      const { ERR_INVALID_URL } = state.require('internal/errors').codes;
      throw new ERR_INVALID_URL(input, base ?? null);
    },
    canParse: (input, base) => native.parseUrl(input, base) !== undefined && native.parseUrl(input, base) !== null,
    domainToASCII: (domain) => native.domainToAscii(domain),
    domainToUnicode: (domain) => native.domainToUnicode(domain),
    getOrigin(href) {
      const url = new URL(href);
      return url.origin;
    },
    update(href, action, value) {
      const parts = native.changeUrl(href, CHANGES[action], `${value}`);
      if (!parts) return CHANGES[action] === 'href' ? false : set(native.parseUrl(href));
      return set(parts);
    },
    format(href, hash, unicode, search, auth) {
      const url = new (state.require('internal/url').URL)(href);
      let text = url.protocol;
      if (url.host !== '' || url.protocol === 'file:') text += '//';
      if (auth && (url.username || url.password)) text += `${url.username}${url.password ? `:${url.password}` : ''}@`;
      text += unicode ? native.domainToUnicode(url.hostname) : url.hostname;
      if (url.port) text += `:${url.port}`;
      text += url.pathname;
      if (search) text += url.search;
      if (hash) text += url.hash;
      return text;
    },
    pathToFileURL(path, windows, base) {
      const escaped = path.replace(/[%\\\n\r\t?#]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
      return set(native.parseUrl(`file://${escaped}`));
    },
  };
  return api;
};
