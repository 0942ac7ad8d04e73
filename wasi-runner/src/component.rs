//! Components of the world `wasi:cli/command` as kernel processes: WASI 0.2, and 0.3 with the cargo feature `wasi-p3`.
//!
//! Files, streams, clocks, randomness and everything else visible to a process come from the kernel. `wasmtime-wasi`
//! supplies the generated interfaces, `wasi:io/poll` with its resource table, and sockets, which are denied.

mod clock;
mod command;
mod convert;
mod descriptor;
mod environment;
mod errors;
mod handle;
mod host;
mod input;
mod output;
#[cfg(feature = "wasi-p3")]
mod p3;
mod random;
mod socket;
mod stdio;
mod wait_set;

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
    /// A component of WASI 0.2.
    P2(CommandPre<Host>),
    /// A component of WASI 0.3.
    #[cfg(feature = "wasi-p3")]
    P3(p3::Command),
}

/// Returns whether these bytes are a component, by the version field of the binary header.
pub(crate) fn is_component(wasm: &[u8]) -> bool {
    wasm.starts_with(MAGIC)
}

/// Header of a component in binary form: magic number, version, layer.
const MAGIC: &[u8] = b"\0asm\x0d\0\x01\0";

/// Number of bytes that [`is_component`] reads.
pub(crate) const MAGIC_BYTES: usize = MAGIC.len();

/// Returns the reason if a component needs a WASI version that this build does not include.
pub(crate) fn unsupported_reason(wasm: &[u8]) -> Option<&'static str> {
    const COMMAND: &[u8] = b"wasi:cli/run@0.3";
    let found = !cfg!(feature = "wasi-p3") && wasm.windows(COMMAND.len()).any(|window| window == COMMAND);
    found.then_some(
        "it is a component of WASI 0.3, for which this sandbox was built without support; build it with the cargo \
         feature `wasi-p3`",
    )
}

/// Links a component. The error message is for the guest's stderr.
pub(crate) fn link(linker: &Linker<Host>, component: &Component) -> Result<Program, String> {
    let pre =
        linker.instantiate_pre(component).map_err(|error| format!("unsupported import of the component: {error:#}"))?;
    #[cfg(feature = "wasi-p3")]
    if let Ok(pre) = p3::Command::new(pre.clone()) {
        return Ok(Program::P3(pre));
    }
    let pre = CommandPre::new(pre)
        .map_err(|error| format!("the component is not a WASI command (it has no export wasi:cli/run): {error:#}"))?;
    Ok(Program::P2(pre))
}

/// Access to the resource table only, for `wasi:io`.
struct HasTable;

impl HasData for HasTable {
    type Data<'a> = &'a mut ResourceTable;
}

/// Defines everything that a component may import.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    let l = &mut linker;
    let options = LinkOptions::default();
    io::error::add_to_linker::<Host, HasTable>(l, |host| &mut host.table)?;
    io::streams::add_to_linker::<Host, HasTable>(l, |host| &mut host.table)?;
    io::poll::add_to_linker::<Host, HasTable>(l, |host| &mut host.table)?;

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

/// The standard streams of this view are empty, so none of them is reported as a terminal.
fn terminals(host: &mut Host) -> WasiCliCtxView<'_> {
    WasiCliCtxView { ctx: &mut host.cli, table: &mut host.table }
}

/// A context that denies everything: creating a socket fails with `access-denied` before any call to the host's
/// network.
fn no_sockets(host: &mut Host) -> WasiSocketsCtxView<'_> {
    WasiSocketsCtxView { ctx: &mut host.sockets, table: &mut host.table }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_0_3_component_without_the_feature_is_rejected() {
        let newer = b"\0asm\x0d\0\x01\0 ... wasi:cli/run@0.3.0 ...";
        let reason = unsupported_reason(newer);
        assert_eq!(reason.is_none(), cfg!(feature = "wasi-p3"), "{reason:?}");
        assert!(reason.is_none_or(|reason| reason.contains("`wasi-p3`")));
        assert_eq!(unsupported_reason(b"\0asm\x0d\0\x01\0 ... wasi:cli/run@0.2.12 ..."), None);
    }

    #[test]
    fn modules_and_components_are_distinguished_by_version() {
        assert!(is_component(b"\0asm\x0d\0\x01\0"));
        assert!(!is_component(b"\0asm\x01\0\0\0"));
        assert!(!is_component(b"\0asm"));
    }

    #[test]
    fn kernel_errors_map_to_equivalent_codes() {
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
            assert_eq!(errors::code(errno), code, "{errno:?}");
        }
    }
}
