//! A fake engine with scripted steps.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Mutex;
use std::time::Duration;

use tidebox_kernel::engine::{Engine, EngineError};
use tidebox_kernel::wasi::{preview1, tidebox};
use tidebox_kernel::{
    Errno, ExecutionId, ExitStatus, GuestMemory, Kernel, MemoryFault, OutputChunk, OutputStream, Pid, SharedKernel,
    Signal, StopReason, SyscallOutcome,
};

/// The steps of the root process, in order.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Print(OutputStream, Vec<u8>),
    /// Prints its arguments, environment and standard input, each part on a line with NUL between strings.
    PrintContext,
    /// Prints the shell session that it receives, or `no session`.
    PrintState,
    /// Stores its command line as the state of its shell session.
    StoreState,
    Exit(u8),
    Die(Signal),
    RunOutOfMemory,
    /// Runs until the timeout.
    RunOutOfTime,
    /// Yields.
    Yield,
    /// Never ends and never wakes up.
    Hang,
    /// A snapshot is restored.
    Restored,
    /// The engine fails.
    Fail,
}

#[derive(Debug)]
pub(super) struct ScriptedEngine {
    steps: Vec<Step>,
    pub(super) wall_times: Mutex<Vec<Duration>>,
}

impl ScriptedEngine {
    pub(super) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect(), wall_times: Mutex::default() }
    }
}

impl Engine for ScriptedEngine {
    fn drive<'a>(
        &'a self,
        kernel: &'a SharedKernel,
        session: ExecutionId,
        wall_time: Duration,
        mut on_output: Option<&'a mut (dyn FnMut(OutputChunk) + Send)>,
    ) -> Pin<Box<dyn Future<Output = Result<(), EngineError>> + Send + 'a>> {
        self.wall_times.lock().unwrap().push(wall_time);
        Box::pin(async move {
            let root =
                kernel.lock().take_pending(session).pop().expect("an execution starts with its root process").pid;
            for step in &self.steps {
                if let Step::Hang = step {
                    std::future::pending::<()>().await;
                }
                if let Step::Yield = step {
                    crate::yield_now::yield_now().await;
                }
                if !act(&mut kernel.lock(), session, root, step)? {
                    break;
                }
                if let Some(on_output) = &mut on_output {
                    let chunks = kernel.lock().take_output(session);
                    chunks.into_iter().for_each(on_output);
                }
            }
            Ok(())
        })
    }
}

/// Performs one step; returns false when the process has ended.
fn act(kernel: &mut Kernel, session: ExecutionId, root: Pid, step: &Step) -> Result<bool, EngineError> {
    match step {
        Step::Print(stream, bytes) => print(kernel, root, *stream, bytes),
        Step::PrintContext => print_context(kernel, root),
        Step::PrintState => print_state(kernel, root),
        Step::StoreState => store_state(kernel, root),
        Step::Exit(code) => kernel.process_exited(root, ExitStatus::Exited(*code)),
        Step::Die(signal) => kernel.process_exited(root, ExitStatus::Killed(*signal)),
        Step::RunOutOfMemory => {
            kernel.write_stderr(root, "bash: out of memory\n");
            kernel.report_out_of_memory(root);
            kernel.process_exited(root, ExitStatus::Killed(Signal::Kill));
        }
        Step::RunOutOfTime => kernel.stop_execution(session, StopReason::Timeout),
        Step::Restored => {
            let files = kernel.snapshot();
            kernel.restore(&files).unwrap();
            kernel.process_exited(root, ExitStatus::Killed(Signal::Kill));
        }
        Step::Fail => return Err(EngineError::new("the pool is broken; restart the program")),
        Step::Hang | Step::Yield => {}
    }
    Ok(kernel.root_status(session).is_none())
}

fn print(kernel: &mut Kernel, pid: Pid, stream: OutputStream, bytes: &[u8]) {
    let mut memory = Memory(vec![0; 64 + bytes.len()]);
    let length = u32::try_from(bytes.len()).unwrap();
    memory.write(64, bytes).unwrap();
    memory.write(0, &64u32.to_le_bytes()).unwrap();
    memory.write(4, &length.to_le_bytes()).unwrap();
    let fd = if stream == OutputStream::Stdout { 1 } else { 2 };
    preview1::fd_write(kernel, pid, &mut memory, fd, 0, 1, 8);
}

fn print_context(kernel: &mut Kernel, pid: Pid) {
    let mut memory = Memory(vec![0; 64 * 1024]);
    let mut started = Vec::new();
    preview1::args_sizes_get(kernel, pid, &mut memory, 0, 4);
    let size = memory.number(4);
    preview1::args_get(kernel, pid, &mut memory, 1024, 32 * 1024);
    started.extend_from_slice(memory.bytes(32 * 1024, size));
    started.push(b'\n');
    preview1::environ_sizes_get(kernel, pid, &mut memory, 0, 4);
    let size = memory.number(4);
    preview1::environ_get(kernel, pid, &mut memory, 1024, 32 * 1024);
    started.extend_from_slice(memory.bytes(32 * 1024, size));
    started.push(b'\n');
    memory.write(0, &1024u32.to_le_bytes()).unwrap();
    memory.write(4, &1024u32.to_le_bytes()).unwrap();
    preview1::fd_read(kernel, pid, &mut memory, 0, 0, 1, 8);
    let size = memory.number(8);
    started.extend_from_slice(memory.bytes(1024, size));
    print(kernel, pid, OutputStream::Stdout, &started);
}

fn print_state(kernel: &mut Kernel, pid: Pid) {
    let mut memory = Memory(vec![0; 64 * 1024]);
    match tidebox::shell_state_read(kernel, pid, &mut memory, 1024, 32 * 1024, 0) {
        SyscallOutcome::Done(Errno::Success) => {
            let started = memory.bytes(1024, memory.number(0)).to_vec();
            print(kernel, pid, OutputStream::Stdout, &started);
        }
        other => {
            assert_eq!(other, SyscallOutcome::Done(Errno::Notsup));
            print(kernel, pid, OutputStream::Stdout, b"no session");
        }
    }
}

fn store_state(kernel: &mut Kernel, pid: Pid) {
    let mut memory = Memory(vec![0; 64 * 1024]);
    preview1::args_sizes_get(kernel, pid, &mut memory, 0, 4);
    preview1::args_get(kernel, pid, &mut memory, 1024, 2048);
    let size = memory.number(4) - 9;
    // After `bash -c` and before the last NUL.
    tidebox::shell_state_write(kernel, pid, &mut memory, 2048 + 8, size);
}

/// Parses the output of `PrintContext`: arguments, sorted environment, standard input.
pub(super) fn parse_engine_log(stdout: &[u8]) -> (Vec<String>, Vec<String>, String) {
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

impl GuestMemory for Memory {
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), MemoryFault> {
        let from = self.0.get(at as usize..).and_then(|rest| rest.get(..dst.len())).ok_or(MemoryFault)?;
        dst.copy_from_slice(from);
        Ok(())
    }

    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), MemoryFault> {
        let to = self.0.get_mut(at as usize..).and_then(|rest| rest.get_mut(..src.len())).ok_or(MemoryFault)?;
        to.copy_from_slice(src);
        Ok(())
    }
}
