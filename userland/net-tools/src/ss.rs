//! `ss`: the sockets of the sandbox.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::print;

use crate::socket::{Socket, address_text, list};

const USAGE: &str = "Usage: ss [OPTION]...

";

tidebox_gnu::options! {
    /// Options of `ss`.
    enum Flag {
        All = "-a, --all", "display listening and connected sockets";
        Four = "-4, --ipv4", "display only IPv4 sockets";
        Six = "-6, --ipv6", "display only IPv6 sockets";
        NoHeader = "-H, --no-header", "suppress the header line";
        Listening = "-l, --listening", "display only listening sockets";
        Numeric = "-n, --numeric", "do not resolve service names";
        Processes = "-p, --processes", "show the processes of each socket";
        Tcp = "-t, --tcp", "display TCP sockets";
        Udp = "-u, --udp", "display UDP sockets, which do not exist here";
        Help = "-h, --help", "";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax { usage_exit_code: 255, ..Syntax::new("ss", USAGE, 22) };

/// Runs `ss`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut given = Vec::new();
    let operands = SYNTAX.parse::<ToolResult>(arguments, |flag, _| {
        given.push(flag);
        Ok(())
    });
    match operands {
        Ok(operands) if operands.is_empty() => print("ss", text(&given, &list()).as_bytes()),
        Ok(_) => ToolResult::Failure("filters are not supported; use grep".to_owned(), 1).into_exit_code("ss"),
        Err(result) => result.into_exit_code("ss"),
    }
}

fn text(given: &[Flag], sockets: &[Socket]) -> String {
    let has = |flag| given.contains(&flag);
    let is_shown = |socket: &&Socket| {
        (has(Flag::All) || socket.is_listening == has(Flag::Listening))
            && (has(Flag::Tcp) || !has(Flag::Udp))
            && (has(Flag::Four) == has(Flag::Six) || has(Flag::Six) == socket.is_ipv6())
    };
    let mut rows = Vec::new();
    for socket in sockets.iter().filter(is_shown) {
        let state = if socket.is_listening { "LISTEN" } else { "ESTAB" };
        let users: Vec<String> = socket
            .owners
            .iter()
            .map(|owner| format!("(\"{}\",pid={},fd={})", owner.command, owner.pid, owner.fd))
            .collect();
        let users = if has(Flag::Processes) && !users.is_empty() {
            format!("users:({})", users.join(","))
        } else {
            String::new()
        };
        rows.push((state, socket.queued, address_text(socket.local, true), address_text(socket.peer, true), users));
    }
    let (mut local, mut peer) = ("Local Address:Port".len(), "Peer Address:Port".len());
    for row in &rows {
        (local, peer) = (local.max(row.2.len()), peer.max(row.3.len()));
    }
    let mut text = String::new();
    if !has(Flag::NoHeader) {
        text =
            format!("State  Recv-Q Send-Q {:>local$} {:>peer$} Process\n", "Local Address:Port", "Peer Address:Port");
    }
    for (state, queued, own, other, users) in rows {
        text.push_str(format!("{state:<6} {queued:<6} {:<6} {own:>local$} {other:>peer$} {users}", 0).trim_end());
        text.push('\n');
    }
    text
}
