'use strict';
// Keys and signatures, and what `crypto` shares with ciphers. `src/keys.rs` computes.
const { native, refusing } = tidebox;
const { Buffer } = require('buffer');
const { Writable } = require('stream');
const { codes: { ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE } } = require('internal/errors');
const { validateString, validateFunction, validateObject, validateUint32 } = require('internal/validators');
const { isArrayBufferView, isAnyArrayBuffer } = require('internal/util/types');
const { customPromisifyArgs } = require('internal/util');
const ALIASES = { '__proto__': null, 'rsa-sha1': 'sha1', 'rsa-sha256': 'sha256', 'rsa-sha384': 'sha384', 'rsa-sha512': 'sha512', 'rsa-md5': 'md5', 'sha512224': 'sha512-224',
  'sha512256': 'sha512-256', 'sha-1': 'sha1', 'sha-256': 'sha256', 'sha-384': 'sha384', 'sha-512': 'sha512', 'sha512/256': 'sha512-256', 'ecdsa-with-sha256': 'sha256' };
const nameOf = (name) => ALIASES[String(name).toLowerCase()] ?? String(name).toLowerCase();
const failure = (kind, code, message) => Object.assign(new kind(message), { code });
const bytesOf = (data, encoding, name = 'data') => {
  if (typeof data === 'string') return Buffer.from(data, encoding === 'buffer' ? 'utf8' : encoding ?? 'utf8');
  if (isArrayBufferView(data) || isAnyArrayBuffer(data)) return tidebox.bytesOf(data);
  if (data instanceof SecretKeyObject) return data.export();
  throw new ERR_INVALID_ARG_TYPE(name, ['string', 'Buffer', 'TypedArray', 'DataView'], data);
};
const shown = (bytes, encoding) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return encoding && encoding !== 'buffer' ? buffer.toString(encoding) : buffer;
};
class KeyObject {
  #type;
  constructor(type) {
    if (!['secret', 'public', 'private'].includes(type)) throw new ERR_INVALID_ARG_VALUE('type', type);
    this.#type = type;
  }
  static from() { refusing('crypto.KeyObject.from')(); }
  get type() { return this.#type; }
}
class SecretKeyObject extends KeyObject {
  #bytes;
  constructor(bytes) { super('secret'); this.#bytes = Buffer.from(bytes); }
  get symmetricKeySize() { return this.#bytes.length; }
  export(options) { return options?.format === 'jwk' ? { kty: 'oct', k: this.#bytes.toString('base64url') } : Buffer.from(this.#bytes); }
  equals(other) { return other instanceof SecretKeyObject && this.#bytes.equals(other.export()); }
}
const LABELS = { '__proto__': null, 'PRIVATE KEY': 'pkcs8', 'PUBLIC KEY': 'spki', 'RSA PRIVATE KEY': 'pkcs1', 'RSA PUBLIC KEY': 'pkcs1-public', 'EC PRIVATE KEY': 'sec1' };
const CURVES = { '__proto__': null, 'P-256': 'prime256v1', 'P-384': 'secp384r1' };
const CURVE_NAMES = { '__proto__': null, 'P-256': 'P-256', 'prime256v1': 'P-256', 'secp256r1': 'P-256', 'P-384': 'P-384', 'secp384r1': 'P-384' };
const asText = (bytes, label) => `-----BEGIN ${label}-----\n${Buffer.from(bytes).toString('base64').replace(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`;
class AsymmetricKeyObject extends KeyObject {
  #id;
  #kind;
  #bits;
  constructor(id) {
    const [kind, type, bits] = native.keyDescribe(id);
    super(type);
    this.#id = id;
    this.#kind = kind;
    this.#bits = Number(bits);
  }
  get asymmetricKeyType() { return this.#kind.startsWith('P-') ? 'ec' : this.#kind; }
  get asymmetricKeyDetails() {
    if (this.#kind === 'rsa') return { modulusLength: this.#bits, publicExponent: BigInt(`0x${Buffer.from(native.keyParts(this.#id)[1]).toString('hex')}`) };
    return this.#kind === 'ed25519' ? {} : { namedCurve: CURVES[this.#kind] };
  }
  equals(other) { return other instanceof AsymmetricKeyObject && other.type === this.type && this.export({ format: 'der' }).equals(other.export({ format: 'der' })); }
  export(options = {}) {
    validateObject(options, 'options');
    const { format = 'pem', type, cipher, passphrase } = options;
    if (format === 'jwk') return this.#jwk();
    if (cipher !== undefined || passphrase !== undefined) refusing('an encrypted private key')();
    const isPrivate = this.type === 'private';
    const form = type ?? (isPrivate ? 'pkcs8' : 'spki');
    const allowed = isPrivate ? ['pkcs8', ...(this.#kind === 'rsa' ? ['pkcs1'] : []), ...(this.asymmetricKeyType === 'ec' ? ['sec1'] : [])] : ['spki', ...(this.#kind === 'rsa' ? ['pkcs1'] : [])];
    if (!allowed.includes(form)) throw new ERR_INVALID_ARG_VALUE('options.type', type);
    const der = native.keyWrite(this.#id, form);
    if (format === 'der') return shown(der);
    if (format !== 'pem') throw new ERR_INVALID_ARG_VALUE('options.format', format);
    const label = form === 'pkcs1' && !isPrivate ? 'RSA PUBLIC KEY' : Object.keys(LABELS).find((one) => LABELS[one] === form);
    return asText(der, label);
  }
  #jwk() {
    const parts = native.keyParts(this.#id).map((part) => Buffer.from(part).toString('base64url'));
    if (this.#kind === 'rsa') return { kty: 'RSA', ...Object.fromEntries(['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'].slice(0, parts.length).map((name, at) => [name, parts[at]])) };
    const [x, y] = parts;
    if (this.#kind === 'ed25519') return { crv: 'Ed25519', ...(this.type === 'private' ? { d: y } : {}), x, kty: 'OKP' };
    return { kty: 'EC', x, y, crv: this.#kind, ...(this.type === 'private' ? { d: parts[2] } : {}) };
  }
  /** Returns the number of the key to own code. */
  static idOf(key) { return key.#id; }
}
const { idOf } = AsymmetricKeyObject;
delete AsymmetricKeyObject.idOf;
class PublicKeyObject extends AsymmetricKeyObject {}
class PrivateKeyObject extends AsymmetricKeyObject {}
const createSecretKey = (key, encoding) => new SecretKeyObject(bytesOf(key, encoding, 'key'));
const unsupported = () => failure(Error, 'ERR_OSSL_UNSUPPORTED', 'error:1E08010C:DECODER routines::unsupported');
function keyOfJwk(jwk) {
  validateObject(jwk, 'key.key');
  const [kind, isPrivate] = [jwk.kty === 'RSA' ? 'rsa' : jwk.crv, jwk.d !== undefined];
  const names = jwk.kty === 'RSA' ? ['n', 'e', ...(isPrivate ? ['d', 'p', 'q'] : [])] : jwk.kty === 'EC' ? ['x', 'y', ...(isPrivate ? ['d'] : [])] : ['x', ...(isPrivate ? ['d'] : [])];
  if (names.some((name) => typeof jwk[name] !== 'string')) throw failure(TypeError, 'ERR_CRYPTO_INVALID_JWK', 'Invalid JWK data');
  return native.keyOfParts(kind ?? '', isPrivate, names.map((name) => tidebox.bytesOf(Buffer.from(jwk[name], 'base64url'))));
}
/** Reads a key of any form. Returns its number. */
function read(input, name) {
  if (input instanceof AsymmetricKeyObject) return idOf(input);
  const given = typeof input === 'string' || isArrayBufferView(input) || isAnyArrayBuffer(input) ? { key: input } : input;
  validateObject(given, name);
  if (given.key instanceof AsymmetricKeyObject) return idOf(given.key);
  if (given.format === 'jwk') return keyOfJwk(given.key);
  const bytes = bytesOf(given.key, given.encoding, `${name}.key`);
  if (given.format === 'der') {
    const form = given.type === 'pkcs1' ? ['pkcs1', 'pkcs1-public'] : [given.type ?? 'spki'];
    return form.map((one) => native.keyRead(one, bytes)).find((id) => id >= 0) ?? -1;
  }
  const text = Buffer.from(bytes).toString('latin1');
  const found = /-----BEGIN ([A-Z ]+)-----([^-]*)-----END \1-----/.exec(text);
  if (found === null) return -1;
  const [, label, body] = found;
  if (label === 'ENCRYPTED PRIVATE KEY' || body.includes('ENCRYPTED')) refusing('an encrypted private key')();
  if (label === 'CERTIFICATE') refusing('a key of a certificate')();
  return LABELS[label] === undefined ? -1 : native.keyRead(LABELS[label], tidebox.bytesOf(Buffer.from(body, 'base64')));
}
function objectOf(id) {
  if (id < 0) throw unsupported();
  return native.keyDescribe(id)[1] === 'private' ? new PrivateKeyObject(id) : new PublicKeyObject(id);
}
function createPrivateKey(input) {
  const key = objectOf(read(input, 'key'));
  if (key.type !== 'private') throw unsupported();
  return key;
}
function createPublicKey(input) {
  const id = read(input, 'key');
  if (id < 0) throw unsupported();
  return objectOf(native.keyPublic(id));
}
const PADDINGS = { __proto__: null, 1: 'pkcs1', 4: 'oaep', 6: 'pss' };
/** Returns the options of a signature for `src/keys.rs`. */
function how(key, object, algorithm, verifies) {
  const kind = object.asymmetricKeyType;
  const hash = nameOf(algorithm ?? 'sha256');
  if (algorithm != null && native.hashNames().indexOf(hash) < 0) throw failure(Error, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${algorithm}`);
  if (kind === 'ed25519' && algorithm != null) throw failure(Error, 'ERR_CRYPTO_UNSUPPORTED_OPERATION', 'Unsupported crypto operation');
  const options = key instanceof KeyObject || key === null || typeof key !== 'object' ? {} : key;
  if (kind === 'ec') return [options.dsaEncoding ?? 'der', hash, 0];
  const size = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 }[hash] ?? 32;
  const length = options.saltLength ?? -1;
  const most = Math.ceil((object.asymmetricKeyDetails.modulusLength - 1) / 8) - size - 2;
  if (verifies && length === -2) refusing('RSA_PSS_SALTLEN_AUTO')();
  return [PADDINGS[options.padding ?? 1] ?? 'pkcs1', hash, length === -1 ? size : length === -2 ? most : length];
}
function sign(algorithm, data, key, callback) {
  if (callback !== undefined) validateFunction(callback, 'callback');
  const object = createPrivateKey(key);
  const made = native.keySign(idOf(object), bytesOf(data), ...how(key, object, algorithm, false));
  if (made === undefined) throw failure(Error, 'ERR_OSSL_INVALID_DIGEST', 'error:1C8000A2:Provider routines::invalid digest');
  if (callback === undefined) return shown(made);
  tidebox.later(() => callback(null, shown(made)));
}
function verify(algorithm, data, key, signature, callback) {
  if (callback !== undefined) validateFunction(callback, 'callback');
  const object = createPublicKey(key);
  const found = native.keyVerify(idOf(object), bytesOf(data), bytesOf(signature, undefined, 'signature'), ...how(key, object, algorithm, true)) === true;
  if (callback === undefined) return found;
  tidebox.later(() => callback(null, found));
}
/** Collects the data of a signature. */
class Collected extends Writable {
  #algorithm;
  #parts = [];
  constructor(algorithm, options) {
    validateString(algorithm, 'algorithm');
    super(options);
    if (native.hashNames().indexOf(nameOf(algorithm)) < 0) throw failure(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${algorithm}`);
    this.#algorithm = algorithm;
  }
  update(data, encoding) { this.#parts.push(Buffer.from(bytesOf(data, encoding))); return this; }
  _write(chunk, encoding, callback) { this.update(chunk, encoding); callback(); }
  static taken(self) { return [self.#algorithm, Buffer.concat(self.#parts)]; }
}
const { taken } = Collected;
delete Collected.taken;
class SignStream extends Collected {
  sign(key, encoding) {
    if (!key) throw failure(Error, 'ERR_CRYPTO_SIGN_KEY_REQUIRED', 'No key provided to sign');
    return shown(sign(...taken(this), key), encoding);
  }
}
class VerifyStream extends Collected {
  verify(key, signature, encoding) { return verify(...taken(this), key, typeof signature === 'string' ? Buffer.from(signature, encoding) : signature); }
}
Object.defineProperty(SignStream, 'name', { value: 'Sign' });
Object.defineProperty(VerifyStream, 'name', { value: 'Verify' });
function Sign(algorithm, options) { return new SignStream(algorithm, options); }
function Verify(algorithm, options) { return new VerifyStream(algorithm, options); }
Sign.prototype = SignStream.prototype;
Verify.prototype = VerifyStream.prototype;
function generateKeyPairSync(kind, options = {}) {
  validateString(kind, 'type');
  validateObject(options, 'options');
  let id = -1;
  if (kind === 'rsa') {
    validateUint32(options.modulusLength, 'options.modulusLength');
    if (options.publicExponent !== undefined && options.publicExponent !== 0x10001) refusing('another exponent of RSA than 65537')();
    id = native.keyNew('rsa', options.modulusLength);
  } else if (kind === 'ec') {
    validateString(options.namedCurve, 'options.namedCurve');
    if (CURVE_NAMES[options.namedCurve] === undefined) refusing(`the curve ${options.namedCurve}`)();
    id = native.keyNew(CURVE_NAMES[options.namedCurve], 0);
  } else if (kind === 'ed25519') id = native.keyNew(kind, 0);
  else if (['rsa-pss', 'dsa', 'dh', 'ed448', 'x25519', 'x448'].includes(kind)) refusing(`crypto.generateKeyPair of ${kind}`)();
  else throw new ERR_INVALID_ARG_VALUE('type', kind, 'must be a supported key type');
  const [privateKey, publicKey] = [objectOf(id), objectOf(native.keyPublic(id))];
  const { publicKeyEncoding, privateKeyEncoding } = options;
  return { publicKey: publicKeyEncoding ? publicKey.export(publicKeyEncoding) : publicKey, privateKey: privateKeyEncoding ? privateKey.export(privateKeyEncoding) : privateKey };
}
function generateKeyPair(kind, options, callback) {
  if (typeof options === 'function') [callback, options] = [options, undefined];
  validateFunction(callback, 'callback');
  const { publicKey, privateKey } = generateKeyPairSync(kind, options);
  tidebox.later(() => callback(null, publicKey, privateKey));
}
Object.defineProperty(generateKeyPair, customPromisifyArgs, { value: ['publicKey', 'privateKey'], enumerable: false });
function generateKeySync(kind, options) {
  if (!['aes', 'hmac'].includes(kind)) throw new ERR_INVALID_ARG_VALUE('type', kind, 'must be a supported key type');
  validateObject(options, 'options');
  const { length } = options;
  if (kind === 'aes' && ![128, 192, 256].includes(length)) throw new ERR_INVALID_ARG_VALUE('options.length', length, 'must be one of: 128, 192, 256');
  validateUint32(length, 'options.length', true);
  const bytes = Buffer.alloc(Math.floor(length / 8));
  native.random(tidebox.bytesOf(bytes));
  return new SecretKeyObject(bytes);
}
function generateKey(kind, options, callback) {
  validateFunction(callback, 'callback');
  const key = generateKeySync(kind, options);
  tidebox.later(() => callback(null, key));
}
const crypt = (method, find) => (key, data) => {
  const options = key instanceof KeyObject || typeof key !== 'object' || isArrayBufferView(key) ? {} : key;
  const made = native[method](idOf(find(key)), bytesOf(data), PADDINGS[options.padding ?? 4] ?? 'oaep', nameOf(options.oaepHash ?? 'sha1'), 0);
  if (made === undefined) throw failure(Error, 'ERR_OSSL_RSA_OAEP_DECODING_ERROR', 'error:02000079:rsa routines::oaep decoding error');
  return shown(made);
};
module.exports = {
  nameOf, bytesOf, shown, failure, KeyObject, SecretKeyObject,
  api: {
    KeyObject, createSecretKey, createPrivateKey, createPublicKey, sign, verify, Sign, Verify, createSign: Sign, createVerify: Verify,
    generateKeyPair, generateKeyPairSync, generateKey, generateKeySync,
    publicEncrypt: crypt('keyEncrypt', createPublicKey), privateDecrypt: crypt('keyDecrypt', createPrivateKey),
  },
};
