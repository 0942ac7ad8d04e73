//! Parser of the command line.

mod mcp;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Dialect, Limits, MountMode, OutputOverflow};
use lexopt::prelude::*;

use crate::cli::limits;

pub(crate) use mcp::{Mcp, McpHttp, McpInstall};

/// A parsed command line.
#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    /// `tidebox exec`
    Exec(Exec),
    /// `tidebox shell`
    Shell(SandboxArgs),
    /// `tidebox backend`
    Backend(SandboxArgs, Dialect),
    /// `tidebox warm`: compiles the guest programs into the cache, or for any processor into the directory of `--archive`. For
    /// set-up scripts and packages; not listed in the help.
    Precompile { archive: Option<PathBuf> },
    /// `tidebox pack ship NAME DIR`: writes the wheels of a pack for a package that ships them; not listed in the help.
    ShipPack { name: String, dir: PathBuf },
    /// `tidebox pack`
    Pack(PackCommand),
    /// `tidebox serve`
    Serve(Serve),
    /// `tidebox mcp`
    Mcp(Mcp),
    /// `tidebox mcp install`
    McpInstall(McpInstall),
    /// `--help`; the same text for all commands.
    Help,
    /// `--version`
    Version,
}

/// Arguments of `tidebox pack`.
#[derive(Debug, PartialEq)]
pub(crate) enum PackCommand {
    Add {
        name: String,
        with: Vec<String>,
        /// The wheel of a pack that is a program.
        from: Option<PathBuf>,
    },
    List,
    Remove {
        name: String,
    },
}

/// Arguments of `tidebox serve`.
#[derive(Debug, PartialEq)]
pub(crate) struct Serve {
    /// Options of each sandbox.
    pub(crate) options: SandboxArgs,
    pub(crate) providers: Vec<String>,
    pub(crate) listen: SocketAddr,
    /// `None`: a fixed key, only for loopback addresses.
    pub(crate) key: Option<String>,
}

/// Arguments of `tidebox exec`.
#[derive(Debug, PartialEq)]
pub(crate) struct Exec {
    pub(crate) options: SandboxArgs,
    pub(crate) command: CommandArg,
    pub(crate) json: bool,
    pub(crate) stdin: bool,
    pub(crate) publish: Vec<PublishedPort>,
}

/// A port of the sandbox that a port of the host's 127.0.0.1 leads to while the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PublishedPort {
    pub(crate) port: u16,
    /// 0: any free port.
    pub(crate) host_port: u16,
}

/// The command of `tidebox exec`.
#[derive(Debug, PartialEq)]
pub(crate) enum CommandArg {
    /// A command line for the shell.
    Line(String),
    /// `--argv`: a program and its arguments, without a shell.
    Arguments(Vec<String>),
}

/// Options of the sandbox.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SandboxArgs {
    pub(crate) files: Vec<Upload>,
    pub(crate) mounts: Vec<MountArg>,
    /// `None`: `/workspace`.
    pub(crate) cwd: Option<String>,
    pub(crate) env: Vec<(String, String)>,
    /// Hosts that commands may read from over HTTPS. Empty: no network.
    pub(crate) allow: Vec<String>,
    /// Repositories that Git may fetch from.
    pub(crate) allow_git: Vec<String>,
    /// Repositories that Git may fetch from and push to.
    pub(crate) allow_git_push: Vec<String>,
    /// Allows `pip install` to download packages.
    pub(crate) pip: bool,
    /// `None`: the wall time of the limits.
    pub(crate) timeout: Option<Duration>,
    pub(crate) limits: Limits,
    pub(crate) output_overflow: OutputOverflow,
}

/// A host file and its path in the sandbox.
#[derive(Debug, PartialEq)]
pub(crate) struct Upload {
    pub(crate) host: PathBuf,
    pub(crate) guest: String,
}

/// A host directory, its mount point and its mode.
#[derive(Debug, PartialEq)]
pub(crate) struct MountArg {
    pub(crate) host: PathBuf,
    pub(crate) guest: String,
    pub(crate) mode: MountMode,
}

/// Parses the arguments after the program's name. The error is one line.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, lexopt::Error> {
    let mut parser = lexopt::Parser::from_args(arguments);
    match parser.next()? {
        Some(Value(word)) if word == "exec" => exec(parser),
        Some(Value(word)) if word == "shell" => shell(parser),
        Some(Value(word)) if word == "backend" => backend(parser),
        Some(Value(word)) if word == "serve" => serve(parser),
        Some(Value(word)) if word == "mcp" => mcp::parse(parser),
        Some(Value(word)) if word == "pack" => pack(parser),
        Some(Value(word)) if word == "warm" => precompile(parser),
        Some(Value(word)) if word == "help" => without_arguments(parser, Command::Help),
        Some(Value(word)) => Err(format!("unknown command {word:?}; see `tidebox --help`").into()),
        Some(Long("help") | Short('h')) | None => Ok(Command::Help),
        Some(Long("version") | Short('V')) => Ok(Command::Version),
        Some(other) => Err(other.unexpected()),
    }
}

