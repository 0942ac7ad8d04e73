'use strict';
// Ciphers and scrypt. `src/ciphers.rs` computes.
const { native } = tidebox;
const { Buffer } = require('buffer');
const { Transform } = require('stream');
const { StringDecoder } = require('string_decoder');
const { validateString, validateFunction, validateUint32, validateInteger, validateObject } = require('internal/validators');
const { bytesOf, shown, failure } = require('internal/crypto/sig');
const SIZES = [128, 192, 256];
const MODES = { '__proto__': null, 'ecb': 0, 'cbc': 16, 'ctr': 16, 'gcm': 12 };
/** Returns the size of the key in bytes, and the mode. */
function infoOf(name) {
  const found = /^(?:id-)?aes-?(128|192|256)(?:-(ecb|cbc|ctr|gcm))?$/.exec(String(name).toLowerCase());
  return found === null ? undefined : [Number(found[1]) / 8, found[2] ?? 'cbc'];
}
class Cipher extends Transform {
  #id;
  #mode;
  #encrypts;
  #tag;
  #tagLength;
  #ended = false;
  #decoder;
  constructor(encrypts, name, key, iv, options) {
    validateString(name, 'cipher');
    const keyBytes = bytesOf(key, 'utf8', 'key');
    const ivBytes = iv === null ? Buffer.alloc(0) : bytesOf(iv, 'utf8', 'iv');
    super(options);
    const info = infoOf(name);
    if (info === undefined) throw failure(Error, 'ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
    const [size, mode] = info;
    if (keyBytes.length !== size) throw failure(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
    if (mode === 'gcm' ? ivBytes.length === 0 : ivBytes.length !== MODES[mode]) throw failure(TypeError, 'ERR_CRYPTO_INVALID_IV', 'Invalid initialization vector');
    this.#mode = mode;
    this.#encrypts = encrypts;
    this.#tagLength = options?.authTagLength ?? 16;
    if (mode === 'gcm' && ![4, 8, 12, 13, 14, 15, 16].includes(this.#tagLength)) throw failure(TypeError, 'ERR_CRYPTO_INVALID_AUTH_TAG', `Invalid authentication tag length: ${this.#tagLength}`);
    this.#id = native.cipherNew(mode, keyBytes, ivBytes, encrypts);
  }
  #usable(what) { if (this.#ended) throw failure(Error, 'ERR_CRYPTO_INVALID_STATE', `Invalid state for operation ${what}`); }
  /** Encodes a part; bytes that do not end a character wait for the next part. */
  #shown(bytes, encoding, ends) {
    if (!encoding || encoding === 'buffer') return shown(bytes);
    this.#decoder ??= new StringDecoder(encoding);
    return this.#decoder.write(shown(bytes)) + (ends ? this.#decoder.end() : '');
  }
  update(data, inputEncoding, outputEncoding) {
    if (this.#ended) throw new Error('Trying to add data in unsupported state');
    return this.#shown(native.cipherUpdate(this.#id, bytesOf(data, inputEncoding)), outputEncoding, false);
  }
  final(outputEncoding) {
    this.#usable('final');
    this.#ended = true;
    const last = native.cipherFinal(this.#id);
    const tag = this.#mode === 'gcm' ? native.cipherTag(this.#id) : undefined;
    native.cipherClose(this.#id);
    if (last === -1) throw failure(Error, 'ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH', 'error:1C80006B:Provider routines::wrong final block length');
    if (last === -2) throw failure(Error, 'ERR_OSSL_BAD_DECRYPT', 'error:1C800064:Provider routines::bad decrypt');
    if (this.#encrypts && tag) this.#tag = shown(tag).subarray(0, this.#tagLength);
    else if (tag && !this.#matches(tag)) throw new Error('Unsupported state or unable to authenticate data');
    return this.#shown(last, outputEncoding, true);
  }
  #matches(tag) {
    if (this.#tag === undefined) return false;
    let difference = 0;
    for (let at = 0; at < this.#tag.length; at++) difference |= this.#tag[at] ^ tag[at];
    return difference === 0;
  }
  setAutoPadding(pads = true) {
    this.#usable('setAutoPadding');
    native.cipherPads(this.#id, !!pads);
    return this;
  }
  setAAD(data) {
    this.#usable('setAAD');
    if (this.#mode !== 'gcm') throw failure(Error, 'ERR_CRYPTO_INVALID_STATE', 'Invalid state for operation setAAD');
    native.cipherAdd(this.#id, bytesOf(data, 'utf8', 'buffer'));
    return this;
  }
  getAuthTag() {
    if (!this.#encrypts || this.#tag === undefined) throw failure(Error, 'ERR_CRYPTO_INVALID_STATE', 'Invalid state for operation getAuthTag');
    return Buffer.from(this.#tag);
  }
  setAuthTag(tag, encoding) {
    const bytes = Buffer.from(bytesOf(tag, encoding, 'buffer'));
    if (this.#encrypts || this.#mode !== 'gcm' || this.#tag !== undefined || this.#ended) throw failure(Error, 'ERR_CRYPTO_INVALID_STATE', 'Invalid state for operation setAuthTag');
    if (![4, 8, 12, 13, 14, 15, 16].includes(bytes.length)) throw failure(TypeError, 'ERR_CRYPTO_INVALID_AUTH_TAG', `Invalid authentication tag length: ${bytes.length}`);
    this.#tag = bytes;
    return this;
  }
  _transform(chunk, encoding, callback) { this.push(this.update(chunk, encoding)); callback(); }
  _flush(callback) {
    let last;
    try { last = this.final(); } catch (error) { callback(error); return; }
    if (last.length > 0) this.push(last);
    callback();
  }
}
class Cipheriv extends Cipher { constructor(name, key, iv, options) { super(true, name, key, iv, options); } }
class Decipheriv extends Cipher { constructor(name, key, iv, options) { super(false, name, key, iv, options); } }
const createCipheriv = (name, key, iv, options) => new Cipheriv(name, key, iv, options);
const createDecipheriv = (name, key, iv, options) => new Decipheriv(name, key, iv, options);
function getCipherInfo(name, { keyLength, ivLength } = {}) {
  const info = typeof name === 'string' ? infoOf(name) : undefined;
  if (info === undefined) return undefined;
  const [size, mode] = info;
  if ((keyLength !== undefined && keyLength !== size) || (ivLength !== undefined && mode !== 'gcm' && ivLength !== MODES[mode])) return undefined;
  return { mode, name: mode === 'gcm' ? `id-aes${8 * size}-GCM` : `aes-${8 * size}-${mode}`, nid: undefined, ...(mode === 'cbc' || mode === 'ecb' ? { blockSize: 16 } : {}),
    ...(mode === 'ecb' ? {} : { ivLength: ivLength ?? MODES[mode] }), keyLength: size };
}
const getCiphers = () => SIZES.flatMap((size) => ['cbc', 'ctr', 'ecb', 'gcm'].map((mode) => `aes-${size}-${mode}`)).concat(SIZES.map((size) => `aes${size}`)).sort();
function scryptSync(password, salt, keylen, options = {}) {
  const [passwordBytes, saltBytes] = [bytesOf(password, 'utf8', 'password'), bytesOf(salt, 'utf8', 'salt')];
  validateInteger(keylen, 'keylen', 0, 2 ** 31 - 1);
  validateObject(options, 'options');
  const cost = options.N ?? options.cost ?? 16384;
  const size = options.r ?? options.blockSize ?? 8;
  const lanes = options.p ?? options.parallelization ?? 1;
  const most = options.maxmem ?? 32 << 20;
  for (const [value, name] of [[cost, 'N'], [size, 'r'], [lanes, 'p']]) validateUint32(value, name);
  const rounds = Math.log2(cost);
  const invalid = () => failure(RangeError, 'ERR_CRYPTO_INVALID_SCRYPT_PARAMS', 'Invalid scrypt params');
  if (!Number.isInteger(rounds) || rounds < 1) throw invalid();
  if (128 * cost * size > most) throw failure(RangeError, 'ERR_CRYPTO_INVALID_SCRYPT_PARAMS', 'Invalid scrypt params: memory limit exceeded');
  const key = native.scrypt(passwordBytes, saltBytes, rounds, size, lanes, keylen);
  if (key === undefined) throw invalid();
  return shown(key);
}
function scrypt(password, salt, keylen, options, callback) {
  if (typeof options === 'function') [callback, options] = [options, {}];
  validateFunction(callback, 'callback');
  const key = scryptSync(password, salt, keylen, options);
  tidebox.later(() => callback(null, key));
}
module.exports = { Cipheriv, Decipheriv, createCipheriv, createDecipheriv, getCipherInfo, getCiphers, scrypt, scryptSync };
