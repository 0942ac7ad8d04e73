//! Keys of RSA, ECDSA and Ed25519. A key has a number, and stays until the process ends.

use std::cell::RefCell;

use ed25519_dalek::{SigningKey as EdPrivate, VerifyingKey as EdPublic};
use p256::ecdsa::{SigningKey as P256Private, VerifyingKey as P256Public};
use p384::ecdsa::{SigningKey as P384Private, VerifyingKey as P384Public};
use rand_core::OsRng;
use rquickjs::{Ctx, Object, Result, Value};
use rsa::pkcs1::{
    DecodeRsaPrivateKey as _, DecodeRsaPublicKey as _, EncodeRsaPrivateKey as _, EncodeRsaPublicKey as _,
};
use rsa::pkcs8::{DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _};
use rsa::traits::{PrivateKeyParts as _, PublicKeyParts as _};
use rsa::{BigUint, Oaep, Pkcs1v15Encrypt, Pkcs1v15Sign, Pss, RsaPrivateKey, RsaPublicKey};
use signature::hazmat::{PrehashSigner as _, PrehashVerifier as _};
use signature::{Signer as _, Verifier as _};

use crate::hashing::hash_of;
use crate::values::{Region, array_of_bytes, define};

/// Largest modulus that is made, in bits. Larger ones take minutes.
const MAX_BITS: usize = 8192;

#[derive(Clone)]
enum Key {
    RsaPrivate(Box<RsaPrivateKey>),
    RsaPublic(Box<RsaPublicKey>),
    P256Private(Box<P256Private>),
    P256Public(Box<P256Public>),
    P384Private(Box<P384Private>),
    P384Public(Box<P384Public>),
    EdPrivate(Box<EdPrivate>),
    EdPublic(Box<EdPublic>),
}

/// The padding of RSA, or the format of a signature of ECDSA.
struct Form {
    /// `pkcs1`, `pss`, `oaep`; `der`, `ieee-p1363`.
    name: String,
    hash: String,
    /// Length of the salt of PSS in bytes.
    salt: usize,
}

impl Key {
    /// Reads a key in DER.
    fn read(form: &str, der: &[u8]) -> Option<Self> {
        match form {
            "pkcs8" => RsaPrivateKey::from_pkcs8_der(der)
                .map(|key| Self::RsaPrivate(Box::new(key)))
                .ok()
                .or_else(|| Some(Self::P256Private(Box::new(P256Private::from_pkcs8_der(der).ok()?))))
                .or_else(|| Some(Self::P384Private(Box::new(P384Private::from_pkcs8_der(der).ok()?))))
                .or_else(|| Some(Self::EdPrivate(Box::new(EdPrivate::from_pkcs8_der(der).ok()?)))),
            "spki" => RsaPublicKey::from_public_key_der(der)
                .map(|key| Self::RsaPublic(Box::new(key)))
                .ok()
                .or_else(|| Some(Self::P256Public(Box::new(P256Public::from_public_key_der(der).ok()?))))
                .or_else(|| Some(Self::P384Public(Box::new(P384Public::from_public_key_der(der).ok()?))))
                .or_else(|| Some(Self::EdPublic(Box::new(EdPublic::from_public_key_der(der).ok()?)))),
            "pkcs1" => Some(Self::RsaPrivate(Box::new(RsaPrivateKey::from_pkcs1_der(der).ok()?))),
            "pkcs1-public" => Some(Self::RsaPublic(Box::new(RsaPublicKey::from_pkcs1_der(der).ok()?))),
            "sec1" => p256::SecretKey::from_sec1_der(der)
                .map(|key| Self::P256Private(Box::new(key.into())))
                .ok()
                .or_else(|| Some(Self::P384Private(Box::new(p384::SecretKey::from_sec1_der(der).ok()?.into())))),
            _ => None,
        }
    }

