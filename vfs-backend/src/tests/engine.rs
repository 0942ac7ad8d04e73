//! An engine that plays a part instead of running the program.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Mutex;
use std::time::Duration;

use tidebox_kernel::engine::{Engine, EngineError};
use tidebox_kernel::wasi::{Fault, GuestMem, Sys, ext, p1};
use tidebox_kernel::{Chunk, Errno, Kernel, Pid, SessionId, SharedKernel, Signal, Status, Stop, Stream};

use crate::backend::lock;

/// What the root process does, one step after the other.
#[derive(Clone, Debug)]
pub(super) enum Play {
    Print(Stream, Vec<u8>),
    /// Prints its arguments, environment and standard input, each part on a line with NUL between strings.
    Tell,
    /// Prints what it is told of its shell session, or `no session`.
    TellState,
    /// Leaves its command line as the state of its shell session.
    LeaveState,
    Exit(u8),
    Die(Signal),
    RunOutOfMemory,
    /// Runs until its time is up.
    RunOutOfTime,
    /// Lets others have a turn.
    Wait,
    /// Never ends and never wakes up.
    Hang,
    /// Somebody restores a snapshot.
    Restored,
    /// The host's side fails.
    Break,
}

#[derive(Debug)]
pub(super) struct Stage {
    play: Vec<Play>,
    pub(super) wall_times: Mutex<Vec<Duration>>,
}

impl Stage {
    pub(super) fn new(play: impl IntoIterator<Item = Play>) -> Self {
        Self { play: play.into_iter().collect(), wall_times: Mutex::default() }
    }
}

impl Engine for Stage {
    fn drive<'a>(
        &'a self,
        kernel: &'a SharedKernel,
        session: SessionId,
        wall_time: Duration,
        mut on_output: Option<&'a mut (dyn FnMut(Chunk) + Send)>,
    ) -> Pin<Box<dyn Future<Output = Result<(), EngineError>> + Send + 'a>> {
        self.wall_times.lock().unwrap().push(wall_time);
        Box::pin(async move {
            let root = lock(kernel).take_starts(session).pop().expect("a session begins with its root process").pid;
            for step in &self.play {
                if let Play::Hang = step {
                    std::future::pending::<()>().await;
                }
                if let Play::Wait = step {
                    crate::turn::yield_now().await;
                }
                if !act(&mut lock(kernel), session, root, step)? {
                    break;
                }
                if let Some(on_output) = &mut on_output {
                    let chunks = lock(kernel).take_output(session);
                    chunks.into_iter().for_each(on_output);
                }
            }
            Ok(())
        })
    }
}

/// Plays one step; false when the process has ended.
fn act(kernel: &mut Kernel, session: SessionId, root: Pid, step: &Play) -> Result<bool, EngineError> {
    match step {
        Play::Print(stream, bytes) => print(kernel, root, *stream, bytes),
        Play::Tell => tell(kernel, root),
        Play::TellState => tell_state(kernel, root),
        Play::LeaveState => leave_state(kernel, root),
        Play::Exit(code) => kernel.exited(root, Status::Exited(*code)),
        Play::Die(signal) => kernel.exited(root, Status::Killed(*signal)),
        Play::RunOutOfMemory => {
            kernel.message(root, "bash: out of memory\n");
            kernel.out_of_memory(root);
            kernel.exited(root, Status::Killed(Signal::Kill));
        }
        Play::RunOutOfTime => kernel.stop(session, Stop::Time),
        Play::Restored => {
            let files = kernel.snapshot();
            kernel.restore(&files).unwrap();
            kernel.exited(root, Status::Killed(Signal::Kill));
        }
        Play::Break => return Err(EngineError::new("the pool is broken; restart the program")),
        Play::Hang | Play::Wait => {}
    }
    Ok(kernel.root_status(session).is_none())
}

