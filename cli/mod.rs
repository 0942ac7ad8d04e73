//! The command `tidebox`: runs commands in a sandbox of this process. A module of the library, because the Python package has the
//! same command.

mod args;
mod backend;
mod config;
mod confine;
mod doctor;
mod exec;
mod exit_code;
mod generate;
mod limits;
#[cfg(feature = "mcp")]
mod mcp;
mod output;
mod pack;
mod printer;
mod progress;
mod remote;
mod report;
mod sandbox;
mod serve;
mod shell;
mod snapshot;

use std::ffi::OsString;
use std::io::Write as _;
use std::sync::Once;

use anyhow::{Context as _, Result};

use args::Command;
pub use pack::prepare_pack;

/// Runs the command `tidebox` with the arguments after its name, and returns its exit code. Reads and writes the standard streams of
/// this process.
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let command = match args::read(arguments.iter().cloned()) {
        Ok(command) => command,
        Err(error) => return answer(&error, args::requests_json(&arguments)),
    };
    run(command).unwrap_or_else(|error| report_failure(&error))
}

/// Says once on standard error that programs are compiled, for [`set_installation`](crate::set_installation).
pub fn report_compilation() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        eprintln!("tidebox: compiling programs for this processor; the result is kept in the cache directory");
    });
}

/// Says once on standard error that a pack is compiled, for [`set_pack_support`](crate::set_pack_support).
pub fn report_pack_compilation() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        eprintln!(
            "tidebox: compiling Python for this version and processor, which takes minutes; the result is kept in the cache directory"
        );
    });
}

fn run(command: Command) -> Result<u8> {
    confine::confine(&command)?;
    match command {
        Command::Exec(exec) => exec::exec(exec),
        Command::Shell(options) => shell::shell(options),
        Command::Backend(args) => backend::serve(&args),
        Command::Pack(command) => pack::pack(command),
        Command::Serve(command) => serve::serve(command),
        #[cfg(feature = "mcp")]
        Command::Mcp(command) => mcp::mcp(command),
        #[cfg(not(feature = "mcp"))]
        Command::Mcp(_) => {
            anyhow::bail!("cannot start the MCP server: this build has none; build tidebox with the cargo feature mcp")
        }
        Command::Snapshot(command) => snapshot::snapshot(command),
        Command::Doctor { json } => doctor::doctor(json),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { dir } => generate::man(&dir),
        Command::Version { json } => version(json),
        Command::Warm { archive } => sandbox::precompile(archive.as_deref()),
    }
}

fn version(json: bool) -> Result<u8> {
    let version = env!("CARGO_PKG_VERSION");
    match json {
        true => output::print_json(&serde_json::json!({ "name": "tidebox", "version": version }))?,
        false => writeln!(std::io::stdout(), "tidebox {version}").context(output::STDOUT_FAILED)?,
    }
    Ok(exit_code::SUCCESS)
}

/// Prints the help, or an error of the command line, and returns the exit code. With `json`, an error is also an object on standard
/// output.
fn answer(error: &clap::Error, json: bool) -> u8 {
    if error.use_stderr() {
        if json && let Err(error) = output::print_json(&report::ErrorReport::of_usage(error)) {
            return report_failure(&error);
        }
        // The name of the program is before all messages of it.
        let text = error.render().ansi().to_string().replacen("error:", "tidebox:", 1);
        anstream::eprint!("{text}");
        return exit_code::FAILED;
    }
    match error.print() {
        Ok(()) => exit_code::SUCCESS,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => exit_code::OUTPUT_CLOSED,
        Err(error) => failed(&format!("{}: {error}", output::STDOUT_FAILED)),
    }
}

/// Prints the error of a command and returns the exit code.
fn report_failure(error: &anyhow::Error) -> u8 {
    // As for other programs, this needs no message.
    if output::is_output_closed(error) { exit_code::OUTPUT_CLOSED } else { failed(&format_error_chain(error)) }
}

fn failed(error: &dyn std::fmt::Display) -> u8 {
    eprintln!("tidebox: {error}");
    exit_code::FAILED
}

/// Formats an error and its causes in one line, without causes whose text is already included.
fn format_error_chain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |line, cause| match line.as_str() {
        "" => cause,
        line_so_far if line_so_far.contains(&cause) => line,
        line_so_far => format!("{line_so_far}: {cause}"),
    })
}

#[cfg(test)]
mod tests {
    use super::format_error_chain;

    #[test]
    fn repeated_causes_are_omitted() {
        let error =
            anyhow::anyhow!("no space").context("file operation: no space (code=no_space)").context("cannot continue");
        assert_eq!(format_error_chain(&error), "cannot continue: file operation: no space (code=no_space)");
    }
}