    /// Writes the key in DER.
    fn write(&self, form: &str) -> Option<Vec<u8>> {
        Some(match (self, form) {
            (Self::RsaPrivate(key), "pkcs1") => key.to_pkcs1_der().ok()?.as_bytes().to_vec(),
            (Self::RsaPrivate(key), _) => key.to_pkcs8_der().ok()?.as_bytes().to_vec(),
            (Self::RsaPublic(key), "pkcs1") => key.to_pkcs1_der().ok()?.as_bytes().to_vec(),
            (Self::RsaPublic(key), _) => key.to_public_key_der().ok()?.as_bytes().to_vec(),
            (Self::P256Private(key), "sec1") => p256::SecretKey::from(&**key).to_sec1_der().ok()?.to_vec(),
            (Self::P256Private(key), _) => p256::SecretKey::from(&**key).to_pkcs8_der().ok()?.as_bytes().to_vec(),
            (Self::P256Public(key), _) => p256::PublicKey::from(&**key).to_public_key_der().ok()?.as_bytes().to_vec(),
            (Self::P384Private(key), "sec1") => p384::SecretKey::from(&**key).to_sec1_der().ok()?.to_vec(),
            (Self::P384Private(key), _) => p384::SecretKey::from(&**key).to_pkcs8_der().ok()?.as_bytes().to_vec(),
            (Self::P384Public(key), _) => p384::PublicKey::from(&**key).to_public_key_der().ok()?.as_bytes().to_vec(),
            // Without the public key, as OpenSSL writes it.
            (Self::EdPrivate(key), _) => {
                let bytes = ed25519_dalek::pkcs8::KeypairBytes { secret_key: key.to_bytes(), public_key: None };
                bytes.to_pkcs8_der().ok()?.as_bytes().to_vec()
            }
            (Self::EdPublic(key), _) => key.to_public_key_der().ok()?.as_bytes().to_vec(),
        })
    }

    fn generate(kind: &str, bits: usize) -> Option<Self> {
        Some(match kind {
            "rsa" if (512..=MAX_BITS).contains(&bits) => {
                Self::RsaPrivate(Box::new(RsaPrivateKey::new(&mut OsRng, bits).ok()?))
            }
            "P-256" => Self::P256Private(Box::new(P256Private::random(&mut OsRng))),
            "P-384" => Self::P384Private(Box::new(P384Private::random(&mut OsRng))),
            "ed25519" => Self::EdPrivate(Box::new(EdPrivate::generate(&mut OsRng))),
            _ => return None,
        })
    }

    fn public(&self) -> Self {
        match self {
            Self::RsaPrivate(key) => Self::RsaPublic(Box::new(key.to_public_key())),
            Self::P256Private(key) => Self::P256Public(Box::new(*key.verifying_key())),
            Self::P384Private(key) => Self::P384Public(Box::new(*key.verifying_key())),
            Self::EdPrivate(key) => Self::EdPublic(Box::new(key.verifying_key())),
            public => public.clone(),
        }
    }

    /// Returns the kind, whether the key is private, and the size in bits.
    fn describe(&self) -> (&'static str, bool, usize) {
        match self {
            Self::RsaPrivate(key) => ("rsa", true, key.n().bits()),
            Self::RsaPublic(key) => ("rsa", false, key.n().bits()),
            Self::P256Private(_) => ("P-256", true, 256),
            Self::P256Public(_) => ("P-256", false, 256),
            Self::P384Private(_) => ("P-384", true, 384),
            Self::P384Public(_) => ("P-384", false, 384),
            Self::EdPrivate(_) => ("ed25519", true, 256),
            Self::EdPublic(_) => ("ed25519", false, 256),
        }
    }

    /// Returns the numbers of a JSON Web Key: `n e d p q dp dq qi` of RSA, else `x y d`.
    fn parts(&self) -> Vec<Vec<u8>> {
        let point = |bytes: Vec<u8>| {
            let coordinates = bytes.get(1..).unwrap_or_default();
            let (x, y) = coordinates.split_at(coordinates.len() / 2);
            vec![x.to_vec(), y.to_vec()]
        };
        let with = |mut parts: Vec<Vec<u8>>, secret: Vec<u8>| {
            parts.push(secret);
            parts
        };
        match self {
            Self::RsaPublic(key) => vec![key.n().to_bytes_be(), key.e().to_bytes_be()],
            Self::RsaPrivate(key) => {
                let mut parts = vec![key.n().to_bytes_be(), key.e().to_bytes_be(), key.d().to_bytes_be()];
                parts.extend(key.primes().iter().map(BigUint::to_bytes_be));
                parts.extend([key.dp(), key.dq()].into_iter().flatten().map(BigUint::to_bytes_be));
                parts.extend(key.crt_coefficient().map(|number| number.to_bytes_be()));
                parts
            }
            Self::P256Public(key) => point(key.to_encoded_point(false).as_bytes().to_vec()),
            Self::P384Public(key) => point(key.to_encoded_point(false).as_bytes().to_vec()),
            Self::P256Private(key) => with(self.public().parts(), key.to_bytes().to_vec()),
            Self::P384Private(key) => with(self.public().parts(), key.to_bytes().to_vec()),
            Self::EdPublic(key) => vec![key.to_bytes().to_vec()],
            Self::EdPrivate(key) => vec![key.verifying_key().to_bytes().to_vec(), key.to_bytes().to_vec()],
        }
    }

