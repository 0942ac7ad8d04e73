//! RSA: keys, signatures and encryption. A key has a number, and stays until the process ends.

use std::cell::RefCell;

use digest::DynDigest;
use rand_core::{OsRng, RngCore as _};
use rquickjs::{Ctx, Object, Result, Value};
use rsa::pkcs1::{
    DecodeRsaPrivateKey as _, DecodeRsaPublicKey as _, EncodeRsaPrivateKey as _, EncodeRsaPublicKey as _,
};
use rsa::traits::{PrivateKeyParts as _, PublicKeyParts as _};
use rsa::{BigUint, Oaep, Pkcs1v15Encrypt, Pkcs1v15Sign, Pss, RsaPrivateKey, RsaPublicKey};

use crate::hashing::{digest_of, hash_of, identifier_of};
use crate::values::{Region, array_of_bytes, define, optional_array};

/// Largest modulus that is made, in bits. Larger ones take minutes.
const MAX_BITS: usize = 8192;

#[derive(Clone)]
enum Key {
    Private(Box<RsaPrivateKey>),
    Public(Box<RsaPublicKey>),
}

/// Padding of a signature, and the hash of its data.
struct Form<'a> {
    /// `pkcs1`, `pss` or `oaep`; `none`.
    padding: &'a str,
    hash: &'a str,
}

impl Key {
    fn public(&self) -> RsaPublicKey {
        match self {
            Self::Private(key) => key.to_public_key(),
            Self::Public(key) => (**key).clone(),
        }
    }

    /// Returns the numbers of a JSON Web Key: `n e d p q dp dq qi`.
    fn parts(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Public(key) => vec![key.n().to_bytes_be(), key.e().to_bytes_be()],
            Self::Private(key) => {
                let mut parts = vec![key.n().to_bytes_be(), key.e().to_bytes_be(), key.d().to_bytes_be()];
                parts.extend(key.primes().iter().map(BigUint::to_bytes_be));
                parts.extend([key.dp(), key.dq()].into_iter().flatten().map(BigUint::to_bytes_be));
                parts.extend(key.crt_coefficient().map(|number| number.to_bytes_be()));
                parts
            }
        }
    }

    fn of_parts(is_private: bool, parts: &[&[u8]]) -> Option<Self> {
        let number = |at: usize| parts.get(at).copied().map(BigUint::from_bytes_be);
        if !is_private {
            return Some(Self::Public(Box::new(RsaPublicKey::new(number(0)?, number(1)?).ok()?)));
        }
        let primes = vec![number(3)?, number(4)?];
        let key = RsaPrivateKey::from_components(number(0)?, number(1)?, number(2)?, primes).ok()?;
        Some(Self::Private(Box::new(key)))
    }

    fn sign(&self, digest: &[u8], form: &Form<'_>, salt: usize) -> Option<Vec<u8>> {
        let Self::Private(key) = self else { return None };
        match form.padding {
            "pss" => key.sign_with_rng(&mut OsRng, pss(form.hash, salt)?, digest).ok(),
            _ => key.sign_with_rng(&mut OsRng, pkcs1(form.hash)?, digest).ok(),
        }
    }

    /// Verifies a signature. Without a length of the salt it is read from the signature.
    fn verify(&self, digest: &[u8], given: &[u8], form: &Form<'_>, salt: Option<usize>) -> Option<bool> {
        let key = self.public();
        if form.padding != "pss" {
            return Some(key.verify(pkcs1(form.hash)?, digest, given).is_ok());
        }
        let Some(salt) = salt.or_else(|| salt_of(&key, given, form.hash)) else { return Some(false) };
        Some(key.verify(pss(form.hash, salt)?, digest, given).is_ok())
    }

    fn crypt(&self, operation: &str, data: &[u8], form: &Form<'_>, label: &[u8]) -> Option<Vec<u8>> {
        let public = self.public();
        match (operation, form.padding, self) {
            ("publicEncrypt", "none", _) => raw(data, public.e(), &public),
            ("publicEncrypt", "oaep", _) if label.is_empty() => public.encrypt(&mut OsRng, oaep(form.hash)?, data).ok(),
            ("publicEncrypt", "oaep", _) => raw(&labelled(data, label, form.hash, public.size())?, public.e(), &public),
            ("publicEncrypt", ..) => public.encrypt(&mut OsRng, Pkcs1v15Encrypt, data).ok(),
            ("publicDecrypt", "none", _) => raw(data, public.e(), &public),
            ("publicDecrypt", ..) => unpadded(&raw(data, public.e(), &public)?),
            ("privateEncrypt" | "privateDecrypt", "none", Self::Private(key)) => raw(data, key.d(), &public),
            ("privateEncrypt", _, Self::Private(key)) => {
                key.sign_with_rng(&mut OsRng, Pkcs1v15Sign::new_unprefixed(), data).ok()
            }
            ("privateDecrypt", "oaep", Self::Private(key)) if label.is_empty() => {
                key.decrypt_blinded(&mut OsRng, oaep(form.hash)?, data).ok()
            }
            ("privateDecrypt", "oaep", Self::Private(key)) => {
                unlabelled(raw(data, key.d(), &public)?, label, form.hash)
            }
            ("privateDecrypt", _, Self::Private(key)) => key.decrypt_blinded(&mut OsRng, Pkcs1v15Encrypt, data).ok(),
            _ => None,
        }
    }
}

