//! `netstat`: the sockets of the sandbox, in the older form.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::print;

use crate::socket::{Socket, address_text, list};

const USAGE: &str = "Usage: netstat [OPTION]...

";

tidebox_gnu::options! {
    /// Options of `netstat`.
    enum Flag {
        All = "-a, --all", "display listening and connected sockets";
        Listening = "-l, --listening", "display only listening sockets";
        Numeric = "-n, --numeric", "do not resolve names";
        Programs = "-p, --programs", "show the process of each socket";
        Tcp = "-t, --tcp", "display TCP sockets";
        Udp = "-u, --udp", "display UDP sockets, which do not exist here";
        Help = "-h, --help", "";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax { usage_exit_code: 3, ..Syntax::new("netstat", USAGE, 22) };

/// Runs `netstat`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut given = Vec::new();
    let operands = SYNTAX.parse::<ToolResult>(arguments, |flag, _| {
        given.push(flag);
        Ok(())
    });
    match operands {
        Ok(_) => print("netstat", text(&given, &list()).as_bytes()),
        Err(result) => result.into_exit_code("netstat"),
    }
}

fn text(given: &[Flag], sockets: &[Socket]) -> String {
    let has = |flag| given.contains(&flag);
    let which = match (has(Flag::All), has(Flag::Listening)) {
        (true, _) => "(servers and established)",
        (_, true) => "(only servers)",
        _ => "(w/o servers)",
    };
    let program = if has(Flag::Programs) { format!("{:<20}", "PID/Program name") } else { String::new() };
    let header = format!("{:<24}{:<24}{:<12}", "Local Address", "Foreign Address", "State");
    let mut text = format!("Active Internet connections {which}\nProto Recv-Q Send-Q {header}{program}");
    text = text.trim_end().to_owned() + "\n";
    let is_shown = |socket: &&Socket| {
        (has(Flag::All) || socket.is_listening == has(Flag::Listening)) && (has(Flag::Tcp) || !has(Flag::Udp))
    };
    for socket in sockets.iter().filter(is_shown) {
        let protocol = if socket.is_ipv6() { "tcp6" } else { "tcp" };
        let state = if socket.is_listening { "LISTEN" } else { "ESTABLISHED" };
        let program = socket.owners.first().map_or("-".to_owned(), |owner| format!("{}/{}", owner.pid, owner.command));
        let program = if has(Flag::Programs) { program } else { String::new() };
        let (local, peer) = (address_text(socket.local, false), address_text(socket.peer, false));
        let row = format!("{protocol:<5} {:>6} {:>6} {local:<23} {peer:<23} {state:<11} {program}", socket.queued, 0);
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}
