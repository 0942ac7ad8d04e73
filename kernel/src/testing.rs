//! Test fixtures: guest memory without a guest, and a sandbox with a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use tidebox_core::{Limits, TerminalSize};

use crate::fs::{Device, Fs};
use crate::guest_memory::{GuestMemory, MemoryFault};
use crate::syscall::{SyscallOutcome, Wait};
use crate::{Errno, ExecutionId, ExecutionSpec, Kernel, KernelConfig, Pid, SeededEntropy, VirtualClock};

/// Linear memory. With `supports_slices` it returns slices, like Wasmtime's; without, everything is copied, as in JavaScript.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) bytes: Vec<u8>,
    pub(crate) supports_slices: bool,
}

impl Memory {
    fn range(&self, at: u32, len: usize) -> Result<std::ops::Range<usize>, MemoryFault> {
        let start = at as usize;
        let end = start.checked_add(len).filter(|end| *end <= self.bytes.len()).ok_or(MemoryFault)?;
        Ok(start..end)
    }
}

impl GuestMemory for Memory {
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), MemoryFault> {
        dst.copy_from_slice(&self.bytes[self.range(at, dst.len())?]);
        Ok(())
    }

    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), MemoryFault> {
        let range = self.range(at, src.len())?;
        self.bytes[range].copy_from_slice(src);
        Ok(())
    }

    fn slice(&self, at: u32, len: u32) -> Option<&[u8]> {
        self.supports_slices.then(|| self.bytes.get(self.range(at, len as usize).ok()?))?
    }

    fn slice_mut(&mut self, at: u32, len: u32) -> Option<&mut [u8]> {
        let range = self.range(at, len as usize).ok()?;
        if self.supports_slices { self.bytes.get_mut(range) } else { None }
    }
}

/// Calls a function of `preview1` or `tidebox` as the guest would.
macro_rules! call {
    ($guest:expr, $($function:ident)::+($($arg:expr),* $(,)?)) => {{
        let guest = &mut *$guest;
        $($function)::+(&mut guest.k, guest.pid, &mut guest.m, $($arg),*)
    }};
}
pub(crate) use call;

/// `Done` with this number.
pub(crate) const fn done(errno: Errno) -> SyscallOutcome {
    SyscallOutcome::Done(errno)
}

pub(crate) const OK: SyscallOutcome = done(Errno::Success);

/// Address for results.
pub(crate) const OUT: u32 = 16;
/// Addresses starting here are for arguments; results are below.
const ARGUMENTS: u32 = 4096;
/// Address for data.
pub(crate) const DATA: u32 = 256 * 1024;
pub(crate) const MEMORY_BYTES: usize = 1024 * 1024;

/// A process of a sandbox, with its memory.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) k: Kernel,
    pub(crate) m: Memory,
    pub(crate) pid: Pid,
    pub(crate) execution: ExecutionId,
    next: u32,
}

/// Files of a small sandbox: programs, devices and the standard directories.
fn files(limits: &Limits) -> Fs {
    let mut fs = Fs::new(limits);
    let program = b"\0asm\x01\0\0\0".as_slice();
    let mut results = vec![
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
        results.push(fs.install_device(path, device, 0o666));
    }
    results.push(fs.install_proc(b"/proc"));
    results.push(fs.install_symlink(b"/dev/fd", b"/proc/self/fd"));
    results.push(fs.install_symlink(b"/dev/stdin", b"/proc/self/fd/0"));
    results.push(fs.install_symlink(b"/dev/stdout", b"/proc/self/fd/1"));
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    fs
}

/// A kernel with those files and no process.
pub(crate) fn kernel(limits: Limits) -> Kernel {
    Kernel::new(KernelConfig {
        files: files(&limits).snapshot(),
        limits,
        clock: Box::new(VirtualClock::new(1_000_000_000_000)),
        entropy: Box::new(SeededEntropy::new(1)),
        hostname: "tidebox".to_owned(),
    })
}

pub(crate) fn spec(stdin: &[u8]) -> ExecutionSpec {
    ExecutionSpec {
        argv: ["prog", "one", ""].into_iter().collect(),
        env: ["HOME=/workspace"].into_iter().collect(),
        cwd: b"/workspace".to_vec(),
        program: b"/bin/prog".to_vec(),
        stdin: stdin.to_vec(),
        output_bytes: 1 << 20,
        output_overflow: Default::default(),
        shell_state: Some(b"state".as_slice().into()),
        ..ExecutionSpec::default()
    }
}

impl Guest {
    /// The root process of an execution, a Tidebox guest.
    pub(crate) fn new() -> Self {
        Self::with(Limits::default(), &[])
    }

    pub(crate) fn with(limits: Limits, stdin: &[u8]) -> Self {
        Self::started(limits, spec(stdin))
    }

    /// Like [`new`](Self::new), with a terminal.
    pub(crate) fn with_terminal(rows: u16, columns: u16) -> Self {
        let terminal = Some(TerminalSize { rows, columns });
        Self::started(Limits::default(), ExecutionSpec { terminal, ..spec(&[]) })
    }

    fn started(limits: Limits, spec: ExecutionSpec) -> Self {
        let mut k = kernel(limits);
        let (execution, pid) = k.start_execution(spec).expect("the program exists");
        k.set_tidebox_guest(pid, true);
        let m = Memory { bytes: vec![0; MEMORY_BYTES], supports_slices: true };
        Self { k, m, pid, execution, next: ARGUMENTS }
    }

    pub(crate) fn plain() -> Self {
        let mut guest = Self::new();
        guest.k.set_tidebox_guest(guest.pid, false);
        guest
    }

    /// Writes bytes to memory and returns their address and length.
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

    /// Writes a list of buffers.
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

    /// Returns the result of a call that writes one number.
    pub(crate) fn out(&self) -> u32 {
        self.u32(OUT)
    }

    /// Runs `body` as another process of the sandbox.
    pub(crate) fn as_process<T>(&mut self, pid: Pid, body: impl FnOnce(&mut Self) -> T) -> T {
        let caller = std::mem::replace(&mut self.pid, pid);
        let result = body(self);
        self.pid = caller;
        result
    }

    /// Parks the process with a counting waker.
    pub(crate) fn park(&mut self, pid: Pid) -> Arc<WakeCounter> {
        let count = Arc::new(WakeCounter::default());
        self.k.park(pid, Wait::default(), &Waker::from(Arc::clone(&count)));
        count
    }
}

/// Counts the calls of a waker.
#[derive(Debug, Default)]
pub(crate) struct WakeCounter(AtomicUsize);

impl WakeCounter {
    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for WakeCounter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