/// Computes a power of data, with the length of the modulus.
fn raw(data: &[u8], exponent: &BigUint, key: &RsaPublicKey) -> Option<Vec<u8>> {
    let number = BigUint::from_bytes_be(data);
    if number >= *key.n() {
        return None;
    }
    let bytes = number.modpow(exponent, key.n()).to_bytes_be();
    let mut out = vec![0; key.size().saturating_sub(bytes.len())];
    out.extend_from_slice(&bytes);
    Some(out)
}

/// Removes the padding of block type 1 (RFC 8017, section 9.2).
fn unpadded(block: &[u8]) -> Option<Vec<u8>> {
    let rest = block.strip_prefix(&[0, 1])?;
    let fill = rest.iter().position(|byte| *byte != 0xff)?;
    if fill < 8 || rest.get(fill) != Some(&0) {
        return None;
    }
    rest.get(fill + 1..).map(<[u8]>::to_vec)
}

/// Reads the length of the salt from a signature of PSS (RFC 8017, section 9.1.2).
fn salt_of(key: &RsaPublicKey, given: &[u8], hash: &str) -> Option<usize> {
    let mut digest = digest_of(hash)?;
    let block = raw(given, key.e(), key)?;
    let bits = key.n().bits().checked_sub(1)?;
    let block = block.get(block.len().checked_sub(bits.div_ceil(8))?..)?;
    let (data, end) = block.split_at_checked(block.len().checked_sub(digest.output_size() + 1)?)?;
    let seed = end.get(..digest.output_size())?;
    let mut data = data.to_vec();
    mask(&mut data, seed, &mut *digest);
    if let Some(first) = data.first_mut() {
        *first &= 0xff >> (block.len() * 8 - bits);
    }
    let start = data.iter().position(|byte| *byte != 0)?;
    (data.get(start) == Some(&1)).then(|| data.len() - start - 1)
}

/// Adds the mask MGF1 of a seed to data.
fn mask(data: &mut [u8], seed: &[u8], digest: &mut dyn DynDigest) {
    for (number, block) in (0_u32..).zip(data.chunks_mut(digest.output_size().max(1))) {
        digest.update(seed);
        digest.update(&number.to_be_bytes());
        let stream = digest.finalize_reset();
        block.iter_mut().zip(&*stream).for_each(|(byte, mask)| *byte ^= mask);
    }
}

fn pkcs1(hash: &str) -> Option<Pkcs1v15Sign> {
    let len = digest_of(hash)?.output_size();
    Some(Pkcs1v15Sign { hash_len: Some(len), prefix: prefix(identifier_of(hash)?, len).into() })
}

/// Returns the bytes in front of a hash in a signature: its algorithm and its length in DER.
fn prefix(identifier: &[u8], len: usize) -> Vec<u8> {
    let algorithm = identifier.len() + 4;
    let mut out = vec![0x30, (algorithm + 4 + len) as u8, 0x30, algorithm as u8, 6, identifier.len() as u8];
    out.extend_from_slice(identifier);
    out.extend_from_slice(&[5, 0, 4, len as u8]);
    out
}

fn pss(hash: &str, salt_len: usize) -> Option<Pss> {
    Some(Pss { blinded: true, digest: digest_of(hash)?, salt_len })
}

fn oaep(hash: &str) -> Option<Oaep> {
    Some(Oaep { digest: digest_of(hash)?, mgf_digest: digest_of(hash)?, label: None })
}

/// Pads data by OAEP with a label (RFC 8017, section 7.1.1). The library accepts only labels that are text.
fn labelled(data: &[u8], label: &[u8], hash: &str, size: usize) -> Option<Vec<u8>> {
    let mut digest = digest_of(hash)?;
    let mut block = hash_of(hash, label)?;
    block.resize(size.checked_sub(data.len() + digest.output_size() + 2)?, 0);
    if block.len() < digest.output_size() {
        return None;
    }
    block.push(1);
    block.extend_from_slice(data);
    let mut seed = vec![0; digest.output_size()];
    OsRng.fill_bytes(&mut seed);
    mask(&mut block, &seed, &mut *digest);
    mask(&mut seed, &block, &mut *digest);
    Some([&[0], &*seed, &*block].concat())
}

