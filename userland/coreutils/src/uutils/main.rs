//! Tools of uutils in one module. The name of the program selects the tool.
//!
//! The name `cut` runs `cut`, as does `coreutils cut`. `coreutils --list` prints the names.

mod broken_pipe;
mod csplit;
mod gnu_messages;
mod option_specs;
mod overrides;
mod table;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::exit;

use overrides::Action;
use tidebox_gnu::message;
use tidebox_gnu::tool::usage;

/// Exit code for an unknown tool, as in the shell.
const UNKNOWN_TOOL: i32 = 127;

fn main() {
    tidebox_rt::init_for_std_output();
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let code = match arguments.first().and_then(|name| table::find(base_name(name))) {
        Some(tool) => run(tool, arguments),
        None => {
            // Messages then start with `coreutils cut`, not `coreutils`.
            uucore::set_utility_is_second_arg();
            arguments.drain(..1.min(arguments.len()));
            run_named_by_argument(arguments)
        }
    };
    // For exit code 0 `main` returns, which is cheaper: `exit` unwinds the instance.
    if code != 0 {
        exit(code);
    }
}

/// Runs `coreutils NAME argument...`.
fn run_named_by_argument(arguments: Vec<OsString>) -> i32 {
    let Some(name) = arguments.first() else {
        report("missing argument; `coreutils --list` prints the tools");
        return UNKNOWN_TOOL;
    };
    if name == "--list" {
        return list();
    }
    match table::find(base_name(name)) {
        Some(tool) => run(tool, arguments),
        None => {
            report(&format!("unknown program '{}'; `coreutils --list` prints the tools", name.to_string_lossy()));
            UNKNOWN_TOOL
        }
    }
}

fn run(tool: &table::Tool, arguments: Vec<OsString>) -> i32 {
    if arguments.len() == 2
        && arguments.get(1).is_some_and(|only| only == "--version")
        && !matches!(tool.name, "echo" | "[" | "test")
    {
        return version(tool.name);
    }
    if let Err(error) = option_specs::check(tool.name, &arguments) {
        return usage(tool.name, &error.message, error.code);
    }
    fluent::correct(gnu_messages::MESSAGES, message::unicode_locale());
    // Without messages, errors would be printed as identifiers. This failure has its own exit code.
    if let Err(error) = uucore::locale::setup_localization(tool.messages) {
        report(&format!("cannot load the messages of {}: {error}", tool.name));
        return 99;
    }
    match overrides::prepare(tool.name, arguments) {
        Action::Run(arguments) => {
            let ignored_pipe = broken_pipe::watch(tool.name);
            let code = (tool.main)(option_specs::for_clap(tool.name, arguments).into_iter());
            ignored_pipe.map_or(code, |ignored| ignored.exit_code(code))
        }
        Action::RunAndFail(arguments) => {
            (tool.main)(option_specs::for_clap(tool.name, arguments).into_iter());
            1
        }
        Action::Exit(code) => code,
        Action::Fail(message, code) => {
            message::print_error(tool.name, &message);
            code
        }
        Action::Usage(message, code) => usage(tool.name, &message, code),
    }
}

/// Prints the output of `--version`.
fn version(tool: &str) -> i32 {
    let text = format!("{tool} (Tidebox) {}, with the command line of GNU coreutils 9\n", env!("CARGO_PKG_VERSION"));
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

fn list() -> i32 {
    let mut names = String::new();
    for tool in table::TOOLS {
        names.push_str(tool.name);
        names.push('\n');
    }
    match std::io::stdout().write_all(names.as_bytes()) {
        Ok(()) => 0,
        Err(error) => {
            report(&format!("write error: {error}"));
            1
        }
    }
}

fn report(message: &str) {
    // Ignore the error: stderr may be closed.
    let _ = writeln!(std::io::stderr(), "coreutils: {message}");
}

/// The last component of a path, as the program's name is usually given.
fn base_name(program: &std::ffi::OsStr) -> &str {
    Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or("")
}

#[cfg(test)]
mod tests;
