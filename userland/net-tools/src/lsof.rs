//! `lsof -i`: the processes that have sockets.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::print;

use crate::socket::{Owner, Socket, address_text, list};

const USAGE: &str = "Usage: lsof -i[TCP][@HOST][:PORT[,PORT]...] [OPTION]...
Lists the processes that have sockets. Other files are not listed.

";

tidebox_gnu::options! {
    /// Options of `lsof`.
    enum Flag {
        Internet = "-i[ADDRESS]", "select sockets by :PORT";
        NumericHosts = "-n", "do not resolve names of hosts";
        NumericPorts = "-P", "do not resolve names of ports";
        State = "-s[STATE]", "with TCP:LISTEN or TCP:ESTABLISHED: select sockets in this state";
        Terse = "-t", "print process ids only";
        Help = "-h, --help", "";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax { usage_exit_code: 1, ..Syntax::new("lsof", USAGE, 14) };

#[derive(Default)]
struct Selection {
    is_internet: bool,
    ports: Vec<u16>,
    listening: Option<bool>,
    is_terse: bool,
}

fn failed(message: impl Into<String>) -> ToolResult {
    ToolResult::Failure(message.into(), 1)
}

/// Runs `lsof`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut selection = Selection::default();
    let operands = SYNTAX.parse::<ToolResult>(arguments, |flag, value| {
        let value = String::from_utf8_lossy(&value).into_owned();
        match flag {
            Flag::Internet => {
                selection.is_internet = true;
                selection.ports.extend(ports(&value)?);
            }
            Flag::State => {
                let state = value.to_ascii_uppercase();
                selection.listening = match state.strip_prefix("TCP:") {
                    Some("LISTEN") => Some(true),
                    Some("ESTABLISHED") => Some(false),
                    _ => return Err(failed(format!("unsupported state: {value}"))),
                };
            }
            Flag::Terse => selection.is_terse = true,
            _ => {}
        }
        Ok(())
    });
    let result = operands.and_then(|operands| {
        // The address may be a separate argument: `lsof -i :8000`.
        for operand in operands {
            selection.ports.extend(ports(&String::from_utf8_lossy(&operand))?);
        }
        if selection.is_internet { Ok(()) } else { Err(failed("only sockets can be listed: use -i")) }
    });
    if let Err(result) = result {
        return result.into_exit_code("lsof");
    }
    let text = text(&selection, &list());
    let code = print("lsof", text.as_bytes());
    if text.is_empty() { 1 } else { code }
}

/// Returns the ports of an address such as `tcp:8000,8001` or `@localhost:8000`.
fn ports(address: &str) -> Result<Vec<u16>, ToolResult> {
    let Some((_, ports)) = address.rsplit_once(':') else { return Ok(Vec::new()) };
    let unknown = || failed(format!("unacceptable port specification in: -i {address}"));
    ports.split(',').map(|port| port.parse().map_err(|_| unknown())).collect()
}

fn text(selection: &Selection, sockets: &[Socket]) -> String {
    let is_selected = |socket: &&Socket| {
        let has_port = |port: &u16| *port == socket.local.port() || *port == socket.peer.port();
        (selection.ports.is_empty() || selection.ports.iter().any(has_port))
            && selection.listening.is_none_or(|listening| listening == socket.is_listening)
    };
    let mut rows: Vec<(&Owner, &Socket)> = Vec::new();
    for socket in sockets.iter().filter(is_selected) {
        rows.extend(socket.owners.iter().map(|owner| (owner, socket)));
    }
    rows.sort_by_key(|(owner, _)| (owner.pid, owner.fd));
    if selection.is_terse {
        let mut pids: Vec<u32> = rows.iter().map(|(owner, _)| owner.pid).collect();
        pids.dedup();
        return pids.iter().map(|pid| format!("{pid}\n")).collect();
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut text =
        format!("{:<9} {:>5} {:<7} {:>4}   TYPE DEVICE SIZE/OFF NODE NAME\n", "COMMAND", "PID", "USER", "FD");
    for (owner, socket) in rows {
        let kind = if socket.is_ipv6() { "IPv6" } else { "IPv4" };
        let local = address_text(socket.local, true).replace("0.0.0.0:", "*:").replace("[::]:", "*:");
        let name = if socket.is_listening {
            format!("{local} (LISTEN)")
        } else {
            format!("{local}->{} (ESTABLISHED)", address_text(socket.peer, true))
        };
        let command: String = owner.command.chars().take(9).collect();
        text.push_str(&format!(
            "{command:<9} {:>5} {:<7} {:>3}u  {kind} {:>6}      0t0  TCP {name}\n",
            owner.pid,
            "user",
            owner.fd,
            socket.inode()
        ));
    }
    text
}
