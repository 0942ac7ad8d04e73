'use strict';
// The binding `crypto` below Node's own library: jobs, random numbers, hashes, derived keys and ciphers. `src/` computes.
const { native, apply } = state;
const { concat, bufferOf, random } = state.der;
const SYNC = 1;
const ALIASES = { '__proto__': null, 'ripemd': 'ripemd160', 'rmd160': 'ripemd160', 'sha-1': 'sha1', 'sha-256': 'sha256', 'sha-384': 'sha384', 'sha-512': 'sha512', 'ssl3-md5': 'md5',
  'ssl3-sha1': 'sha1', 'sha1-2': 'sha1', 'sha512/224': 'sha512-224', 'sha512/256': 'sha512-256', 'sha512224': 'sha512-224', 'sha512256': 'sha512-256', 'ecdsa-with-sha256': 'sha256' };
const SIZES = { '__proto__': null, 'md5': 16, 'ripemd160': 20, 'sha1': 20, 'sha224': 28, 'sha256': 32, 'sha384': 48, 'sha512': 64, 'sha512-224': 28, 'sha512-256': 32, 'sha3-224': 28,
  'sha3-256': 32, 'sha3-384': 48, 'sha3-512': 64, 'blake2b512': 64, 'blake2s256': 32, 'shake128': 16, 'shake256': 32 };
const failure = (kind, code, message) => { const error = new kind(message); if (code) error.code = code; return error; };
/** An error with the number and the words of OpenSSL. */
const openssl = (number, library, reason, code) => Object.assign(new Error(`error:${number}:${library}::${reason}`), { library, reason, code: `ERR_OSSL_${code}` });
/** Returns the name of a hash in `src/hashing.rs`, or undefined. */
function hashName(name) {
  let plain = String(name).toLowerCase();
  plain = plain.replace(/^rsa-/, '').replace(/withrsa(encryption)?$/, '');
  plain = ALIASES[plain] ?? plain;
  return SIZES[plain] === undefined ? undefined : plain;
}
const invalidDigest = (name) => failure(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
function checkedHash(name) {
  const found = hashName(name);
  if (found === undefined) throw invalidDigest(name);
  return found;
}
const Buffer = () => state.require('buffer').Buffer;
/** Returns the bytes of a buffer, or of a string in an encoding. */
function bytesOf(data, encoding) {
  if (typeof data !== 'string') return state.bytesOf(data);
  return state.bytesOf(Buffer().from(data, encoding && encoding !== 'buffer' && Buffer().isEncoding(encoding) ? encoding : 'utf8'));
}
const copyOf = (bytes) => new Uint8Array(bytes);
const arrayBufferOf = (bytes) => (bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer);
const shown = (bytes, encoding) => (encoding && encoding !== 'buffer' ? bufferOf(bytes).toString(encoding) : bufferOf(bytes));
function digestOf(name, ...parts) {
  const id = native.hashNew(name, -1);
  for (const part of parts) native.hashUpdate(id, part);
  return native.hashDigest(id);
}
function macOf(name, key, ...parts) {
  const id = native.hmacNew(name, key);
  for (const part of parts) native.hashUpdate(id, part);
  return native.hashDigest(id);
}
/** Returns whether two byte sequences are equal; the time depends on their length only. */
function equal(one, other) {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let at = 0; at < one.length; at++) difference |= one[at] ^ other[at];
  return difference === 0;
}
/** Work that Node gives to other threads. Here it is done before `run` returns, and `ondone` is called later. */
class Job {
  constructor(mode) { this.mode = mode; }
  run() {
    let error;
    let result;
    try { result = this.compute(); } catch (thrown) { error = thrown; }
    if (this.mode === SYNC) return [error, result];
    state.later(() => this.ondone(error, result));
  }
}
/** Returns a class of jobs. `prepare` checks the arguments and returns the work. */
const job = (prepare) => class extends Job {
  constructor(mode, ...values) {
    super(mode);
    this.compute = prepare(...values);
  }
};
/** Returns the bytes of a secret key, which is a handle, an object of a key, or a buffer. */
function secretOf(key) {
  if (key instanceof state.crypto.KeyObjectHandle) return state.keys.dataOf(key).bytes;
  const handle = key?.[state.require('internal/crypto/util').kHandle];
  return handle ? secretOf(handle) : bytesOf(key);
}

