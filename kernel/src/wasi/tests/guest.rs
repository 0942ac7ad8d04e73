//! System calls of the test fixture, made through guest memory.

use crate::testing::{DATA, Guest, OK, OUT, call};
use crate::wasi::{preview1, tidebox};
use crate::{Pid, SyscallOutcome};

impl Guest {
    pub(crate) fn read(&mut self, fd: u32, len: u32) -> Result<Vec<u8>, SyscallOutcome> {
        let (iovs, count) = self.buffers(&[(DATA, len)]);
        match call!(self, preview1::fd_read(fd, iovs, count, OUT)) {
            OK => Ok(self.bytes(DATA, self.out())),
            other => Err(other),
        }
    }

    pub(crate) fn write(&mut self, fd: u32, bytes: &[u8]) -> Result<u32, SyscallOutcome> {
        self.m.bytes[DATA as usize..][..bytes.len()].copy_from_slice(bytes);
        let (iovs, count) = self.buffers(&[(DATA, u32::try_from(bytes.len()).expect("test data is small"))]);
        match call!(self, preview1::fd_write(fd, iovs, count, OUT)) {
            OK => Ok(self.out()),
            other => Err(other),
        }
    }

    /// Opens below `/` with the flags in `how`: `r`, `w`, `a`ppend, `c`reate, e`x`clusive, `t`runcate, `d`irectory, `n`o follow.
    pub(crate) fn open(&mut self, path: &[u8], how: &str) -> Result<u32, SyscallOutcome> {
        self.open_at(3, path, how)
    }

    pub(crate) fn open_at(&mut self, dir: u32, path: &[u8], how: &str) -> Result<u32, SyscallOutcome> {
        let (at, len) = self.put(path);
        let has = |letter: char, value: u64| if how.contains(letter) { value } else { 0 };
        let small = |value: u64| u32::try_from(value).expect("flags are small");
        let rights = has('r', 1 << 1) | has('w', 1 << 6) | has('a', 1 << 6);
        let oflags = small(has('c', 1) | has('d', 2) | has('x', 4) | has('t', 8));
        let (dirflags, fdflags) = (1 - small(has('n', 1)), small(has('a', 1)));
        match call!(self, preview1::path_open(dir, dirflags, at, len, oflags, rights, 0, fdflags, OUT)) {
            OK => Ok(self.out()),
            other => Err(other),
        }
    }

    pub(crate) fn pipe(&mut self) -> (u32, u32) {
        assert_eq!(call!(self, tidebox::pipe(OUT)), OK);
        (self.u32(OUT), self.u32(OUT + 4))
    }

    pub(crate) fn close(&mut self, fd: u32) {
        assert_eq!(call!(self, preview1::fd_close(fd)), OK);
    }

    pub(crate) fn fork(&mut self) -> Pid {
        assert_eq!(call!(self, tidebox::fork(0, OUT)), OK);
        Pid(self.out())
    }
}
