//! WASI 0.3: the same process, with streams and futures for calls that wait.
//!
//! A 0.3 component may also import 0.2 interfaces, as programs with a C library do, so both are linked.

mod cli;
mod clock;
mod file;
mod stream;

use tidebox_kernel::SyscallError;
use wasmtime::component::{HasData, HasSelf, Linker, ResourceTableError};
use wasmtime_wasi::cli::WasiCli;
use wasmtime_wasi::p3::bindings::{CommandPre, cli as cli3, clocks, filesystem, random, sockets};
use wasmtime_wasi::p3::filesystem::FilesystemError;
use wasmtime_wasi::sockets::WasiSockets;

use super::convert::file_conversions;
use super::errors;
use super::host::Host;
use super::{no_sockets, terminals};

/// The command world of WASI 0.3.
pub(super) type Command = CommandPre<Host>;

/// Store data of interfaces with asynchronous functions. A local type, so that their traits can be implemented for it.
pub(super) struct HasHost;

impl HasData for HasHost {
    type Data<'a> = &'a mut Host;
}

file_conversions! {
    types: wasmtime_wasi::p3::bindings::filesystem::types,
    time: clock::instant,
    nanoseconds: clock::nanoseconds,
    again: ErrorCode::Other(Some("the call would have to wait".to_owned()))
}

/// Error of a file operation.
fn failed(halt: SyscallError) -> FilesystemError {
    match halt {
        SyscallError::Errno(errno) => code(errno).into(),
        SyscallError::Block(_) => code(Errno::Again).into(),
        SyscallError::Kill(_) => FilesystemError::trap(errors::trap(halt)),
    }
}

/// Error for a descriptor that does not exist.
fn bad_descriptor(error: ResourceTableError) -> FilesystemError {
    FilesystemError::trap(error)
}

/// Links everything of 0.3 that a component may import.
pub(super) fn link(l: &mut Linker<Host>) -> wasmtime::Result<()> {
    cli3::environment::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    cli3::exit::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    cli3::stdin::add_to_linker::<Host, HasHost>(l, |host| host)?;
    cli3::stdout::add_to_linker::<Host, HasHost>(l, |host| host)?;
    cli3::stderr::add_to_linker::<Host, HasHost>(l, |host| host)?;
    cli3::terminal_input::add_to_linker::<Host, WasiCli>(l, terminals)?;
    cli3::terminal_output::add_to_linker::<Host, WasiCli>(l, terminals)?;
    cli3::terminal_stdin::add_to_linker::<Host, WasiCli>(l, terminals)?;
    cli3::terminal_stdout::add_to_linker::<Host, WasiCli>(l, terminals)?;
    cli3::terminal_stderr::add_to_linker::<Host, WasiCli>(l, terminals)?;

    clocks::types::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    clocks::monotonic_clock::add_to_linker::<Host, HasHost>(l, |host| host)?;
    clocks::system_clock::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    random::random::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    random::insecure::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    random::insecure_seed::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    filesystem::types::add_to_linker::<Host, HasHost>(l, |host| host)?;
    filesystem::preopens::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    sockets::ip_name_lookup::add_to_linker::<Host, HasHost>(l, |host| host)?;
    sockets::types::add_to_linker::<Host, WasiSockets>(l, no_sockets)?;
    Ok(())
}
