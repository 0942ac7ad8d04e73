//! Parser of the command line: one struct per command, whose comments are its help.

mod exec;
mod help;
mod mcp;
mod pack;
mod paths;
mod sandbox;
mod serve;
mod snapshot;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgAction, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

use crate::Dialect;
use crate::cli::config::ConfigFile;

pub(crate) use exec::{CommandArg, Exec, PublishedPort};
#[cfg(feature = "mcp")]
pub(crate) use mcp::{Mcp, McpCommand, McpHttp, McpInstall, McpServer};
pub(crate) use pack::PackCommand;
pub(crate) use paths::absolute_paths;
pub(crate) use sandbox::{MountArg, SandboxArgs, Upload};
pub(crate) use serve::{PublicUrl, REST, Serve};
pub(crate) use snapshot::{SnapshotCommand, SnapshotCreate, SnapshotFile};
pub(crate) use values::parse_seconds;

/// Run shell commands in a sandbox inside this process.
#[derive(Debug, Parser)]
#[command(name = "tidebox", version, disable_version_flag = true)]
struct Cli {
    /// Print the version
    #[arg(short = 'V', long)]
    version: bool,
    /// Print the version as a JSON object
    #[arg(long, requires = "version")]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// A parsed command line.
#[expect(clippy::large_enum_variant, reason = "a process has one")]
#[derive(Debug, PartialEq, Subcommand)]
pub(crate) enum Command {
    /// Run one command line, or one program
    ///
    /// Prints the output as it arrives. The exit code is that of the command.
    #[command(override_usage = help::EXEC_USAGE)]
    Exec(Exec),
    /// Start an interactive session in a sandbox
    ///
    /// Files, the working directory, variables, functions and aliases persist between lines.
    ///
    /// Tab completes commands and files. `:help` lists commands for snapshots, copies and transfers.
    Shell(SandboxArgs),
    /// Serve one sandbox to a program in any language
    ///
    /// Reads one JSON request per line from stdin, and writes one JSON reply per line to stdout.
    Backend(Backend),
    /// Serve sandboxes of this process over HTTP: a REST API with a web page, and emulators of sandbox providers
    ///
    /// Prints the environment variables that point the clients to the servers, and serves until interrupted.
    Serve(Serve),
    /// Serve a sandbox to an MCP client
    ///
    /// Serves over stdio, or over HTTP with --http.
    #[cfg(feature = "mcp")]
    #[command(args_conflicts_with_subcommands = true)]
    Mcp(Mcp),
    /// Serve a sandbox to an MCP client (not in this build)
    #[cfg(not(feature = "mcp"))]
    #[command(hide = true)]
    Mcp(mcp::Absent),
    /// Manage optional runtimes in your cache directory
    #[command(subcommand)]
    Pack(PackCommand),
    /// Keep the files of a sandbox in a snapshot file
    #[command(subcommand)]
    Snapshot(SnapshotCommand),
    /// Check this host: cache, packs, processor, memory, disk
    ///
    /// Prints a line for each check, with a hint for warnings and problems. Exits with 1 if there is a problem.
    Doctor {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages into a directory
    Man {
        /// The directory, which is created if it is missing
        dir: PathBuf,
    },
    /// `--version`
    #[command(skip)]
    Version { json: bool },
    /// Compiles the guest programs into the cache, or for any processor into the directory of `--archive`. For set-up scripts and
    /// packages.
    #[command(hide = true)]
    Warm {
        #[arg(long, value_name = "DIR")]
        archive: Option<PathBuf>,
    },
}

/// Arguments of `tidebox backend`.
#[derive(clap::Args, Debug, PartialEq)]
pub(crate) struct Backend {
    /// Conventions of the file tools
    #[arg(long, value_name = "NAME", value_parser = values::one_of(Dialect::ALL, Dialect::as_str))]
    #[arg(default_value = Dialect::Js.as_str())]
    pub(crate) dialect: Dialect,
    #[command(flatten)]
    pub(crate) options: SandboxArgs,
}

/// Parses the arguments after the program's name, with those of the configuration file. The help and the version are errors too, with separate kinds.
pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let parsed = parse(arguments.iter().cloned())?;
    let Some(options) = parsed.sandbox_options().filter(|options| !options.no_config) else { return Ok(parsed) };
    let Some(file) = ConfigFile::find(options.config.as_deref()) else { return Ok(parsed) };
    let root = command();
    let (mut named, mut names) = (&root, 0);
    while let Some(next) = arguments.get(names).and_then(|name| named.find_subcommand(name)) {
        (named, names) = (next, names + 1);
    }
    let of_file =
        file.arguments(named).map_err(|message| clap::Error::raw(ErrorKind::ValueValidation, message + "\n"))?;
    // Before those of the command line, which take precedence.
    arguments.splice(names..names, of_file);
    parse(arguments)
}

/// Returns whether arguments that could not be parsed are those of `exec --json`.
pub(crate) fn requests_json(arguments: &[OsString]) -> bool {
    let Some((command, options)) = arguments.split_first() else { return false };
    // The rest belongs to the program in the sandbox.
    let is_end = |argument: &&OsString| *argument == "--" || *argument == "--argv";
    command == "exec" && options.iter().take_while(|argument| !is_end(argument)).any(|argument| argument == "--json")
}

/// Parses the arguments after the program's name.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let mut arguments: Vec<OsString> = [OsString::from("tidebox")].into_iter().chain(arguments).collect();
    if arguments.len() == 1 {
        arguments.push("--help".into());
    }
    // After --argv and a program, everything belongs to the program. Without --argv, options may follow the command.
    let trailing = command().mut_subcommand("exec", |exec| exec.mut_arg("words", |words| words.trailing_var_arg(true)));
    if let Ok(matches) = trailing.try_get_matches_from(&arguments)
        && let Some(Command::Exec(exec)) = Cli::from_arg_matches(&matches)?.command
        && exec.argv
        && !exec.words.is_empty()
    {
        return Ok(Command::Exec(exec));
    }
    let matches = command().try_get_matches_from(arguments)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let mut parsed = match cli.command {
        _ if cli.version => Command::Version { json: cli.json },
        Some(command) => command,
        None => return Err(usage_error(&[], ErrorKind::MissingSubcommand, "missing command".to_owned())),
    };
    match &mut parsed {
        Command::Exec(exec) => exec.check_line().map_err(|(kind, message)| usage_error(&["exec"], kind, message))?,
        #[cfg(feature = "mcp")]
        Command::Mcp(mcp) => {
            mcp.finish(&matches)
                .map_err(|message| usage_error(&["mcp", "install"], ErrorKind::ArgumentConflict, message))?;
        }
        _ => {}
    }
    Ok(parsed)
}

