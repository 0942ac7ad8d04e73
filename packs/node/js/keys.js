'use strict';
// The binding `crypto`: keys, signatures, encryption with RSA, and generated keys. `src/rsa.rs` and `src/curves.rs` compute.
const { native } = state;
const { sequence, octets, bits, oid, integer, wrap, NULL, Reader, concat, bufferOf, pem, ofPem, encrypt, decrypt, encryptOld, decryptOld } = state.der;
const { failure, openssl, hashName, checkedHash, invalidDigest, unknownCipher, bytesOf, copyOf, arrayBufferOf, digestOf, equal, job, cipherOf, random, hashSizes } = state.keys;
const SECRET = 0;
const PUBLIC = 1;
const PRIVATE = 2;
const FORMS = ['pkcs1', 'pkcs8', 'spki', 'sec1'];
const RSA = '2a864886f70d010101';
const EC = '2a8648ce3d0201';
/** Curves by the names of OpenSSL: object identifier, name in JSON Web Keys, size of a coordinate in bytes. */
const CURVES = {
  __proto__: null, prime256v1: ['2a8648ce3d030107', 'P-256', 32], secp384r1: ['2b81040022', 'P-384', 48], secp521r1: ['2b81040023', 'P-521', 66], secp256k1: ['2b8104000a', 'secp256k1', 32],
};
const CURVE_NAMES = { '__proto__': null, 'P-256': 'prime256v1', 'P-384': 'secp384r1', 'P-521': 'secp521r1', 'secp256r1': 'prime256v1' };
const curveOf = (name) => { const found = CURVE_NAMES[name] ?? name; return CURVES[found] ? found : undefined; };
const EDWARDS = { __proto__: null, ed25519: ['2b6570', 'Ed25519'], x25519: ['2b656e', 'X25519'] };
const kindOfOid = (table, hex) => Object.keys(table).find((name) => table[name][0] === hex);
const unsupported = () => openssl('1E08010C', 'DECODER routines', 'unsupported', 'UNSUPPORTED');
const invalidJwk = (kind) => failure(TypeError, 'ERR_CRYPTO_INVALID_JWK', `Invalid JWK ${kind} key`);
const invalidCurve = () => failure(TypeError, 'ERR_CRYPTO_INVALID_CURVE', 'Invalid EC curve name');

