//! One process from its start to its end.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

use tidebox_kernel::{Pid, SharedKernel, Signal, Start, Status};
use wasmtime::{Instance, InstancePre, Trap, UpdateDeadline};

use crate::call::Leave;
use crate::engine::{Inner, Store};
use crate::fork::{self, Forked, Nursery};
use crate::guest::{Guest, Limiter, lock};
use crate::program::{NotAProgram, Program};

/// Epochs that a guest may run before it lets others have a turn.
const TURN: u64 = 1;

/// What a process's future needs beside the start order.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) inner: Arc<Inner>,
    pub(crate) kernel: SharedKernel,
    pub(crate) nursery: Nursery,
}

/// A store for a process that is about to be instantiated.
pub(crate) fn store(kernel: &SharedKernel, start: &Start, program: &InstancePre<Guest>, nursery: &Nursery) -> Store {
    let guest = Guest {
        kernel: Arc::clone(kernel),
        pid: start.pid,
        memory: None,
        kill_flag: Arc::clone(&start.kill_flag),
        program: program.clone(),
        nursery: Arc::clone(nursery),
        limiter: Limiter { kernel: Arc::clone(kernel), pid: start.pid, refused: false },
    };
    let mut store = Store::new(program.module().engine(), guest);
    store.limiter(|guest| &mut guest.limiter);
    store.set_epoch_deadline(TURN);
    store.epoch_deadline_callback(|context| match context.data().fatal_signal() {
        Some(signal) => Err(wasmtime::Error::new(Leave::Killed(signal))),
        None => Ok(UpdateDeadline::Yield(TURN)),
    });
    store
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
        lock(&around.kernel).set_aware(pid, program.aware);
        let mut store = store(&around.kernel, &start, &program.pre, &around.nursery);
        match program.pre.instantiate_async(&mut store).await {
            Ok(instance) => {
                store.data_mut().memory = instance.get_memory(&mut store, "memory");
                run(&mut store, instance, "_start", None).await
            }
            Err(_) if store.data().limiter.refused => out_of_memory(&around.kernel, pid),
            Err(error) => cannot_execute(&around.kernel, pid, &format!("{error:#}")),
        }
    };
    let status = unless_killed(&kill_flag, life).await;
    lock(&around.kernel).exited(pid, status);
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
        if let Some(signal) = Signal::from_number(kill_flag.load(Ordering::Relaxed)) {
            return Poll::Ready(Status::Killed(signal));
        }
        life.as_mut().poll(cx)
    })
    .await
}

async fn program(around: &Surroundings, start: &Start) -> Result<Program, NotAProgram> {
    if let Some(program) = around.inner.programs.ready(&start.image) {
        return Ok(program);
    }
    let inner = Arc::clone(&around.inner);
    let contents = start.image.contents.clone();
    // Compiling takes up to seconds; the other processes go on meanwhile.
    let compiled = tokio::task::spawn_blocking(move || match contents.shared() {
        Some(wasm) => inner.programs.installed(&inner.engine, wasm),
        None => inner.programs.of_guest(&inner.engine, &contents),
    });
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
        Err(error) => status_of(store, &error),
    }
}

fn status_of(store: &Store, error: &wasmtime::Error) -> Status {
    let guest = store.data();
    match error.downcast_ref::<Leave>() {
        // Only the low eight bits of an exit code reach the parent, as in POSIX.
        Some(Leave::Exit(code)) => return Status::Exited((*code & 0xff) as u8),
        Some(Leave::Killed(signal)) => return Status::Killed(*signal),
        None => {}
    }
    if guest.limiter.refused {
        return out_of_memory(&guest.kernel, guest.pid);
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
    let mut kernel = lock(&guest.kernel);
    let name = kernel.program_name(guest.pid);
    kernel.message(guest.pid, &format!("{name}: {what}\n"));
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