fn print(kernel: &mut Kernel, pid: Pid, stream: Stream, bytes: &[u8]) {
    let mut memory = Memory(vec![0; 64 + bytes.len()]);
    let length = u32::try_from(bytes.len()).unwrap();
    memory.write(64, bytes).unwrap();
    memory.write(0, &64u32.to_le_bytes()).unwrap();
    memory.write(4, &length.to_le_bytes()).unwrap();
    let fd = if stream == Stream::Stdout { 1 } else { 2 };
    p1::fd_write(kernel, pid, &mut memory, fd, 0, 1, 8);
}

fn tell(kernel: &mut Kernel, pid: Pid) {
    let mut memory = Memory(vec![0; 64 * 1024]);
    let mut told = Vec::new();
    p1::args_sizes_get(kernel, pid, &mut memory, 0, 4);
    let size = memory.number(4);
    p1::args_get(kernel, pid, &mut memory, 1024, 32 * 1024);
    told.extend_from_slice(memory.bytes(32 * 1024, size));
    told.push(b'\n');
    p1::environ_sizes_get(kernel, pid, &mut memory, 0, 4);
    let size = memory.number(4);
    p1::environ_get(kernel, pid, &mut memory, 1024, 32 * 1024);
    told.extend_from_slice(memory.bytes(32 * 1024, size));
    told.push(b'\n');
    memory.write(0, &1024u32.to_le_bytes()).unwrap();
    memory.write(4, &1024u32.to_le_bytes()).unwrap();
    p1::fd_read(kernel, pid, &mut memory, 0, 0, 1, 8);
    let size = memory.number(8);
    told.extend_from_slice(memory.bytes(1024, size));
    print(kernel, pid, Stream::Stdout, &told);
}

fn tell_state(kernel: &mut Kernel, pid: Pid) {
    let mut memory = Memory(vec![0; 64 * 1024]);
    match ext::shell_state_read(kernel, pid, &mut memory, 1024, 32 * 1024, 0) {
        Sys::Done(Errno::Success) => {
            let told = memory.bytes(1024, memory.number(0)).to_vec();
            print(kernel, pid, Stream::Stdout, &told);
        }
        other => {
            assert_eq!(other, Sys::Done(Errno::Notsup));
            print(kernel, pid, Stream::Stdout, b"no session");
        }
    }
}

fn leave_state(kernel: &mut Kernel, pid: Pid) {
    let mut memory = Memory(vec![0; 64 * 1024]);
    p1::args_sizes_get(kernel, pid, &mut memory, 0, 4);
    p1::args_get(kernel, pid, &mut memory, 1024, 2048);
    let size = memory.number(4) - 9;
    // After `bash -c` and before the last NUL.
    ext::shell_state_write(kernel, pid, &mut memory, 2048 + 8, size);
}

/// What a test tells of the process: arguments, sorted environment, standard input.
pub(super) fn told(stdout: &[u8]) -> (Vec<String>, Vec<String>, String) {
    let mut parts: VecDeque<&[u8]> = stdout.splitn(3, |byte| *byte == b'\n').collect();
    let mut strings = || {
        let part = parts.pop_front().unwrap_or_default();
        let strings = part.split(|byte| *byte == 0).filter(|text| !text.is_empty());
        strings.map(|text| String::from_utf8_lossy(text).into_owned()).collect::<Vec<_>>()
    };
    let (arguments, mut environment) = (strings(), strings());
    environment.sort();
    (arguments, environment, String::from_utf8_lossy(parts.pop_front().unwrap_or_default()).into_owned())
}

struct Memory(Vec<u8>);

impl Memory {
    fn bytes(&self, at: usize, size: u32) -> &[u8] {
        &self.0[at..at + size as usize]
    }

    fn number(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap())
    }
}

impl GuestMem for Memory {
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), Fault> {
        let from = self.0.get(at as usize..).and_then(|rest| rest.get(..dst.len())).ok_or(Fault)?;
        dst.copy_from_slice(from);
        Ok(())
    }

    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), Fault> {
        let to = self.0.get_mut(at as usize..).and_then(|rest| rest.get_mut(..src.len())).ok_or(Fault)?;
        to.copy_from_slice(src);
        Ok(())
    }
}
