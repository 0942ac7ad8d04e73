//! What tests need: a guest's memory without a guest, and a sandbox with a process in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use tidebox_core::Limits;

use crate::fs::{Device, Fs};
use crate::wasi::{Fault, GuestMem, Sys, Wait};
use crate::{Errno, FixedClock, Kernel, KernelConfig, Pid, SeededEntropy, SessionId, SessionSpec};

/// Linear memory. With `lends` it hands out slices, as Wasmtime's does; without, everything is copied, as in JavaScript.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) bytes: Vec<u8>,
    pub(crate) lends: bool,
}

impl Memory {
    fn range(&self, at: u32, len: usize) -> Result<std::ops::Range<usize>, Fault> {
        let start = at as usize;
        let end = start.checked_add(len).filter(|end| *end <= self.bytes.len()).ok_or(Fault)?;
        Ok(start..end)
    }
}

impl GuestMem for Memory {
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), Fault> {
        dst.copy_from_slice(&self.bytes[self.range(at, dst.len())?]);
        Ok(())
    }

    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), Fault> {
        let range = self.range(at, src.len())?;
        self.bytes[range].copy_from_slice(src);
        Ok(())
    }

    fn slice(&self, at: u32, len: u32) -> Option<&[u8]> {
        self.lends.then(|| self.bytes.get(self.range(at, len as usize).ok()?))?
    }

    fn slice_mut(&mut self, at: u32, len: u32) -> Option<&mut [u8]> {
        let range = self.range(at, len as usize).ok()?;
        if self.lends { self.bytes.get_mut(range) } else { None }
    }
}

/// Calls a function of `p1` or `ext` as the guest would.
macro_rules! call {
    ($guest:expr, $($function:ident)::+($($arg:expr),* $(,)?)) => {{
        let guest = &mut *$guest;
        $($function)::+(&mut guest.k, guest.pid, &mut guest.m, $($arg),*)
    }};
}
pub(crate) use call;

/// `Done` with this number.
pub(crate) const fn done(errno: Errno) -> Sys {
    Sys::Done(errno)
}

pub(crate) const OK: Sys = done(Errno::Success);

/// Where calls are told to write their results.
pub(crate) const OUT: u32 = 16;
/// Addresses from here on are for arguments; below are results.
const ARGUMENTS: u32 = 4096;
/// Room for data.
pub(crate) const DATA: u32 = 256 * 1024;
pub(crate) const MEMORY_BYTES: usize = 1024 * 1024;

/// A process of a sandbox, seen through its memory.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) k: Kernel,
    pub(crate) m: Memory,
    pub(crate) pid: Pid,
    pub(crate) session: SessionId,
    next: u32,
}

/// Files of a small sandbox: programs, devices and the folders that every sandbox has.
fn files(limits: &Limits) -> Fs {
    let mut fs = Fs::new(limits);
    let program = b"\0asm\x01\0\0\0".as_slice();
    let mut made = vec![
        fs.install_dir(b"/", 0o755, 1000),
        fs.install_dir(b"/workspace", 0o755, 1000),
        fs.install_dir(b"/tmp", 0o1777, 0),
        fs.install(b"/bin/prog", program.into(), 0o755, 0),
        fs.install(b"/bin/data", b"no program".into(), 0o755, 0),
        fs.install(b"/bin/plain", program.into(), 0o644, 0),
        fs.install(b"/etc/motd", b"hello\n".into(), 0o644, 0),
    ];
    for (path, device) in [
        (b"/dev/null".as_slice(), Device::Null),
        (b"/dev/zero", Device::Zero),
        (b"/dev/full", Device::Full),
        (b"/dev/urandom", Device::Urandom),
        (b"/dev/tty", Device::Tty),
    ] {
        made.push(fs.install_device(path, device, 0o666));
    }
    made.push(fs.install_proc(b"/proc"));
    made.push(fs.install_symlink(b"/dev/fd", b"/proc/self/fd"));
    made.push(fs.install_symlink(b"/dev/stdin", b"/proc/self/fd/0"));
    made.push(fs.install_symlink(b"/dev/stdout", b"/proc/self/fd/1"));
    assert!(made.iter().all(Result::is_ok), "{made:?}");
    fs
}

/// A kernel with those files and no process.
pub(crate) fn kernel(limits: Limits) -> Kernel {
    Kernel::new(KernelConfig {
        files: files(&limits).snapshot(),
        limits,
        clock: Box::new(FixedClock::new(1_000_000_000_000)),
        entropy: Box::new(SeededEntropy::new(1)),
        hostname: "tidebox".to_owned(),
    })
}

pub(crate) fn spec(stdin: &[u8]) -> SessionSpec {
    SessionSpec {
        argv: vec![b"prog".to_vec(), b"one".to_vec(), Vec::new()],
        env: vec![b"HOME=/workspace".to_vec()],
        cwd: b"/workspace".to_vec(),
        program: b"/bin/prog".to_vec(),
        stdin: stdin.to_vec(),
        output_bytes: 1 << 20,
        shell_state: Some(b"state".as_slice().into()),
        conversation: false,
    }
}

impl Guest {
    /// The root process of a session, aware.
    pub(crate) fn new() -> Self {
        Self::with(Limits::default(), &[])
    }

