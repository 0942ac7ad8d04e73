//! Hashes and HMAC. Running hashes have numbers, which JavaScript keeps.

use std::cell::RefCell;

use digest::{DynDigest, ExtendableOutput as _, Update as _};
use rquickjs::{Ctx, Object, Result, Value};
use sha3::{Shake128, Shake256};

use crate::values::{Region, array_of_bytes, define};

/// Data that is hashed.
enum State {
    Fixed(Box<dyn DynDigest>),
    /// Hashes whose length is chosen, with that length in bytes.
    Shake128(Shake128, usize),
    Shake256(Shake256, usize),
}

impl State {
    fn update(&mut self, data: &[u8]) {
        match self {
            Self::Fixed(hash) => hash.update(data),
            Self::Shake128(hash, _) => hash.update(data),
            Self::Shake256(hash, _) => hash.update(data),
        }
    }

    fn copy(&self) -> Self {
        match self {
            Self::Fixed(hash) => Self::Fixed(hash.box_clone()),
            Self::Shake128(hash, len) => Self::Shake128(hash.clone(), *len),
            Self::Shake256(hash, len) => Self::Shake256(hash.clone(), *len),
        }
    }

    fn finish(self) -> Vec<u8> {
        match self {
            Self::Fixed(hash) => hash.finalize().to_vec(),
            Self::Shake128(hash, len) => read(hash.finalize_xof(), len),
            Self::Shake256(hash, len) => read(hash.finalize_xof(), len),
        }
    }
}

fn read(mut reader: impl digest::XofReader, len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    reader.read(&mut out);
    out
}

/// A running hash.
struct Running {
    inner: State,
    /// For HMAC: the outer hash, which has the key already.
    outer: Option<Box<dyn DynDigest>>,
}

thread_local! {
    static RUNNING: RefCell<Vec<Option<Running>>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "hashNew" => |name: String, len: i32| -> i32 {
            start(&name, usize::try_from(len).ok()).map_or(-1, |inner| keep(Running { inner, outer: None }))
        },
        "hashLength" => |id: usize, wanted: usize| {
            RUNNING.with_borrow_mut(|all| {
                if let Some(Some(Running { inner: State::Shake128(_, len) | State::Shake256(_, len), .. })) = all.get_mut(id) {
                    *len = wanted;
                }
            });
        },
        "hmacNew" => |name: String, key: Region<'js>| -> i32 { keyed(&name, key.bytes()).map_or(-1, keep) },
        "hashUpdate" => |id: usize, data: Region<'js>| {
            RUNNING.with_borrow_mut(|all| all.get_mut(id).and_then(Option::as_mut).map(|running| running.inner.update(data.bytes())));
        },
        "hashCopy" => |id: usize| -> i32 {
            let copy = RUNNING.with_borrow(|all| {
                let running = all.get(id)?.as_ref()?;
                Some(Running { inner: running.inner.copy(), outer: running.outer.as_ref().map(|outer| outer.box_clone()) })
            });
            copy.map_or(-1, keep)
        },
        "hashDigest" => |ctx: Ctx<'js>, id: usize| digest(&ctx, id),
        "pbkdf2" => |ctx: Ctx<'js>, name: String, password: Region<'js>, salt: Region<'js>, rounds: u32, len: usize| {
            derived(&ctx, &name, password.bytes(), salt.bytes(), rounds, len)
        },
    );
    Ok(())
}

/// Starts a hash. Hashes whose length is chosen have `len` bytes, or half of their capacity.
fn start(name: &str, len: Option<usize>) -> Option<State> {
    Some(match name {
        "shake128" => State::Shake128(Shake128::default(), len.unwrap_or(16)),
        "shake256" => State::Shake256(Shake256::default(), len.unwrap_or(32)),
        _ => State::Fixed(digest_of(name)?),
    })
}

/// Returns a new hash.
pub(crate) fn digest_of(name: &str) -> Option<Box<dyn DynDigest + Send + Sync>> {
    Some(match name {
        "blake2b512" => Box::new(blake2::Blake2b512::default()),
        "blake2s256" => Box::new(blake2::Blake2s256::default()),
        "md5" => Box::new(md5::Md5::default()),
        "ripemd160" => Box::new(ripemd::Ripemd160::default()),
        "sha1" => Box::new(sha1::Sha1::default()),
        "sha224" => Box::new(sha2::Sha224::default()),
        "sha256" => Box::new(sha2::Sha256::default()),
        "sha384" => Box::new(sha2::Sha384::default()),
        "sha512" => Box::new(sha2::Sha512::default()),
        "sha512-224" => Box::new(sha2::Sha512_224::default()),
        "sha512-256" => Box::new(sha2::Sha512_256::default()),
        "sha3-224" => Box::new(sha3::Sha3_224::default()),
        "sha3-256" => Box::new(sha3::Sha3_256::default()),
        "sha3-384" => Box::new(sha3::Sha3_384::default()),
        "sha3-512" => Box::new(sha3::Sha3_512::default()),
        _ => return None,
    })
}

