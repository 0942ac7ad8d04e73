//! Runs a component from instantiation to exit.

use tidebox_kernel::{ExitStatus, PendingProcess, SharedKernel};
use wasmtime::Store;

use super::handle::ProcessHandle;
use super::host::Host;
use super::{Program, wait_set};
use crate::guest::Limiter;
use crate::process::{self, FailurePhase, ProcessContext};
use crate::{instance, program};

/// Maximum number of bytes that one call transfers to the host.
const CALL_BYTES: usize = 32 << 20;

/// Runs the component of a process and returns its exit status.
pub(crate) async fn run(context: &ProcessContext, start: &PendingProcess, program: &Program) -> ExitStatus {
    let handle = ProcessHandle::new(SharedKernel::clone(&context.kernel), start.pid);
    let (mut limiter, mut ended) = run_in_engine(context, &handle, start, program).await;
    if let Err((FailurePhase::Start, error)) = &ended
        && instance::is_pool_full(error)
        && let Some((context, program::Program::Component(program))) = instance::overflow_program(context, start).await
    {
        (limiter, ended) = run_in_engine(&context, &handle, start, &program).await;
    }
    match ended {
        Ok(Ok(())) => ExitStatus::Exited(0),
        Ok(Err(())) => ExitStatus::Exited(1),
        Err((stage, error)) => {
            process::exit_status_of(&context.kernel, start.pid, limiter.memory_denied, stage, &error)
        }
    }
}

/// Runs the component in one engine. The limiter reports whether memory was denied.
async fn run_in_engine(
    context: &ProcessContext,
    handle: &ProcessHandle,
    start: &PendingProcess,
    program: &Program,
) -> (Limiter, RunResult) {
    let _process_guard = context.inner.count_process();
    let mut store = store(handle, start, program);
    let run = wait_set::drive_component(handle, run_command(&mut store, program));
    let ended = context.inner.ticker.tick_during(run).await;
    (store.into_data().limiter, ended)
}

fn store(handle: &ProcessHandle, start: &PendingProcess, program: &Program) -> Store<Host> {
    let limiter = Limiter::new(&handle.kernel, start.pid);
    let engine = match program {
        Program::P2(pre) => pre.engine(),
        #[cfg(feature = "wasi-p3")]
        Program::P3(pre) => pre.engine(),
    };
    let mut store = Store::new(engine, Host::new(handle.clone(), limiter));
    store.limiter(|host| &mut host.limiter);
    store.set_hostcall_fuel(CALL_BYTES);
    instance::configure_epochs(&mut store, &start.flags);
    store
}

/// The component's own result, or the phase and cause of its failure.
type RunResult = Result<Result<(), ()>, (FailurePhase, wasmtime::Error)>;

async fn run_command(store: &mut Store<Host>, program: &Program) -> RunResult {
    match program {
        Program::P2(pre) => {
            let command = pre.instantiate_async(&mut *store).await.map_err(|error| (FailurePhase::Start, error))?;
            command.wasi_cli_run().call_run(store).await.map_err(|error| (FailurePhase::Run, error))
        }
        #[cfg(feature = "wasi-p3")]
        Program::P3(pre) => {
            let command = pre.instantiate_async(&mut *store).await.map_err(|error| (FailurePhase::Start, error))?;
            let run = store.run_concurrent(async |store| command.wasi_cli_run().call_run(store).await);
            run.await.and_then(|ended| ended).map_err(|error| (FailurePhase::Run, error))
        }
    }
}
