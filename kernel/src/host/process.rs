//! A running call of a host program.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tidebox_core::{BoxFuture, HostCall, HostInput, HostOutput, SandboxPath};

use super::HostProgram;
use super::stream::{Input, Output, ProcessHandle, StreamLink};
use crate::kernel::{Kernel, SharedKernel};
use crate::process::{ExitStatus, PendingProcess, Pid};
use crate::process_flags::ProcessFlags;
use crate::signal::Signal;

/// Reported path of a removed working directory. Lookup and creation below it fail.
const DELETED_CWD: &[u8] = b"/proc/(deleted)";

/// A process that the application runs. The future completes when the process has ended and the kernel has its status.
///
/// The engine polls it like a guest, in any task and without the kernel's lock. Dropping it drops the application's future; the
/// process is then left to [`Kernel::finish_execution`]. Panics of the application's code are caught in polls and in drops,
/// because they must end neither the other processes nor the caller: the panicked future is dropped and never polled again. (With
/// `panic = "abort"`, nothing can be caught.)
pub struct HostProcess {
    kernel: SharedKernel,
    pid: Pid,
    flags: Arc<ProcessFlags>,
    link: Arc<StreamLink>,
    life: CallState,
}

enum CallState {
    NotStarted(Arc<dyn HostProgram>),
    Running(BoxFuture<'static, u8>),
    Finished,
}

/// The application's code panicked. The message is not kept: Rust's panic hook has reported it to the host, and it may contain
/// data that the sandbox must not see.
struct Panicked;

impl fmt::Debug for HostProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostProcess").field("pid", &self.pid).finish_non_exhaustive()
    }
}

impl HostProcess {
    /// Creates the process for `start`, unless an engine must run it.
    pub fn new(kernel: &SharedKernel, start: &PendingProcess) -> Option<Self> {
        let program = Arc::clone(start.host.as_ref()?);
        Some(Self {
            kernel: Arc::clone(kernel),
            pid: start.pid,
            flags: Arc::clone(&start.flags),
            link: Arc::new(StreamLink::new(kernel, start.pid)),
            life: CallState::NotStarted(program),
        })
    }

    fn fatal(&self) -> Option<Signal> {
        self.flags.fatal_signal()
    }

    /// Polls the application's code until it is pending.
    fn poll_call(&mut self, cx: &mut Context<'_>) -> Poll<Result<u8, Panicked>> {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            if let CallState::NotStarted(program) = &self.life {
                let call = call(&self.kernel.lock(), self.pid, &self.link);
                // The process has ended, so no one receives the result.
                let Some(call) = call else { return Poll::Ready(0) };
                self.life = CallState::Running(program.start(ProcessHandle::new(&self.link), call));
            }
            match &mut self.life {
                CallState::Running(future) => future.as_mut().poll(cx),
                CallState::NotStarted(_) | CallState::Finished => Poll::Ready(0),
            }
        }));
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    }

    /// Drops the application's future.
    fn drop_call(&mut self) -> Result<(), Panicked> {
        let life = std::mem::replace(&mut self.life, CallState::Finished);
        let left = catch_unwind(AssertUnwindSafe(|| drop(life))).map_err(|_| Panicked);
        self.link.disconnect();
        left
    }

    fn end(&mut self, code: Result<u8, Panicked>) {
        let left = self.drop_call();
        let status = match (self.fatal(), code.and_then(|code| left.map(|()| code))) {
            (Some(signal), _) => ExitStatus::Killed(signal),
            (None, Ok(code)) => ExitStatus::Exited(code),
            (None, Err(Panicked)) => {
                let mut kernel = self.kernel.lock();
                let name = kernel.program_name(self.pid);
                kernel
                    .write_stderr(self.pid, &format!("{name}: the application panicked while running this command\n"));
                ExitStatus::Killed(Signal::Abrt)
            }
        };
        self.kernel.lock().process_exited(self.pid, status);
    }
}

impl Future for HostProcess {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if matches!(this.life, CallState::Finished) {
            return Poll::Ready(());
        }
        if this.fatal().is_some() {
            this.end(Ok(0));
            return Poll::Ready(());
        }
        this.link.begin_turn(cx.waker());
        match this.poll_call(cx) {
            Poll::Ready(code) => {
                this.end(code);
                Poll::Ready(())
            }
            Poll::Pending => {
                let waker = Arc::clone(&this.link).into();
                this.kernel.lock().park_host(this.pid, &waker, this.link.waits_externally());
                Poll::Pending
            }
        }
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        // The dropping code cannot use this error.
        let _ = self.drop_call();
    }
}

/// Collects the call's inputs for the application.
fn call(kernel: &Kernel, pid: Pid, link: &Arc<StreamLink>) -> Option<HostCall> {
    let process = kernel.process(pid).ok()?;
    let sandbox = kernel.host_programs.as_ref()?.sandbox.clone();
    let cwd = kernel.path_of(&process.cwd).unwrap_or_else(|| DELETED_CWD.to_vec());
    let cwd = SandboxPath::parse(cwd).ok()?;
    let output = |fd| HostOutput::new(Output::new(Arc::clone(link), fd));
    let mut call = HostCall::new(sandbox, cwd, HostInput::new(Input::new(Arc::clone(link))), output(1), output(2));
    call.arguments = process.program.argv.iter().map(<[u8]>::to_vec).collect();
    call.environment = process.program.env.iter().map(<[u8]>::to_vec).collect();
    Some(call)
}
