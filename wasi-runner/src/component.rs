//! Components of the world `wasi:cli/command` as processes of the kernel: of WASI 0.2, and of 0.3 with the cargo feature
//! `wasi-p3`.
//!
//! Files, streams, clocks, randomness and everything else that a process can see come from the kernel. From `wasmtime-wasi`
//! come the generated interfaces, `wasi:io/poll` with the bookkeeping of resources, and sockets, which it refuses.

mod clock;
mod command;
mod descriptor;
mod environment;
mod failure;
mod gate;
mod handle;
mod host;
mod input;
mod output;
#[cfg(feature = "wasi-p3")]
mod p3;
mod random;
mod socket;
mod stdio;
mod words;

use wasmtime::Engine;
use wasmtime::component::{Component, HasData, HasSelf, Linker, ResourceTable};
use wasmtime_wasi::cli::{WasiCli, WasiCliCtxView};
use wasmtime_wasi::p2::bindings::{CommandPre, LinkOptions, cli, clocks, filesystem, random as rng, sockets};
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsCtxView};
use wasmtime_wasi_io::bindings::wasi::io;

pub(crate) use command::run;
pub(crate) use host::Host;

/// A component that is ready to run.
#[derive(Clone)]
pub(crate) enum Program {
    /// Of WASI 0.2.
    P2(CommandPre<Host>),
    /// Of WASI 0.3.
    #[cfg(feature = "wasi-p3")]
    P3(p3::Command),
}

/// Whether these bytes are a component: its version stands where a module has another.
pub(crate) fn is_component(wasm: &[u8]) -> bool {
    wasm.starts_with(b"\0asm\x0d\0\x01\0")
}

/// Why the bytes of a component cannot be run whatever else they hold: they are of a WASI that was left out.
pub(crate) fn left_out(wasm: &[u8]) -> Option<&'static str> {
    const COMMAND: &[u8] = b"wasi:cli/run@0.3";
    let found = !cfg!(feature = "wasi-p3") && wasm.windows(COMMAND.len()).any(|window| window == COMMAND);
    found.then_some(
        "it is a component of WASI 0.3, for which this sandbox was built without support; build it with the cargo \
         feature `wasi-p3`",
    )
}

/// Links a component. The error says, for a guest's stderr, why it is no program here.
pub(crate) fn link(linker: &Linker<Host>, component: &Component) -> Result<Program, String> {
    let pre = linker
        .instantiate_pre(component)
        .map_err(|error| format!("the component imports what this sandbox does not have: {error:#}"))?;
    #[cfg(feature = "wasi-p3")]
    if let Ok(pre) = p3::Command::new(pre.clone()) {
        return Ok(Program::P3(pre));
    }
    let pre = CommandPre::new(pre)
        .map_err(|error| format!("the component is no WASI command (it exports no wasi:cli/run): {error:#}"))?;
    Ok(Program::P2(pre))
}

/// Resources alone, which `wasi:io` is about.
struct Table;

impl HasData for Table {
    type Data<'a> = &'a mut ResourceTable;
}

/// Everything that a component may import.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    let l = &mut linker;
    let options = LinkOptions::default();
    io::error::add_to_linker::<Host, Table>(l, |host| &mut host.table)?;
    io::streams::add_to_linker::<Host, Table>(l, |host| &mut host.table)?;
    io::poll::add_to_linker::<Host, Table>(l, |host| &mut host.table)?;

    cli::environment::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    cli::stdin::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    cli::stdout::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    cli::stderr::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    cli::exit::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    cli::terminal_input::add_to_linker::<Host, WasiCli>(l, terminals)?;
    cli::terminal_output::add_to_linker::<Host, WasiCli>(l, terminals)?;
    cli::terminal_stdin::add_to_linker::<Host, WasiCli>(l, terminals)?;
    cli::terminal_stdout::add_to_linker::<Host, WasiCli>(l, terminals)?;
    cli::terminal_stderr::add_to_linker::<Host, WasiCli>(l, terminals)?;

    clocks::wall_clock::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    clocks::monotonic_clock::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    rng::random::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    rng::insecure::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    rng::insecure_seed::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    filesystem::types::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    filesystem::preopens::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;

    sockets::instance_network::add_to_linker::<Host, WasiSockets>(l, no_sockets)?;
    sockets::network::add_to_linker::<Host, WasiSockets>(l, &(&options).into(), no_sockets)?;
    sockets::ip_name_lookup::add_to_linker::<Host, HasSelf<Host>>(l, |host| host)?;
    sockets::tcp_create_socket::add_to_linker::<Host, WasiSockets>(l, no_sockets)?;
    sockets::udp_create_socket::add_to_linker::<Host, WasiSockets>(l, no_sockets)?;
    sockets::tcp::add_to_linker::<Host, WasiSockets>(l, no_sockets)?;
    sockets::udp::add_to_linker::<Host, WasiSockets>(l, no_sockets)?;
    #[cfg(feature = "wasi-p3")]
    p3::link(l)?;
    Ok(linker)
}

/// The standard streams of this view are empty, so it says of all of them that they are no terminals.
fn terminals(host: &mut Host) -> WasiCliCtxView<'_> {
    WasiCliCtxView { ctx: &mut host.cli, table: &mut host.table }
}

/// A context that allows nothing: making a socket answers `access-denied` before the machine is asked for one.
fn no_sockets(host: &mut Host) -> WasiSocketsCtxView<'_> {
    WasiSocketsCtxView { ctx: &mut host.sockets, table: &mut host.table }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_of_0_3_is_left_out_unless_the_feature_is_on_and_the_reason_names_it() {
        let newer = b"\0asm\x0d\0\x01\0 ... wasi:cli/run@0.3.0 ...";
        let reason = left_out(newer);
        assert_eq!(reason.is_none(), cfg!(feature = "wasi-p3"), "{reason:?}");
        assert!(reason.is_none_or(|reason| reason.contains("`wasi-p3`")));
        assert_eq!(left_out(b"\0asm\x0d\0\x01\0 ... wasi:cli/run@0.2.12 ..."), None);
    }

    #[test]
    fn modules_and_components_are_told_apart_by_their_version() {
        assert!(is_component(b"\0asm\x0d\0\x01\0"));
        assert!(!is_component(b"\0asm\x01\0\0\0"));
        assert!(!is_component(b"\0asm"));
    }

    #[test]
    fn errors_of_the_kernel_keep_their_meaning() {
        use tidebox_kernel::Errno;
        use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
        for (errno, code) in [
            (Errno::Noent, ErrorCode::NoEntry),
            (Errno::Notcapable, ErrorCode::NotPermitted),
            (Errno::Acces, ErrorCode::Access),
            (Errno::Mfile, ErrorCode::InsufficientMemory),
            (Errno::Xdev, ErrorCode::CrossDevice),
            (Errno::Stale, ErrorCode::Io),
        ] {
            assert_eq!(failure::code(errno), code, "{errno:?}");
        }
    }
}
