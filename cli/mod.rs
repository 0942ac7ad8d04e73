//! The command `tidebox`: runs commands in a sandbox of this process. A module of the library, because the Python package has the
//! same command.

mod args;
mod backend;
mod exec;
mod limits;
#[cfg(feature = "mcp")]
mod mcp;
mod pack;
mod printer;
mod progress;
mod report;
mod sandbox;
mod serve;
mod shell;

use std::ffi::OsString;
use std::io::Write as _;
use std::sync::Once;

use anyhow::Result;

use args::Command;
pub use pack::prepare_pack;

/// Exit code if Tidebox itself failed, as of `env` and `timeout`. Commands avoid it, so it is unambiguous in practice.
const EXIT_INTERNAL_ERROR: u8 = 125;

/// Runs the command `tidebox` with the arguments after its name, and returns its exit code. Reads and writes the standard streams of
/// this process.
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let command = match args::parse(arguments) {
        Ok(command) => command,
        Err(error) => return failed(&error),
    };
    match run(command) {
        Ok(code) => code,
        Err(error) => failed(&format_error_chain(&error)),
    }
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
    match command {
        Command::Exec(exec) => exec::exec(exec),
        Command::Shell(options) => shell::shell(options),
        Command::Backend(options, dialect) => backend::serve(&options, dialect),
        Command::Pack(command) => pack::pack(command),
        Command::Serve(command) => serve::serve(command),
        #[cfg(feature = "mcp")]
        Command::Mcp(command) => mcp::serve(command),
        #[cfg(feature = "mcp")]
        Command::McpInstall(command) => mcp::install(&command),
        #[cfg(not(feature = "mcp"))]
        Command::Mcp(_) | Command::McpInstall(_) => {
            anyhow::bail!("cannot start the MCP server: this build has none; build tidebox with the cargo feature mcp")
        }
        Command::Precompile { archive } => sandbox::precompile(archive.as_deref()),
        Command::ShipPack { name, dir } => pack::ship(&name, &dir),
        Command::Help => print(&usage()),
        Command::Version => print(concat!("tidebox ", env!("CARGO_PKG_VERSION"), "\n")),
    }
}

fn failed(error: &dyn std::fmt::Display) -> u8 {
    eprintln!("tidebox: {error}");
    EXIT_INTERNAL_ERROR
}

/// Formats an error and its causes in one line, without causes whose text is already included.
fn format_error_chain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |line, cause| match line.as_str() {
        "" => cause,
        line_so_far if line_so_far.contains(&cause) => line,
        line_so_far => format!("{line_so_far}: {cause}"),
    })
}

fn print(text: &str) -> Result<u8> {
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(0)
}

