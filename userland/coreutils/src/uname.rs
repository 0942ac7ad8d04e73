//! `uname`: prints the name of the system.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::quote_value;
use tidebox_gnu::options::{OptionId, Syntax};

use tidebox_hostname as hostname;

const USAGE: &str = "\
Usage: uname [OPTION]...
Prints the name of the system: -s kernel (the default), -n host, -r release, -v version,
-m hardware, -p processor, -i hardware platform, -o operating system, -a all.
";

tidebox_gnu::options! {
    /// Options of `uname`, in the order in which their fields are printed.
    enum Flag {
        All = "-a, --all", "";
        KernelName = "-s, --kernel-name", "";
        Nodename = "-n, --nodename", "";
        KernelRelease = "-r, --kernel-release", "";
        KernelVersion = "-v, --kernel-version", "";
        Machine = "-m, --machine", "";
        Processor = "-p, --processor", "";
        HardwarePlatform = "-i, --hardware-platform", "";
        OperatingSystem = "-o, --operating-system", "";
    }
}

/// Returns the field of an option. The kernel name is that of Linux, because scripts check it to select commands. Release and
/// hardware name identify the sandbox.
fn field(flag: Flag) -> Option<String> {
    Some(match flag {
        Flag::All => return None,
        Flag::KernelName => "Linux".to_owned(),
        Flag::Nodename => hostname::name(),
        Flag::KernelRelease => concat!(env!("CARGO_PKG_VERSION"), "-tidebox").to_owned(),
        Flag::KernelVersion => "#1 Tidebox".to_owned(),
        Flag::Machine => "wasm32".to_owned(),
        Flag::OperatingSystem => "GNU/Linux".to_owned(),
        Flag::Processor | Flag::HardwarePlatform => "unknown".to_owned(),
    })
}

/// Runs `uname`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let line = Syntax::<Flag>::core("uname", USAGE, 0);
    let (options, operands) = match line.split(arguments) {
        Ok(split) => split,
        Err(result) => return result,
    };
    if let Some(extra) = operands.first() {
        return line.usage_error(format!("extra operand {}", quote_value(extra)));
    }
    let has = |flag| options.iter().any(|option| option.id == flag);
    let is_printed = |flag| match flag {
        // `-a` omits fields that are unknown, as in GNU.
        Flag::Processor | Flag::HardwarePlatform => has(flag),
        Flag::KernelName => has(flag) || has(Flag::All) || options.is_empty(),
        flag => has(flag) || has(Flag::All),
    };
    let shown = Flag::TABLE.iter().map(|option| option.id).filter(|flag| is_printed(*flag));
    let fields: Vec<String> = shown.filter_map(field).collect();
    ToolResult::Print((fields.join(" ") + "\n").into_bytes())
}
