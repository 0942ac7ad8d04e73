//! Calls polled by hand, with the kernel's other processes played by the test.

mod calls;
mod identity;
mod streams;
mod time;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use tidebox_core::{BoxFuture, HostCall, Limits, SandboxId};

use super::{CallingProcess, HostProcess, HostProgram, HostPrograms, lock};
use crate::exec::SpawnRequest;
use crate::testing::{Count, kernel, spec};
use crate::{Kernel, Pid, SessionId, SharedKernel, Start, Status};

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
    fn start(&self, _: CallingProcess, call: HostCall) -> BoxFuture<'static, u8> {
        Box::pin(self.0(call))
    }
}

pub(super) const ASK: &[u8] = b"/usr/local/bin/ask";

/// A sandbox with the program `ask` and a root process that the test plays.
pub(super) struct Stage {
    pub(super) shared: SharedKernel,
    pub(super) root: Pid,
    pub(super) session: SessionId,
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
        let (session, root) = k.begin(spec(b"typed")).expect("the program is there");
        k.set_aware(root, true);
        assert_eq!(k.take_starts(session).len(), 1);
        Self { shared: Arc::new(Mutex::new(k)), root, session }
    }

    pub(super) fn k(&self) -> std::sync::MutexGuard<'_, Kernel> {
        lock(&self.shared)
    }

    /// A pipe of the root process: reading end, writing end.
    pub(super) fn pipe(&self) -> (u32, u32) {
        let mut k = self.k();
        let mut memory = crate::testing::Memory { bytes: vec![0; 8], lends: true };
        assert_eq!(crate::wasi::ext::pipe(&mut k, self.root, &mut memory, 0), crate::testing::OK);
        let end = |at: usize| u32::from(memory.bytes[at]);
        (end(0), end(4))
    }

    pub(super) fn close(&self, fd: u32) {
        self.k().close_fd(self.root, fd).expect("it is open");
    }

    /// Has the root process start `ask` with these descriptors (the child's number, the root's number).
    pub(super) fn start(&self, request: SpawnRequest) -> Start {
        let request = SpawnRequest { path: ASK.to_vec(), ..request };
        let mut k = self.k();
        k.spawn(self.root, request).expect("it can be started");
        k.take_starts(self.session).pop().expect("it was started")
    }

    pub(super) fn call(&self, fds: &[(u32, u32)]) -> Call {
        Call::of(
            self,
            &self.start(SpawnRequest { argv: vec![b"ask".to_vec()], fds: fds.to_vec(), ..SpawnRequest::default() }),
        )
    }

    /// What the root process and its children have printed.
    pub(super) fn printed(&self) -> String {
        let chunks = self.k().take_output(self.session);
        chunks.iter().map(|chunk| String::from_utf8_lossy(&chunk.bytes)).collect()
    }
}

pub(super) fn id(name: &str) -> SandboxId {
    SandboxId::parse(name).expect("a good id")
}

/// Standard streams as the root process has them.
pub(super) const STREAMS: [(u32, u32); 3] = [(0, 0), (1, 1), (2, 2)];

/// A running call, and how often its task was woken.
pub(super) struct Call {
    pub(super) process: HostProcess,
    pub(super) woken: Arc<Count>,
    pub(super) pid: Pid,
}

impl Call {
    pub(super) fn of(stage: &Stage, start: &Start) -> Self {
        let process = HostProcess::new(&stage.shared, start).expect("the application runs it");
        Self { process, woken: Arc::default(), pid: start.pid }
    }

    pub(super) fn poll(&mut self) -> Poll<()> {
        let waker = Waker::from(Arc::clone(&self.woken));
        Pin::new(&mut self.process).poll(&mut Context::from_waker(&waker))
    }

    /// Polls as long as it wakes itself.
    pub(super) fn run(&mut self) -> Poll<()> {
        loop {
            let before = self.woken.get();
            if self.poll().is_ready() || self.woken.get() == before {
                return self.poll();
            }
        }
    }

    /// How it ended, as its parent is told.
    pub(super) fn status(&self, stage: &Stage) -> Option<Status> {
        let k = stage.k();
        k.ended_child(stage.root, crate::life::Which::One(self.pid.0)).expect("a child").map(|(_, status)| status)
    }
}
