//! A component from its instantiation to its end.

use tidebox_kernel::{SharedKernel, Start, Status};
use wasmtime::Store;

use super::handle::Handle;
use super::host::Host;
use super::{Program, gate};
use crate::guest::Limiter;
use crate::process::{self, Reason, Surroundings};
use crate::{instance, program};

/// Most bytes that one call brings to the host.
const CALL_BYTES: usize = 32 << 20;

/// Runs the component of a process and tells how it ended.
pub(crate) async fn run(around: &Surroundings, start: &Start, program: &Program) -> Status {
    let handle = Handle::new(SharedKernel::clone(&around.kernel), start.pid);
    let (mut limiter, mut ended) = attempt(around, &handle, start, program).await;
    if let Err((Reason::Start, error)) = &ended
        && instance::is_full(error)
        && let Some((around, program::Program::Component(program))) = instance::beyond(around, start).await
    {
        (limiter, ended) = attempt(&around, &handle, start, &program).await;
    }
    match ended {
        Ok(Ok(())) => Status::Exited(0),
        Ok(Err(())) => Status::Exited(1),
        Err((stage, error)) => process::status_of(&around.kernel, start.pid, limiter.refused, stage, &error),
    }
}

/// Runs the component in one engine. The limiter tells whether memory was refused.
async fn attempt(around: &Surroundings, handle: &Handle, start: &Start, program: &Program) -> (Limiter, Life) {
    let _living = around.inner.admit();
    let mut store = store(handle, start, program);
    let ended = gate::drive(handle, live(&mut store, program)).await;
    (store.into_data().limiter, ended)
}

fn store(handle: &Handle, start: &Start, program: &Program) -> Store<Host> {
    let limiter = Limiter::new(&handle.kernel, start.pid);
    let engine = match program {
        Program::P2(pre) => pre.engine(),
        #[cfg(feature = "wasi-p3")]
        Program::P3(pre) => pre.engine(),
    };
    let mut store = Store::new(engine, Host::new(handle.clone(), limiter));
    store.limiter(|host| &mut host.limiter);
    store.set_hostcall_fuel(CALL_BYTES);
    instance::take_turns(&mut store, &start.kill_flag);
    store
}

/// How a component ended by itself; else when it failed and of what.
type Life = Result<Result<(), ()>, (Reason, wasmtime::Error)>;

async fn live(store: &mut Store<Host>, program: &Program) -> Life {
    match program {
        Program::P2(pre) => {
            let command = pre.instantiate_async(&mut *store).await.map_err(|error| (Reason::Start, error))?;
            command.wasi_cli_run().call_run(store).await.map_err(|error| (Reason::Run, error))
        }
        #[cfg(feature = "wasi-p3")]
        Program::P3(pre) => {
            let command = pre.instantiate_async(&mut *store).await.map_err(|error| (Reason::Start, error))?;
            let run = store.run_concurrent(async |store| command.wasi_cli_run().call_run(store).await);
            run.await.and_then(|ended| ended).map_err(|error| (Reason::Run, error))
        }
    }
}
