//! Readiness of descriptors for reading and writing.

use crate::errno::Errno;
use crate::kernel::Kernel;
use crate::open_file::FileObject;
use crate::pipe::ATOMIC_BYTES;
use crate::process::Pid;
use crate::socket::Stream;
use crate::syscall::{SyscallError, run_syscall};
use crate::terminal::readable_terminal;

/// Reported size if the size has no bound.
const UNBOUNDED_BYTES: u64 = 65536;

/// Current state of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    Ready {
        bytes: u64,
        hangup: bool,
    },
    Failed(Errno),
    /// Not ready before this monotonic time, or before another process acts.
    Pending(Option<u64>),
}

pub(crate) const READY: Readiness = Readiness::Ready { bytes: 0, hangup: false };

impl Readiness {
    fn into_result(self) -> Result<u64, SyscallError> {
        match self {
            Self::Ready { bytes, .. } => Ok(bytes),
            Self::Failed(errno) => Err(errno.into()),
            Self::Pending(until) => Err(SyscallError::Block(until)),
        }
    }
}

/// For engines that wait for descriptors. [`SyscallError::Block`] is handled as in transfers: the engine parks the process and
/// retries when it is woken.
impl Kernel {
    /// Returns a lower bound for the bytes that a read would return; 0 also at the end.
    ///
    /// # Errors
    /// [`SyscallError`]: nothing to read yet, `BADF`, or the process must end.
    pub fn readable(&mut self, pid: Pid, fd: u32) -> Result<u64, SyscallError> {
        run_syscall(self, pid, |k| readable(k, pid, fd).into_result())
    }

    /// Returns a lower bound for the bytes that a write would accept; 0 if the pipe has no reader.
    ///
    /// # Errors
    /// [`SyscallError`]: the pipe is full, `BADF`, or the process must end.
    pub fn writable(&mut self, pid: Pid, fd: u32) -> Result<u64, SyscallError> {
        run_syscall(self, pid, |k| writable(k, pid, fd).into_result())
    }
}

pub(crate) fn readable(k: &mut Kernel, pid: Pid, fd: u32) -> Readiness {
    let open = match k.open_file(pid, fd) {
        Ok(open) if open.read || matches!(open.what, FileObject::Writer(_) | FileObject::Output(..)) => open,
        _ => return Readiness::Failed(Errno::Badf),
    };
    let rest = |len: u64| Readiness::Ready { bytes: len.saturating_sub(open.offset), hangup: false };
    match &open.what {
        FileObject::File(ino) => rest(k.fs.len(*ino).unwrap_or(0)),
        FileObject::Socket(socket) => {
            let socket = *socket;
            readable_socket(k, pid, socket)
        }
        FileObject::Terminal(terminal) => {
            let terminal = *terminal;
            readable_terminal(k, pid, terminal)
        }
        FileObject::Stdin(bytes) => {
            let left = (bytes.len() as u64).saturating_sub(open.offset);
            Readiness::Ready { bytes: left, hangup: left == 0 }
        }
        FileObject::Reader(pipe) | FileObject::Both(pipe) => {
            let (pipe, before) = (*pipe, open.previous_open_count);
            readable_pipe(k, pid, pipe, before)
        }
        FileObject::Device(..) | FileObject::Text(_) => Readiness::Ready { bytes: UNBOUNDED_BYTES, hangup: false },
        FileObject::Dir(_) | FileObject::WorkDir(_) => READY,
        FileObject::Writer(pipe) => {
            let pipe = *pipe;
            lost_reader(k, pid, pipe)
        }
        // The caller of the execution never closes it.
        FileObject::Output(..) => Readiness::Pending(None),
    }
}

pub(crate) fn writable(k: &mut Kernel, pid: Pid, fd: u32) -> Readiness {
    let open = match k.open_file(pid, fd) {
        Ok(open) if open.write => open,
        _ => return Readiness::Failed(Errno::Badf),
    };
    match open.what {
        FileObject::Writer(pipe) | FileObject::Both(pipe) => writable_pipe(k, pid, pipe),
        FileObject::Socket(socket) => writable_socket(k, pid, socket),
        _ => Readiness::Ready { bytes: UNBOUNDED_BYTES, hangup: false },
    }
}

/// `before` is the number of opens for writing when a FIFO was opened without blocking: its reader waits for the first writer.
fn readable_pipe(k: &mut Kernel, pid: Pid, pipe: u32, before: Option<u64>) -> Readiness {
    let Some(found) = k.pipes.get_mut(pipe) else { return Readiness::Failed(Errno::Badf) };
    if found.len() == 0 && (found.writers > 0 || before == Some(found.opened.writers)) {
        found.add_waiter(pid);
        return Readiness::Pending(None);
    }
    Readiness::Ready { bytes: found.len() as u64, hangup: found.writers == 0 }
}

/// Readiness of the write end of a pipe for reading: as on Linux it never has input, and is ready once no reader is left. Python's
/// `asyncio` notices the end of a reader by this.
fn lost_reader(k: &mut Kernel, pid: Pid, pipe: u32) -> Readiness {
    let Some(found) = k.pipes.get_mut(pipe) else { return Readiness::Failed(Errno::Badf) };
    if found.readers == 0 {
        return Readiness::Ready { bytes: 0, hangup: true };
    }
    found.add_waiter(pid);
    Readiness::Pending(None)
}

fn readable_socket(k: &mut Kernel, pid: Pid, socket: u32) -> Readiness {
    match k.poll_accept(socket, pid) {
        Some(0) => return Readiness::Pending(None),
        Some(count) => return Readiness::Ready { bytes: count as u64, hangup: false },
        None => {}
    }
    match k.incoming(socket) {
        Stream::Pipe(pipe) => readable_pipe(k, pid, pipe, None),
        Stream::Missing if k.poll_connect(socket, pid) => Readiness::Pending(None),
        Stream::Shut | Stream::Missing => Readiness::Ready { bytes: 0, hangup: true },
    }
}

fn writable_socket(k: &mut Kernel, pid: Pid, socket: u32) -> Readiness {
    if k.poll_connect(socket, pid) {
        return Readiness::Pending(None);
    }
    match k.outgoing(socket) {
        Stream::Pipe(pipe) => writable_pipe(k, pid, pipe),
        Stream::Shut | Stream::Missing => Readiness::Ready { bytes: 0, hangup: true },
    }
}

fn writable_pipe(k: &mut Kernel, pid: Pid, pipe: u32) -> Readiness {
    let Some(found) = k.pipes.get_mut(pipe) else { return Readiness::Failed(Errno::Badf) };
    if found.readers == 0 {
        return Readiness::Ready { bytes: 0, hangup: true };
    }
    // Ready means that an atomic write succeeds immediately.
    if found.available() < ATOMIC_BYTES {
        found.add_waiter(pid);
        return Readiness::Pending(None);
    }
    Readiness::Ready { bytes: found.available() as u64, hangup: false }
}
