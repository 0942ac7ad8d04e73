//! Modules that hold several tools: the name under which one is started chooses.

use std::process::exit;

use crate::getopt::{Item, Parser, Spec};
use crate::message::{arguments, complain, program};

/// Runs a tool: arguments without its name, to its exit code.
pub type Main = fn(Vec<Vec<u8>>) -> i32;

/// The tool of that name. `tools` are ordered by name.
pub fn find(tools: &'static [(&'static str, Main)], name: &str) -> Option<(&'static str, Main)> {
    let at = tools.binary_search_by(|(known, _)| known.cmp(&name)).ok()?;
    tools.get(at).copied()
}

/// Runs what the process was started as.
pub fn run(module: &str, tools: &'static [(&'static str, Main)]) {
    tidebox_rt::start();
    let mut arguments = arguments();
    let mut name = program();
    // `MODULE TOOL` does what `TOOL` does.
    if find(tools, &name).is_none() && !arguments.is_empty() {
        name = String::from_utf8_lossy(&arguments.remove(0)).into_owned();
    }
    let Some((_, tool)) = find(tools, &name) else {
        let names: Vec<&str> = tools.iter().map(|(name, _)| *name).collect();
        complain(module, &format!("unknown program '{name}'; there are: {}", names.join(" ")));
        exit(127);
    };
    let code = tool(arguments);
    // Returning is the cheaper way to exit code 0: leaving from inside unwinds the instance.
    if code != 0 {
        exit(code);
    }
}

/// Says what is wrong with a command line and where to read more.
pub fn usage(tool: &str, message: &str, code: i32) -> i32 {
    complain(tool, message);
    eprintln!("Try '{tool} --help' for more information.");
    code
}

/// A command line as options and operands.
pub type CommandLine = (Vec<(char, Vec<u8>)>, Vec<Vec<u8>>);

/// Reads a whole command line: options in their order, and the operands. An error is getopt's message.
pub fn command_line(spec: Spec<'_>, arguments: Vec<Vec<u8>>) -> Result<CommandLine, String> {
    let (mut options, mut operands) = (Vec::new(), Vec::new());
    let mut parser = Parser::new(spec, arguments);
    while let Some(item) = parser.next_item()? {
        match item {
            Item::Option(key, value) => options.push((key, value.unwrap_or_default())),
            Item::Operand(operand) => operands.push(operand),
        }
    }
    Ok((options, operands))
}
