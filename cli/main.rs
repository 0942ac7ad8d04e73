//! The command `tidebox`: one command line, or a session, in a sandbox of this process.

mod arguments;
mod backend;
mod exec;
mod limits;
mod pack;
mod printer;
mod report;
mod serve;
mod session;
mod shell;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;

use arguments::Call;

/// The exit code when we could not do our job, as of `env`, `timeout` and their kin: no command can be told from it by
/// accident, because commands keep away from it for that reason.
const OWN_FAILURE: u8 = 125;

fn main() -> ExitCode {
    let call = match arguments::parse(std::env::args_os().skip(1)) {
        Ok(call) => call,
        Err(error) => return failed(&error),
    };
    match run(call) {
        Ok(code) => ExitCode::from(code),
        Err(error) => failed(&told(&error)),
    }
}

fn run(call: Call) -> Result<u8> {
    match call {
        Call::Exec(exec) => exec::exec(exec),
        Call::Shell(setting) => shell::shell(setting),
        Call::Backend(setting, dialect) => backend::serve(&setting, dialect),
        Call::Pack(call) => pack::pack(call),
        Call::Serve(call) => serve::serve(call),
        Call::Warm => session::warm(),
        Call::Help => say(&usage()),
        Call::Version => say(concat!("tidebox ", env!("CARGO_PKG_VERSION"), "\n")),
    }
}

fn failed(error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("tidebox: {error}");
    ExitCode::from(OWN_FAILURE)
}

/// The error and its causes in one line. A cause whose words are in the line already adds nothing.
fn told(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |line, cause| match line.as_str() {
        "" => cause,
        said if said.contains(&cause) => line,
        said => format!("{said}: {cause}"),
    })
}

fn say(text: &str) -> Result<u8> {
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(0)
}

fn usage() -> String {
    format!(
        "\
tidebox runs shell commands in a sandbox inside this process.

usage:
  tidebox exec [options] [--json] [--stdin] 'COMMAND'
  tidebox shell [options]
  tidebox backend [options] [--dialect js|python|langchain-tests]
  tidebox serve --provider NAME,...|all [--listen ADDRESS:PORT] [--key KEY] [options]
  tidebox pack add NAME [--with PACKAGE,...] | pack list | pack remove NAME

exec runs one command line, prints what it prints as it arrives, and ends with its exit code: 124 when time was up, {OWN_FAILURE}
when tidebox itself could not do its job. shell is an interactive session; files, the working directory,
variables, functions and aliases persist between its lines.
backend gives a program in any language a sandbox: it reads one JSON request per line and answers each in one line.
serve stands in for sandbox providers, with sandboxes of this process: it prints the variables that point their own clients to it,
and serves until it is interrupted. Providers: {}.
pack fetches an optional runtime once and keeps it in the user's cache folder: `tidebox pack add python`.

options:
  --file HOST:GUEST     put a file of the host into the sandbox, its execute bit kept; may be given again
  --mount HOST:GUEST[:ro|rw|cow]
                        show a folder of the host: read-only (ro, the default), written through (rw), or copy-on-write
                        (cow: changes stay in the sandbox); may be given again
  --cwd DIR             start in this directory; default /workspace
  --allow HOST          let commands read from this host over https; may be given again; without it there is no network
  --pip                 let `pip install` have packages for Python, fetched by this machine's own pip
  --env NAME=VALUE      set an environment variable; may be given again; nothing of the host's is set
  --timeout SECONDS     end a command after this wall time, fractions allowed
  --limits KEY=N,...    change limits, see below; sizes take K, M or G
of exec only:
  --json                print one JSON object at the end instead: stdout, stderr, output (both in the order of arrival),
                        exit_code, truncated, stopped_by, duration_ms, peak_memory_bytes; bytes that are not UTF-8
                        become U+FFFD there
  --stdin               let the command read the standard input of tidebox; without it the command reads nothing

of serve only:
  --provider NAME,...   which providers, or all; each has a port of its own, one after the other
  --listen ADDRESS:PORT where the first one serves; default 127.0.0.1:0, which takes any free port for each
  --key KEY             what clients have to show; must be named where others reach the address

of backend only:
  --dialect NAME        whose rules the file tools follow: js (default), python or langchain-tests

limits and their defaults:
{}",
        tidebox::emulators::EMULATORS.join(", "),
        limits::table()
    )
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn a_cause_that_was_told_already_is_not_told_again() {
        let error =
            anyhow::anyhow!("no space").context("file operation: no space (code=no_space)").context("cannot go on");
        assert_eq!(told(&error), "cannot go on: file operation: no space (code=no_space)");
    }
}
