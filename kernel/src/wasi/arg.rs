//! Arguments that lie in guest memory: numbers, paths, lists of buffers.

use std::borrow::Cow;

use super::{Fault, GuestMem, Halt};
use crate::errno::Errno;
use crate::kernel::Kernel;
use crate::transfer::{Source, Target};

/// Most buffers of one call, as Linux's `IOV_MAX`.
const MOST_BUFFERS: u32 = 1024;
/// Bytes of one entry of such a list: address and length.
const BUFFER_BYTES: u32 = 8;
/// Lists of at most this many buffers are read without allocating; programs pass one or two.
const FEW: usize = 4;
/// What is moved at a time when the engine cannot lend guest memory.
const CHUNK_BYTES: usize = 64 * 1024;

pub(super) fn put_u32(m: &mut dyn GuestMem, at: u32, value: u32) -> Result<(), Fault> {
    m.write(at, &value.to_le_bytes())
}

pub(super) fn put_u64(m: &mut dyn GuestMem, at: u32, value: u64) -> Result<(), Fault> {
    m.write(at, &value.to_le_bytes())
}

/// The `n` bytes at `offset` of a buffer of the kernel's own as a number. A wrong offset is a defect of ours and reads
/// as 0.
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    bytes.get(offset..).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b))
}

pub(super) fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    bytes.get(offset..).and_then(|b| b.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b))
}

/// `at + offset`, or a fault when that leaves the address space.
pub(super) fn address(at: u32, offset: u64) -> Result<u32, Fault> {
    u32::try_from(u64::from(at).saturating_add(offset)).map_err(|_| Fault)
}

/// Bytes that are bounded already, lent where the engine can.
pub(super) fn bytes(m: &dyn GuestMem, at: u32, len: u32) -> Result<Cow<'_, [u8]>, Fault> {
    if let Some(lent) = m.slice(at, len) {
        return Ok(Cow::Borrowed(lent));
    }
    let mut copy = vec![0; len as usize];
    m.read(at, &mut copy)?;
    Ok(Cow::Owned(copy))
}

/// A path. `NAMETOOLONG` beyond the limit and `INVAL` with a NUL byte in it.
pub(super) fn path<'m>(k: &Kernel, m: &'m dyn GuestMem, at: u32, len: u32) -> Result<Cow<'m, [u8]>, Halt> {
    if len > k.limits.path_bytes {
        return Err(Errno::Nametoolong.into());
    }
    let path = bytes(m, at, len)?;
    if path.contains(&0) {
        return Err(Errno::Inval.into());
    }
    Ok(path)
}

/// The buffers of a read or write.
pub(super) struct Buffers {
    few: [(u32, u32); FEW],
    many: Vec<(u32, u32)>,
    count: usize,
    /// Bytes of all together; fits an `i32`, as POSIX wants of a byte count.
    total: u32,
}

/// A list of buffers together with the memory that they are in.
pub(super) struct InGuest<'a> {
    pub(super) m: &'a mut dyn GuestMem,
    pub(super) list: &'a Buffers,
}

impl Buffers {
    /// `INVAL` for more than 1,024 buffers and for more bytes than a count can tell.
    pub(super) fn read(m: &dyn GuestMem, at: u32, count: u32) -> Result<Self, Halt> {
        if count > MOST_BUFFERS {
            return Err(Errno::Inval.into());
        }
        let mut list = Self { few: [(0, 0); FEW], many: Vec::new(), count: count as usize, total: 0 };
        let mut raw = [0; FEW * BUFFER_BYTES as usize];
        if let Some(raw) = raw.get_mut(..(count * BUFFER_BYTES) as usize) {
            m.read(at, raw)?;
            for (slot, raw) in list.few.iter_mut().zip(raw.chunks_exact(BUFFER_BYTES as usize)) {
                *slot = (u32_at(raw, 0), u32_at(raw, 4));
            }
        } else {
            let raw = bytes(m, at, count * BUFFER_BYTES)?;
            list.many = raw.chunks_exact(BUFFER_BYTES as usize).map(|raw| (u32_at(raw, 0), u32_at(raw, 4))).collect();
        }
        let total: u64 = list.pieces().map(|(_, len)| u64::from(len)).sum();
        list.total = i32::try_from(total).map_err(|_| Errno::Inval)?.unsigned_abs();
        Ok(list)
    }

    /// The bytes from `skip` on, at most `most` of them.
    pub(super) fn window(mut self, skip: u32, most: u32) -> Self {
        if skip == 0 && self.total <= most {
            return self;
        }
        let (mut skip, mut room) = (skip, most);
        let mut kept = Vec::new();
        for (at, len) in self.pieces() {
            let over = skip.min(len);
            skip -= over;
            let taken = (len - over).min(room);
            room -= taken;
            if taken > 0 {
                kept.push((at.saturating_add(over), taken));
            }
        }
        self.total = most - room;
        (self.many, self.count) = (kept, 0);
        self
    }