fn usage() -> String {
    format!(
        "\
Run shell commands in a sandbox inside this process.

Usage:
  tidebox exec [OPTIONS] [--json] [--stdin] [--publish PORT[:HOST_PORT]] 'COMMAND'
  tidebox exec [OPTIONS] [--json] [--stdin] [--publish PORT[:HOST_PORT]] --argv PROGRAM [ARGUMENT...]
  tidebox shell [OPTIONS]
  tidebox backend [OPTIONS] [--dialect js|python|langchain-tests]
  tidebox serve --provider NAME,...|all [--listen ADDRESS:PORT] [--key KEY] [OPTIONS]
  tidebox mcp [OPTIONS] [--save DIR] [--sandbox NAME] [--http ADDRESS:PORT]
  tidebox mcp install CLIENT [--print] [OPTIONS]
  tidebox pack add NAME [--with PACKAGE,...] [--from FILE] | pack list | pack remove NAME

Commands:
  exec     Run one command line and print its output as it arrives. The exit code is that of the command,
           124 after a timeout, or {EXIT_INTERNAL_ERROR} if tidebox itself failed
  shell    Start an interactive session. Files, the working directory, variables, functions and aliases
           persist between lines
  backend  Serve one sandbox to a program in any language: read one JSON request per line from stdin,
           write one JSON reply per line to stdout
  serve    Emulate sandbox providers with sandboxes of this process. Print the environment variables that
           point the providers' clients to the emulators, and serve until interrupted.
           Providers: {}
  mcp      Serve a sandbox to an MCP client over stdio, or over HTTP with --http. `tidebox mcp install CLIENT`
           adds the server to the configuration of a client: claude-code, claude-desktop, cursor, vscode, codex,
           gemini
  pack     Manage optional runtimes in your cache directory, for example: tidebox pack add python

Options:
  --file HOST:GUEST     Copy a host file into the sandbox, keeping the execute bit (repeatable)
  --mount HOST:GUEST[:ro|rw|cow]
                        Mount a host directory: read-only (ro), read-write (rw), or copy-on-write (cow: changes
                        stay in the sandbox) [default: ro] (repeatable)
  --cwd DIR             Set the working directory [default: /workspace]
  --allow HOST          Allow read requests (GET, HEAD) to this host over HTTPS (repeatable) [default: no network]
  --allow-git REPOSITORY
                        Allow git clone and git fetch over HTTPS: HOST, HOST/ORG/REPO, or HOST/ORG/* (repeatable)
  --allow-git-push REPOSITORY
                        Like --allow-git, and allow git push (repeatable)
  --pip                 Enable `pip install` of Python packages, downloaded by the pip of the host
  --env NAME=VALUE      Set an environment variable (repeatable). Variables of the host are not passed
  --timeout SECONDS     Stop each command after this wall time; fractions are allowed [default: the wall-time limit]
  --output-overflow ACTION
                        Action when the output of a command exceeds its limit: keep the first bytes (head), keep the
                        last bytes (tail), or kill the command (stop) [default: head]
  --limits KEY=N,...    Change limits, see below; sizes accept the suffixes K, M and G (repeatable)

Options of exec:
  --argv                Run a program with the arguments after it, without a shell that expands them. Options of
                        tidebox must precede the program
  --json                Print one JSON object at the end instead of streaming the output: stdout, stderr, output
                        (both in the order of arrival), exit_code, truncated, stopped_by, duration_ms,
                        cpu_time_ms, peak_memory_bytes. U+FFFD replaces invalid UTF-8
  --stdin               Pass the standard input of tidebox to the command [default: empty input]
  --publish PORT[:HOST_PORT]
                        Let programs of this host connect to a port of the sandbox at 127.0.0.1:HOST_PORT while the
                        command runs, and print the address to stderr [default: any free port] (repeatable)

Options of serve:
  --provider NAME,...   Providers to emulate, or all. Each one gets its own port
  --listen ADDRESS:PORT Address of the first provider; the others get the next ports [default: 127.0.0.1:0, any
                        free port for each]
  --key KEY             API key that clients must send. Required unless --listen is a loopback address

Options of mcp:
  --save DIR            Save the sandbox in this directory, and continue with the saved one
  --sandbox NAME        Name of the sandbox in the directory of --save [default: default]
  --http ADDRESS:PORT   Serve over HTTP at /mcp, and further sandboxes at /mcp/NAME; port 0 is any free port
  --token TOKEN         Bearer token that clients must send [default: TIDEBOX_MCP_TOKEN, or a random one that is
                        printed]. Required unless --http is a loopback address
  --allow-host HOST     Accept this value of the header Host, besides loopback names (repeatable)
  --allow-origin ORIGIN Accept requests of web pages of this origin (repeatable) [default: none]

Options of mcp install:
  --print               Print the entry instead of writing the file
  --as NAME             Name of the server in the client [default: tidebox]
  --project, --user     Write the file of the current project, or the one of the user [default: that of the client]
  --route-bash          For claude-code: deny the built-in Bash, so that commands run in the sandbox
  Other options are passed to `tidebox mcp`, for example --mount .:/workspace/repo:cow

Options of backend:
  --dialect NAME        Conventions of the file tools: js, python or langchain-tests [default: js]

Limits and their defaults:
{}",
        crate::emulators::EMULATORS.join(", "),
        limits::table()
    )
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