class Hash {
  constructor(algorithm, length) {
    if (algorithm instanceof Hash) {
      Object.assign(this, { name: algorithm.name, id: native.hashCopy(algorithm.id), length });
    } else {
      this.name = hashName(algorithm);
      this.length = length;
      if (this.name === undefined) throw new Error('Digest method not supported');
      this.id = -1;
    }
    const { name } = this;
    if (length !== undefined && !name.startsWith('shake') && length !== SIZES[name]) {
      throw openssl('030000B2', 'digital envelope routines', 'not XOF or invalid length', 'EVP_NOT_XOF_OR_INVALID_LENGTH');
    }
    if (this.id < 0) this.id = native.hashNew(name, length ?? -1);
    else native.hashLength(this.id, length ?? SIZES[name]);
    for (const key of ['name', 'id', 'length']) Object.defineProperty(this, key, { enumerable: false });
  }
  update(data, encoding) { native.hashUpdate(this.id, bytesOf(data, encoding)); return true; }
  /** The result is kept, because a stream reads it and its user may call `digest`. */
  digest(encoding) {
    if (this.result === undefined) Object.defineProperty(this, 'result', { value: native.hashDigest(this.id), enumerable: false });
    return shown(this.result.slice(), encoding);
  }
}
class Hmac {
  init(algorithm, key) {
    const id = native.hmacNew(checkedHash(algorithm), secretOf(key));
    if (id < 0) throw invalidDigest(algorithm);
    Object.defineProperty(this, 'id', { value: id });
  }
  update(data, encoding) { native.hashUpdate(this.id, bytesOf(data, encoding)); return true; }
  digest(encoding) {
    if (this.ended) return shown(new Uint8Array(0), encoding);
    Object.defineProperty(this, 'ended', { value: true });
    return shown(native.hashDigest(this.id), encoding);
  }
}
function oneShotDigest(algorithm, id, aliases, input, encoding) {
  const name = hashName(algorithm);
  if (name === undefined) throw new Error(`Digest method ${algorithm} is not supported`);
  return shown(digestOf(name, bytesOf(input)), encoding);
}
/** HKDF of RFC 5869. */
function hkdf(hash, key, salt, info, length) {
  const name = checkedHash(hash);
  const size = SIZES[name];
  if (length > 255 * size) throw failure(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
  const [secret, saltBytes, infoBytes] = [secretOf(key), copyOf(bytesOf(salt)), copyOf(bytesOf(info))];
  return () => {
    const from = macOf(name, saltBytes, secret);
    const made = new Uint8Array(Math.ceil(length / size) * size);
    let last = new Uint8Array(0);
    for (let at = 0; at < length; at += size) {
      last = macOf(name, from, last, infoBytes, new Uint8Array([at / size + 1]));
      made.set(last, at);
    }
    return made.buffer.slice(0, length);
  };
}
function pbkdf2(password, salt, iterations, length, digest) {
  const name = checkedHash(digest);
  const [key, salted] = [copyOf(bytesOf(password)), copyOf(bytesOf(salt))];
  return () => arrayBufferOf(native.pbkdf2(name, key, salted, iterations, length));
}
function scrypt(password, salt, cost, size, lanes, most, length) {
  const rounds = Math.log2(cost);
  const invalid = (more = '') => failure(RangeError, 'ERR_CRYPTO_INVALID_SCRYPT_PARAMS', `Invalid scrypt params${more}`);
  if (!Number.isInteger(rounds) || rounds < 1 || size === 0 || lanes === 0) throw invalid();
  if (128 * cost * size > most) throw invalid(': error:030000AC:digital envelope routines::memory limit exceeded');
  const [key, salted] = [copyOf(bytesOf(password)), copyOf(bytesOf(salt))];
  return () => {
    const made = native.scrypt(key, salted, rounds, size, lanes, length);
    if (made === undefined) throw invalid();
    return arrayBufferOf(made);
  };
}

// Ciphers.
const MODES = { '__proto__': null, 'ecb': [418, 422, 426], 'cbc': [419, 423, 427], 'ctr': [904, 905, 906], 'gcm': [895, 898, 901] };
const KEY_SIZES = [16, 24, 32];
const TAG_SIZES = [4, 8, 12, 13, 14, 15, 16];
/** Returns the size of the key in bytes and the mode of a cipher, or undefined. */
function cipherOf(nameOrNumber) {
  if (typeof nameOrNumber === 'number') {
    for (const mode of Object.keys(MODES)) { const at = MODES[mode].indexOf(nameOrNumber); if (at >= 0) return [KEY_SIZES[at], mode]; }
    return undefined;
  }
  const found = /^(?:id-)?aes-?(128|192|256)(?:-(ecb|cbc|ctr|gcm))?$/i.exec(nameOrNumber);
  return found === null ? undefined : [Number(found[1]) / 8, (found[2] ?? 'cbc').toLowerCase()];
}
const unknownCipher = () => failure(Error, 'ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
const invalidTag = (length) => failure(TypeError, 'ERR_CRYPTO_INVALID_AUTH_TAG', `Invalid authentication tag length: ${length}`);
class CipherBase {
  #id = -1;
  #mode;
  #encrypts;
  #tag;
  #tagLength = 16;
  #givenLength = false;
  #state = 'new';
  constructor(encrypts) { this.#encrypts = encrypts; }
  initiv(name, key, iv, tagLength) {
    const found = cipherOf(name);
    if (found === undefined) throw unknownCipher();
    const [size, mode] = found;
    const [keyBytes, ivBytes] = [secretOf(key), iv === null ? new Uint8Array(0) : bytesOf(iv)];
    const wrongIv = mode === 'ecb' ? ivBytes.length > 0 : mode === 'gcm' ? ivBytes.length === 0 : ivBytes.length !== 16;
    if (wrongIv) throw failure(TypeError, 'ERR_CRYPTO_INVALID_IV', 'Invalid initialization vector');
    if (keyBytes.length !== size) throw failure(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
    if (mode === 'gcm' && tagLength !== -1) {
      if (!TAG_SIZES.includes(tagLength)) throw invalidTag(tagLength);
      this.#tagLength = tagLength;
      this.#givenLength = true;
    }
    this.#mode = mode;
    this.#id = native.cipherNew(mode, keyBytes, ivBytes, this.#encrypts);
    this.#state = 'open';
  }
  update(data, encoding) {
    if (this.#state !== 'open') throw new Error('Trying to add data in unsupported state');
    return bufferOf(native.cipherUpdate(this.#id, bytesOf(data, encoding)));
  }
  final() {
    if (this.#state !== 'open') throw failure(Error, 'ERR_CRYPTO_INVALID_STATE', 'Invalid state');
    this.#state = 'ended';
    const last = native.cipherFinal(this.#id);
    const tag = this.#mode === 'gcm' ? native.cipherTag(this.#id) : undefined;
    native.cipherClose(this.#id);
    if (last === -1) throw openssl('1C80006B', 'Provider routines', 'wrong final block length', 'WRONG_FINAL_BLOCK_LENGTH');
    if (last === -2) throw openssl('1C800064', 'Provider routines', 'bad decrypt', 'BAD_DECRYPT');
    if (tag && this.#encrypts) this.#tag = tag.slice(0, this.#tagLength);
    else if (tag && !(this.#tag && equal(this.#tag, tag.subarray(0, this.#tag.length)))) throw new Error('Unsupported state or unable to authenticate data');
    return bufferOf(last);
  }
  setAutoPadding(pads) {
    if (this.#state !== 'open') return false;
    native.cipherPads(this.#id, pads);
    return true;
  }
  setAAD(data) {
    if (this.#state !== 'open' || this.#mode !== 'gcm') return false;
    native.cipherAdd(this.#id, bytesOf(data));
    return true;
  }
  getAuthTag() { return this.#encrypts && this.#state === 'ended' && this.#tag ? bufferOf(this.#tag.slice()) : undefined; }
  setAuthTag(tag) {
    if (this.#encrypts || this.#state !== 'open' || this.#mode !== 'gcm' || this.#tag) return false;
    const bytes = copyOf(bytesOf(tag));
    if (this.#givenLength ? bytes.length !== this.#tagLength : !TAG_SIZES.includes(bytes.length)) throw invalidTag(bytes.length);
    this.#tag = bytes;
    return true;
  }
}
function getCipherInfo(target, nameOrNumber, keyLength, ivLength) {
  const found = cipherOf(nameOrNumber);
  if (found === undefined) return undefined;
  const [size, mode] = found;
  const ivSize = mode === 'ecb' ? undefined : mode === 'gcm' ? ivLength ?? 12 : 16;
  if ((keyLength !== undefined && keyLength !== size) || (ivLength !== undefined && (ivLength !== ivSize || ivLength < 1))) return undefined;
  const name = mode === 'gcm' ? `id-aes${8 * size}-GCM` : `aes-${8 * size}-${mode}`;
  const info = { mode, name, nid: MODES[mode][KEY_SIZES.indexOf(size)], blockSize: mode === 'gcm' || mode === 'ctr' ? 1 : 16 };
  if (ivSize !== undefined) info.ivLength = ivSize;
  info.keyLength = size;
  return Object.assign(target, info);
}
/** Runs a cipher over whole data. */
function runCipher(mode, key, iv, encrypts, data) {
  const id = native.cipherNew(mode, key, iv, encrypts);
  const first = native.cipherUpdate(id, data);
  const last = native.cipherFinal(id);
  native.cipherClose(id);
  if (typeof last === 'number') throw new Error('the data has a wrong length or padding');
  return concat(first, last);
}
/** AES in the mode CTR whose counter has `length` bits. It starts again at zero after its end. */
function counted(key, counter, length, data) {
  const blocks = Math.ceil(data.length / 16);
  const whole = BigInt(`0x${state.der.toHex(counter)}`);
  const range = 1n << BigInt(length);
  if (BigInt(blocks) > range) throw new Error('the counter is too short for the data');
  const left = range - (whole % range);
  if (BigInt(blocks) <= left) return runCipher('ctr', key, counter, true, data);
  const at = Number(left) * 16;
  const again = state.der.ofHex((whole - (whole % range)).toString(16).padStart(32, '0'));
  return concat(runCipher('ctr', key, counter, true, data.subarray(0, at)), runCipher('ctr', key, again, true, data.subarray(at)));
}
/** Key wrap of RFC 3394. */
function wrapped(key, encrypts, data) {
  if (data.length % 8 !== 0 || data.length < (encrypts ? 16 : 24)) throw new Error('the data has a wrong length');
  const id = native.cipherNew('ecb', key, new Uint8Array(0), encrypts);
  native.cipherPads(id, false);
  const out = encrypts ? concat(new Uint8Array(8).fill(0xa6), data) : data.slice();
  const count = out.length / 8 - 1;
  for (let turn = 0; turn < 6 * count; turn++) {
    const step = encrypts ? turn : 6 * count - 1 - turn;
    const at = 8 * (step % count + 1);
    const mix = (bytes) => { let number = step + 1; for (let place = 7; place > 3; place--) { bytes[place] ^= number & 255; number >>>= 8; } };
    const block = concat(out.subarray(0, 8), out.subarray(at, at + 8));
    if (!encrypts) mix(block);
    const made = native.cipherUpdate(id, block);
    if (encrypts) mix(made);
    out.set(made.subarray(0, 8));
    out.set(made.subarray(8), at);
  }
  native.cipherClose(id);
  if (encrypts) return out;
  if (out.subarray(0, 8).some((byte) => byte !== 0xa6)) throw new Error('the key is not the one that wrapped');
  return out.slice(8);
}
const VARIANTS = ['ctr', 'cbc', 'gcm', 'kw'];
function webCipher(mode, handle, given, variant, iv, more, added) {
  const encrypts = mode === 0;
  const [key, data] = [secretOf(handle), copyOf(bytesOf(given))];
  const kind = VARIANTS[Math.floor(variant / 3)];
  return () => {
    if (kind === 'kw') return arrayBufferOf(wrapped(key, encrypts, data));
    if (kind === 'ctr') return arrayBufferOf(counted(key, bytesOf(iv), more, data));
    if (kind === 'cbc') return arrayBufferOf(runCipher('cbc', key, bytesOf(iv), encrypts, data));
    const id = native.cipherNew('gcm', key, bytesOf(iv), encrypts);
    if (added !== undefined) native.cipherAdd(id, bytesOf(added));
    const made = native.cipherUpdate(id, data);
    native.cipherFinal(id);
    const tag = native.cipherTag(id);
    native.cipherClose(id);
    if (encrypts) return arrayBufferOf(concat(made, tag.subarray(0, more)));
    const wanted = bytesOf(more);
    if (!equal(wanted, tag.subarray(0, wanted.length))) throw new Error('the data cannot be authenticated');
    return arrayBufferOf(made);
  };
}
function timingSafeEqual(one, other) {
  const { ERR_INVALID_ARG_TYPE, ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH } = state.require('internal/errors').codes;
  const { isArrayBufferView, isAnyArrayBuffer } = state.require('internal/util/types');
  for (const [name, value] of [['buf1', one], ['buf2', other]]) {
    if (!isAnyArrayBuffer(value) && !isArrayBufferView(value)) throw new ERR_INVALID_ARG_TYPE(name, ['ArrayBuffer', 'Buffer', 'TypedArray', 'DataView'], value);
  }
  const [first, second] = [state.bytesOf(one), state.bytesOf(other)];
  if (first.length !== second.length) {
    throw ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH ? new ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH() : failure(RangeError, 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH', 'Input buffers must have the same byte length');
  }
  return equal(first, second);
}
const names = () => Object.keys(SIZES).flatMap((name) => (/^(md5|ripemd160|sha)/.test(name) && !name.startsWith('shake') ? [name, `RSA-${name.toUpperCase().replace(/(512)-/, '$1/')}`] : [name])).sort();
state.crypto = {
  Hash, Hmac, CipherBase, oneShotDigest, timingSafeEqual, getCipherInfo,
  getCachedAliases: () => ({}), getHashes: names, getFipsCrypto: () => 0, testFipsCrypto: () => false, getOpenSSLSecLevelCrypto: () => 1,
  getCiphers: () => KEY_SIZES.flatMap((size) => [...Object.keys(MODES).filter((mode) => mode !== 'gcm').map((mode) => `aes-${8 * size}-${mode}`), `aes-${8 * size}-gcm`, `aes${8 * size}`, `id-aes${8 * size}-GCM`]).sort(),
  getSSLCiphers: () => ['tls_aes_256_gcm_sha384'], secureBuffer: (length) => new Uint8Array(length), secureHeapUsed: () => undefined, setEngine: undefined,
  HashJob: job((hash, data) => { const [name, bytes] = [checkedHash(hash), copyOf(bytesOf(data))]; return () => arrayBufferOf(digestOf(name, bytes)); }),
  HmacJob: job((mode, hash, key, data, signature) => {
    const [name, secret, bytes, given] = [checkedHash(hash), secretOf(key), copyOf(bytesOf(data)), signature && copyOf(bytesOf(signature))];
    return () => { const made = macOf(name, secret, bytes); return mode === 0 ? arrayBufferOf(made) : equal(made, given); };
  }),
  HKDFJob: job(hkdf), PBKDF2Job: job(pbkdf2), ScryptJob: job(scrypt), AESCipherJob: job(webCipher),
  RandomBytesJob: job((buffer, offset, size) => () => { native.random(state.bytesOf(buffer).subarray(offset, offset + size)); }),
};
bindings.crypto = () => state.crypto;
state.keys = { failure, openssl, hashName, checkedHash, invalidDigest, unknownCipher, bytesOf, copyOf, arrayBufferOf, digestOf, equal, job, cipherOf, random, hashSizes: SIZES };
