//! Sockets of the sandbox's loopback.

use std::net::{IpAddr, SocketAddr};

use rquickjs::{Ctx, IntoJs as _, Object, Result, Value};
use tidebox_rt::Errno;

use crate::files::{fd_of, number_of_fd};
use crate::values::{code_of, define, status};

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "socketConnect" => |address: String, port: u16| -> Vec<f64> {
            match address_of(&address, port).and_then(tidebox_rt::start_connect) {
                Ok((fd, connected)) => vec![number_of_fd(fd), f64::from(u8::from(connected))],
                Err(Errno(code)) => vec![-f64::from(code)],
            }
        },
        "socketFinish" => |fd: u32, address: String, port: u16| {
            let done = address_of(&address, port).and_then(|address| tidebox_rt::finish_connect(fd_of(fd), address));
            code_of(done, |connected| f64::from(u8::from(!connected)))
        },
        "socketListen" => |address: String, port: u16, backlog: u32| code_of(listen(&address, port, backlog), number_of_fd),
        "socketAccept" => |fd: u32| code_of(accept(fd), number_of_fd),
        "socketShutdown" => |fd: u32| status(tidebox_rt::shut_down_write(fd_of(fd))),
        "socketPair" => || match tidebox_rt::socket_pair() {
            Ok((one, other)) => vec![number_of_fd(one), number_of_fd(other)],
            Err(Errno(code)) => vec![-f64::from(code)],
        },
        "socketName" => name,
        "isLocalAddress" => |host: String| tidebox_rt::local_address(&host, 0).is_some(),
        "ipBytes" => |text: String| match text.parse::<IpAddr>() {
            Ok(IpAddr::V4(ip)) => ip.octets().to_vec(),
            Ok(IpAddr::V6(ip)) => ip.octets().to_vec(),
            Err(_) => Vec::new(),
        },
    );
    Ok(())
}

fn address_of(address: &str, port: u16) -> tidebox_rt::Result<SocketAddr> {
    tidebox_rt::local_address(address, port).ok_or(Errno::NETUNREACH)
}

fn listen(address: &str, port: u16, backlog: u32) -> tidebox_rt::Result<tidebox_rt::Fd> {
    let fd = tidebox_rt::listen(address_of(address, port)?, backlog)?;
    tidebox_rt::set_nonblocking(fd)?;
    Ok(fd)
}

fn accept(fd: u32) -> tidebox_rt::Result<tidebox_rt::Fd> {
    let accepted = tidebox_rt::accept(fd_of(fd))?;
    tidebox_rt::set_nonblocking(accepted)?;
    Ok(accepted)
}

/// Returns address, port and family of a socket, or of its peer; one negative number for an error.
fn name<'js>(ctx: Ctx<'js>, fd: u32, of_peer: bool) -> Result<Vec<Value<'js>>> {
    let found = if of_peer { tidebox_rt::peer_address(fd_of(fd)) } else { tidebox_rt::own_address(fd_of(fd)) };
    match found {
        Ok(address) => Ok(vec![
            address.ip().to_string().into_js(&ctx)?,
            address.port().into_js(&ctx)?,
            (if address.is_ipv4() { "IPv4" } else { "IPv6" }).into_js(&ctx)?,
        ]),
        Err(Errno(code)) => Ok(vec![(-f64::from(code)).into_js(&ctx)?]),
    }
}