    /// Makes a key of the numbers of a JSON Web Key.
    fn of_parts(kind: &str, is_private: bool, parts: &[&[u8]]) -> Option<Self> {
        let part = |at: usize| parts.get(at).copied();
        let number = |at: usize| part(at).map(BigUint::from_bytes_be);
        let joined = || Some([&[4], part(0)?, part(1)?].concat());
        Some(match (kind, is_private) {
            ("rsa", false) => Self::RsaPublic(Box::new(RsaPublicKey::new(number(0)?, number(1)?).ok()?)),
            ("rsa", true) => {
                let primes = vec![number(3)?, number(4)?];
                Self::RsaPrivate(Box::new(
                    RsaPrivateKey::from_components(number(0)?, number(1)?, number(2)?, primes).ok()?,
                ))
            }
            ("P-256", true) => Self::P256Private(Box::new(P256Private::from_slice(part(2)?).ok()?)),
            ("P-384", true) => Self::P384Private(Box::new(P384Private::from_slice(part(2)?).ok()?)),
            ("P-256", false) => Self::P256Public(Box::new(P256Public::from_sec1_bytes(&joined()?).ok()?)),
            ("P-384", false) => Self::P384Public(Box::new(P384Public::from_sec1_bytes(&joined()?).ok()?)),
            ("Ed25519", true) => Self::EdPrivate(Box::new(EdPrivate::from_bytes(&part(1)?.try_into().ok()?))),
            ("Ed25519", false) => Self::EdPublic(Box::new(EdPublic::from_bytes(&part(0)?.try_into().ok()?).ok()?)),
            _ => return None,
        })
    }

    fn sign(&self, data: &[u8], form: &Form) -> Option<Vec<u8>> {
        if let Self::EdPrivate(key) = self {
            return Some(key.sign(data).to_bytes().to_vec());
        }
        let digest = hash_of(&form.hash, data)?;
        let der = form.name == "der";
        match self {
            Self::RsaPrivate(key) if form.name == "pss" => key.sign_with_rng(&mut OsRng, pss(form)?, &digest).ok(),
            Self::RsaPrivate(key) => key.sign_with_rng(&mut OsRng, pkcs1(&form.hash)?, &digest).ok(),
            Self::P256Private(key) => {
                let made: p256::ecdsa::Signature = key.sign_prehash(&digest).ok()?;
                Some(if der { made.to_der().as_bytes().to_vec() } else { made.to_bytes().to_vec() })
            }
            Self::P384Private(key) => {
                let made: p384::ecdsa::Signature = key.sign_prehash(&digest).ok()?;
                Some(if der { made.to_der().as_bytes().to_vec() } else { made.to_bytes().to_vec() })
            }
            _ => None,
        }
    }

    fn verify(&self, data: &[u8], given: &[u8], form: &Form) -> Option<bool> {
        if let Self::EdPublic(key) = self {
            let given = ed25519_dalek::Signature::from_slice(given).ok();
            return Some(given.is_some_and(|given| key.verify(data, &given).is_ok()));
        }
        let digest = hash_of(&form.hash, data)?;
        let der = form.name == "der";
        Some(match self {
            Self::RsaPublic(key) if form.name == "pss" => key.verify(pss(form)?, &digest, given).is_ok(),
            Self::RsaPublic(key) => key.verify(pkcs1(&form.hash)?, &digest, given).is_ok(),
            Self::P256Public(key) => {
                let given = if der {
                    p256::ecdsa::Signature::from_der(given)
                } else {
                    p256::ecdsa::Signature::from_slice(given)
                };
                given.is_ok_and(|given| key.verify_prehash(&digest, &given).is_ok())
            }
            Self::P384Public(key) => {
                let given = if der {
                    p384::ecdsa::Signature::from_der(given)
                } else {
                    p384::ecdsa::Signature::from_slice(given)
                };
                given.is_ok_and(|given| key.verify_prehash(&digest, &given).is_ok())
            }
            _ => return None,
        })
    }

    fn encrypt(&self, data: &[u8], form: &Form) -> Option<Vec<u8>> {
        let Self::RsaPublic(key) = self.public() else { return None };
        match &*form.name {
            "oaep" => key.encrypt(&mut OsRng, oaep(&form.hash)?, data).ok(),
            _ => key.encrypt(&mut OsRng, Pkcs1v15Encrypt, data).ok(),
        }
    }

