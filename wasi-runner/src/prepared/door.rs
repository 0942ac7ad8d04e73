//! `host.call`: the one import of such a program beside preview1, and its way to the calls of `tidebox_v1`.
//!
//! The kernel reads requests and answers them; `docs/abi.md` has the layout.

use tidebox_kernel::wasi::GuestMem;
use tidebox_kernel::wasi::door::Request;
use wasmtime::{Caller, Linker};

use crate::call::enter_blocking;
use crate::guest::{Guest, Linear};

const MODULE: &str = "host";

/// What the program exports to have room made for an answer.
pub(super) const ROOM: &str = "host_alloc";

/// The request could not be read or answered.
const FAULT: i32 = -2;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, "call", |mut caller: Caller<'_, Guest>, places: (u32, u32, u32, u32)| {
        Box::new(async move { call(&mut caller, places).await })
    })?;
    Ok(())
}

async fn call(
    caller: &mut Caller<'_, Guest>,
    (at, len, at_out, len_out): (u32, u32, u32, u32),
) -> wasmtime::Result<i32> {
    let Some(memory) = caller.data().memory else { return Ok(FAULT) };
    let mut memory = Linear(memory.data_mut(&mut *caller));
    let Some(mut request) = Request::read(&memory, at, len) else { return Ok(FAULT) };
    if let Some(answer) = request.set_words(&mut memory) {
        return write(caller, &answer, at_out, len_out).await;
    }
    let errno = enter_blocking(caller, |kernel, pid, _| request.answer(kernel, pid)).await?;
    write(caller, &request.answered(errno), at_out, len_out).await
}

/// Has the program make room for the answer and puts it there.
async fn write(caller: &mut Caller<'_, Guest>, answer: &[u8], at_out: u32, len_out: u32) -> wasmtime::Result<i32> {
    let Ok(len) = u32::try_from(answer.len()) else { return Ok(FAULT) };
    let Some(room) = caller.get_export(ROOM).and_then(|export| export.into_func()) else { return Ok(FAULT) };
    let Ok(room) = room.typed::<u32, u32>(&*caller) else { return Ok(FAULT) };
    let at = room.call_async(&mut *caller, len).await?;
    let Some(memory) = caller.data().memory else { return Ok(FAULT) };
    let mut memory = Linear(memory.data_mut(caller));
    let written = at != 0
        && memory.write(at, answer).is_ok()
        && memory.write(at_out, &at.to_le_bytes()).is_ok()
        && memory.write(len_out, &len.to_le_bytes()).is_ok();
    Ok(if written { 0 } else { FAULT })
}
