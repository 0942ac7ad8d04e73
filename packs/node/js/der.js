'use strict';
// Forms of keys: DER (X.690), PEM (RFC 7468), and encrypted private keys (RFC 8018, and the older form of OpenSSL).
const { native } = state;
const concat = (...parts) => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
};
const ofHex = (text) => new Uint8Array(text.match(/../g).map((byte) => Number.parseInt(byte, 16)));
const toHex = (bytes) => { let text = ''; for (const byte of bytes) text += (byte < 16 ? '0' : '') + byte.toString(16); return text; };
const TAGS = { __proto__: null, integer: 2, bits: 3, octets: 4, none: 5, oid: 6, sequence: 0x30 };
function wrap(tag, ...parts) {
  const content = concat(...parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return concat([tag, ...size], content);
}
const sequence = (...parts) => wrap(TAGS.sequence, ...parts);
const octets = (bytes) => wrap(TAGS.octets, bytes);
const bits = (bytes) => wrap(TAGS.bits, [0], bytes);
const oid = (hex) => wrap(TAGS.oid, ofHex(hex));
const NULL = new Uint8Array([TAGS.none, 0]);
/** An integer that is not negative, of big-endian bytes. */
function integer(value) {
  let bytes = typeof value === 'number' ? ofHex(value.toString(16).padStart(8, '0')) : value;
  while (bytes.length > 1 && bytes[0] === 0) bytes = bytes.subarray(1);
  return wrap(TAGS.integer, bytes.length === 0 || bytes[0] > 127 ? [0] : [], bytes);
}
/** Reads one value after another. Each method throws if the bytes have another form. */
class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  get ends() { return this.at >= this.bytes.length; }
  peek() { return this.bytes[this.at]; }
  /** Returns the content of the next value, which must have the tag. */
  take(tag) {
    const { bytes } = this;
    if (bytes[this.at] !== tag) throw new RangeError('wrong tag');
    let length = bytes[this.at + 1];
    let start = this.at + 2;
    if (length > 127) {
      const count = length & 127;
      if (count === 0 || count > 4) throw new RangeError('wrong length');
      length = 0;
      for (let left = count; left > 0; left--) length = length * 256 + bytes[start++];
    }
    if (!(start + length <= bytes.length)) throw new RangeError('too short');
    this.at = start + length;
    return bytes.subarray(start, this.at);
  }
  skip() { this.take(this.peek()); }
  sequence() { return new Reader(this.take(TAGS.sequence)); }
  octets() { return this.take(TAGS.octets); }
  bits() { return this.take(TAGS.bits).subarray(1); }
  oid() { return toHex(this.take(TAGS.oid)); }
  /** Returns the bytes of an integer without leading zeros. */
  integer() { let bytes = this.take(TAGS.integer); while (bytes.length > 1 && bytes[0] === 0) bytes = bytes.subarray(1); return bytes; }
}
const asNumber = (bytes) => bytes.reduce((value, byte) => value * 256 + byte, 0);

const bufferOf = (bytes) => { const { Buffer } = state.require('buffer'); return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength); };
/** Returns the text of a PEM block with these lines in its head. */
const pem = (label, bytes, head = '') => `-----BEGIN ${label}-----\n${head}${bufferOf(bytes).toString('base64').replace(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`;
/** Returns label, head and bytes of the first PEM block, or undefined. */
function ofPem(text) {
  const found = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([^]*?)-----END \1-----/.exec(text);
  if (found === null) return undefined;
  const [, label, inner] = found;
  const head = /^(?:[A-Za-z-]+: [^\n]*\n)*/.exec(inner)[0];
  return { label, head, bytes: state.bytesOf(state.require('buffer').Buffer.from(inner.slice(head.length), 'base64')) };
}

// Encryption with a password: PBES2 with PBKDF2 and AES in the mode CBC.
const PBES2 = '2a864886f70d01050d';
const PBKDF2 = '2a864886f70d01050c';
const HASHES = { '__proto__': null, '2a864886f70d0207': 'sha1', '2a864886f70d0208': 'sha224', '2a864886f70d0209': 'sha256', '2a864886f70d020a': 'sha384', '2a864886f70d020b': 'sha512' };
const CIPHERS = { '__proto__': null, '608648016503040102': 16, '608648016503040116': 24, '60864801650304012a': 32 };
const ITERATIONS = 2048;
/** Runs AES in the mode CBC. Throws -1 or -2 if the padding or the length is wrong. */
function cbc(key, iv, bytes, encrypts) {
  const id = native.cipherNew('cbc', key, iv, encrypts);
  if (id < 0) throw -1;
  const first = native.cipherUpdate(id, bytes);
  const last = native.cipherFinal(id);
  native.cipherClose(id);
  if (typeof last === 'number') throw last;
  return concat(first, last);
}
const random = (length) => { const bytes = new Uint8Array(length); native.random(bytes); return bytes; };
function encrypt(bytes, size, password) {
  const [salt, iv] = [random(16), random(16)];
  const key = native.pbkdf2('sha256', password, salt, ITERATIONS, size);
  const name = Object.keys(CIPHERS).find((one) => CIPHERS[one] === size);
  const derives = sequence(oid(PBKDF2), sequence(octets(salt), integer(ITERATIONS), sequence(oid('2a864886f70d0209'), NULL)));
  return sequence(sequence(oid(PBES2), sequence(derives, sequence(oid(name), octets(iv)))), octets(cbc(key, iv, bytes, true)));
}
function decrypt(bytes, password) {
  const whole = new Reader(bytes).sequence();
  const scheme = whole.sequence();
  if (scheme.oid() !== PBES2) throw new RangeError('unknown scheme');
  const parts = scheme.sequence();
  const derives = parts.sequence();
  if (derives.oid() !== PBKDF2) throw new RangeError('unknown function');
  const values = derives.sequence();
  const salt = values.octets();
  const rounds = asNumber(values.integer());
  if (values.peek() === TAGS.integer) values.skip();
  const hash = values.ends ? 'sha1' : HASHES[values.sequence().oid()];
  const cipher = parts.sequence();
  const size = CIPHERS[cipher.oid()];
  const iv = cipher.octets();
  if (hash === undefined || !size || rounds > 1e7) throw new RangeError('unknown cipher');
  return cbc(native.pbkdf2(hash, password, salt, rounds, size), iv, whole.octets(), false);
}
/** EVP_BytesToKey of OpenSSL with MD5 and one round. */
function oldKey(password, salt, size) {
  let key = new Uint8Array(0);
  let last = key;
  while (key.length < size) {
    const id = native.hashNew('md5', -1);
    native.hashUpdate(id, concat(last, password, salt));
    last = native.hashDigest(id);
    key = concat(key, last);
  }
  return key.subarray(0, size);
}
function encryptOld(label, bytes, size, password) {
  const iv = random(16);
  const head = `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-${8 * size}-CBC,${toHex(iv).toUpperCase()}\n\n`;
  return pem(label, cbc(oldKey(password, iv.subarray(0, 8), size), iv, bytes, true), head);
}
function decryptOld({ head, bytes }, password) {
  const found = /DEK-Info: AES-(128|192|256)-CBC,([0-9A-Fa-f]{32})/.exec(head);
  if (found === null) throw new RangeError('unknown cipher');
  const iv = ofHex(found[2]);
  return cbc(oldKey(password, iv.subarray(0, 8), Number(found[1]) / 8), iv, bytes, false);
}
state.der = { concat, toHex, ofHex, sequence, octets, bits, oid, integer, wrap, NULL, Reader, bufferOf, pem, ofPem, random, encrypt, decrypt, encryptOld, decryptOld };