    fn decrypt(&self, data: &[u8], form: &Form) -> Option<Vec<u8>> {
        let Self::RsaPrivate(key) = self else { return None };
        match &*form.name {
            "oaep" => key.decrypt_blinded(&mut OsRng, oaep(&form.hash)?, data).ok(),
            _ => key.decrypt_blinded(&mut OsRng, Pkcs1v15Encrypt, data).ok(),
        }
    }
}

fn pkcs1(hash: &str) -> Option<Pkcs1v15Sign> {
    Some(match hash {
        "sha1" => Pkcs1v15Sign::new::<sha1::Sha1>(),
        "sha224" => Pkcs1v15Sign::new::<sha2::Sha224>(),
        "sha256" => Pkcs1v15Sign::new::<sha2::Sha256>(),
        "sha384" => Pkcs1v15Sign::new::<sha2::Sha384>(),
        "sha512" => Pkcs1v15Sign::new::<sha2::Sha512>(),
        _ => return None,
    })
}

fn pss(form: &Form) -> Option<Pss> {
    Some(match &*form.hash {
        "sha1" => Pss::new_with_salt::<sha1::Sha1>(form.salt),
        "sha256" => Pss::new_with_salt::<sha2::Sha256>(form.salt),
        "sha384" => Pss::new_with_salt::<sha2::Sha384>(form.salt),
        "sha512" => Pss::new_with_salt::<sha2::Sha512>(form.salt),
        _ => return None,
    })
}

fn oaep(hash: &str) -> Option<Oaep> {
    Some(match hash {
        "sha1" => Oaep::new::<sha1::Sha1>(),
        "sha256" => Oaep::new::<sha2::Sha256>(),
        "sha384" => Oaep::new::<sha2::Sha384>(),
        "sha512" => Oaep::new::<sha2::Sha512>(),
        _ => return None,
    })
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

fn optional_array<'js>(ctx: &Ctx<'js>, bytes: Option<Vec<u8>>) -> Result<Value<'js>> {
    match bytes {
        Some(bytes) => Ok(array_of_bytes(ctx, &bytes)?.into_value()),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "keyRead" => |form: String, der: Region<'js>| -> i32 { keep(Key::read(&form, der.bytes())) },
        "keyWrite" => |ctx: Ctx<'js>, id: usize, form: String| optional_array(&ctx, get(id).and_then(|key| key.write(&form))),
        "keyNew" => |kind: String, bits: usize| -> i32 { keep(Key::generate(&kind, bits)) },
        "keyPublic" => |id: usize| -> i32 { keep(get(id).map(|key| key.public())) },
        "keyDescribe" => |id: usize| {
            let (kind, is_private, bits) = get(id).map_or(("", false, 0), |key| key.describe());
            vec![kind.to_owned(), if is_private { "private" } else { "public" }.to_owned(), bits.to_string()]
        },
        "keyParts" => |ctx: Ctx<'js>, id: usize| -> Result<Vec<Value<'js>>> {
            let parts = get(id).map(|key| key.parts()).unwrap_or_default();
            parts.iter().map(|part| Ok(array_of_bytes(&ctx, part)?.into_value())).collect()
        },
        "keyOfParts" => |kind: String, is_private: bool, parts: Vec<Region<'js>>| -> i32 {
            let parts: Vec<&[u8]> = parts.iter().map(Region::bytes).collect();
            keep(Key::of_parts(&kind, is_private, &parts))
        },
        "keySign" => |ctx: Ctx<'js>, id: usize, data: Region<'js>, name: String, hash: String, salt: usize| {
            optional_array(&ctx, get(id).and_then(|key| key.sign(data.bytes(), &Form { name, hash, salt })))
        },
        "keyVerify" => |id: usize, data: Region<'js>, given: Region<'js>, name: String, hash: String, salt: usize| {
            get(id).and_then(|key| key.public().verify(data.bytes(), given.bytes(), &Form { name, hash, salt }))
        },
        "keyEncrypt" => |ctx: Ctx<'js>, id: usize, data: Region<'js>, name: String, hash: String, salt: usize| {
            optional_array(&ctx, get(id).and_then(|key| key.encrypt(data.bytes(), &Form { name, hash, salt })))
        },
        "keyDecrypt" => |ctx: Ctx<'js>, id: usize, data: Region<'js>, name: String, hash: String, salt: usize| {
            optional_array(&ctx, get(id).and_then(|key| key.decrypt(data.bytes(), &Form { name, hash, salt })))
        },
    );
    Ok(())
}