    pub(crate) fn with(limits: Limits, stdin: &[u8]) -> Self {
        let mut k = kernel(limits);
        let (session, pid) = k.begin(spec(stdin)).expect("the program is there");
        k.set_aware(pid, true);
        let m = Memory { bytes: vec![0; MEMORY_BYTES], lends: true };
        Self { k, m, pid, session, next: ARGUMENTS }
    }

    pub(crate) fn plain() -> Self {
        let mut guest = Self::new();
        guest.k.set_aware(guest.pid, false);
        guest
    }

    /// Puts bytes into memory and answers where they are.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> (u32, u32) {
        let len = u32::try_from(bytes.len()).expect("test data is small");
        if self.next + len > DATA {
            self.next = ARGUMENTS;
        }
        let at = self.next;
        self.m.write(at, bytes).expect("test data fits");
        self.next += len.next_multiple_of(8);
        (at, len)
    }

    /// A list of buffers.
    pub(crate) fn buffers(&mut self, list: &[(u32, u32)]) -> (u32, u32) {
        let raw: Vec<u8> = list.iter().flat_map(|(at, len)| [at.to_le_bytes(), len.to_le_bytes()].concat()).collect();
        let (at, _) = self.put(&raw);
        (at, u32::try_from(list.len()).expect("test lists are short"))
    }

    pub(crate) fn bytes(&self, at: u32, len: u32) -> Vec<u8> {
        self.m.bytes[at as usize..(at + len) as usize].to_vec()
    }

    pub(crate) fn u32(&self, at: u32) -> u32 {
        u32::from_le_bytes(self.bytes(at, 4).try_into().expect("four bytes"))
    }

    pub(crate) fn u64(&self, at: u32) -> u64 {
        u64::from_le_bytes(self.bytes(at, 8).try_into().expect("eight bytes"))
    }

    /// The result of a call that writes one number.
    pub(crate) fn out(&self) -> u32 {
        self.u32(OUT)
    }

    pub(crate) fn read(&mut self, fd: u32, len: u32) -> Result<Vec<u8>, Sys> {
        let (iovs, count) = self.buffers(&[(DATA, len)]);
        match call!(self, crate::wasi::p1::fd_read(fd, iovs, count, OUT)) {
            OK => Ok(self.bytes(DATA, self.out())),
            other => Err(other),
        }
    }

    pub(crate) fn write(&mut self, fd: u32, bytes: &[u8]) -> Result<u32, Sys> {
        self.m.bytes[DATA as usize..][..bytes.len()].copy_from_slice(bytes);
        let (iovs, count) = self.buffers(&[(DATA, u32::try_from(bytes.len()).expect("test data is small"))]);
        match call!(self, crate::wasi::p1::fd_write(fd, iovs, count, OUT)) {
            OK => Ok(self.out()),
            other => Err(other),
        }
    }

    /// Opens below `/`, by what `how` says: `r`, `w`, `a`ppend, `c`reate, e`x`clusive, `t`runcate, `d`irectory, `n`o follow.
    pub(crate) fn open(&mut self, path: &[u8], how: &str) -> Result<u32, Sys> {
        self.open_at(3, path, how)
    }

    pub(crate) fn open_at(&mut self, dir: u32, path: &[u8], how: &str) -> Result<u32, Sys> {
        let (at, len) = self.put(path);
        let has = |letter: char, value: u64| if how.contains(letter) { value } else { 0 };
        let small = |value: u64| u32::try_from(value).expect("flags are small");
        let rights = has('r', 1 << 1) | has('w', 1 << 6) | has('a', 1 << 6);
        let oflags = small(has('c', 1) | has('d', 2) | has('x', 4) | has('t', 8));
        let (dirflags, fdflags) = (1 - small(has('n', 1)), small(has('a', 1)));
        match call!(self, crate::wasi::p1::path_open(dir, dirflags, at, len, oflags, rights, 0, fdflags, OUT)) {
            OK => Ok(self.out()),
            other => Err(other),
        }
    }

    pub(crate) fn pipe(&mut self) -> (u32, u32) {
        assert_eq!(call!(self, crate::wasi::ext::pipe(OUT)), OK);
        (self.u32(OUT), self.u32(OUT + 4))
    }

    pub(crate) fn close(&mut self, fd: u32) {
        assert_eq!(call!(self, crate::wasi::p1::fd_close(fd)), OK);
    }

    /// Runs `body` as another process of the sandbox.
    pub(crate) fn as_process<T>(&mut self, pid: Pid, body: impl FnOnce(&mut Self) -> T) -> T {
        let caller = std::mem::replace(&mut self.pid, pid);
        let result = body(self);
        self.pid = caller;
        result
    }

    pub(crate) fn fork(&mut self) -> Pid {
        assert_eq!(call!(self, crate::wasi::ext::fork(0, OUT)), OK);
        Pid(self.out())
    }

    /// A waker that counts, parked for the process.
    pub(crate) fn park(&mut self, pid: Pid) -> Arc<Count> {
        let count = Arc::new(Count::default());
        self.k.park(pid, Wait::default(), &Waker::from(Arc::clone(&count)));
        count
    }
}

/// How often a waker was called.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicUsize);

impl Count {
    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
