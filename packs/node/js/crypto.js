'use strict';
// `crypto`: hashes, HMAC, random numbers and derived keys, with the ciphers and keys of other files. The rest answers that it does not exist.
const { native, refusing } = tidebox;
const { Buffer } = require('buffer');
const { Transform } = require('stream');
const { inherits, promisify } = require('util');
const { codes: { ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, ERR_CRYPTO_HASH_FINALIZED, ERR_INVALID_ARG_VALUE } } = require('internal/errors');
const { validateBoolean, validateString, validateFunction, validateInteger, validateNumber, validateObject, validateUint32, validateInt32 } = require('internal/validators');
const { isArrayBufferView, isAnyArrayBuffer } = require('internal/util/types');
const { nameOf, bytesOf, shown, api: keys } = require('internal/crypto/sig');
const ciphers = require('internal/crypto/cipher');
function unsupported() {
  const error = new Error('Digest method not supported');
  error.code = 'ERR_OSSL_EVP_UNSUPPORTED';
  delete error.code;
  return error;
}
function Hash(algorithm, options) {
  if (!new.target) return new Hash(algorithm, options);
  if (typeof algorithm === 'number') this.id = algorithm;
  else {
    validateString(algorithm, 'algorithm');
    this.id = native.hashNew(nameOf(algorithm));
    if (this.id < 0) throw unsupported();
  }
  Object.defineProperty(this, 'id', { enumerable: false, writable: true });
  Object.defineProperty(this, 'finished', { enumerable: false, writable: true, value: false });
  Reflect.apply(Transform, this, [options]);
}
inherits(Hash, Transform);
Object.setPrototypeOf(Hash, Transform);
Hash.prototype.update = function update(data, encoding) {
  if (this.finished) throw new ERR_CRYPTO_HASH_FINALIZED();
  native.hashUpdate(this.id, bytesOf(data, encoding));
  return this;
};
Hash.prototype.digest = function digest(encoding) {
  if (this.finished) throw new ERR_CRYPTO_HASH_FINALIZED();
  this.finished = true;
  return shown(this.result ?? native.hashDigest(this.id), encoding);
};
Hash.prototype.copy = function copy(options) {
  if (this.finished) throw new ERR_CRYPTO_HASH_FINALIZED();
  return new Hash(native.hashCopy(this.id), options);
};
Hash.prototype._transform = function(chunk, encoding, callback) { this.update(chunk, encoding); callback(); };
// `digest` after the stream has ended returns the same result.
Hash.prototype._flush = function(callback) {
  Object.defineProperty(this, 'result', { value: native.hashDigest(this.id), enumerable: false });
  this.push(shown(this.result));
  callback();
};
function Hmac(algorithm, key, options) {
  if (!new.target) return new Hmac(algorithm, key, options);
  validateString(algorithm, 'hmac');
  this.id = native.hmacNew(nameOf(algorithm), bytesOf(key, options?.encoding, 'key'));
  Object.defineProperty(this, 'id', { enumerable: false, writable: true });
  Object.defineProperty(this, 'finished', { enumerable: false, writable: true, value: false });
  if (this.id < 0) {
    const error = new Error(`Invalid digest: ${algorithm}`);
    error.code = 'ERR_CRYPTO_INVALID_DIGEST';
    throw error;
  }
  Reflect.apply(Transform, this, [options]);
}
inherits(Hmac, Transform);
Object.setPrototypeOf(Hmac, Transform);
Hmac.prototype.update = Hash.prototype.update;
Hmac.prototype.digest = function digest(encoding) {
  if (this.finished) return encoding && encoding !== 'buffer' ? '' : Buffer.from('');
  return Hash.prototype.digest.call(this, encoding);
};
Hmac.prototype._transform = Hash.prototype._transform;
Hmac.prototype._flush = Hash.prototype._flush;
function hash(algorithm, input, encoding = 'hex') {
  validateString(algorithm, 'algorithm');
  validateString(encoding, 'outputEncoding');
  if (encoding !== 'buffer' && !Buffer.isEncoding(encoding)) throw new ERR_INVALID_ARG_VALUE('outputEncoding', encoding);
  const id = native.hashNew(nameOf(algorithm));
  if (id < 0) throw unsupported();
  native.hashUpdate(id, bytesOf(input, 'utf8', 'input'));
  return shown(native.hashDigest(id), encoding);
}
function randomFillSync(buffer, offset = 0, size = undefined) {
  if (!isAnyArrayBuffer(buffer) && !isArrayBufferView(buffer)) throw new ERR_INVALID_ARG_TYPE('buf', ['ArrayBuffer', 'ArrayBufferView'], buffer);
  const bytes = tidebox.bytesOf(buffer);
  const width = buffer.BYTES_PER_ELEMENT ?? 1;
  native.random(bytes.subarray(offset * width, size === undefined ? bytes.length : (offset + size) * width));
  return buffer;
}
function randomFill(buffer, offset, size, callback) {
  if (typeof offset === 'function') [callback, offset] = [offset, 0];
  else if (typeof size === 'function') [callback, size] = [size, undefined];
  validateFunction(callback, 'callback');
  randomFillSync(buffer, offset, size);
  tidebox.later(() => callback(null, buffer));
}
function randomBytes(size, callback) {
  validateNumber(size, 'size');
  if (Number.isNaN(size) || size < 0 || size > 2 ** 31 - 1) throw new ERR_OUT_OF_RANGE('size', `>= 0 && <= ${2 ** 31 - 1}`, size);
  if (callback !== undefined) validateFunction(callback, 'callback');
  const bytes = randomFillSync(Buffer.alloc(size));
  if (callback === undefined) return bytes;
  tidebox.later(() => callback(null, bytes));
}
function randomInt(min, max, callback) {
  if (max === undefined || typeof max === 'function') [callback, max, min] = [max, min, 0];
  if (!Number.isSafeInteger(min)) throw new ERR_INVALID_ARG_TYPE('min', 'a safe integer', min);
  if (!Number.isSafeInteger(max)) throw new ERR_INVALID_ARG_TYPE('max', 'a safe integer', max);
  if (max <= min) throw new ERR_OUT_OF_RANGE('max', `greater than the value of "min" (${min})`, max);
  const range = max - min;
  if (range > 2 ** 48 - 1) throw new ERR_OUT_OF_RANGE('max - min', `<= ${2 ** 48 - 1}`, range);
  const limit = 2 ** 48 - (2 ** 48 % range);
  let drawn;
  do drawn = randomFillSync(Buffer.alloc(6)).readUIntBE(0, 6); while (drawn >= limit);
  const value = (drawn % range) + min;
  if (callback === undefined) return value;
  process.nextTick(callback, undefined, value);
}
function randomUUID(options) {
  if (options !== undefined) validateObject(options, 'options');
  if (options?.disableEntropyCache !== undefined) validateBoolean(options.disableEntropyCache, 'options.disableEntropyCache');
  const bytes = randomFillSync(Buffer.alloc(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const text = bytes.toString('hex');
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}
function timingSafeEqual(one, other) {
  for (const [name, value] of [['buf1', one], ['buf2', other]]) {
    if (!isAnyArrayBuffer(value) && !isArrayBufferView(value)) throw new ERR_INVALID_ARG_TYPE(name, ['ArrayBuffer', 'Buffer', 'TypedArray', 'DataView'], value);
  }
  const [first, second] = [tidebox.bytesOf(one), tidebox.bytesOf(other)];
  if (first.length !== second.length) {
    const { ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH } = require('internal/errors').codes;
    throw new ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH();
  }
  let difference = 0;
  for (let at = 0; at < first.length; at++) difference |= first[at] ^ second[at];
  return difference === 0;
}
function pbkdf2Sync(password, salt, iterations, length, digest) {
  validateString(digest, 'digest');
  validateInt32(iterations, 'iterations', 1);
  validateInt32(length, 'keylen', 0);
  const key = native.pbkdf2(nameOf(digest), bytesOf(password, 'utf8', 'password'), bytesOf(salt, 'utf8', 'salt'), iterations, length);
  if (key === undefined) {
    const error = new TypeError(`Invalid digest: ${digest}`);
    error.code = 'ERR_CRYPTO_INVALID_DIGEST';
    throw error;
  }
  return shown(key);
}
function pbkdf2(password, salt, iterations, length, digest, callback) {
  if (typeof digest === 'function') validateString(undefined, 'digest');
  validateFunction(callback, 'callback');
  const key = pbkdf2Sync(password, salt, iterations, length, digest);
  tidebox.later(() => callback(null, key));
}
/** HKDF of RFC 5869. Returns an `ArrayBuffer`. */
function hkdfSync(digest, key, salt, info, length) {
  validateString(digest, 'digest');
  validateInteger(length, 'length', 0);
  const mac = (secret, ...parts) => parts.reduce((hmac, part) => hmac.update(part), new Hmac(digest, secret)).digest();
  const from = mac(bytesOf(salt, 'utf8', 'salt'), bytesOf(key, 'utf8', 'key'));
  if (length > 255 * from.length) throw Object.assign(new RangeError('Invalid key length'), { code: 'ERR_CRYPTO_INVALID_KEYLEN' });
  const made = Buffer.alloc(Math.ceil(length / from.length) * from.length);
  let last = Buffer.alloc(0);
  for (let at = 0; at < length; at += from.length) {
    last = mac(from, last, bytesOf(info, 'utf8', 'info'), Buffer.from([at / from.length + 1]));
    last.copy(made, at);
  }
  return made.buffer.slice(made.byteOffset, made.byteOffset + length);
}
function hkdf(digest, key, salt, info, length, callback) {
  validateFunction(callback, 'callback');
  const made = hkdfSync(digest, key, salt, info, length);
  tidebox.later(() => callback(null, made));
}
class SubtleCrypto {
  async digest(algorithm, data) {
    const name = nameOf(typeof algorithm === 'string' ? algorithm : algorithm.name);
    const id = native.hashNew(name);
    if (id < 0) throw new DOMException('Unrecognized algorithm name', 'NotSupportedError');
    native.hashUpdate(id, bytesOf(data));
    const bytes = native.hashDigest(id);
    return bytes.buffer;
  }
}
for (const name of ['encrypt', 'decrypt', 'sign', 'verify', 'generateKey', 'deriveKey', 'deriveBits', 'importKey', 'exportKey', 'wrapKey', 'unwrapKey']) {
  SubtleCrypto.prototype[name] = async function() { refusing(`crypto.subtle.${name}`)(); };
}
class Crypto {
  get subtle() { return subtle; }
  getRandomValues(array) {
    if (!isArrayBufferView(array) || array instanceof Float32Array || array instanceof Float64Array || array instanceof DataView) {
      throw new DOMException('The data argument must be an integer-type TypedArray', 'TypeMismatchError');
    }
    if (array.byteLength > 65536) throw new DOMException(`The requested length exceeds 65,536 bytes`, 'QuotaExceededError');
    return randomFillSync(array);
  }
  randomUUID(options) { return randomUUID(options); }
}
class CryptoKey {}
const subtle = new SubtleCrypto();
const webcrypto = new Crypto();
module.exports = {
  Hash, Hmac, createHash: (algorithm, options) => new Hash(algorithm, options), createHmac: (algorithm, key, options) => new Hmac(algorithm, key, options),
  hash, getHashes: () => native.hashNames().filter((name) => name !== 'rmd160').sort(), getCurves: () => ['prime256v1', 'secp384r1'],
  ...keys, ...ciphers, hkdf, hkdfSync, randomBytes, randomFill, randomFillSync, randomInt, randomUUID, pseudoRandomBytes: randomBytes, timingSafeEqual, pbkdf2, pbkdf2Sync,
  webcrypto, subtle, getRandomValues: (array) => webcrypto.getRandomValues(array), getFips: () => 0,
  constants: internalBinding('constants').crypto,
};
for (const name of ['createDiffieHellman', 'createDiffieHellmanGroup', 'getDiffieHellman', 'createECDH', 'diffieHellman', 'privateEncrypt', 'publicDecrypt', 'checkPrime',
  'checkPrimeSync', 'generatePrime', 'generatePrimeSync', 'setFips', 'setEngine', 'secureHeapUsed', 'X509Certificate', 'Certificate']) module.exports[name] = refusing(`crypto.${name}`);
Object.defineProperty(module.exports, 'tideboxParts', { value: { Crypto, CryptoKey, SubtleCrypto, crypto: webcrypto }, enumerable: false });
