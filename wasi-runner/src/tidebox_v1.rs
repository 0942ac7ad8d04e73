//! `tidebox_v1`, function by function: Unix calls that preview1 lacks. `docs/abi.md` specifies them.

use tidebox_kernel::wasi::tidebox;
use tidebox_kernel::{tidebox_v1_nonblocking, tidebox_v1_yielding};
use wasmtime::{Caller, Linker};

use crate::call::{call_kernel, call_kernel_blocking, finish};
use crate::guest::Guest;
use crate::preview1::{blocking, direct};

/// Import module that marks a Tidebox guest.
pub(crate) const MODULE: &str = "tidebox_v1";

pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    tidebox_v1_nonblocking!(direct!(linker, MODULE,));
    tidebox_v1_yielding!(blocking!(linker, MODULE,));
    linker.func_wrap_async(MODULE, "fork", |mut caller: Caller<'_, Guest>, (arg, pid_out): (i32, u32)| {
        Box::new(async move { crate::fork::fork(&mut caller, arg, pid_out).await })
    })?;
    Ok(())
}
