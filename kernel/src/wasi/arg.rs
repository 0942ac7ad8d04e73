//! Arguments in guest memory: numbers, paths, lists of buffers.

use std::borrow::Cow;

use crate::errno::Errno;
use crate::guest_memory::{GuestMemory, MemoryFault};
use crate::kernel::Kernel;
use crate::syscall::SyscallError;
use crate::transfer::{Source, Target};

/// Maximum buffers of one call, as Linux's `IOV_MAX`.
const MAX_BUFFERS: u32 = 1024;
/// Bytes of one entry of such a list: address and length.
const BUFFER_BYTES: u32 = 8;
/// Lists of at most this many buffers are read without allocating; programs pass one or two.
const INLINE_BUFFERS: usize = 4;
/// Bytes copied at a time if the engine does not provide slices of guest memory.
const CHUNK_BYTES: usize = 64 * 1024;

pub(super) fn put_u32(m: &mut dyn GuestMemory, at: u32, value: u32) -> Result<(), MemoryFault> {
    m.write(at, &value.to_le_bytes())
}

pub(super) fn put_u64(m: &mut dyn GuestMemory, at: u32, value: u64) -> Result<(), MemoryFault> {
    m.write(at, &value.to_le_bytes())
}

/// Reads a number at `offset` of a kernel buffer. A wrong offset is a kernel bug and reads as 0.
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    bytes.get(offset..).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b))
}

pub(super) fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    bytes.get(offset..).and_then(|b| b.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b))
}

/// Returns `at + offset`, or a fault if that leaves the address space.
pub(super) fn address(at: u32, offset: u64) -> Result<u32, MemoryFault> {
    u32::try_from(u64::from(at).saturating_add(offset)).map_err(|_| MemoryFault)
}

/// Reads bytes whose length the caller has bounded; borrowed if the engine supports slices.
pub(super) fn bytes(m: &dyn GuestMemory, at: u32, len: u32) -> Result<Cow<'_, [u8]>, MemoryFault> {
    if let Some(slice) = m.slice(at, len) {
        return Ok(Cow::Borrowed(slice));
    }
    let mut copy = vec![0; len as usize];
    m.read(at, &mut copy)?;
    Ok(Cow::Owned(copy))
}

/// Reads a path. `NAMETOOLONG` beyond the limit and `INVAL` with a NUL byte in it.
pub(super) fn path<'m>(k: &Kernel, m: &'m dyn GuestMemory, at: u32, len: u32) -> Result<Cow<'m, [u8]>, SyscallError> {
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
    inline: [(u32, u32); INLINE_BUFFERS],
    heap: Vec<(u32, u32)>,
    count: usize,
    /// Total bytes; fits an `i32`, as POSIX requires for a byte count.
    total: u32,
}

/// A list of buffers and the memory that contains them.
pub(super) struct GuestBuffers<'a> {
    pub(super) m: &'a mut dyn GuestMemory,
    pub(super) list: &'a Buffers,
}

impl Buffers {
    /// Reads the list. `INVAL` for more than 1,024 buffers and for more bytes than a count can express.
    pub(super) fn read(m: &dyn GuestMemory, at: u32, count: u32) -> Result<Self, SyscallError> {
        if count > MAX_BUFFERS {
            return Err(Errno::Inval.into());
        }
        let mut list = Self { inline: [(0, 0); INLINE_BUFFERS], heap: Vec::new(), count: count as usize, total: 0 };
        let mut raw = [0; INLINE_BUFFERS * BUFFER_BYTES as usize];
        if let Some(raw) = raw.get_mut(..(count * BUFFER_BYTES) as usize) {
            m.read(at, raw)?;
            for (slot, raw) in list.inline.iter_mut().zip(raw.chunks_exact(BUFFER_BYTES as usize)) {
                *slot = (u32_at(raw, 0), u32_at(raw, 4));
            }
        } else {
            let raw = bytes(m, at, count * BUFFER_BYTES)?;
            list.heap = raw.chunks_exact(BUFFER_BYTES as usize).map(|raw| (u32_at(raw, 0), u32_at(raw, 4))).collect();
        }
        let total: u64 = list.ranges().map(|(_, len)| u64::from(len)).sum();
        list.total = i32::try_from(total).map_err(|_| Errno::Inval)?.unsigned_abs();
        Ok(list)
    }

