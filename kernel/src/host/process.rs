//! A call of such a program, from its start to its end.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use tidebox_core::{BoxFuture, HostCall, HostInput, HostOutput, SandboxPath};

use super::stream::{CallingProcess, Input, Link, Output};
use super::{HostProgram, lock};
use crate::kernel::{Kernel, SharedKernel};
use crate::process::{Pid, Start, Status};
use crate::signal::Signal;

/// A working directory that was removed has no path. Nothing is found here and nothing can be made here.
const REMOVED: &[u8] = b"/proc/(deleted)";

/// A process that the application runs: the future is over when the process has ended and the kernel knows how.
///
/// The engine polls it like a guest, in any task and without the kernel's lock. Dropping it drops what the application
/// does; the process itself is then left to [`Kernel::end`]. A panic of the application's code is caught here, in polls
/// and in drops alike, because it must end neither the other processes nor the caller: what panicked is dropped and
/// never touched again. (Where the program was built to abort on a panic, nothing can be caught.)
pub struct HostProcess {
    kernel: SharedKernel,
    pid: Pid,
    kill_flag: Arc<AtomicU32>,
    link: Arc<Link>,
    life: Life,
}

enum Life {
    Unborn(Arc<dyn HostProgram>),
    Running(BoxFuture<'static, u8>),
    Over,
}

/// The application's code panicked. The message stays with the host, to whom Rust's panic hook has told it: it may hold
/// what the sandbox must not see.
struct Panicked;

impl fmt::Debug for HostProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostProcess").field("pid", &self.pid).finish_non_exhaustive()
    }
}

impl HostProcess {
    /// The process that `start` asks for, unless it is an engine's to run.
    pub fn new(kernel: &SharedKernel, start: &Start) -> Option<Self> {
        let program = Arc::clone(start.host.as_ref()?);
        Some(Self {
            kernel: Arc::clone(kernel),
            pid: start.pid,
            kill_flag: Arc::clone(&start.kill_flag),
            link: Arc::new(Link::new(kernel, start.pid)),
            life: Life::Unborn(program),
        })
    }

    fn fatal(&self) -> Option<Signal> {
        Signal::from_number(self.kill_flag.load(Ordering::Relaxed))
    }

    /// Lets the application's code run until it waits.
    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<Result<u8, Panicked>> {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            if let Life::Unborn(program) = &self.life {
                let call = call(&lock(&self.kernel), self.pid, &self.link);
                // A process that is gone has nobody to answer.
                let Some(call) = call else { return Poll::Ready(0) };
                self.life = Life::Running(program.start(CallingProcess::new(&self.link), call));
            }
            match &mut self.life {
                Life::Running(future) => future.as_mut().poll(cx),
                Life::Unborn(_) | Life::Over => Poll::Ready(0),
            }
        }));
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    }

    /// Drops what the application does.
    fn leave(&mut self) -> Result<(), Panicked> {
        let life = std::mem::replace(&mut self.life, Life::Over);
        let left = catch_unwind(AssertUnwindSafe(|| drop(life))).map_err(|_| Panicked);
        self.link.cut();
        left
    }

    fn end(&mut self, code: Result<u8, Panicked>) {
        let left = self.leave();
        let status = match (self.fatal(), code.and_then(|code| left.map(|()| code))) {
            (Some(signal), _) => Status::Killed(signal),
            (None, Ok(code)) => Status::Exited(code),
            (None, Err(Panicked)) => {
                let mut kernel = lock(&self.kernel);
                let name = kernel.program_name(self.pid);
                kernel.message(self.pid, &format!("{name}: the application failed while it answered this command\n"));
                Status::Killed(Signal::Abrt)
            }
        };
        lock(&self.kernel).exited(self.pid, status);
    }
}

impl Future for HostProcess {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if matches!(this.life, Life::Over) {
            return Poll::Ready(());
        }
        if this.fatal().is_some() {
            this.end(Ok(0));
            return Poll::Ready(());
        }
        this.link.begin_turn(cx.waker());
        match this.advance(cx) {
            Poll::Ready(code) => {
                this.end(code);
                Poll::Ready(())
            }
            Poll::Pending => {
                let waker = Arc::clone(&this.link).into();
                lock(&this.kernel).park_host(this.pid, &waker, this.link.waits_outside());
                Poll::Pending
            }
        }
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        // Who drops the process has no use for the news that this failed.
        let _ = self.leave();
    }
}

/// What the process was given, for the application.
fn call(kernel: &Kernel, pid: Pid, link: &Arc<Link>) -> Option<HostCall> {
    let process = kernel.process(pid).ok()?;
    let sandbox = kernel.host_programs.as_ref()?.sandbox.clone();
    let cwd = kernel.path_of(&process.cwd).unwrap_or_else(|| REMOVED.to_vec());
    let cwd = SandboxPath::parse(cwd).ok()?;
    let output = |fd| HostOutput::new(Output::new(Arc::clone(link), fd));
    let mut call = HostCall::new(sandbox, cwd, HostInput::new(Input::new(Arc::clone(link))), output(1), output(2));
    call.arguments = process.program.argv.iter().map(<[u8]>::to_vec).collect();
    call.environment = process.program.env.iter().map(<[u8]>::to_vec).collect();
    Some(call)
}
