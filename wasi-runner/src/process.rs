//! One process from start to exit.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use tidebox_kernel::{ExitStatus, PendingProcess, Pid, ProcessFlags, SharedKernel, Signal};
use wasmtime::{Instance, InstancePre, Trap};

use crate::call::GuestExit;
use crate::component;
use crate::engine::{Inner, Store};
use crate::fork::{self, ForkQueue, ForkedProcess};
use crate::guest::Guest;
use crate::instance;
use crate::preinit;
use crate::program::{CompileJob, LoadError, Program, SandboxKey};

/// Context of a process besides its start request.
#[derive(Clone)]
pub(crate) struct ProcessContext {
    pub(crate) inner: Arc<Inner>,
    pub(crate) kernel: SharedKernel,
    pub(crate) fork_queue: ForkQueue,
    /// True in a background execution.
    pub(crate) is_background: bool,
}

/// Runs a spawned process: looks up its program, instantiates it, runs it, and reports its exit status.
pub(crate) async fn run_spawned(context: ProcessContext, start: PendingProcess) {
    let pid = start.pid;
    let flags = Arc::clone(&start.flags);
    // Pinned here: its state is some KiB, which would be copied for every process if it were passed by value.
    let body = pin!(async {
        let program = match program(&context, &start).await {
            Ok(program) => program,
            Err(reason) => return cannot_execute(&context.kernel, pid, &reason.to_string()),
        };
        // The rarer kinds are boxed: the state of a module's process would have the size of the largest.
        match program {
            Program::Module { pre, tidebox_guest } => {
                context.kernel.lock().set_tidebox_guest(pid, tidebox_guest);
                run_module(&context, &start, &pre).await
            }
            Program::Preinit(program) => {
                context.kernel.lock().set_tidebox_guest(pid, true);
                Box::pin(preinit::run(&context, &start, &program)).await
            }
            Program::Component(program) => {
                context.kernel.lock().set_tidebox_guest(pid, false);
                Box::pin(component::run(&context, &start, &program)).await
            }
        }
    });
    let status = until_killed(&flags, body).await;
    context.kernel.lock().process_exited(pid, status);
}

async fn run_module(context: &ProcessContext, start: &PendingProcess, program: &InstancePre<Guest>) -> ExitStatus {
    let (mut store, instantiated) = instance::new(context, start, program).await;
    match instantiated {
        Ok(instance) => {
            store.data_mut().memory = instance.get_memory(&mut store, "memory");
            run(&mut store, instance, "_start", None).await
        }
        Err(error) => {
            exit_status_of(&context.kernel, start.pid, store.data().limiter.memory_denied, FailurePhase::Start, &error)
        }
    }
}

/// Runs a forked process, which already has its instance and memory.
pub(crate) async fn run_forked(kernel: SharedKernel, forked: ForkedProcess) {
    let ForkedProcess { start, mut store, instance, arg } = forked;
    let body = pin!(run(&mut store, instance, fork::ENTRY, Some(arg)));
    let status = until_killed(&start.flags, body).await;
    kernel.lock().process_exited(start.pid, status);
}

/// Drops the process's future, and with it the guest's stack and memory, as soon as the process is killed. The kernel
/// wakes the process for that wherever it waits.
async fn until_killed(flags: &ProcessFlags, mut body: Pin<&mut impl Future<Output = ExitStatus>>) -> ExitStatus {
    poll_fn(|cx| {
        if let Some(signal) = flags.fatal_signal() {
            return Poll::Ready(ExitStatus::Killed(signal));
        }
        body.as_mut().poll(cx)
    })
    .await
}

