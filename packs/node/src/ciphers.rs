//! AES in the modes ECB, CBC, CTR and GCM, and scrypt. Running ciphers have numbers, which JavaScript keeps and closes.

use std::cell::RefCell;

use aes::cipher::{BlockDecrypt as _, BlockEncrypt as _, KeyInit as _};
use aes::{Aes128, Aes192, Aes256, Block};
use ghash::GHash;
use ghash::universal_hash::UniversalHash as _;
use rquickjs::{Ctx, Object, Result, Value};

use crate::values::{Region, array_of_bytes, define};

/// Bytes of a block.
const BLOCK: usize = 16;

enum Aes {
    Short(Box<Aes128>),
    Middle(Box<Aes192>),
    Long(Box<Aes256>),
}

impl Aes {
    fn new(key: &[u8]) -> Option<Self> {
        Some(match key.len() {
            16 => Self::Short(Box::new(Aes128::new_from_slice(key).ok()?)),
            24 => Self::Middle(Box::new(Aes192::new_from_slice(key).ok()?)),
            32 => Self::Long(Box::new(Aes256::new_from_slice(key).ok()?)),
            _ => return None,
        })
    }

    fn encrypt(&self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let mut block = Block::from(block);
        match self {
            Self::Short(aes) => aes.encrypt_block(&mut block),
            Self::Middle(aes) => aes.encrypt_block(&mut block),
            Self::Long(aes) => aes.encrypt_block(&mut block),
        }
        block.into()
    }

    fn decrypt(&self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let mut block = Block::from(block);
        match self {
            Self::Short(aes) => aes.decrypt_block(&mut block),
            Self::Middle(aes) => aes.decrypt_block(&mut block),
            Self::Long(aes) => aes.decrypt_block(&mut block),
        }
        block.into()
    }
}

/// A stream of encrypted counters.
struct Counter {
    next: u128,
    /// True if only the last 32 bits count, as GCM does.
    short: bool,
    stream: [u8; BLOCK],
    used: usize,
}

impl Counter {
    fn new(next: u128, short: bool) -> Self {
        Self { next, short, stream: [0; BLOCK], used: BLOCK }
    }

    fn apply(&mut self, aes: &Aes, data: &mut [u8]) {
        for byte in data {
            if self.used == BLOCK {
                self.stream = aes.encrypt(self.next.to_be_bytes());
                self.used = 0;
                self.next = if self.short { after(self.next) } else { self.next.wrapping_add(1) };
            }
            *byte ^= self.stream.get(self.used).copied().unwrap_or_default();
            self.used += 1;
        }
    }
}

/// Adds one to the last 32 bits.
fn after(counter: u128) -> u128 {
    let low = counter as u32;
    (counter & !u128::from(u32::MAX)) | u128::from(low.wrapping_add(1))
}

/// The state of GCM (NIST SP 800-38D).
struct Gcm {
    counter: Counter,
    hash: GHash,
    /// Encrypted first counter, which is added to the hash.
    mask: [u8; BLOCK],
    /// Bytes that do not fill a block of the hash yet.
    partial: Vec<u8>,
    added_len: u64,
    data_len: u64,
}

impl Gcm {
    fn new(aes: &Aes, iv: &[u8]) -> Self {
        let hash = GHash::new(&aes.encrypt([0; BLOCK]).into());
        let first = if iv.len() == 12 {
            let mut block = [0; BLOCK];
            block.iter_mut().zip(iv).for_each(|(byte, given)| *byte = *given);
            u128::from_be_bytes(block) | 1
        } else {
            let mut whole = hash.clone();
            whole.update_padded(iv);
            whole.update(&[(bits(iv.len() as u64)).to_be_bytes().into()]);
            u128::from_be_bytes(whole.finalize().into())
        };
        let mask = aes.encrypt(first.to_be_bytes());
        Self { counter: Counter::new(after(first), true), hash, mask, partial: Vec::new(), added_len: 0, data_len: 0 }
    }

    fn absorb(&mut self, data: &[u8]) {
        self.partial.extend_from_slice(data);
        let whole = self.partial.len() / BLOCK * BLOCK;
        let rest = self.partial.split_off(whole);
        self.hash.update_padded(&self.partial);
        self.partial = rest;
    }

