//! `host.call`: the one import of such a program beside preview1, and its way to the calls of `tidebox_v1`.
//!
//! A request names a call and its arguments, and brings along the bytes that pointers among them point into. The answer is
//! the error number and those bytes as the call left them. `docs/abi.md` has the layout.

use tidebox_kernel::wasi::{GuestMem, Sys, ext};
use tidebox_kernel::{Errno, Kernel, Pid};
use wasmtime::{Caller, Linker};

use crate::call::enter_blocking;
use crate::guest::{Guest, Linear};

const MODULE: &str = "host";

/// What the program exports to have room made for an answer.
pub(super) const ROOM: &str = "host_alloc";

/// The request could not be read or answered.
const FAULT: i32 = -2;

/// Bytes of a request. What is asked for with the most bytes, a spawn, has a limit of its own below this.
const REQUEST_BYTES: u32 = 16 << 20;

/// Arguments of a call at most.
const ARGUMENTS: usize = 4;

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
    let Some(mut request) = read(caller, at, len) else { return Ok(FAULT) };
    if request.name == b"set_words" {
        let errno = set_words(caller, &request);
        return write(caller, &errno.to_le_bytes(), at_out, len_out).await;
    }
    let errno = enter_blocking(caller, |kernel, pid, _| answer(kernel, pid, &mut request)).await?;
    let mut bytes = errno.to_le_bytes().to_vec();
    bytes.append(&mut request.memory);
    write(caller, &bytes, at_out, len_out).await
}

struct Request {
    name: Vec<u8>,
    arguments: [u32; ARGUMENTS],
    memory: Vec<u8>,
}

/// `u32` length and name, `u32` count and arguments, and the rest.
fn read(caller: &mut Caller<'_, Guest>, at: u32, len: u32) -> Option<Request> {
    let memory = caller.data().memory?;
    let memory = Linear(memory.data_mut(caller));
    let bytes = memory.slice(at, len)?;
    if len > REQUEST_BYTES {
        return None;
    }
    let (name, rest) = counted(bytes, 1)?;
    let (numbers, rest) = counted(rest, 4)?;
    let mut arguments = [0; ARGUMENTS];
    let numbers = numbers.as_chunks::<4>().0;
    if numbers.len() > ARGUMENTS {
        return None;
    }
    for (argument, number) in arguments.iter_mut().zip(numbers) {
        *argument = u32::from_le_bytes(*number);
    }
    Some(Request { name: name.to_vec(), arguments, memory: rest.to_vec() })
}

/// As many things of `size` bytes as the number at the beginning says, and what follows them.
fn counted(bytes: &[u8], size: usize) -> Option<(&[u8], &[u8])> {
    let (count, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked((u32::from_le_bytes(*count) as usize).checked_mul(size)?)
}

fn answer(k: &mut Kernel, pid: Pid, request: &mut Request) -> Sys {
    let m: &mut dyn GuestMem = &mut Linear(&mut request.memory);
    let [a, b, c, d] = request.arguments;
    match request.name.as_slice() {
        b"spawn" => ext::spawn(k, pid, m, a, b, c),
        b"wait" => ext::wait(k, pid, m, a.cast_signed(), b, c),
        b"pipe" => ext::pipe(k, pid, m, a),
        b"dup" => ext::dup(k, pid, m, a, b, c),
        b"dup_to" => ext::dup_to(k, pid, m, a, b),
        b"chdir" => ext::chdir(k, pid, m, a, b),
        b"getcwd" => ext::getcwd(k, pid, m, a, b, c),
        b"getids" => ext::getids(k, pid, m, a),
        b"setpgid" => ext::setpgid(k, pid, m, a.cast_signed(), b.cast_signed()),
        b"kill" => ext::kill(k, pid, m, a.cast_signed(), b),
        b"sig_set" => ext::sig_set(k, pid, m, a, b),
        b"sig_take" => ext::sig_take(k, pid, m, a),
        b"umask" => ext::umask(k, pid, m, a, b),
        b"chmod" => ext::chmod(k, pid, m, a, b, c),
        b"stat" => ext::stat(k, pid, m, a, b, c, d),
        b"fstat" => ext::fstat(k, pid, m, a, b),
        b"access" => ext::access(k, pid, m, a, b, c),
        b"listen" => ext::listen(k, pid, m, a, b, c),
        b"reply" => ext::reply(k, pid, m, a, b),
        b"limits" => ext::limits(k, pid, m, a),
        _ => Sys::Done(Errno::Nosys),
    }
}

/// Writes a number to places of the caller's own memory: how the maker of an image reaches what its language hides.
fn set_words(caller: &mut Caller<'_, Guest>, request: &Request) -> u32 {
    let Some(memory) = caller.data().memory else { return Errno::Fault as u32 };
    let mut memory = Linear(memory.data_mut(caller));
    let [value, ..] = request.arguments;
    let places = request.memory.as_chunks::<4>().0;
    let written = places.iter().all(|at| memory.write(u32::from_le_bytes(*at), &value.to_le_bytes()).is_ok());
    if written { Errno::Success as u32 } else { Errno::Fault as u32 }
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
