//! WASI 0.3: the same process with streams and futures for calls that wait.
//!
//! A component of 0.3 may import interfaces of 0.2 beside them, as programs with a C library do, so both are linked.

mod cli;
mod clock;
mod file;
mod stream;

use tidebox_kernel::wasi::Halt;
use wasmtime::component::{HasData, HasSelf, Linker, ResourceTableError};
use wasmtime_wasi::cli::WasiCli;
use wasmtime_wasi::p3::bindings::{CommandPre, cli as cli3, clocks, filesystem, random, sockets};
use wasmtime_wasi::p3::filesystem::FilesystemError;
use wasmtime_wasi::sockets::WasiSockets;

use super::failure;
use super::host::Host;
use super::words::file_words;
use super::{no_sockets, terminals};

/// The command of WASI 0.3.
pub(super) type Command = CommandPre<Host>;

/// The data of interfaces whose functions wait: a type of our own, which may have their traits.
pub(super) struct Own;

impl HasData for Own {
    type Data<'a> = &'a mut Host;
}

file_words! {
    types: wasmtime_wasi::p3::bindings::filesystem::types,
    time: clock::instant,
    nanoseconds: clock::nanoseconds,
    again: ErrorCode::Other(Some("the call would have to wait".to_owned()))
}

/// For calls on files.
fn failed(halt: Halt) -> FilesystemError {
    match halt {
        Halt::Errno(errno) => code(errno).into(),
        Halt::Block(_) => code(Errno::Again).into(),
        Halt::Kill(_) => FilesystemError::trap(failure::trap(halt)),
    }
}

/// A component made a descriptor up.
fn unknown(error: ResourceTableError) -> FilesystemError {
    FilesystemError::trap(error)
}

/// Everything of 0.3 that a component may import.
pub(super) fn link(l: &mut Linker<Host>) -> wasmtime::Result<()> {
    cli3::environment::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    cli3::exit::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    cli3::stdin::add_to_linker::<Host, Own>(l, |host| host)?;
    cli3::stdout::add_to_linker::<Host, Own>(l, |host| host)?;
    cli3::stderr::add_to_linker::<Host, Own>(l, |host| host)?;
    cli3::terminal_input::add_to_linker::<Host, WasiCli>(l, terminals)?;
    cli3::terminal_output::add_to_linker::<Host, WasiCli>(l, terminals)?;
    cli3::terminal_stdin::add_to_linker::<Host, WasiCli>(l, terminals)?;
    cli3::terminal_stdout::add_to_linker::<Host, WasiCli>(l, terminals)?;
    cli3::terminal_stderr::add_to_linker::<Host, WasiCli>(l, terminals)?;

    clocks::types::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    clocks::monotonic_clock::add_to_linker::<Host, Own>(l, |host| host)?;
    clocks::system_clock::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    random::random::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    random::insecure::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    random::insecure_seed::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    filesystem::types::add_to_linker::<Host, Own>(l, |host| host)?;
    filesystem::preopens::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    sockets::ip_name_lookup::add_to_linker::<Host, Own>(l, |host| host)?;
    sockets::types::add_to_linker::<Host, WasiSockets>(l, no_sockets)?;
    Ok(())
}