    fn flush(&mut self) {
        self.hash.update_padded(&self.partial);
        self.partial.clear();
    }

    fn add(&mut self, data: &[u8]) {
        self.added_len += data.len() as u64;
        self.absorb(data);
    }

    fn run(&mut self, aes: &Aes, encrypts: bool, data: &[u8]) -> Vec<u8> {
        if self.data_len == 0 {
            self.flush();
        }
        self.data_len += data.len() as u64;
        let mut out = data.to_vec();
        self.counter.apply(aes, &mut out);
        self.absorb(if encrypts { &out } else { data });
        out
    }

    fn tag(&self) -> [u8; BLOCK] {
        let mut hash = self.hash.clone();
        hash.update_padded(&self.partial);
        hash.update(&[(bits(self.added_len) << 64 | bits(self.data_len)).to_be_bytes().into()]);
        let mut tag: [u8; BLOCK] = hash.finalize().into();
        tag.iter_mut().zip(self.mask).for_each(|(byte, mask)| *byte ^= mask);
        tag
    }
}

fn bits(bytes: u64) -> u128 {
    u128::from(bytes) * 8
}

enum Mode {
    Ecb,
    /// The last block of encrypted data.
    Cbc([u8; BLOCK]),
    Ctr(Counter),
    Gcm(Box<Gcm>),
}

struct Cipher {
    aes: Aes,
    mode: Mode,
    encrypts: bool,
    pads: bool,
    /// Bytes that do not fill a block yet. Decryption keeps the last block, which has the padding.
    rest: Vec<u8>,
}

/// Reasons that a cipher cannot end.
const WRONG_LENGTH: i32 = -1;
const WRONG_PADDING: i32 = -2;

impl Cipher {
    fn new(mode: &str, key: &[u8], iv: &[u8], encrypts: bool) -> Option<Self> {
        let aes = Aes::new(key)?;
        let block = || <[u8; BLOCK]>::try_from(iv).ok();
        let mode = match mode {
            "ecb" => Mode::Ecb,
            "cbc" => Mode::Cbc(block()?),
            "ctr" => Mode::Ctr(Counter::new(u128::from_be_bytes(block()?), false)),
            "gcm" => Mode::Gcm(Box::new(Gcm::new(&aes, iv))),
            _ => return None,
        };
        Some(Self { aes, mode, encrypts, pads: true, rest: Vec::new() })
    }

    fn block(&mut self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let xor = |one: [u8; BLOCK], other: [u8; BLOCK]| {
            (u128::from_be_bytes(one) ^ u128::from_be_bytes(other)).to_be_bytes()
        };
        match (&mut self.mode, self.encrypts) {
            (Mode::Cbc(last), true) => {
                *last = self.aes.encrypt(xor(block, *last));
                *last
            }
            (Mode::Cbc(last), false) => xor(self.aes.decrypt(block), core::mem::replace(last, block)),
            (_, true) => self.aes.encrypt(block),
            (_, false) => self.aes.decrypt(block),
        }
    }

    fn update(&mut self, data: &[u8]) -> Vec<u8> {
        match &mut self.mode {
            Mode::Ctr(counter) => {
                let mut out = data.to_vec();
                counter.apply(&self.aes, &mut out);
                return out;
            }
            Mode::Gcm(gcm) => return gcm.run(&self.aes, self.encrypts, data),
            Mode::Ecb | Mode::Cbc(_) => self.rest.extend_from_slice(data),
        }
        let keeps_last = !self.encrypts && self.pads && self.rest.len().is_multiple_of(BLOCK);
        let count = (self.rest.len() / BLOCK).saturating_sub(usize::from(keeps_last));
        let rest = self.rest.split_off(count * BLOCK);
        let ready = core::mem::replace(&mut self.rest, rest);
        let (blocks, _) = ready.as_chunks::<BLOCK>();
        blocks.iter().flat_map(|block| self.block(*block)).collect()
    }