/// Removes that padding.
fn unlabelled(mut padded: Vec<u8>, label: &[u8], hash: &str) -> Option<Vec<u8>> {
    let mut digest = digest_of(hash)?;
    let len = digest.output_size();
    let (first, rest) = padded.split_first_mut()?;
    let (seed, block) = rest.split_at_mut_checked(len)?;
    mask(seed, block, &mut *digest);
    mask(block, seed, &mut *digest);
    let data = block.strip_prefix(&*hash_of(hash, label)?)?;
    let start = data.iter().position(|byte| *byte != 0)?;
    if *first != 0 || data.get(start) != Some(&1) {
        return None;
    }
    data.get(start + 1..).map(<[u8]>::to_vec)
}

thread_local! {
    static KEYS: RefCell<Vec<Key>> = const { RefCell::new(Vec::new()) };
}

fn get(id: usize) -> Option<Key> {
    KEYS.with_borrow(|all| all.get(id).cloned())
}

/// Keeps a key. Returns its number, or -1 without a key.
fn keep(key: Option<Key>) -> i32 {
    let Some(key) = key else { return -1 };
    KEYS.with_borrow_mut(|all| {
        all.push(key);
        i32::try_from(all.len() - 1).unwrap_or(-1)
    })
}

fn read(is_private: bool, der: &[u8]) -> Option<Key> {
    if is_private {
        return Some(Key::Private(Box::new(RsaPrivateKey::from_pkcs1_der(der).ok()?)));
    }
    Some(Key::Public(Box::new(RsaPublicKey::from_pkcs1_der(der).ok()?)))
}

fn write(key: &Key) -> Option<Vec<u8>> {
    Some(match key {
        Key::Private(key) => key.to_pkcs1_der().ok()?.as_bytes().to_vec(),
        Key::Public(key) => key.to_pkcs1_der().ok()?.as_bytes().to_vec(),
    })
}

fn generate(bits: usize, exponent: u32) -> Option<Key> {
    if !(512..=MAX_BITS).contains(&bits) {
        return None;
    }
    let key = RsaPrivateKey::new_with_exp(&mut OsRng, bits, &BigUint::from(exponent)).ok()?;
    Some(Key::Private(Box::new(key)))
}

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "rsaRead" => |is_private: bool, der: Region<'js>| -> i32 { keep(read(is_private, der.bytes())) },
        "rsaWrite" => |ctx: Ctx<'js>, id: usize| optional_array(&ctx, get(id).and_then(|key| write(&key))),
        "rsaNew" => |bits: usize, exponent: u32| -> i32 { keep(generate(bits, exponent)) },
        "rsaPublic" => |id: usize| -> i32 { keep(get(id).map(|key| Key::Public(Box::new(key.public())))) },
        "rsaBits" => |id: usize| get(id).map_or(0, |key| key.public().n().bits()),
        "rsaParts" => |ctx: Ctx<'js>, id: usize| -> Result<Vec<Value<'js>>> {
            let parts = get(id).map(|key| key.parts()).unwrap_or_default();
            parts.iter().map(|part| Ok(array_of_bytes(&ctx, part)?.into_value())).collect()
        },
        "rsaOfParts" => |is_private: bool, parts: Vec<Region<'js>>| -> i32 {
            let parts: Vec<&[u8]> = parts.iter().map(Region::bytes).collect();
            keep(Key::of_parts(is_private, &parts))
        },
        "rsaSign" => |ctx: Ctx<'js>, id: usize, digest: Region<'js>, padding: String, hash: String, salt: usize| {
            let form = Form { padding: &padding, hash: &hash };
            optional_array(&ctx, get(id).and_then(|key| key.sign(digest.bytes(), &form, salt)))
        },
        "rsaVerify" => |id: usize, digest: Region<'js>, given: Region<'js>, padding: String, hash: String, salt: i32| {
            let form = Form { padding: &padding, hash: &hash };
            get(id).and_then(|key| key.verify(digest.bytes(), given.bytes(), &form, usize::try_from(salt).ok()))
        },
        "rsaCrypt" => |ctx: Ctx<'js>, operation: String, id: usize, data: Region<'js>, padding: String, hash: String, label: Region<'js>| {
            let form = Form { padding: &padding, hash: &hash };
            optional_array(&ctx, get(id).and_then(|key| key.crypt(&operation, data.bytes(), &form, label.bytes())))
        },
    );
    Ok(())
}
