//! `hostname`: the name of the sandbox.

use tidebox_gnu::exit::ToolResult;

/// Kernel source and configuration file of the host name.
const FILES: [&str; 2] = ["/proc/sys/kernel/hostname", "/etc/hostname"];

/// Runs `hostname`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut short = false;
    for argument in &arguments {
        match argument.as_slice() {
            b"-s" | b"--short" => short = true,
            b"-f" | b"--fqdn" | b"--long" => {}
            b"-d" | b"--domain" => return "\n".into(),
            b"-i" | b"-I" | b"--ip-address" | b"--all-ip-addresses" => {
                return ToolResult::Failure("there is no network in the sandbox, and so no address".to_owned(), 1);
            }
            option if option.starts_with(b"-") => {
                return ToolResult::Usage(format!("invalid option -- '{}'", String::from_utf8_lossy(option)), 1);
            }
            _ => return ToolResult::Failure("you must be root to change the host name".to_owned(), 1),
        }
    }
    let name = name();
    let name = if short { name.split('.').next().unwrap_or(&name) } else { &name };
    ToolResult::Print(format!("{name}\n").into_bytes())
}

/// The name of the sandbox.
pub fn name() -> String {
    let name = FILES.iter().find_map(|file| std::fs::read_to_string(file).ok());
    let name = name.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_else(|| "tidebox".to_owned());
    name.trim().to_owned()
}
