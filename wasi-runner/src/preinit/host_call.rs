//! `host.call`: the only import of such a program besides preview1. It gives access to the calls of `tidebox_v1`.
//!
//! The kernel decodes requests and encodes responses; `docs/abi.md` specifies the layout.

use tidebox_kernel::GuestMemory;
use tidebox_kernel::wasi::host_call::HostCallRequest;
use wasmtime::{Caller, Linker};

use crate::call::call_kernel_blocking;
use crate::guest::{Guest, LinearMemory};

const MODULE: &str = "host";

/// Export that allocates guest memory for a response.
pub(super) const ALLOC_EXPORT: &str = "host_alloc";

/// Result for a request that cannot be read or a response that cannot be written.
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
    let mut memory = LinearMemory(memory.data_mut(&mut *caller));
    let Some(mut request) = HostCallRequest::read(&memory, at, len) else { return Ok(FAULT) };
    if let Some(response) = request.write_words(&mut memory) {
        return write(caller, &response, at_out, len_out).await;
    }
    let errno = call_kernel_blocking(caller, |kernel, pid, _| request.execute(kernel, pid)).await?;
    write(caller, &request.into_response(errno), at_out, len_out).await
}

/// Allocates guest memory for the response and writes it there.
async fn write(caller: &mut Caller<'_, Guest>, response: &[u8], at_out: u32, len_out: u32) -> wasmtime::Result<i32> {
    let Ok(len) = u32::try_from(response.len()) else { return Ok(FAULT) };
    let Some(alloc) = caller.get_export(ALLOC_EXPORT).and_then(|export| export.into_func()) else { return Ok(FAULT) };
    let Ok(alloc) = alloc.typed::<u32, u32>(&*caller) else { return Ok(FAULT) };
    let at = alloc.call_async(&mut *caller, len).await?;
    let Some(memory) = caller.data().memory else { return Ok(FAULT) };
    let mut memory = LinearMemory(memory.data_mut(caller));
    let written = at != 0
        && memory.write(at, response).is_ok()
        && memory.write(at_out, &at.to_le_bytes()).is_ok()
        && memory.write(len_out, &len.to_le_bytes()).is_ok();
    Ok(if written { 0 } else { FAULT })
}
