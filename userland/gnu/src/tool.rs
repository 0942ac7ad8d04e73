//! Modules that hold several tools: the name under which one is started chooses.

use std::process::exit;

use crate::answer::Ending;
use crate::getopt::{Item, Parser, Spec};
use crate::message::{arguments, complain, program};
use crate::stream::Output;

/// Runs a tool: arguments without its name, to what it answers.
pub type Main<T = i32> = fn(Vec<Vec<u8>>) -> T;

/// The tool of that name. `tools` are ordered by name.
pub fn find<T>(tools: &'static [(&'static str, Main<T>)], name: &str) -> Option<(&'static str, Main<T>)> {
    let at = tools.binary_search_by(|(known, _)| known.cmp(&name)).ok()?;
    tools.get(at).copied()
}

/// Runs what the process was started as.
pub fn run<T: Ending>(module: &str, tools: &'static [(&'static str, Main<T>)]) {
    tidebox_rt::start();
    let mut arguments = arguments();
    let mut name = program();
    // `MODULE TOOL` does what `TOOL` does.
    if find(tools, &name).is_none() && !arguments.is_empty() {
        name = String::from_utf8_lossy(&arguments.remove(0)).into_owned();
    }
    let Some((name, tool)) = find(tools, &name) else {
        let names: Vec<&str> = tools.iter().map(|(name, _)| *name).collect();
        complain(module, &format!("unknown program '{name}'; there are: {}", names.join(" ")));
        exit(127);
    };
    leave(tool(arguments).end(name));
}

/// Ends the process. Returning is the cheaper way to exit code 0: leaving from inside unwinds the instance.
pub fn leave(code: i32) {
    if code != 0 {
        exit(code);
    }
}

/// Prints what a tool was asked to say of itself, and answers the exit code: 0, or `trouble` with a message when nobody takes it.
pub fn say(tool: &str, text: &str, trouble: i32) -> i32 {
    let mut out = Output::standard();
    out.push(text.as_bytes());
    if out.finish(tool, 0) == 0 { 0 } else { trouble }
}

/// The commands that tools.toml says a package provides, which a test of each module holds its table to.
pub fn registered(package: &str) -> Vec<&'static str> {
    let registry = include_str!("../../tools.toml");
    let named = format!("package = \"{package}\"");
    let module = registry.split("[[module]]").find(|module| module.lines().any(|line| line == named));
    let list = module.and_then(|module| Some(module.split_once("commands = [")?.1.split_once(']')?.0));
    list.unwrap_or_default().split('"').skip(1).step_by(2).collect()
}

/// Says what is wrong with a command line and where to read more.
pub fn usage(tool: &str, message: &str, code: i32) -> i32 {
    complain(tool, message);
    crate::tell!("Try '{tool} --help' for more information.");
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

#[cfg(test)]
mod tests {
    use super::registered;

    #[test]
    fn the_registry_is_read_module_by_module() {
        assert_eq!(registered("tidebox-copy"), ["cp", "ln", "mv", "rm", "rmdir"]);
        assert!(registered("tidebox-extras").contains(&"["));
        assert_eq!(registered("tidebox-gnu"), [""; 0]);
    }
}
