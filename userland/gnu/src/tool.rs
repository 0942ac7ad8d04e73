//! Modules that contain several tools, selected by the name under which the process was started.

use crate::exit::IntoExitCode;
use crate::message::{arguments, print_error, program};
use crate::stream::Output;

/// Entry point of a tool: takes arguments without its name, returns its outcome.
pub type ToolMain<T = i32> = fn(Vec<Vec<u8>>) -> T;

/// Finds a tool by name. `tools` must be ordered by name.
pub fn find<T>(tools: &'static [(&'static str, ToolMain<T>)], name: &str) -> Option<(&'static str, ToolMain<T>)> {
    let at = tools.binary_search_by(|(known, _)| known.cmp(&name)).ok()?;
    tools.get(at).copied()
}

/// Runs the tool that matches the process name.
pub fn run<T: IntoExitCode>(module: &str, tools: &'static [(&'static str, ToolMain<T>)]) {
    tidebox_rt::init();
    let mut arguments = arguments();
    let mut name = program();
    // `MODULE TOOL` runs `TOOL`.
    if find(tools, &name).is_none() && !arguments.is_empty() {
        name = String::from_utf8_lossy(&arguments.remove(0)).into_owned();
    }
    let Some((name, tool)) = find(tools, &name) else {
        let names: Vec<&str> = tools.iter().map(|(name, _)| *name).collect();
        print_error(module, &format!("unknown program '{name}'; there are: {}", names.join(" ")));
        std::process::exit(127);
    };
    exit(tool(arguments).into_exit_code(name));
}

/// Exits the process. For exit code 0 it returns, which is cheaper: exiting from inside unwinds the instance.
pub fn exit(code: i32) {
    if code != 0 {
        std::process::exit(code);
    }
}

/// Prints an informational text and returns the exit code: 0, or `trouble` with a message if it cannot be written.
pub fn print_and_exit_code(tool: &str, text: &str, trouble: i32) -> i32 {
    let mut out = Output::standard();
    out.push(text.as_bytes());
    if out.finish(tool, 0) == 0 { 0 } else { trouble }
}

/// Returns the commands that tools.toml lists for a module file. A test of each module compares them with its table.
pub fn registered(file: &str) -> Vec<&'static str> {
    let registry = include_str!("../../tools.toml");
    let named = format!("file = \"{file}\"");
    let module = registry.split("[[module]]").find(|module| module.lines().any(|line| line == named));
    let list = module.and_then(|module| Some(module.split_once("commands = [")?.1.split_once(']')?.0));
    list.unwrap_or_default().split('"').skip(1).step_by(2).collect()
}

/// Defines `main` of a module that holds several tools, and the test that compares its table with tools.toml.
#[macro_export]
macro_rules! multicall {
    ($module:literal, $tools:expr) => {
        fn main() {
            $crate::tool::run($module, $tools);
        }

        #[cfg(test)]
        #[test]
        fn registry_and_table_name_the_same_tools() {
            let held: Vec<&str> = $tools.iter().map(|(name, _)| *name).collect();
            assert_eq!($crate::tool::registered(concat!($module, ".wasm")), held);
            assert!(held.is_sorted(), "the table is not ordered");
        }
    };
}

/// Prints text and returns the exit code: 0, or 1 after a message if the text cannot be written.
pub fn print(tool: &str, text: &[u8]) -> i32 {
    let mut out = Output::standard();
    out.push(text);
    out.finish(tool, 0)
}

/// Prints a command-line error and the hint at `--help`.
pub fn usage(tool: &str, message: &str, code: i32) -> i32 {
    print_error(tool, message);
    crate::eprint_line!("Try '{tool} --help' for more information.");
    code
}

#[cfg(test)]
mod tests {
    use super::registered;

    #[test]
    fn the_registry_is_read_module_by_module() {
        assert_eq!(registered("copy.wasm"), ["cp", "ln", "mv", "rm", "rmdir"]);
        assert!(registered("base.wasm").contains(&"["));
        assert_eq!(registered("gnu.wasm"), [""; 0]);
    }
}
