//! Whether a descriptor can be read or written without waiting.

use crate::errno::Errno;
use crate::kernel::Kernel;
use crate::open_file::What;
use crate::pipe::ATOMIC_BYTES;
use crate::process::Pid;
use crate::wasi::{Halt, attempt};

/// What is told to fit where there is no bound.
const PLENTY: u64 = 65536;

/// What waiting for something would find now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready {
        bytes: u64,
        hangup: bool,
    },
    Failed(Errno),
    /// Not before this monotonic time, or not before somebody else does something.
    Later(Option<u64>),
}

pub(crate) const READY: State = State::Ready { bytes: 0, hangup: false };

impl State {
    fn answer(self) -> Result<u64, Halt> {
        match self {
            Self::Ready { bytes, .. } => Ok(bytes),
            Self::Failed(errno) => Err(errno.into()),
            Self::Later(until) => Err(Halt::Block(until)),
        }
    }
}

/// For engines that wait for descriptors. A [`Halt::Block`] is as in transfers: the engine parks the process and asks
/// again when it is woken.
impl Kernel {
    /// The bytes that a read would find at least; 0 also at the end.
    ///
    /// # Errors
    /// [`Halt`]: that there is nothing to read yet, `BADF`, or that the process must end.
    pub fn readable(&mut self, pid: Pid, fd: u32) -> Result<u64, Halt> {
        attempt(self, pid, |k| readable(k, pid, fd).answer())
    }

    /// The bytes that a write would take at least; 0 when nobody reads the pipe any more.
    ///
    /// # Errors
    /// [`Halt`]: that there is no room yet, `BADF`, or that the process must end.
    pub fn writable(&mut self, pid: Pid, fd: u32) -> Result<u64, Halt> {
        attempt(self, pid, |k| writable(k, pid, fd).answer())
    }
}

pub(crate) fn readable(k: &mut Kernel, pid: Pid, fd: u32) -> State {
    let open = match k.open_file(pid, fd) {
        Ok(open) if open.read => open,
        _ => return State::Failed(Errno::Badf),
    };
    let rest = |len: u64| State::Ready { bytes: len.saturating_sub(open.offset), hangup: false };
    match &open.what {
        What::File(ino) => rest(k.fs.len(*ino).unwrap_or(0)),
        What::Stdin(bytes) => {
            let left = (bytes.len() as u64).saturating_sub(open.offset);
            State::Ready { bytes: left, hangup: left == 0 }
        }
        What::Reader(pipe) | What::Both(pipe) => {
            let (pipe, before) = (*pipe, open.before);
            let Some(found) = k.pipes.get_mut(pipe) else { return State::Failed(Errno::Badf) };
            // Who opened a named pipe without waiting waits here for the first writer.
            if found.len() == 0 && (found.writers > 0 || before == Some(found.opened.writers)) {
                found.wait(pid);
                return State::Later(None);
            }
            State::Ready { bytes: found.len() as u64, hangup: found.writers == 0 }
        }
        What::Device(..) | What::Text(_) => State::Ready { bytes: PLENTY, hangup: false },
        What::Dir(_) | What::WorkDir(_) => READY,
        What::Writer(_) | What::Output(..) => State::Failed(Errno::Badf),
    }
}

pub(crate) fn writable(k: &mut Kernel, pid: Pid, fd: u32) -> State {
    let open = match k.open_file(pid, fd) {
        Ok(open) if open.write => open,
        _ => return State::Failed(Errno::Badf),
    };
    let (What::Writer(pipe) | What::Both(pipe)) = open.what else {
        return State::Ready { bytes: PLENTY, hangup: false };
    };
    let Some(found) = k.pipes.get_mut(pipe) else { return State::Failed(Errno::Badf) };
    if found.readers == 0 {
        return State::Ready { bytes: 0, hangup: true };
    }
    // Ready means that a short write goes through at once.
    if found.room() < ATOMIC_BYTES {
        found.wait(pid);
        return State::Later(None);
    }
    State::Ready { bytes: found.room() as u64, hangup: false }
}