/// Returns the hash of data, or nothing for an unknown hash.
pub(crate) fn hash_of(name: &str, data: &[u8]) -> Option<Vec<u8>> {
    let mut hash = digest_of(name)?;
    DynDigest::update(&mut *hash, data);
    Some(hash.finalize().to_vec())
}

/// Returns the size of the blocks of a hash in bytes.
fn block_of(name: &str) -> usize {
    match name {
        "sha384" | "sha512" | "sha512-224" | "sha512-256" | "blake2b512" => 128,
        "sha3-224" => 144,
        "sha3-256" => 136,
        "sha3-384" => 104,
        "sha3-512" => 72,
        _ => 64,
    }
}

/// Returns the object identifier of a hash, as DER has it.
pub(crate) fn identifier_of(name: &str) -> Option<&'static [u8]> {
    Some(match name {
        "md5" => &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 5],
        "ripemd160" => &[0x2b, 0x24, 3, 2, 1],
        "sha1" => &[0x2b, 0x0e, 3, 2, 0x1a],
        "sha256" => &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1],
        "sha384" => &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 2],
        "sha512" => &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3],
        "sha224" => &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 4],
        "sha512-224" => &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 5],
        "sha512-256" => &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 6],
        "sha3-224" => &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 7],
        "sha3-256" => &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 8],
        "sha3-384" => &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 9],
        "sha3-512" => &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 10],
        _ => return None,
    })
}

/// Starts HMAC (RFC 2104).
fn keyed(name: &str, key: &[u8]) -> Option<Running> {
    let mut inner: Box<dyn DynDigest> = digest_of(name)?;
    let block = block_of(name);
    let mut padded = if key.len() > block {
        let mut short = inner.box_clone();
        short.update(key);
        short.finalize().to_vec()
    } else {
        key.to_vec()
    };
    padded.resize(block, 0);
    let mut outer = inner.box_clone();
    inner.update(&padded.iter().map(|byte| byte ^ 0x36).collect::<Vec<_>>());
    outer.update(&padded.iter().map(|byte| byte ^ 0x5c).collect::<Vec<_>>());
    Some(Running { inner: State::Fixed(inner), outer: Some(outer) })
}

impl Running {
    fn finish(self) -> Vec<u8> {
        let inner = self.inner.finish();
        match self.outer {
            None => inner,
            Some(mut outer) => {
                outer.update(&inner);
                outer.finalize().to_vec()
            }
        }
    }
}

/// Keeps a running hash. Returns its number.
fn keep(running: Running) -> i32 {
    RUNNING.with_borrow_mut(|all| {
        let free = all.iter().position(Option::is_none).unwrap_or(all.len());
        match all.get_mut(free) {
            Some(slot) => *slot = Some(running),
            None => all.push(Some(running)),
        }
        i32::try_from(free).unwrap_or(-1)
    })
}

fn digest<'js>(ctx: &Ctx<'js>, id: usize) -> Result<Value<'js>> {
    let running = RUNNING.with_borrow_mut(|all| all.get_mut(id).and_then(Option::take));
    Ok(array_of_bytes(ctx, &running.map(Running::finish).unwrap_or_default())?.into_value())
}

/// PBKDF2 (RFC 8018). Nothing for an unknown hash.
fn derived<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    password: &[u8],
    salt: &[u8],
    rounds: u32,
    len: usize,
) -> Result<Value<'js>> {
    let mut key: Vec<u8> = Vec::new();
    let mut number = 1_u32;
    let Some(start) = keyed(name, password) else { return Ok(Value::new_undefined(ctx.clone())) };
    let hash = |parts: &[&[u8]]| {
        let mut running =
            Running { inner: start.inner.copy(), outer: start.outer.as_ref().map(|outer| outer.box_clone()) };
        parts.iter().for_each(|part| running.inner.update(part));
        running.finish()
    };
    while key.len() < len {
        let mut last = hash(&[salt, &number.to_be_bytes()]);
        let mut block = last.clone();
        for _ in 1..rounds {
            last = hash(&[&last]);
            block.iter_mut().zip(&last).for_each(|(byte, other)| *byte ^= other);
        }
        key.extend_from_slice(&block);
        number += 1;
    }
    key.truncate(len);
    Ok(array_of_bytes(ctx, &key)?.into_value())
}