    fn finish(&mut self) -> core::result::Result<Vec<u8>, i32> {
        if matches!(self.mode, Mode::Ctr(_) | Mode::Gcm(_)) {
            return Ok(Vec::new());
        }
        let mut rest = core::mem::take(&mut self.rest);
        if self.encrypts && self.pads {
            let pad = BLOCK - rest.len() % BLOCK;
            rest.resize(rest.len() + pad, pad as u8);
        }
        if rest.is_empty() && !self.pads {
            return Ok(rest);
        }
        let block = <[u8; BLOCK]>::try_from(rest).map_err(|_| WRONG_LENGTH)?;
        let mut out = self.block(block).to_vec();
        if !self.encrypts && self.pads {
            let pad = out.last().copied().map_or(0, usize::from);
            let start = BLOCK.checked_sub(pad).filter(|start| *start < BLOCK).ok_or(WRONG_PADDING)?;
            if out.get(start..).is_none_or(|tail| tail.iter().any(|byte| usize::from(*byte) != pad)) {
                return Err(WRONG_PADDING);
            }
            out.truncate(start);
        }
        Ok(out)
    }
}

thread_local! {
    static RUNNING: RefCell<Vec<Option<Cipher>>> = const { RefCell::new(Vec::new()) };
}

fn with<T>(id: usize, work: impl FnOnce(&mut Cipher) -> T) -> Option<T> {
    RUNNING.with_borrow_mut(|all| all.get_mut(id).and_then(Option::as_mut).map(work))
}

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "cipherNew" => |mode: String, key: Region<'js>, iv: Region<'js>, encrypts: bool| -> i32 {
            Cipher::new(&mode, key.bytes(), iv.bytes(), encrypts).map_or(-1, keep)
        },
        "cipherClose" => |id: usize| RUNNING.with_borrow_mut(|all| all.get_mut(id).map(|slot| *slot = None)).is_some(),
        "cipherPads" => |id: usize, pads: bool| with(id, |cipher| cipher.pads = pads).is_some(),
        "cipherAdd" => |id: usize, data: Region<'js>| {
            with(id, |cipher| if let Mode::Gcm(gcm) = &mut cipher.mode { gcm.add(data.bytes()) }).is_some()
        },
        "cipherUpdate" => |ctx: Ctx<'js>, id: usize, data: Region<'js>| {
            array_of_bytes(&ctx, &with(id, |cipher| cipher.update(data.bytes())).unwrap_or_default())
        },
        "cipherFinal" => |ctx: Ctx<'js>, id: usize| -> Result<Value<'js>> {
            match with(id, Cipher::finish).unwrap_or(Err(WRONG_LENGTH)) {
                Ok(bytes) => Ok(array_of_bytes(&ctx, &bytes)?.into_value()),
                Err(code) => Ok(Value::new_int(ctx, code)),
            }
        },
        "cipherTag" => |ctx: Ctx<'js>, id: usize| {
            let tag = with(id, |cipher| if let Mode::Gcm(gcm) = &cipher.mode { Some(gcm.tag()) } else { None });
            array_of_bytes(&ctx, &tag.flatten().unwrap_or_default())
        },
        "scrypt" => |ctx: Ctx<'js>, password: Region<'js>, salt: Region<'js>, rounds: u8, size: u32, lanes: u32, len: usize| -> Result<Value<'js>> {
            let mut key = vec![0; len];
            let params = scrypt::Params::new(rounds, size, lanes, scrypt::Params::RECOMMENDED_LEN);
            let made = params.ok().and_then(|params| scrypt::scrypt(password.bytes(), salt.bytes(), &params, &mut key).ok());
            if made.is_none() && len > 0 { return Ok(Value::new_undefined(ctx)); }
            Ok(array_of_bytes(&ctx, &key)?.into_value())
        },
    );
    Ok(())
}

/// Keeps a running cipher. Returns its number.
fn keep(cipher: Cipher) -> i32 {
    RUNNING.with_borrow_mut(|all| {
        let free = all.iter().position(Option::is_none).unwrap_or(all.len());
        match all.get_mut(free) {
            Some(slot) => *slot = Some(cipher),
            None => all.push(Some(cipher)),
        }
        i32::try_from(free).unwrap_or(-1)
    })
}