impl Command {
    /// Returns the options of the sandbox, for commands that read the configuration file.
    pub(crate) fn sandbox_options(&self) -> Option<&SandboxArgs> {
        match self {
            Self::Exec(exec) => Some(&exec.options),
            Self::Shell(options) => Some(options),
            Self::Backend(backend) => Some(&backend.options),
            Self::Serve(serve) => Some(&serve.options),
            Self::Snapshot(SnapshotCommand::Create(create)) => Some(&create.options),
            // The entry of a client names the file; the server reads it.
            #[cfg(feature = "mcp")]
            Self::Mcp(mcp) => mcp.command.is_none().then_some(&mcp.server.options),
            _ => None,
        }
    }
}

/// Returns the long names of the options of the sandbox.
pub(crate) fn shared_options() -> Vec<String> {
    let shared = <SandboxArgs as clap::Args>::augment_args(clap::Command::new("sandbox"));
    shared.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
}

/// Returns the definition of the command line, with its help.
pub(crate) fn command() -> clap::Command {
    finish(help::add_sections(Cli::command()))
}

/// Sets what applies to every option of every command.
fn finish(command: clap::Command) -> clap::Command {
    let command = command.args_override_self(true).mut_subcommands(finish);
    // A value may start with a hyphen, as a key or a token does.
    command.mut_args(|arg| match arg.get_action() {
        ArgAction::Set | ArgAction::Append if !arg.is_positional() => arg.allow_hyphen_values(true),
        _ => arg,
    })
}

/// Returns an error of a command, with its usage.
fn usage_error(path: &[&str], kind: ErrorKind, message: String) -> clap::Error {
    let mut root = command();
    root.build();
    let mut named = &mut root;
    for name in path {
        named = match named.find_subcommand_mut(name) {
            Some(named) => named,
            None => return clap::Error::raw(kind, message),
        };
    }
    named.error(kind, message)
}

#[cfg(test)]
mod tests;
