//! `hostname`: prints the name of the sandbox.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::options::Syntax;

tidebox_gnu::options! {
    /// Options of `hostname`.
    enum Flag {
        Short = "-s, --short", "print the name up to the first dot";
        Fqdn = "-f, --fqdn, --long", "print the full name";
        Domain = "-d, --domain", "print the domain, which is empty";
        Address = "-i, -I, --ip-address, --all-ip-addresses", "", unsupported "there is no network in the sandbox, and so no address";
        Help = "-h, --help", "print this help";
    }
}

const SYNTAX: Syntax<'_, Flag> =
    Syntax::new("hostname", "Usage: hostname [OPTION]\nPrints the name of the sandbox.\n\n", 23);

/// Kernel source and configuration file of the host name.
const FILES: [&str; 2] = ["/proc/sys/kernel/hostname", "/etc/hostname"];

/// Runs `hostname`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut short = false;
    let operands = SYNTAX.parse(arguments, |flag, _| match flag {
        Flag::Domain => Err(ToolResult::Print(b"\n".to_vec())),
        _ => {
            short |= flag == Flag::Short;
            Ok(())
        }
    });
    match operands {
        Err(result) => return result,
        Ok(operands) if operands.is_empty() => {}
        Ok(_) => return ToolResult::Failure("you must be root to change the host name".to_owned(), 1),
    }
    let name = name();
    let name = if short { name.split('.').next().unwrap_or(&name) } else { &name };
    ToolResult::Print(format!("{name}\n").into_bytes())
}

/// Returns the name of the sandbox.
pub fn name() -> String {
    let name = FILES.iter().find_map(|file| std::fs::read_to_string(file).ok());
    let name = name.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_else(|| "tidebox".to_owned());
    name.trim().to_owned()
}
