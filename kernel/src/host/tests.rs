//! Host calls polled by hand; the test acts as the kernel's other processes.

mod calls;
mod identity;
mod streams;
mod time;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tidebox_core::{BoxFuture, HostCall, Limits, SandboxId};

use super::{HostProcess, HostProgram, HostPrograms, ProcessHandle};
use crate::exec::SpawnRequest;
use crate::testing::{WakeCounter, kernel, spec};
use crate::{ExecutionId, ExitStatus, Kernel, PendingProcess, Pid, SharedKernel};

/// A program that is a function, without the files that a backend adds.
pub(super) struct Program<F>(pub(super) F);

impl<F> fmt::Debug for Program<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Program")
    }
}

impl<F, Answer> HostProgram for Program<F>
where
    F: Fn(HostCall) -> Answer + Send + Sync,
    Answer: Future<Output = u8> + Send + 'static,
{
    fn start(&self, _: ProcessHandle, call: HostCall) -> BoxFuture<'static, u8> {
        Box::pin(self.0(call))
    }
}

pub(super) const ASK: &[u8] = b"/usr/local/bin/ask";

/// A sandbox with the program `ask` and a root process controlled by the test.
pub(super) struct Stage {
    pub(super) shared: SharedKernel,
    pub(super) root: Pid,
    pub(super) execution: ExecutionId,
}

impl Stage {
    pub(super) fn new<F, Answer>(ask: F) -> Self
    where
        F: Fn(HostCall) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = u8> + Send + 'static,
    {
        let mut limits = Limits::default();
        limits.pipe_bytes = 4096;
        let mut k = kernel(limits);
        let mut programs = HostPrograms::new(id("sb-1"));
        programs.add(ASK, Program(ask));
        k.set_host_programs(programs).expect("the directory can be made");
        let (execution, root) = k.start_execution(spec(b"typed")).expect("the program exists");
        k.set_tidebox_guest(root, true);
        assert_eq!(k.take_pending(execution).len(), 1);
        Self { shared: Arc::new(tidebox_core::lock::Mutex::new(k)), root, execution }
    }

    pub(super) fn k(&self) -> std::sync::MutexGuard<'_, Kernel> {
        self.shared.lock()
    }

    /// Creates a pipe of the root process: read end, write end.
    pub(super) fn pipe(&self) -> (u32, u32) {
        self.k().open_pipe(self.root).expect("descriptors are free")
    }

    pub(super) fn close(&self, fd: u32) {
        self.k().close_fd(self.root, fd).expect("it is open");
    }

    /// Starts `ask` from the root process with these descriptors (the child's number, the root's number).
    pub(super) fn start(&self, request: SpawnRequest) -> PendingProcess {
        let request = SpawnRequest { path: ASK.to_vec(), ..request };
        let mut k = self.k();
        k.spawn(self.root, request).expect("it can be started");
        k.take_pending(self.execution).pop().expect("it was started")
    }

    pub(super) fn call(&self, fds: &[(u32, u32)]) -> Call {
        Call::of(
            self,
            &self.start(SpawnRequest {
                argv: ["ask"].into_iter().collect(),
                fds: fds.to_vec(),
                ..SpawnRequest::default()
            }),
        )
    }

    /// Returns the output of the root process and its children.
    pub(super) fn printed(&self) -> String {
        let chunks = self.k().take_output(self.execution);
        chunks.iter().map(|chunk| String::from_utf8_lossy(&chunk.bytes)).collect()
    }
}

pub(super) fn id(name: &str) -> SandboxId {
    SandboxId::parse(name).expect("a good id")
}

/// The standard streams of the root process.
pub(super) const STREAMS: [(u32, u32); 3] = [(0, 0), (1, 1), (2, 2)];

/// A running call, and the wake count of its task.
pub(super) struct Call {
    pub(super) process: HostProcess,
    pub(super) woken: Arc<WakeCounter>,
    pub(super) pid: Pid,
}

impl Call {
    pub(super) fn of(stage: &Stage, start: &PendingProcess) -> Self {
        let process = HostProcess::new(&stage.shared, start).expect("the application runs it");
        Self { process, woken: Arc::default(), pid: start.pid }
    }

    pub(super) fn poll(&mut self) -> Poll<()> {
        let waker = Waker::from(Arc::clone(&self.woken));
        Pin::new(&mut self.process).poll(&mut Context::from_waker(&waker))
    }

    /// Polls while it wakes itself.
    pub(super) fn run(&mut self) -> Poll<()> {
        loop {
            let before = self.woken.get();
            if self.poll().is_ready() || self.woken.get() == before {
                return self.poll();
            }
        }
    }

    /// Returns its exit status, as its parent receives it.
    pub(super) fn status(&self, stage: &Stage) -> Option<ExitStatus> {
        let k = stage.k();
        k.find_changed_child(stage.root, crate::exit::WaitTarget::One(self.pid.0), false).expect("a child").and_then(
            |(_, change)| match change {
                crate::exit::ChildChange::Exited(status) => Some(status),
                crate::exit::ChildChange::Stopped(_) => None,
            },
        )
    }
}
