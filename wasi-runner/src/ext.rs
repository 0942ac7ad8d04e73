//! `tidebox_v1`, function by function: what preview1 lacks of a Unix. `docs/abi.md` says what each means.

use tidebox_kernel::wasi::ext;
use wasmtime::{Caller, Linker};

use crate::call::{enter, enter_blocking, finish};
use crate::guest::Guest;
use crate::p1::{blocking, direct};

/// The import module that makes a guest an aware one.
pub(crate) const MODULE: &str = "tidebox_v1";

pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    direct! { linker, MODULE, ext:
        spawn(request: u32, len: u32, pid_out: u32);
        pipe(out: u32);
        dup(fd: u32, at_least: u32, out: u32);
        dup_to(fd: u32, target: u32);
        chdir(path: u32, len: u32);
        getcwd(buffer: u32, len: u32, len_out: u32);
        getids(out: u32);
        setpgid(pid: i32, pgid: i32);
        sig_set(signal: u32, disposition: u32);
        sig_take(out: u32);
        umask(mask: u32, out: u32);
        chmod(path: u32, len: u32, mode: u32);
        fstat(fd: u32, out: u32);
        limits(out: u32);
        shell_state_read(buffer: u32, len: u32, len_out: u32);
        shell_state_write(from: u32, len: u32);
    }
    blocking! { linker, MODULE, ext:
        kill(pid: i32, signal: u32);
        stat(path: u32, len: u32, flags: u32, out: u32);
        access(path: u32, len: u32, mode: u32);
        wait(pid: i32, flags: u32, out: u32);
    }
    linker.func_wrap_async(MODULE, "fork", |mut caller: Caller<'_, Guest>, (arg, pid_out): (i32, u32)| {
        Box::new(async move { crate::fork::fork(&mut caller, arg, pid_out).await })
    })?;
    Ok(())
}
