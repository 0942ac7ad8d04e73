//! `tidebox_v1`, function by function: what preview1 lacks of a Unix. `docs/abi.md` says what each means.

use tidebox_kernel::wasi::ext;
use tidebox_kernel::{tidebox_v1_at_once, tidebox_v1_in_turn};
use wasmtime::{Caller, Linker};

use crate::call::{enter, enter_blocking, finish};
use crate::guest::Guest;
use crate::p1::{blocking, direct};

/// The import module that makes a guest an aware one.
pub(crate) const MODULE: &str = "tidebox_v1";

pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    tidebox_v1_at_once!(direct!(linker, MODULE,));
    tidebox_v1_in_turn!(blocking!(linker, MODULE,));
    linker.func_wrap_async(MODULE, "fork", |mut caller: Caller<'_, Guest>, (arg, pid_out): (i32, u32)| {
        Box::new(async move { crate::fork::fork(&mut caller, arg, pid_out).await })
    })?;
    Ok(())
}