    pub(super) fn total(&self) -> u32 {
        self.total
    }

    fn pieces(&self) -> impl Iterator<Item = (u32, u32)> {
        let list = if self.many.is_empty() { self.few.get(..self.count).unwrap_or(&[]) } else { &self.many };
        list.iter().copied()
    }
}

/// Fills the buffers. An error after progress is left for the next call to find.
impl Target for InGuest<'_> {
    fn total(&self) -> u32 {
        self.list.total
    }

    fn fill(
        &mut self,
        scratch: &mut Vec<u8>,
        mut source: impl FnMut(u64, &mut [u8]) -> Result<usize, Errno>,
    ) -> Result<u32, Halt> {
        let mut done = 0;
        for (at, len) in self.list.pieces().filter(|(_, len)| *len > 0) {
            match fill_one(self.m, scratch, at, len, done, &mut source) {
                Ok(n) => {
                    done += u64::from(n);
                    if n < len {
                        break;
                    }
                }
                Err(halt) if done == 0 => return Err(halt),
                Err(_) => break,
            }
        }
        Ok(u32::try_from(done).unwrap_or(self.list.total))
    }
}

/// Empties the buffers, with the same rule for errors.
impl Source for InGuest<'_> {
    fn total(&self) -> u32 {
        self.list.total
    }

    fn drain(
        &mut self,
        scratch: &mut Vec<u8>,
        skip: u32,
        mut sink: impl FnMut(u64, &[u8]) -> Result<usize, Errno>,
    ) -> Result<u32, Halt> {
        let mut skip = skip;
        let mut done = 0;
        for (at, len) in self.list.pieces() {
            let over = skip.min(len);
            skip -= over;
            let (at, len) = (at.saturating_add(over), len - over);
            if len == 0 {
                continue;
            }
            match drain_one(self.m, scratch, at, len, done, &mut sink) {
                Ok(n) => {
                    done += u64::from(n);
                    if n < len {
                        break;
                    }
                }
                Err(halt) if done == 0 => return Err(halt),
                Err(_) => break,
            }
        }
        Ok(u32::try_from(done).unwrap_or(self.list.total))
    }
}

/// A count of bytes that were moved, which is at most what was asked for.
fn count(n: usize, asked: u32) -> u32 {
    u32::try_from(n).map_or(asked, |n| n.min(asked))
}

fn fill_one(
    m: &mut dyn GuestMem,
    scratch: &mut Vec<u8>,
    at: u32,
    len: u32,
    before: u64,
    source: &mut impl FnMut(u64, &mut [u8]) -> Result<usize, Errno>,
) -> Result<u32, Halt> {
    if let Some(dst) = m.slice_mut(at, len) {
        return Ok(count(source(before, dst)?, len));
    }
    let mut done = 0;
    while done < len {
        let piece = (len - done).min(CHUNK_BYTES as u32);
        scratch.resize(CHUNK_BYTES, 0);
        let Some(chunk) = scratch.get_mut(..piece as usize) else { break };
        let moved = source(before + u64::from(done), chunk).map_err(Halt::from).and_then(|n| {
            let n = count(n, piece);
            m.write(address(at, u64::from(done))?, chunk.get(..n as usize).unwrap_or(&[]))?;
            Ok(n)
        });
        match moved {
            Ok(n) => {
                done += n;
                if n < piece {
                    break;
                }
            }
            Err(halt) if done == 0 => return Err(halt),
            Err(_) => break,
        }
    }
    Ok(done)
}

fn drain_one(
    m: &dyn GuestMem,
    scratch: &mut Vec<u8>,
    at: u32,
    len: u32,
    before: u64,
    sink: &mut impl FnMut(u64, &[u8]) -> Result<usize, Errno>,
) -> Result<u32, Halt> {
    if let Some(src) = m.slice(at, len) {
        return Ok(count(sink(before, src)?, len));
    }
    let mut done = 0;
    while done < len {
        let piece = (len - done).min(CHUNK_BYTES as u32);
        scratch.resize(CHUNK_BYTES, 0);
        let Some(chunk) = scratch.get_mut(..piece as usize) else { break };
        let from = address(at, u64::from(done));
        let moved = from.and_then(|from| m.read(from, chunk)).map_err(Halt::from);
        match moved.and_then(|()| Ok(count(sink(before + u64::from(done), chunk)?, piece))) {
            Ok(n) => {
                done += n;
                if n < piece {
                    break;
                }
            }
            Err(halt) if done == 0 => return Err(halt),
            Err(_) => break,
        }
    }
    Ok(done)
}