pub(crate) async fn program(context: &ProcessContext, start: &PendingProcess) -> Result<Program, LoadError> {
    if let Some(program) = context.inner.programs.cached(&start.image) {
        return Ok(program);
    }
    let inner = Arc::clone(&context.inner);
    let contents = start.image.contents.clone();
    // Compiling takes up to several seconds; the other processes run concurrently.
    let Some(wasm) = contents.shared().cloned() else {
        let compiler = Arc::clone(&inner);
        let sandbox = SandboxKey(Arc::as_ptr(&context.kernel).addr());
        let work = move || inner.programs.guest_program(&inner.engine, &contents);
        let budget = context.kernel.lock().remaining_cpu_time(start.execution);
        let job = CompileJob { sandbox, size: start.image.contents.len(), budget };
        let (program, cpu_time) = compiler.compiling.run(job, work).await;
        context.kernel.lock().charge_cpu_time(start.execution, start.pid, cpu_time);
        return program;
    };
    let compiled = tokio::task::spawn_blocking(move || inner.programs.installed_program(&inner.engine, &wasm));
    compiled.await.unwrap_or_else(|_| Err(LoadError::compiler_failed()))
}

async fn run(store: &mut Store, instance: Instance, entry: &str, arg: Option<i32>) -> ExitStatus {
    let inner = Arc::clone(&store.data().engine);
    let called = async {
        match arg {
            None => instance.get_typed_func::<(), ()>(&mut *store, entry)?.call_async(&mut *store, ()).await,
            Some(arg) => instance.get_typed_func::<i32, ()>(&mut *store, entry)?.call_async(&mut *store, arg).await,
        }
    };
    let ended = inner.ticker.tick_during(called).await;
    match ended {
        Ok(()) => ExitStatus::Exited(0),
        Err(error) => {
            let guest = store.data();
            exit_status_of(&guest.kernel, guest.pid, guest.limiter.memory_denied, FailurePhase::Run, &error)
        }
    }
}

/// Phase in which a program failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailurePhase {
    /// During instantiation.
    Start,
    /// During execution.
    Run,
}

/// Converts a guest's error to an exit status and prints the cause to its stderr. `memory_denied` reports whether memory was
/// denied.
pub(crate) fn exit_status_of(
    kernel: &SharedKernel,
    pid: Pid,
    memory_denied: bool,
    phase: FailurePhase,
    error: &wasmtime::Error,
) -> ExitStatus {
    match error.downcast_ref::<GuestExit>() {
        // Only the low eight bits of an exit code reach the parent, as in POSIX.
        Some(GuestExit::Exit(code)) => return ExitStatus::Exited((*code & 0xff) as u8),
        Some(GuestExit::Killed(signal)) => return ExitStatus::Killed(*signal),
        None => {}
    }
    if memory_denied {
        return out_of_memory(kernel, pid);
    }
    if phase == FailurePhase::Start && instance::is_pool_full(error) {
        return cannot_execute(
            kernel,
            pid,
            "the host has reached its maximum number of processes over all sandboxes; try again later",
        );
    }
    if phase == FailurePhase::Start {
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
    let mut kernel = kernel.lock();
    let name = kernel.program_name(pid);
    kernel.write_stderr(pid, &format!("{name}: {what}\n"));
    ExitStatus::Killed(signal)
}

fn out_of_memory(kernel: &SharedKernel, pid: Pid) -> ExitStatus {
    let mut kernel = kernel.lock();
    let name = kernel.program_name(pid);
    let limits = kernel.limits();
    let (process, sandbox) = (limits.process_memory_bytes >> 10, limits.sandbox_memory_bytes >> 10);
    let limits = format!("the limits are {process} KiB for a process and {sandbox} KiB for all of a sandbox");
    kernel.write_stderr(pid, &format!("{name}: out of memory ({limits})\n"));
    kernel.report_out_of_memory(pid);
    ExitStatus::Killed(Signal::Kill)
}

/// Returns exit code 126, as a shell does for a file that cannot be executed.
fn cannot_execute(kernel: &SharedKernel, pid: Pid, reason: &str) -> ExitStatus {
    let mut kernel = kernel.lock();
    let name = kernel.program_name(pid);
    kernel.write_stderr(pid, &format!("{name}: cannot execute: {reason}\n"));
    ExitStatus::Exited(126)
}