    /// Limits the buffers to `limit` bytes starting at `skip`.
    pub(super) fn window(mut self, skip: u32, limit: u32) -> Self {
        if skip == 0 && self.total <= limit {
            return self;
        }
        let (mut skip, mut remaining) = (skip, limit);
        let mut kept = Vec::new();
        for (at, len) in self.ranges() {
            let over = skip.min(len);
            skip -= over;
            let part = (len - over).min(remaining);
            remaining -= part;
            if part > 0 {
                kept.push((at.saturating_add(over), part));
            }
        }
        self.total = limit - remaining;
        (self.heap, self.count) = (kept, 0);
        self
    }

    pub(super) fn total(&self) -> u32 {
        self.total
    }

    fn ranges(&self) -> impl Iterator<Item = (u32, u32)> {
        let list = if self.heap.is_empty() { self.inline.get(..self.count).unwrap_or(&[]) } else { &self.heap };
        list.iter().copied()
    }
}

/// Fills the buffers. An error after progress is ignored; the next call reports it.
impl Target for GuestBuffers<'_> {
    fn total(&self) -> u32 {
        self.list.total
    }

    fn fill(
        &mut self,
        scratch: &mut Vec<u8>,
        mut source: impl FnMut(u64, &mut [u8]) -> Result<usize, Errno>,
    ) -> Result<u32, SyscallError> {
        let mut done = 0;
        for (at, len) in self.list.ranges().filter(|(_, len)| *len > 0) {
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

/// Reads the buffers, with the same rule for errors.
impl Source for GuestBuffers<'_> {
    fn total(&self) -> u32 {
        self.list.total
    }

    fn drain(
        &mut self,
        scratch: &mut Vec<u8>,
        skip: u32,
        mut sink: impl FnMut(u64, &[u8]) -> Result<usize, Errno>,
    ) -> Result<u32, SyscallError> {
        let mut skip = skip;
        let mut done = 0;
        for (at, len) in self.list.ranges() {
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

/// Converts a byte count, which is at most the requested one.
fn count(n: usize, requested: u32) -> u32 {
    u32::try_from(n).map_or(requested, |n| n.min(requested))
}

fn fill_one(
    m: &mut dyn GuestMemory,
    scratch: &mut Vec<u8>,
    at: u32,
    len: u32,
    before: u64,
    source: &mut impl FnMut(u64, &mut [u8]) -> Result<usize, Errno>,
) -> Result<u32, SyscallError> {
    if let Some(dst) = m.slice_mut(at, len) {
        return Ok(count(source(before, dst)?, len));
    }
    let mut done = 0;
    while done < len {
        let step = (len - done).min(CHUNK_BYTES as u32);
        scratch.resize(CHUNK_BYTES, 0);
        let Some(chunk) = scratch.get_mut(..step as usize) else { break };
        let moved = source(before + u64::from(done), chunk).map_err(SyscallError::from).and_then(|n| {
            let n = count(n, step);
            m.write(address(at, u64::from(done))?, chunk.get(..n as usize).unwrap_or(&[]))?;
            Ok(n)
        });
        match moved {
            Ok(n) => {
                done += n;
                if n < step {
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
    m: &dyn GuestMemory,
    scratch: &mut Vec<u8>,
    at: u32,
    len: u32,
    before: u64,
    sink: &mut impl FnMut(u64, &[u8]) -> Result<usize, Errno>,
) -> Result<u32, SyscallError> {
    if let Some(src) = m.slice(at, len) {
        return Ok(count(sink(before, src)?, len));
    }
    let mut done = 0;
    while done < len {
        let step = (len - done).min(CHUNK_BYTES as u32);
        scratch.resize(CHUNK_BYTES, 0);
        let Some(chunk) = scratch.get_mut(..step as usize) else { break };
        let from = address(at, u64::from(done));
        let moved = from.and_then(|from| m.read(from, chunk)).map_err(SyscallError::from);
        match moved.and_then(|()| Ok(count(sink(before + u64::from(done), chunk)?, step))) {
            Ok(n) => {
                done += n;
                if n < step {
                    break;
                }
            }
            Err(halt) if done == 0 => return Err(halt),
            Err(_) => break,
        }
    }
    Ok(done)
}
