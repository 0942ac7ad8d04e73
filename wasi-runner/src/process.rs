//! One process from its start to its end.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

use tidebox_kernel::{Pid, SharedKernel, Signal, Start, Status};
use wasmtime::{Instance, InstancePre, Trap};

use crate::call::Leave;
use crate::component;
use crate::engine::{Inner, Store};
use crate::fork::{self, Forked, Nursery};
use crate::guest::{Guest, lock};
use crate::instance;
use crate::prepared;
use crate::program::{NotAProgram, Program};

/// What a process's future needs beside the start order.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) inner: Arc<Inner>,
    pub(crate) kernel: SharedKernel,
    pub(crate) nursery: Nursery,
}

/// The signal that the owner of the flag must die of now, if any.
pub(crate) fn fatal(kill_flag: &AtomicU32) -> Option<Signal> {
    Signal::from_number(kill_flag.load(Ordering::Relaxed))
}

/// Runs a process that was spawned: finds its program, instantiates it, runs it, and reports its end.
pub(crate) async fn spawned(around: Surroundings, start: Start) {
    let pid = start.pid;
    let kill_flag = Arc::clone(&start.kill_flag);
    let life = async {
        let program = match program(&around, &start).await {
            Ok(program) => program,
            Err(reason) => return cannot_execute(&around.kernel, pid, &reason.to_string()),
        };
        match program {
            Program::Module { pre, aware } => {
                lock(&around.kernel).set_aware(pid, aware);
                run_module(&around, &start, &pre).await
            }
            Program::Prepared(program) => {
                lock(&around.kernel).set_aware(pid, true);
                prepared::run(&around, &start, &program).await
            }
            Program::Component(program) => {
                lock(&around.kernel).set_aware(pid, false);
                component::run(&around, &start, &program).await
            }
        }
    };
    let status = unless_killed(&kill_flag, life).await;
    lock(&around.kernel).exited(pid, status);
}

async fn run_module(around: &Surroundings, start: &Start, program: &InstancePre<Guest>) -> Status {
    let (mut store, made) = instance::new(around, start, program).await;
    match made {
        Ok(instance) => {
            store.data_mut().memory = instance.get_memory(&mut store, "memory");
            run(&mut store, instance, "_start", None).await
        }
        Err(error) => status_of(&around.kernel, start.pid, store.data().limiter.refused, Reason::Start, &error),
    }
}

/// Runs a process that was forked; its instance and memory are there already.
pub(crate) async fn forked(kernel: SharedKernel, forked: Forked) {
    let Forked { start, mut store, instance, arg } = forked;
    let life = run(&mut store, instance, fork::ENTRY, Some(arg));
    let status = unless_killed(&start.kill_flag, life).await;
    lock(&kernel).exited(start.pid, status);
}

/// Drops the process's future, and with it the guest's stack and memory, as soon as it is to die. The kernel wakes the
/// process for that wherever it waits.
async fn unless_killed(kill_flag: &AtomicU32, life: impl Future<Output = Status>) -> Status {
    let mut life = pin!(life);
    poll_fn(|cx| {
        if let Some(signal) = fatal(kill_flag) {
            return Poll::Ready(Status::Killed(signal));
        }
        life.as_mut().poll(cx)
    })
    .await
}

pub(crate) async fn program(around: &Surroundings, start: &Start) -> Result<Program, NotAProgram> {
    if let Some(program) = around.inner.programs.ready(&start.image) {
        return Ok(program);
    }
    let inner = Arc::clone(&around.inner);
    let contents = start.image.contents.clone();
    // Compiling takes up to seconds; the other processes go on meanwhile.
    let Some(wasm) = contents.shared().cloned() else {
        let compiler = Arc::clone(&inner);
        return compiler.compiling.run(move || inner.programs.of_guest(&inner.engine, &contents)).await;
    };
    let compiled = tokio::task::spawn_blocking(move || inner.programs.installed(&inner.engine, &wasm));
    compiled.await.unwrap_or_else(|_| Err(NotAProgram::compiler_failed()))
}

async fn run(store: &mut Store, instance: Instance, entry: &str, arg: Option<i32>) -> Status {
    let ended = match arg {
        None => match instance.get_typed_func::<(), ()>(&mut *store, entry) {
            Ok(function) => function.call_async(&mut *store, ()).await,
            Err(error) => Err(error),
        },
        Some(arg) => match instance.get_typed_func::<i32, ()>(&mut *store, entry) {
            Ok(function) => function.call_async(&mut *store, arg).await,
            Err(error) => Err(error),
        },
    };
    match ended {
        Ok(()) => Status::Exited(0),
        Err(error) => {
            let guest = store.data();
            status_of(&guest.kernel, guest.pid, guest.limiter.refused, Reason::Run, &error)
        }
    }
}

/// When a program failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// While it was instantiated.
    Start,
    /// While it ran.
    Run,
}

/// What an error that left a guest means for its process. Tells its standard error what happened; `refused` is whether it
/// was denied memory.
pub(crate) fn status_of(
    kernel: &SharedKernel,
    pid: Pid,
    refused: bool,
    when: Reason,
    error: &wasmtime::Error,
) -> Status {
    match error.downcast_ref::<Leave>() {
        // Only the low eight bits of an exit code reach the parent, as in POSIX.
        Some(Leave::Exit(code)) => return Status::Exited((*code & 0xff) as u8),
        Some(Leave::Killed(signal)) => return Status::Killed(*signal),
        None => {}
    }
    if refused {
        return out_of_memory(kernel, pid);
    }
    if when == Reason::Start && instance::is_full(error) {
        return cannot_execute(
            kernel,
            pid,
            "this machine has no room for more processes of all sandboxes now; try again later",
        );
    }
    if when == Reason::Start {
        return cannot_execute(kernel, pid, &format!("{error:#}"));
    }
    let (what, signal) = match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => ("stack overflow".to_owned(), Signal::Segv),
        Some(Trap::UnreachableCodeReached) => ("aborted".to_owned(), Signal::Abrt),
        Some(Trap::IntegerDivisionByZero | Trap::IntegerOverflow | Trap::BadConversionToInteger) => {
            ("arithmetic fault".to_owned(), Signal::Fpe)
        }
        Some(trap) => (trap.to_string(), Signal::Segv),
        None => (format!("{error:#}"), Signal::Segv),
    };
    let mut kernel = lock(kernel);
    let name = kernel.program_name(pid);
    kernel.message(pid, &format!("{name}: {what}\n"));
    Status::Killed(signal)
}

fn out_of_memory(kernel: &SharedKernel, pid: Pid) -> Status {
    let mut kernel = lock(kernel);
    let name = kernel.program_name(pid);
    let limits = kernel.limits();
    let (process, sandbox) = (limits.process_memory_bytes >> 10, limits.sandbox_memory_bytes >> 10);
    let limits = format!("the limits are {process} KiB for a process and {sandbox} KiB for all of a sandbox");
    kernel.message(pid, &format!("{name}: out of memory ({limits})\n"));
    kernel.out_of_memory(pid);
    Status::Killed(Signal::Kill)
}

/// Exit code 126, as a shell gives for a file that cannot be executed.
fn cannot_execute(kernel: &SharedKernel, pid: Pid, reason: &str) -> Status {
    let mut kernel = lock(kernel);
    let name = kernel.program_name(pid);
    kernel.message(pid, &format!("{name}: cannot execute: {reason}\n"));
    Status::Exited(126)
}