fn exec(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut options = SandboxArgs::default();
    let (mut json, mut stdin, mut is_list, mut command) = (false, false, false, None);
    let mut publish = Vec::new();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("json") => json = true,
            Long("stdin") => stdin = true,
            Long("publish") => publish.push(parse_published_port(&parser.value()?.string()?)?),
            Long("argv") => is_list = true,
            Long("help") | Short('h') => return Ok(Command::Help),
            Long("pip") => options.pip = true,
            Long(name) if options.accepts(name) => {
                let name = name.to_owned();
                options.set(&name, parser.value()?)?;
            }
            // Everything after the program is its own, options too.
            Value(program) if is_list => {
                let mut arguments = vec![program.string()?];
                for argument in parser.raw_args()? {
                    arguments.push(argument.string()?);
                }
                command = Some(CommandArg::Arguments(arguments));
            }
            Value(line) if command.is_none() => command = Some(CommandArg::Line(line.string()?)),
            Value(extra) => {
                let message = format!(
                    "unexpected argument {extra:?} after the command; quote the whole command line as one argument, or \
                     pass a program and its arguments after --argv"
                );
                return Err(message.into());
            }
            other => return Err(other.unexpected()),
        }
    }
    let command = match command {
        Some(CommandArg::Line(_)) if is_list => return Err("--argv must be before the program".into()),
        Some(command) => command,
        None if is_list => return Err("missing program; usage: tidebox exec --argv PROGRAM [ARGUMENT...]".into()),
        None => return Err("missing command; usage: tidebox exec 'COMMAND'".into()),
    };
    Ok(Command::Exec(Exec { options, command, json, stdin, publish }))
}

fn precompile(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut archive = None;
    while let Some(argument) = parser.next()? {
        match argument {
            Long("archive") => archive = Some(parser.value()?.into()),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Precompile { archive })
}

fn shell(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut options = SandboxArgs::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") | Short('h') => return Ok(Command::Help),
            Long("pip") => options.pip = true,
            Long(name) if options.accepts(name) => {
                let name = name.to_owned();
                options.set(&name, parser.value()?)?;
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Shell(options))
}

fn backend(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut options = SandboxArgs::default();
    let mut selected = Dialect::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") | Short('h') => return Ok(Command::Help),
            Long("dialect") => selected = parse_dialect(&parser.value()?.string()?)?,
            Long("pip") => options.pip = true,
            Long(name) if options.accepts(name) => {
                let name = name.to_owned();
                options.set(&name, parser.value()?)?;
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Backend(options, selected))
}

fn serve(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let (mut options, mut providers, mut key) = (SandboxArgs::default(), Vec::new(), None);
    let mut listen = SocketAddr::from(([127, 0, 0, 1], 0));
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") | Short('h') => return Ok(Command::Help),
            Long("provider") => {
                let names = parser.value()?.string()?;
                providers.extend(names.split(',').filter(|name| !name.is_empty()).map(str::to_owned));
            }
            Long("listen") => listen = parse_address("--listen", &parser.value()?.string()?)?,
            Long("key") => key = Some(parser.value()?.string()?).filter(|key| !key.is_empty()),
            Long("pip") => options.pip = true,
            Long(name) if options.accepts(name) => {
                let name = name.to_owned();
                options.set(&name, parser.value()?)?;
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Serve(Serve { options, providers, listen, key }))
}

fn parse_address(option: &str, text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let parsed = local.as_deref().unwrap_or(text).parse();
    parsed.map_err(|_| format!("invalid {option} {text:?}: expected ADDRESS:PORT, for example 127.0.0.1:4000"))
}

fn pack(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    const USAGE: &str = "invalid arguments; usage: tidebox pack add NAME [--with PACKAGE,...] [--from FILE] | pack list | pack remove NAME";
    let action = match parser.next()? {
        Some(Value(word)) => word.string()?,
        Some(Long("help") | Short('h')) => return Ok(Command::Help),
        _ => return Err(USAGE.into()),
    };
    if action == "ship" {
        let (name, dir) = (parser.value()?.string()?, parser.value()?.into());
        return without_arguments(parser, Command::ShipPack { name, dir });
    }
    let (mut name, mut with, mut from) = (None, Vec::new(), None);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("with") if action == "add" => {
                let names = parser.value()?.string()?;
                with.extend(names.split(',').filter(|name| !name.is_empty()).map(str::to_owned));
            }
            Long("from") if action == "add" => from = Some(parser.value()?.into()),
            Value(word) if name.is_none() && action != "list" => name = Some(word.string()?),
            other => return Err(other.unexpected()),
        }
    }
    match (action.as_str(), name) {
        ("add", Some(name)) => Ok(Command::Pack(PackCommand::Add { name, with, from })),
        ("remove", Some(name)) => Ok(Command::Pack(PackCommand::Remove { name })),
        ("list", None) => Ok(Command::Pack(PackCommand::List)),
        _ => Err(USAGE.into()),
    }
}