// A key is an object with `type`. A secret one has `bytes`. The others have `kind`: `rsa` with the number `id` of `src/rsa.rs`; `ec` with
// `curve`, and the others, with `point`, and `secret` if they are private.
function rsaOf(id, type) {
  if (id < 0) throw unsupported();
  return { type, kind: 'rsa', id };
}
function ecOf(curve, secret) {
  const point = native.curvePublic(curve, secret);
  if (point === undefined) throw unsupported();
  return { type: PRIVATE, kind: 'ec', curve, secret: copyOf(secret), point };
}
function pointOf(curve, given) {
  const point = native.curvePoint(curve, given, false);
  if (point === undefined) throw unsupported();
  return { type: PUBLIC, kind: 'ec', curve, point };
}
function edwardsOf(kind, bytes, type) {
  if (bytes.length !== 32) throw unsupported();
  const point = type === PRIVATE ? native.curvePublic(kind, bytes) : native.curvePoint(kind, bytes, false);
  if (point === undefined) throw unsupported();
  return { type, kind, point, secret: type === PRIVATE ? copyOf(bytes) : undefined };
}
function publicOf(key) {
  if (key.type !== PRIVATE) return key;
  if (key.kind === 'rsa') return rsaOf(native.rsaPublic(key.id), PUBLIC);
  return { ...key, type: PUBLIC, secret: undefined };
}
function readSec1(bytes, known) {
  const reader = new Reader(bytes).sequence();
  reader.integer();
  const secret = reader.octets();
  let curve = known;
  if (!reader.ends && reader.peek() === 0xa0) curve ??= kindOfOid(CURVES, new Reader(reader.take(0xa0)).oid());
  if (curve === undefined) throw unsupported();
  return ecOf(curve, secret);
}
function readPkcs8(bytes) {
  const reader = new Reader(bytes).sequence();
  reader.integer();
  const algorithm = reader.sequence();
  const name = algorithm.oid();
  const inner = reader.octets();
  if (name === RSA) return rsaOf(native.rsaRead(true, inner), PRIVATE);
  if (name === EC) return readSec1(inner, kindOfOid(CURVES, algorithm.oid()));
  const kind = kindOfOid(EDWARDS, name);
  if (kind === undefined) throw unsupported();
  return edwardsOf(kind, new Reader(inner).octets(), PRIVATE);
}
function readSpki(bytes) {
  const reader = new Reader(bytes).sequence();
  const algorithm = reader.sequence();
  const name = algorithm.oid();
  const inner = reader.bits();
  if (name === RSA) return rsaOf(native.rsaRead(false, inner), PUBLIC);
  if (name === EC) {
    const curve = kindOfOid(CURVES, algorithm.oid());
    if (curve === undefined) throw unsupported();
    return pointOf(curve, inner);
  }
  const kind = kindOfOid(EDWARDS, name);
  if (kind === undefined) throw unsupported();
  return edwardsOf(kind, inner, PUBLIC);
}
function readCertificate(bytes) {
  const reader = new Reader(bytes).sequence().sequence();
  if (reader.peek() === 0xa0) reader.skip();
  for (let skipped = 0; skipped < 5; skipped++) reader.skip();
  const start = reader.at;
  reader.skip();
  return readSpki(reader.bytes.subarray(start, reader.at));
}
const interrupted = () => openssl('07880109', 'common libcrypto routines', 'interrupted or cancelled', 'CRYPTO_INTERRUPTED_OR_CANCELLED');
function opened(work, passphrase) {
  if (passphrase === undefined) throw interrupted();
  try {
    return work(bytesOf(passphrase));
  } catch (error) {
    if (typeof error === 'number') throw openssl('1C800064', 'Provider routines', 'bad decrypt', 'BAD_DECRYPT');
    throw error;
  }
}
function readPem(bytes, passphrase) {
  let text = bufferOf(bytes).toString('latin1');
  let block = ofPem(text);
  while (block?.label === 'EC PARAMETERS') {
    text = text.slice(text.indexOf('-----END EC PARAMETERS-----') + 27);
    block = ofPem(text);
  }
  if (block === undefined) throw unsupported();
  const inner = () => (block.head.includes('ENCRYPTED') ? opened((password) => decryptOld(block, password), passphrase) : block.bytes);
  switch (block.label) {
    case 'PRIVATE KEY': return readPkcs8(block.bytes);
    case 'ENCRYPTED PRIVATE KEY': return readPkcs8(opened((password) => decrypt(block.bytes, password), passphrase));
    case 'RSA PRIVATE KEY': return rsaOf(native.rsaRead(true, inner()), PRIVATE);
    case 'EC PRIVATE KEY': return readSec1(inner());
    case 'PUBLIC KEY': return readSpki(block.bytes);
    case 'RSA PUBLIC KEY': return rsaOf(native.rsaRead(false, block.bytes), PUBLIC);
    case 'CERTIFICATE': return readCertificate(block.bytes);
    default: throw unsupported();
  }
}
function readDer(bytes, form, wantsPrivate, passphrase) {
  switch (form) {
    case 'pkcs8': {
      const inner = new Reader(bytes).sequence();
      if (inner.peek() !== 0x30) return readPkcs8(bytes);
      if (passphrase === undefined) throw failure(TypeError, 'ERR_MISSING_PASSPHRASE', 'Passphrase required for encrypted key');
      return readPkcs8(opened((password) => decrypt(bytes, password), passphrase));
    }
    case 'sec1': return readSec1(bytes);
    case 'spki': return readSpki(bytes);
    default: {
      const id = wantsPrivate ? -1 : native.rsaRead(false, bytes);
      return id >= 0 ? rsaOf(id, PUBLIC) : rsaOf(native.rsaRead(true, bytes), PRIVATE);
    }
  }
}
/** Reads a key that Node's library has prepared: a handle, or bytes with their form. */
function readKey(data, format, type, passphrase, wantsPrivate) {
  let key;
  if (data instanceof KeyObjectHandle) key = dataOf(data);
  else {
    try {
      const bytes = bytesOf(data);
      key = format === 0 ? readDer(bytes, FORMS[type], wantsPrivate, passphrase) : readPem(bytes, passphrase);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw wantsPrivate ? Object.assign(openssl('068000A8', 'asn1 encoding routines', 'wrong tag', 'ASN1_WRONG_TAG'), { opensslErrorStack: [] }) : new Error('Failed to read asymmetric key');
    }
  }
  if (!wantsPrivate) return publicOf(key);
  if (key.type !== PRIVATE) throw unsupported();
  return key;
}
const pkcs8 = (algorithm, inner) => sequence(integer(0), sequence(...algorithm), octets(inner));
const sec1 = (key, ...parameters) => sequence(integer(1), octets(key.secret), ...parameters, wrap(0xa1, bits(key.point)));
function spkiOf(key) {
  if (key.kind === 'rsa') return sequence(sequence(oid(RSA), NULL), bits(native.rsaWrite(key.id)));
  if (key.kind === 'ec') return sequence(sequence(oid(EC), oid(CURVES[key.curve][0])), bits(key.point));
  return sequence(sequence(oid(EDWARDS[key.kind][0])), bits(key.point));
}
function pkcs8Of(key) {
  if (key.kind === 'rsa') return pkcs8([oid(RSA), NULL], native.rsaWrite(key.id));
  if (key.kind === 'ec') return pkcs8([oid(EC), oid(CURVES[key.curve][0])], sec1(key));
  return pkcs8([oid(EDWARDS[key.kind][0])], octets(key.secret));
}
/** Returns a key as a buffer, a text, or a JSON Web Key. */
function written(key, format, type, cipher, passphrase) {
  if (format === 2) return jwkOf(key, {});
  const isPrivate = key.type === PRIVATE;
  const form = FORMS[type];
  const [label, bytes] = !isPrivate ? (form === 'pkcs1' ? ['RSA PUBLIC KEY', native.rsaWrite(key.id)] : ['PUBLIC KEY', spkiOf(key)]) :
    form === 'pkcs1' ? ['RSA PRIVATE KEY', native.rsaWrite(key.id)] :
      form === 'sec1' ? ['EC PRIVATE KEY', sec1(key, wrap(0xa0, oid(CURVES[key.curve][0])))] : ['PRIVATE KEY', pkcs8Of(key)];
  if (!isPrivate || cipher == null) return format === 0 ? bufferOf(bytes) : pem(label, bytes);
  const found = cipherOf(cipher);
  if (found === undefined) throw unknownCipher();
  if (found[1] !== 'cbc') state.refusing(`a private key that is encrypted with ${cipher}`)();
  const password = bytesOf(passphrase);
  if (form !== 'pkcs8') return encryptOld(label, bytes, found[0], password);
  const sealed = encrypt(bytes, found[0], password);
  return format === 0 ? bufferOf(sealed) : pem('ENCRYPTED PRIVATE KEY', sealed);
}
const url64 = (bytes) => bufferOf(bytes).toString('base64url');
const ofUrl64 = (text) => state.bytesOf(state.require('buffer').Buffer.from(text, 'base64url'));
const RSA_PARTS = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'];
function jwkOf(key, result) {
  if (key.type === SECRET) return Object.assign(result, { kty: 'oct', k: url64(key.bytes) });
  const secret = key.type === PRIVATE ? { d: key.secret && url64(key.secret) } : {};
  if (key.kind === 'rsa') {
    result.kty = 'RSA';
    native.rsaParts(key.id).forEach((part, at) => { result[RSA_PARTS[at]] = url64(part); });
    return result;
  }
  if (key.kind === 'ec') {
    const [, crv, size] = CURVES[key.curve];
    return Object.assign(result, { kty: 'EC', x: url64(key.point.subarray(1, 1 + size)), y: url64(key.point.subarray(1 + size)), crv }, secret);
  }
  return Object.assign(result, { crv: EDWARDS[key.kind][1] }, secret, { x: url64(key.point), kty: 'OKP' });
}
function ofJwk(jwk, name) {
  if (jwk.kty === 'oct') return { type: SECRET, bytes: ofUrl64(jwk.k) };
  const isPrivate = jwk.d !== undefined;
  if (jwk.kty === 'RSA') {
    const id = native.rsaOfParts(isPrivate, (isPrivate ? RSA_PARTS.slice(0, 5) : RSA_PARTS.slice(0, 2)).map((part) => ofUrl64(jwk[part] ?? '')));
    if (id < 0) throw invalidJwk('RSA');
    return rsaOf(id, isPrivate ? PRIVATE : PUBLIC);
  }
  const curve = curveOf(name ?? jwk.crv);
  if (jwk.kty !== 'EC' || curve === undefined) throw invalidJwk('EC');
  const size = CURVES[curve][2];
  const padded = (bytes) => (bytes.length < size ? concat(new Uint8Array(size - bytes.length), bytes) : bytes);
  try {
    const found = pointOf(curve, concat([4], padded(ofUrl64(jwk.x)), padded(ofUrl64(jwk.y))));
    return isPrivate ? { ...ecOf(curve, padded(ofUrl64(jwk.d))), point: found.point } : found;
  } catch {
    throw invalidJwk('EC');
  }
}
class KeyObjectHandle {
  #key;
  init(type, data, format, form, passphrase) {
    if (type === SECRET) this.#key = { type, bytes: copyOf(bytesOf(data)) };
    else this.#key = readKey(data, format, form, passphrase, type === PRIVATE);
  }
  initECRaw(name, data) {
    try {
      this.#key = pointOf(curveOf(name), bytesOf(data));
      return true;
    } catch { return false; }
  }
  initEDRaw(name, data, type) {
    const kind = name.toLowerCase();
    if (EDWARDS[kind] === undefined) state.refusing(`the curve ${name}`)();
    try {
      this.#key = edwardsOf(kind, bytesOf(data), type);
      return true;
    } catch { return false; }
  }
  initJwk(jwk, name) {
    this.#key = ofJwk(jwk, name);
    return this.#key.type;
  }
  keyDetail(result) {
    const key = this.#key;
    if (key.type === SECRET) result.length = key.bytes.length * 8;
    else if (key.kind === 'rsa') Object.assign(result, { modulusLength: native.rsaBits(key.id), publicExponent: arrayBufferOf(native.rsaParts(key.id)[1]) });
    else if (key.kind === 'ec') result.namedCurve = key.curve;
    return result;
  }
  equals(other) {
    const [one, two] = [this.#key, other.#key];
    if (one.type !== two.type) return false;
    if (one.type === SECRET) return equal(one.bytes, two.bytes);
    return one.kind === two.kind && equal(one.type === PRIVATE ? pkcs8Of(one) : spkiOf(one), two.type === PRIVATE ? pkcs8Of(two) : spkiOf(two));
  }
  getSymmetricKeySize() { return this.#key.bytes.length; }
  getAsymmetricKeyType() { return this.#key.kind; }
  checkEcKeyData() { return this.#key.kind === 'ec'; }
  export(format, type, cipher, passphrase) {
    if (this.#key.type === SECRET) return bufferOf(this.#key.bytes.slice());
    return written(this.#key, format, type, cipher, passphrase);
  }
  exportJwk(result) { return jwkOf(this.#key, result); }
  static dataOf(handle) { return handle.#key; }
  static of(key) { const handle = new KeyObjectHandle(); handle.#key = key; return handle; }
}
const { dataOf, of: handleOf } = KeyObjectHandle;
delete KeyObjectHandle.dataOf;
delete KeyObjectHandle.of;

// Signatures.
const PADDINGS = { __proto__: null, 1: 'pkcs1', 3: 'none', 4: 'oaep', 6: 'pss' };
const tooLarge = () => openssl('0200006E', 'rsa routines', 'data too large for key size', 'RSA_DATA_TOO_LARGE_FOR_KEY_SIZE');
const wrongDigest = () => openssl('1C80007A', 'Provider routines', 'invalid digest', 'INVALID_DIGEST');
function paddingOf(padding) {
  if (PADDINGS[padding] === undefined) throw openssl('0200008F', 'rsa routines', 'illegal or unsupported padding mode', 'RSA_ILLEGAL_OR_UNSUPPORTED_PADDING_MODE');
  return PADDINGS[padding];
}
function signWith(key, hash, data, padding, saltLength, form) {
  if (key.kind === 'ed25519') return native.curveSign(key.kind, key.secret, data);
  if (key.kind === 'x25519') throw openssl('03000096', 'digital envelope routines', 'operation not supported for this keytype', 'EVP_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE');
  const name = hash ?? 'sha256';
  if (key.kind === 'rsa') {
    const size = hashSizes[name];
    const most = Math.ceil((native.rsaBits(key.id) - 1) / 8) - size - 2;
    const salt = saltLength === undefined || saltLength === -2 || saltLength === -3 ? most : saltLength === -1 ? size : saltLength;
    const way = paddingOf(padding ?? 1);
    if (way === 'pss' && (most < 0 || salt > most)) throw tooLarge();
    const made = native.rsaSign(key.id, digestOf(name, data), way, name, salt);
    if (made === undefined) throw size > native.rsaBits(key.id) / 8 - 11 ? openssl('02000070', 'rsa routines', 'digest too big for rsa key', 'RSA_DIGEST_TOO_BIG_FOR_RSA_KEY') : wrongDigest();
    return made;
  }
  const made = native.curveSign(key.curve, key.secret, digestOf(name, data));
  if (form === 1) return made;
  return sequence(integer(made.subarray(0, made.length / 2)), integer(made.subarray(made.length / 2)));
}
/** Returns the two numbers of a signature of ECDSA with full length, or undefined. */
function plainSignature(der, size) {
  try {
    const reader = new Reader(der).sequence();
    const out = new Uint8Array(2 * size);
    for (const end of [size, 2 * size]) {
      const number = reader.integer();
      if (number.length > size) return undefined;
      out.set(number, end - number.length);
    }
    return out;
  } catch { return undefined; }
}
function verifyWith(key, hash, data, signature, padding, saltLength, form) {
  if (key.kind === 'ed25519') return native.curveVerify(key.kind, key.point, data, signature) === true;
  if (key.kind === 'x25519') throw openssl('03000096', 'digital envelope routines', 'operation not supported for this keytype', 'EVP_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE');
  const name = hash ?? 'sha256';
  if (key.kind === 'rsa') {
    const salt = saltLength === undefined || saltLength === -2 ? -1 : saltLength === -1 ? hashSizes[name] : saltLength;
    return native.rsaVerify(key.id, digestOf(name, data), signature, paddingOf(padding ?? 1), name, salt) === true;
  }
  const plain = form === 1 ? signature : plainSignature(signature, CURVES[key.curve][2]);
  return plain !== undefined && native.curveVerify(key.curve, key.point, digestOf(name, data), plain) === true;
}
class Collected {
  init(name) {
    const hash = hashName(name);
    if (hash === undefined) throw failure(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', 'Invalid digest');
    Object.defineProperty(this, 'hash', { value: hash });
    Object.defineProperty(this, 'parts', { value: [] });
  }
  update(data, encoding) { this.parts.push(copyOf(bytesOf(data, encoding))); }
}
const oneShotOnly = (key) => { if (key.kind === 'ed25519' || key.kind === 'x25519') throw failure(Error, 'ERR_CRYPTO_UNSUPPORTED_OPERATION', 'Unsupported crypto operation'); };
class Sign extends Collected {
  sign(data, format, type, passphrase, padding, saltLength, form) {
    const key = readKey(data, format, type, passphrase, true);
    oneShotOnly(key);
    return bufferOf(signWith(key, this.hash, concat(...this.parts), padding, saltLength, form));
  }
}
class Verify extends Collected {
  verify(data, format, type, passphrase, signature, padding, saltLength, form) {
    const key = readKey(data, format, type, passphrase, false);
    oneShotOnly(key);
    return verifyWith(key, this.hash, concat(...this.parts), bytesOf(signature), padding, saltLength, form);
  }
}
const SignJob = job((mode, keyData, format, type, passphrase, data, algorithm, saltLength, padding, form, signature) => {
  const key = readKey(keyData, format, type, passphrase, mode === 0);
  const hash = algorithm == null ? undefined : hashName(algorithm);
  if (algorithm != null && hash === undefined) throw invalidDigest(algorithm);
  const bytes = copyOf(bytesOf(data));
  const given = signature === undefined ? undefined : copyOf(bytesOf(signature));
  if (key.kind === 'ed25519' && hash !== undefined) throw wrongDigest();
  if (mode === 0) return () => arrayBufferOf(signWith(key, hash, bytes, padding, saltLength, form));
  return () => verifyWith(key, hash, bytes, given, padding, saltLength, form);
});

// Encryption with RSA.
function crypt(operation, key, data, padding, hash, label) {
  if (key.kind !== 'rsa') throw openssl('03000096', 'digital envelope routines', 'operation not supported for this keytype', 'EVP_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE');
  const way = paddingOf(padding);
  const size = Math.ceil(native.rsaBits(key.id) / 8);
  if (way === 'none' && data.length < size) throw openssl('0200007A', 'rsa routines', 'data too small for key size', 'RSA_DATA_TOO_SMALL_FOR_KEY_SIZE');
  const made = native.rsaCrypt(operation, key.id, data, way, hash, label === undefined ? new Uint8Array(0) : bytesOf(label));
  if (made !== undefined) return made;
  if (operation.endsWith('Encrypt')) throw tooLarge();
  if (way === 'oaep') throw openssl('02000079', 'rsa routines', 'oaep decoding error', 'RSA_OAEP_DECODING_ERROR');
  if (operation === 'publicDecrypt') throw openssl('0200006A', 'rsa routines', 'block type is not 01', 'RSA_BLOCK_TYPE_IS_NOT_01');
  // As OpenSSL, which does not reveal that the padding is wrong.
  return random(Math.max(0, size - 11) >>> 1);
}
const cryptFunction = (operation, wantsPrivate) => (data, format, type, passphrase, buffer, padding, hash, label) => {
  const name = hashName(hash ?? 'sha1');
  if (name === undefined) throw failure(Error, 'ERR_OSSL_EVP_INVALID_DIGEST', 'Invalid digest used');
  const key = readKey(data, format, type, passphrase, wantsPrivate);
  return bufferOf(crypt(operation, key, bytesOf(buffer), padding, name, label));
};
const RSACipherJob = job((mode, handle, data, variant, hash, label) => {
  const [key, bytes, name] = [dataOf(handle), copyOf(bytesOf(data)), checkedHash(hash)];
  return () => arrayBufferOf(crypt(mode === 0 ? 'publicEncrypt' : 'privateDecrypt', key, bytes, 4, name, label));
});

// Generated and exported keys.
const pairOf = (key, publicFormat, publicType, privateFormat, privateType, cipher, passphrase) => [
  publicFormat === undefined ? handleOf(publicOf(key)) : written(publicOf(key), publicFormat, publicType),
  privateFormat === undefined ? handleOf(key) : written(key, privateFormat, privateType, cipher, passphrase),
];
const RsaKeyPairGenJob = job((variant, size, exponent, ...encoding) => {
  if (variant === 1) state.refusing('a pair of keys for RSA-PSS only')();
  return () => {
    if (size < 512) throw new Error('error:1C8000AB:Provider routines::key size too small');
    if (exponent < 3 || exponent % 2 === 0) throw new Error('error:020000B2:rsa routines::pub exponent out of range');
    const id = native.rsaNew(size, exponent);
    if (id < 0) state.refusing(`a key of RSA with ${size} bits`)();
    return pairOf(rsaOf(id, PRIVATE), ...encoding);
  };
});
const EcKeyPairGenJob = job((name, parameters, ...encoding) => {
  const curve = curveOf(name);
  if (curve === undefined && state.crypto.getCurves().includes(name)) state.refusing(`the curve ${name}`)();
  if (curve === undefined) throw invalidCurve();
  if (parameters === 0) state.refusing('a key with explicit parameters of its curve')();
  return () => pairOf(ecOf(curve, native.curveNew(curve)), ...encoding);
});
const NIDS = { __proto__: null, 1087: 'ed25519', 1034: 'x25519', 1088: 'ed448', 1035: 'x448' };
const NidKeyPairGenJob = job((id, ...encoding) => {
  const kind = NIDS[id];
  if (EDWARDS[kind] === undefined) state.refusing(`a pair of keys for ${kind}`)();
  return () => pairOf(edwardsOf(kind, random(32), PRIVATE), ...encoding);
});
const exported = (key, format) => (format === 0 ? key.point : format === 1 ? pkcs8Of(key) : spkiOf(key));
Object.assign(state.crypto, {
  KeyObjectHandle, Sign, Verify, SignJob, RSACipherJob, RsaKeyPairGenJob, EcKeyPairGenJob, NidKeyPairGenJob,
  createNativeKeyObjectClass: (make) => make(class NativeKeyObject {}),
  publicEncrypt: cryptFunction('publicEncrypt', false), privateDecrypt: cryptFunction('privateDecrypt', true),
  privateEncrypt: cryptFunction('privateEncrypt', true), publicDecrypt: cryptFunction('publicDecrypt', false),
  SecretKeyGenJob: job((length) => () => handleOf({ type: SECRET, bytes: random(Math.floor(length / 8)) })),
  RSAKeyExportJob: job((format, handle) => () => arrayBufferOf(exported(dataOf(handle), format))),
  ECKeyExportJob: job((format, handle) => () => arrayBufferOf(copyOf(exported(dataOf(handle), format)))),
  getCurves: () => Object.keys(CURVES).sort(),
});
Object.assign(state.keys, { dataOf, curveOf, invalidCurve, CURVES });
