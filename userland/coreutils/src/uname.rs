//! `uname`: what the system is.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::quote_value;

use tidebox_hostname as hostname;

const HELP: &str = "\
Usage: uname [OPTION]...
Says what the system is: -s kernel (the default), -n host, -r release, -v version,
-m machine, -p processor, -i hardware, -o operating system, -a all.
";

const LONG: &[Long] = &[
    long("all", Takes::Nothing, 'a'),
    long("kernel-name", Takes::Nothing, 's'),
    long("nodename", Takes::Nothing, 'n'),
    long("kernel-release", Takes::Nothing, 'r'),
    long("kernel-version", Takes::Nothing, 'v'),
    long("machine", Takes::Nothing, 'm'),
    long("processor", Takes::Nothing, 'p'),
    long("hardware-platform", Takes::Nothing, 'i'),
    long("operating-system", Takes::Nothing, 'o'),
    long("help", Takes::Nothing, 'h'),
];

/// In the order in which they are printed. Scripts ask for the kernel to learn which commands there are, and those are
/// the commands of Linux; the release and the machine say what it really is.
fn field(key: char) -> Option<String> {
    Some(match key {
        's' => "Linux".to_owned(),
        'n' => hostname::name(),
        'r' => concat!(env!("CARGO_PKG_VERSION"), "-tidebox").to_owned(),
        'v' => "#1 Tidebox".to_owned(),
        'm' => "wasm32".to_owned(),
        'o' => "GNU/Linux".to_owned(),
        'p' | 'i' => "unknown".to_owned(),
        _ => return None,
    })
}

/// Runs `uname`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut keys = Vec::new();
    let line = CommandLine::core("uname", "asnrvmpio", LONG, HELP);
    let operands = line.parse(arguments, |key, _| {
        // What is unknown is left out of everything, as in GNU.
        keys.extend(if key == 'a' { "snrvmo".chars().collect() } else { vec![key] });
        Ok(())
    });
    match operands.as_deref() {
        Ok([]) => {}
        Ok([first, ..]) => return line.usage_error(format!("extra operand {}", quote_value(first))),
        Err(_) => return operands.err().unwrap_or(ToolResult::Code(1)),
    }
    if keys.is_empty() {
        keys.push('s');
    }
    let fields: Vec<String> = "snrvmpio".chars().filter(|key| keys.contains(key)).filter_map(field).collect();
    ToolResult::Print((fields.join(" ") + "\n").into_bytes())
}