fn parse_dialect(name: &str) -> Result<Dialect, String> {
    let names = || Dialect::ALL.map(Dialect::as_str).join(", ");
    let found = Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == name);
    found.ok_or_else(|| format!("unknown dialect {name:?}; expected one of: {}", names()))
}

fn without_arguments(mut parser: lexopt::Parser, command: Command) -> Result<Command, lexopt::Error> {
    match parser.next()? {
        None => Ok(command),
        Some(other) => Err(other.unexpected()),
    }
}

impl SandboxArgs {
    fn accepts(&self, option: &str) -> bool {
        matches!(
            option,
            "file"
                | "mount"
                | "cwd"
                | "env"
                | "allow"
                | "allow-git"
                | "allow-git-push"
                | "timeout"
                | "limits"
                | "output-overflow"
        )
    }

    fn set(&mut self, option: &str, value: OsString) -> Result<(), lexopt::Error> {
        match option {
            "file" => self.files.push(parse_upload(&value.string()?)?),
            "mount" => self.mounts.push(parse_mount(&value.string()?)?),
            "cwd" => self.cwd = Some(value.string()?),
            "env" => self.env.push(parse_variable(&value.string()?)?),
            "allow" => self.allow.push(value.string()?),
            "allow-git" => self.allow_git.push(value.string()?),
            "allow-git-push" => self.allow_git_push.push(value.string()?),
            "timeout" => self.timeout = Some(parse_seconds(&value.string()?)?),
            "output-overflow" => self.output_overflow = value.string()?.parse()?,
            _ => limits::apply(&mut self.limits, &value.string()?)?,
        }
        Ok(())
    }
}

/// Parses `HOST:GUEST`, split at the last colon: host paths may contain one (`C:\...`).
fn parse_upload(text: &str) -> Result<Upload, String> {
    match text.rsplit_once(':') {
        Some((host, guest)) if !host.is_empty() && !guest.is_empty() => {
            Ok(Upload { host: host.into(), guest: guest.to_owned() })
        }
        _ => Err(format!("invalid --file {text:?}: expected HOST:GUEST, for example data.csv:/workspace/data.csv")),
    }
}

/// Parses `HOST:GUEST` with an optional suffix `:ro` (default), `:rw` or `:cow`.
fn parse_mount(text: &str) -> Result<MountArg, String> {
    let (paths, mode) = match text.rsplit_once(':') {
        Some((paths, "ro")) => (paths, MountMode::ReadOnly),
        Some((paths, "rw")) => (paths, MountMode::ReadWrite),
        Some((paths, "cow")) => (paths, MountMode::CopyOnWrite),
        _ => (text, MountMode::ReadOnly),
    };
    match paths.rsplit_once(':') {
        Some((host, guest)) if !host.is_empty() && !guest.is_empty() => {
            Ok(MountArg { host: host.into(), guest: guest.to_owned(), mode })
        }
        _ => {
            Err(format!("invalid --mount {text:?}: expected HOST:GUEST[:ro|rw|cow], for example .:/workspace/repo:cow"))
        }
    }
}

/// Parses `PORT` or `PORT:HOST_PORT`.
fn parse_published_port(text: &str) -> Result<PublishedPort, String> {
    let (port, host_port) = text.split_once(':').unwrap_or((text, "0"));
    match (port.parse(), host_port.parse()) {
        (Ok(port), Ok(host_port)) if port != 0 => Ok(PublishedPort { port, host_port }),
        _ => Err(format!("invalid --publish {text:?}: expected PORT or PORT:HOST_PORT, for example 8000 or 8000:3000")),
    }
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("invalid --env {text:?}: expected NAME=VALUE")),
    }
}

/// Parses a positive number of seconds; fractions are allowed.
pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    text.parse::<f64>()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| format!("invalid duration {text:?}: expected seconds greater than 0, for example 2 or 0.5"))
}

#[cfg(test)]
mod tests;
