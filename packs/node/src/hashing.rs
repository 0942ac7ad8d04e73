//! Hashes and HMAC. Running hashes have numbers, which JavaScript keeps.

use std::cell::RefCell;

use digest::DynDigest;
use rquickjs::{Ctx, Object, Result, Value};

use crate::values::{Region, array_of_bytes, define};

/// A running hash.
struct Running {
    inner: Box<dyn DynDigest>,
    /// For HMAC: the outer hash, which has the key already.
    outer: Option<Box<dyn DynDigest>>,
}

thread_local! {
    static RUNNING: RefCell<Vec<Option<Running>>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "hashNames" => || NAMES.to_vec(),
        "hashNew" => |name: String| -> i32 { hash(&name).map_or(-1, |(inner, _)| keep(Running { inner, outer: None })) },
        "hmacNew" => |name: String, key: Region<'js>| -> i32 { keyed(&name, key.bytes()).map_or(-1, keep) },
        "hashUpdate" => |id: usize, data: Region<'js>| {
            RUNNING.with_borrow_mut(|all| all.get_mut(id).and_then(Option::as_mut).map(|running| running.inner.update(data.bytes())));
        },
        "hashCopy" => |id: usize| -> i32 {
            let copy = RUNNING.with_borrow(|all| {
                let running = all.get(id)?.as_ref()?;
                Some(Running { inner: running.inner.box_clone(), outer: running.outer.as_ref().map(|outer| outer.box_clone()) })
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

const NAMES: [&str; 14] = [
    "md5",
    "ripemd160",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sha512-224",
    "sha512-256",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "rmd160",
];

/// Returns a new hash and the size of its blocks in bytes.
fn hash(name: &str) -> Option<(Box<dyn DynDigest>, usize)> {
    Some(match name {
        "md5" => (Box::new(md5::Md5::default()), 64),
        "ripemd160" | "rmd160" => (Box::new(ripemd::Ripemd160::default()), 64),
        "sha1" => (Box::new(sha1::Sha1::default()), 64),
        "sha224" => (Box::new(sha2::Sha224::default()), 64),
        "sha256" => (Box::new(sha2::Sha256::default()), 64),
        "sha384" => (Box::new(sha2::Sha384::default()), 128),
        "sha512" => (Box::new(sha2::Sha512::default()), 128),
        "sha512-224" => (Box::new(sha2::Sha512_224::default()), 128),
        "sha512-256" => (Box::new(sha2::Sha512_256::default()), 128),
        "sha3-224" => (Box::new(sha3::Sha3_224::default()), 144),
        "sha3-256" => (Box::new(sha3::Sha3_256::default()), 136),
        "sha3-384" => (Box::new(sha3::Sha3_384::default()), 104),
        "sha3-512" => (Box::new(sha3::Sha3_512::default()), 72),
        _ => return None,
    })
}

/// Returns the hash of data, or nothing for an unknown hash.
pub(crate) fn hash_of(name: &str, data: &[u8]) -> Option<Vec<u8>> {
    let (mut hash, _) = hash(name)?;
    hash.update(data);
    Some(hash.finalize().to_vec())
}

/// Starts HMAC (RFC 2104).
fn keyed(name: &str, key: &[u8]) -> Option<Running> {
    let (mut inner, block) = hash(name)?;
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
    Some(Running { inner, outer: Some(outer) })
}

impl Running {
    fn finish(self) -> Vec<u8> {
        let inner = self.inner.finalize();
        match self.outer {
            None => inner.to_vec(),
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
            Running { inner: start.inner.box_clone(), outer: start.outer.as_ref().map(|outer| outer.box_clone()) };
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
