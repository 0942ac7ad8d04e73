'use strict';
// The binding `crypto`: the exchange of keys, and prime numbers. `src/rsa.rs` computes with large numbers, `src/curves.rs` with curves.
const { native } = state;
const { concat, bufferOf, ofHex, random } = state.der;
const { failure, openssl, bytesOf, copyOf, arrayBufferOf, job, dataOf, curveOf, invalidCurve, CURVES } = state.keys;
const [COMPRESSED, HYBRID] = [2, 6];

// Curves.
function shared(key, other) {
  const made = native.curveShared(key.curve ?? key.kind, key.secret, other.point);
  if (made === undefined || (key.curve ?? key.kind) !== (other.curve ?? other.kind)) throw openssl('02800066', 'Diffie-Hellman routines', 'failed during derivation', 'FAILED_DURING_DERIVATION');
  return made;
}
function inForm(curve, point, form) {
  if (form === COMPRESSED) return native.curvePoint(curve, point, true);
  // The first byte of the hybrid form has the parity of the last coordinate.
  return form === HYBRID ? concat([HYBRID | (point[point.length - 1] & 1)], point.subarray(1)) : point;
}
/** Returns the point that bytes in any form have, or undefined. */
function pointOf(curve, given) {
  const bytes = given[0] === HYBRID || given[0] === 7 ? concat([4], given.subarray(1)) : given;
  return native.curvePoint(curve, bytes, false);
}
const failed = (message) => failure(Error, 'ERR_CRYPTO_OPERATION_FAILED', message);
class ECDH {
  #curve;
  #secret;
  #point;
  constructor(name) {
    this.#curve = curveOf(name);
    if (this.#curve === undefined) throw invalidCurve();
  }
  generateKeys() {
    this.#secret = native.curveNew(this.#curve);
    this.#point = native.curvePublic(this.#curve, this.#secret);
  }
  computeSecret(given) {
    if (this.#secret === undefined || this.#point === undefined) throw failure(RangeError, 'ERR_CRYPTO_INVALID_KEYPAIR', 'Invalid key pair');
    const point = pointOf(this.#curve, bytesOf(given));
    // Node's library makes an error of a string.
    if (point === undefined) return 'ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY';
    const made = native.curveShared(this.#curve, this.#secret, point);
    if (made === undefined) throw failed('Failed to compute ECDH key');
    return bufferOf(made);
  }
  getPublicKey(form) {
    if (this.#point === undefined) throw failed('Failed to get ECDH public key');
    return bufferOf(copyOf(inForm(this.#curve, this.#point, form)));
  }
  getPrivateKey() {
    if (this.#secret === undefined) throw failed('Failed to get ECDH private key');
    return bufferOf(this.#secret.slice());
  }
  setPrivateKey(given) {
    const bytes = bytesOf(given);
    const size = CURVES[this.#curve][2];
    const secret = bytes.length < size ? concat(new Uint8Array(size - bytes.length), bytes) : copyOf(bytes);
    const point = native.curvePublic(this.#curve, secret);
    if (point === undefined) throw failure(RangeError, 'ERR_CRYPTO_INVALID_KEYTYPE', 'Private key is not valid for specified curve.');
    this.#secret = secret;
    this.#point = point;
  }
  setPublicKey(given) {
    const point = pointOf(this.#curve, bytesOf(given));
    if (point === undefined) throw failed('Failed to convert Buffer to EC_POINT');
    this.#point = point;
  }
}
function ECDHConvertKey(given, name, form) {
  const curve = curveOf(name);
  if (curve === undefined) throw invalidCurve();
  const point = pointOf(curve, bytesOf(given));
  if (point === undefined) throw failed('Failed to convert Buffer to EC_POINT');
  return bufferOf(copyOf(inForm(curve, point, form)));
}

// Numbers. The groups are those of RFC 2409 and RFC 3526: 2^n - 2^(n-64) - 1 + 2^64 * (floor(2^(n-130) * pi) + k).
const GROUPS = { __proto__: null, modp1: [768, 149686], modp2: [1024, 129093], modp5: [1536, 741804], modp14: [2048, 124476], modp15: [3072, 1690314], modp16: [4096, 240904],
  modp17: [6144, 929484], modp18: [8192, 4743158] };
/** Returns `2^bits * pi`, rounded down, by the formula of Machin. */
function pi(bits) {
  const one = 1n << BigInt(bits + 64);
  const inverse = (of) => {
    const square = of * of;
    let power = one / of;
    let sum = power;
    for (let at = 3n, sign = -1n; power > 0n; at += 2n, sign = -sign) {
      power /= square;
      sum += sign * (power / at);
    }
    return sum;
  };
  return (16n * inverse(5n) - 4n * inverse(239n)) >> 64n;
}
const bytesOfNumber = (number) => { const text = number.toString(16); return ofHex(text.padStart(text.length + text.length % 2, '0')); };
const primes = { __proto__: null };
function primeOf(name) {
  const [size, more] = GROUPS[name];
  const bits = BigInt(size);
  return primes[name] ??= bytesOfNumber((1n << bits) - (1n << (bits - 64n)) - 1n + ((pi(size - 130) + BigInt(more)) << 64n));
}
function trimmed(bytes) {
  let at = 0;
  while (at < bytes.length - 1 && bytes[at] === 0) at++;
  return bytes.subarray(at);
}
const ONE = new Uint8Array([1]);
/** Returns -1, 0 or 1 for two numbers of bytes. */
function compare(one, other) {
  const [first, second] = [trimmed(one), trimmed(other)];
  if (first.length !== second.length) return first.length < second.length ? -1 : 1;
  for (let at = 0; at < first.length; at++) if (first[at] !== second[at]) return first[at] < second[at] ? -1 : 1;
  return 0;
}
const minusOne = (bytes) => { const made = copyOf(bytes); for (let at = made.length - 1; at >= 0 && made[at]-- === 0; at--); return made; };
const halved = (bytes) => { const made = copyOf(bytes); for (let at = made.length - 1; at >= 0; at--) made[at] = (bytes[at] >> 1) | (at > 0 ? (bytes[at - 1] & 1) << 7 : 0); return made; };
const BITS = { P_NOT_PRIME: 1, P_NOT_SAFE_PRIME: 2, NOT_SUITABLE_GENERATOR: 8, MODULUS_TOO_SMALL: 128 };
/** Smallest modulus in bits. */
const MIN_BITS = 512;
class Exchange {
  constructor(prime, generator, known) {
    for (const [key, value] of [['prime', prime], ['generator', generator], ['known', known]]) Object.defineProperty(this, key, { value });
  }
  get verifyError() {
    if (this.known) return 0;
    const { prime, generator } = this;
    let found = trimmed(prime).length * 8 < MIN_BITS ? BITS.MODULUS_TOO_SMALL : 0;
    if (compare(generator, ONE) <= 0 || compare(generator, minusOne(prime)) >= 0) found |= BITS.NOT_SUITABLE_GENERATOR;
    if (!native.primeCheck(prime)) found |= BITS.P_NOT_PRIME;
    else if (!native.primeCheck(halved(prime))) found |= BITS.P_NOT_SAFE_PRIME;
    return found;
  }
  #set(name, value) { Object.defineProperty(this, name, { value, configurable: true }); }
  generateKeys() {
    // As OpenSSL; a private key between the limits below need not exist for a smaller number.
    if (trimmed(this.prime).length * 8 < MIN_BITS) throw failed('Key generation failed');
    if (this.secret === undefined) {
      // OpenSSL: the private key is below the prime, and 225 bits or more are enough for a known group.
      const size = trimmed(this.prime).length;
      let secret;
      do secret = random(this.known ? Math.min(size, 64) : size); while (compare(secret, ONE) <= 0 || compare(secret, minusOne(this.prime)) >= 0);
      this.#set('secret', secret);
    }
    this.#set('open', native.modPow(this.generator, this.secret, this.prime));
    return this.getPublicKey();
  }
  computeSecret(given) {
    const other = copyOf(bytesOf(given));
    if (compare(other, ONE) <= 0) throw failure(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Supplied key is too small');
    if (compare(other, minusOne(this.prime)) >= 0) throw failure(RangeError, 'ERR_CRYPTO_INVALID_KEYTYPE', compare(other, this.prime) > 0 ? 'Supplied key is too large' : 'Unspecified validation error');
    if (this.secret === undefined) return bufferOf(new Uint8Array(0));
    const made = native.modPow(other, this.secret, this.prime);
    const size = trimmed(this.prime).length;
    return bufferOf(concat(new Uint8Array(size - made.length), made));
  }
  getPrime() { return bufferOf(trimmed(this.prime).slice()); }
  getGenerator() { return bufferOf(trimmed(this.generator).slice()); }
  getPublicKey() {
    if (this.open === undefined) throw failure(Error, 'ERR_CRYPTO_INVALID_STATE', 'No public key - did you forget to generate one?');
    return bufferOf(this.open.slice());
  }
  getPrivateKey() {
    if (this.secret === undefined) throw failure(Error, 'ERR_CRYPTO_INVALID_STATE', 'No private key - did you forget to generate one?');
    return bufferOf(this.secret.slice());
  }
  setPublicKey(given) { this.#set('open', copyOf(bytesOf(given))); }
  setPrivateKey(given) { this.#set('secret', copyOf(bytesOf(given))); }
}
/** Longest prime that is looked for, in bits. Longer ones take minutes. */
const MAX_BITS = 1024;
class DiffieHellman extends Exchange {
  constructor(sizeOrPrime, generator) {
    const base = typeof generator === 'number' ? (generator < 0 ? new Uint8Array(0) : bytesOfNumber(BigInt(generator))) : copyOf(bytesOf(generator));
    if (typeof sizeOrPrime === 'number') {
      if (sizeOrPrime < 2) throw openssl('0280007F', 'Diffie-Hellman routines', 'modulus too small', 'DH_MODULUS_TOO_SMALL');
      if (compare(base, ONE) <= 0) throw openssl('02800065', 'Diffie-Hellman routines', 'bad generator', 'DH_BAD_GENERATOR');
      if (sizeOrPrime > MAX_BITS) state.refusing(`a group with a new prime of ${sizeOrPrime} bits; crypto.getDiffieHellman has groups`)();
      super(native.primeNew(sizeOrPrime, true, new Uint8Array(0), new Uint8Array(0)), base, false);
      return;
    }
    if (compare(base, ONE) <= 0) throw openssl('02800065', 'Diffie-Hellman routines', 'bad generator', 'DH_BAD_GENERATOR');
    const prime = copyOf(bytesOf(sizeOrPrime));
    const name = Object.keys(GROUPS).find((one) => GROUPS[one][0] === prime.length * 8 && compare(prime, primeOf(one)) === 0);
    super(prime, base, name !== undefined && compare(base, new Uint8Array([2])) === 0);
  }
}
class DiffieHellmanGroup extends Exchange {
  constructor(name) {
    const found = String(name).toLowerCase();
    if (GROUPS[found] === undefined) throw failure(Error, 'ERR_CRYPTO_UNKNOWN_DH_GROUP', 'Unknown DH group');
    super(primeOf(found), new Uint8Array([2]), true);
  }
}

// Primes.
const optional = (given) => (given === undefined ? new Uint8Array(0) : copyOf(bytesOf(given)));
function newPrime(size, safe, add, rem) {
  const [step, rest] = [optional(add), optional(rem)];
  if (add !== undefined) {
    if (trimmed(step).length * 8 - Math.clz32(trimmed(step)[0] ?? 0) + 24 > size) throw failure(RangeError, 'ERR_OUT_OF_RANGE', 'invalid options.add');
    if (rem !== undefined && compare(step, rest) <= 0) throw failure(RangeError, 'ERR_OUT_OF_RANGE', 'invalid options.rem');
  }
  if (size > 4 * MAX_BITS || (safe && size > MAX_BITS)) state.refusing(`a new prime of ${size} bits`)();
  return () => {
    const made = native.primeNew(size, safe, step, rest);
    if (made === undefined) throw openssl('01800076', 'bignum routines', 'bits too small', 'BN_BITS_TOO_SMALL');
    const length = Math.ceil(size / 8);
    return arrayBufferOf(concat(new Uint8Array(Math.max(0, length - made.length)), made));
  };
}
Object.assign(state.crypto, {
  ECDH, ECDHConvertKey, DiffieHellman, DiffieHellmanGroup,
  statelessDH: (one, other) => bufferOf(shared(dataOf(one), dataOf(other))),
  ECDHBitsJob: job((open, secret) => () => arrayBufferOf(copyOf(shared(dataOf(secret), dataOf(open))))),
  RandomPrimeJob: job(newPrime),
  CheckPrimeJob: job((candidate) => { const bytes = copyOf(bytesOf(candidate)); return () => native.primeCheck(bytes); }),
});
