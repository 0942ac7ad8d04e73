//! What the command line says, parsed once.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;
use tidebox::{Dialect, Limits, MountMode};

use crate::limits;

/// One call of the command `tidebox`.
#[derive(Debug, PartialEq)]
pub(crate) enum Call {
    /// `tidebox exec`
    Exec(Exec),
    /// `tidebox shell`
    Shell(Setting),
    /// `tidebox backend`
    Backend(Setting, Dialect),
    /// `tidebox warm`: compiles the guest programs into the cache. For set-up scripts, so the usage leaves it out.
    Warm,
    /// `tidebox pack`
    Pack(PackCall),
    /// `tidebox serve`
    Serve(Serve),
    /// `--help`, for the whole command.
    Help,
    /// `--version`
    Version,
}

/// What `tidebox pack` is to do.
#[derive(Debug, PartialEq)]
pub(crate) enum PackCall {
    Add { name: String, with: Vec<String> },
    List,
    Remove { name: String },
}

/// What `tidebox serve` is to do.
#[derive(Debug, PartialEq)]
pub(crate) struct Serve {
    /// What each sandbox is.
    pub(crate) setting: Setting,
    pub(crate) providers: Vec<String>,
    pub(crate) listen: SocketAddr,
    /// `None`: a key for this machine.
    pub(crate) key: Option<String>,
}

/// What `tidebox exec` is to do.
#[derive(Debug, PartialEq)]
pub(crate) struct Exec {
    pub(crate) setting: Setting,
    pub(crate) command: String,
    pub(crate) json: bool,
    pub(crate) stdin: bool,
}

/// The sandbox that a command runs in.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Setting {
    pub(crate) files: Vec<Upload>,
    pub(crate) mounts: Vec<Folder>,
    /// `None`: `/workspace`.
    pub(crate) cwd: Option<String>,
    pub(crate) env: Vec<(String, String)>,
    /// Hosts to read from over `https`; without any there is no network.
    pub(crate) allow: Vec<String>,
    /// `pip install` may fetch packages.
    pub(crate) pip: bool,
    /// `None`: the wall time of the limits.
    pub(crate) timeout: Option<Duration>,
    pub(crate) limits: Limits,
}

/// A file of the host and the path it gets inside.
#[derive(Debug, PartialEq)]
pub(crate) struct Upload {
    pub(crate) host: PathBuf,
    pub(crate) guest: String,
}

/// A folder of the host, where it shows inside, and who may change it.
#[derive(Debug, PartialEq)]
pub(crate) struct Folder {
    pub(crate) host: PathBuf,
    pub(crate) guest: String,
    pub(crate) mode: MountMode,
}

/// Parses the arguments after the program's name. The error is one line that says what to change.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Call, lexopt::Error> {
    let mut parser = lexopt::Parser::from_args(arguments);
    match parser.next()? {
        Some(Value(word)) if word == "exec" => exec(parser),
        Some(Value(word)) if word == "shell" => shell(parser),
        Some(Value(word)) if word == "backend" => backend(parser),
        Some(Value(word)) if word == "serve" => serve(parser),
        Some(Value(word)) if word == "pack" => pack(parser),
        Some(Value(word)) if word == "warm" => alone(parser, Call::Warm),
        Some(Value(word)) if word == "help" => alone(parser, Call::Help),
        Some(Value(word)) => Err(format!("there is no command {word:?}; see `tidebox --help`").into()),
        Some(Long("help") | Short('h')) | None => Ok(Call::Help),
        Some(Long("version") | Short('V')) => Ok(Call::Version),
        Some(other) => Err(other.unexpected()),
    }
}

fn exec(mut parser: lexopt::Parser) -> Result<Call, lexopt::Error> {
    let mut setting = Setting::default();
    let (mut json, mut stdin, mut command) = (false, false, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("json") => json = true,
            Long("stdin") => stdin = true,
            Long("help") | Short('h') => return Ok(Call::Help),
            Long("pip") => setting.pip = true,
            Long(name) if setting.takes(name) => {
                let name = name.to_owned();
                setting.set(&name, parser.value()?)?;
            }
            Value(line) if command.is_none() => command = Some(line.string()?),
            Value(extra) => {
                let message =
                    format!("{extra:?} stands after the command; quote the whole command line as one argument");
                return Err(message.into());
            }
            other => return Err(other.unexpected()),
        }
    }
    let command = command.ok_or("there is no command to run: tidebox exec 'COMMAND'")?;
    Ok(Call::Exec(Exec { setting, command, json, stdin }))
}

fn shell(mut parser: lexopt::Parser) -> Result<Call, lexopt::Error> {
    let mut setting = Setting::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") | Short('h') => return Ok(Call::Help),
            Long("pip") => setting.pip = true,
            Long(name) if setting.takes(name) => {
                let name = name.to_owned();
                setting.set(&name, parser.value()?)?;
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(Call::Shell(setting))
}

fn backend(mut parser: lexopt::Parser) -> Result<Call, lexopt::Error> {
    let mut setting = Setting::default();
    let mut chosen = Dialect::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") | Short('h') => return Ok(Call::Help),
            Long("dialect") => chosen = dialect(&parser.value()?.string()?)?,
            Long("pip") => setting.pip = true,
            Long(name) if setting.takes(name) => {
                let name = name.to_owned();
                setting.set(&name, parser.value()?)?;
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(Call::Backend(setting, chosen))
}

fn serve(mut parser: lexopt::Parser) -> Result<Call, lexopt::Error> {
    let (mut setting, mut providers, mut key) = (Setting::default(), Vec::new(), None);
    let mut listen = SocketAddr::from(([127, 0, 0, 1], 0));
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") | Short('h') => return Ok(Call::Help),
            Long("provider") => {
                let names = parser.value()?.string()?;
                providers.extend(names.split(',').filter(|name| !name.is_empty()).map(str::to_owned));
            }
            Long("listen") => listen = address(&parser.value()?.string()?)?,
            Long("key") => key = Some(parser.value()?.string()?).filter(|key| !key.is_empty()),
            Long("pip") => setting.pip = true,
            Long(name) if setting.takes(name) => {
                let name = name.to_owned();
                setting.set(&name, parser.value()?)?;
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(Call::Serve(Serve { setting, providers, listen, key }))
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let parsed = local.as_deref().unwrap_or(text).parse();
    parsed.map_err(|_| format!("--listen {text:?} is not of the form ADDRESS:PORT, as in 127.0.0.1:4000"))
}

fn pack(mut parser: lexopt::Parser) -> Result<Call, lexopt::Error> {
    const USAGE: &str = "say what to do: tidebox pack add NAME [--with PACKAGE,...], pack list, or pack remove NAME";
    let action = match parser.next()? {
        Some(Value(word)) => word.string()?,
        Some(Long("help") | Short('h')) => return Ok(Call::Help),
        _ => return Err(USAGE.into()),
    };
    let (mut name, mut with) = (None, Vec::new());
    while let Some(argument) = parser.next()? {
        match argument {
            Long("with") if action == "add" => {
                let names = parser.value()?.string()?;
                with.extend(names.split(',').filter(|name| !name.is_empty()).map(str::to_owned));
            }
            Value(word) if name.is_none() && action != "list" => name = Some(word.string()?),
            other => return Err(other.unexpected()),
        }
    }
    match (action.as_str(), name) {
        ("add", Some(name)) => Ok(Call::Pack(PackCall::Add { name, with })),
        ("remove", Some(name)) => Ok(Call::Pack(PackCall::Remove { name })),
        ("list", None) => Ok(Call::Pack(PackCall::List)),
        _ => Err(USAGE.into()),
    }
}

fn dialect(name: &str) -> Result<Dialect, String> {
    let names = || Dialect::ALL.map(Dialect::as_str).join(", ");
    let found = Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == name);
    found.ok_or_else(|| format!("there is no dialect {name:?}; there are: {}", names()))
}

fn alone(mut parser: lexopt::Parser, call: Call) -> Result<Call, lexopt::Error> {
    match parser.next()? {
        None => Ok(call),
        Some(other) => Err(other.unexpected()),
    }
}

impl Setting {
    fn takes(&self, option: &str) -> bool {
        matches!(option, "file" | "mount" | "cwd" | "env" | "allow" | "timeout" | "limits")
    }

    fn set(&mut self, option: &str, value: OsString) -> Result<(), lexopt::Error> {
        match option {
            "file" => self.files.push(upload(&value.string()?)?),
            "mount" => self.mounts.push(folder(&value.string()?)?),
            "cwd" => self.cwd = Some(value.string()?),
            "env" => self.env.push(variable(&value.string()?)?),
            "allow" => self.allow.push(value.string()?),
            "timeout" => self.timeout = Some(seconds(&value.string()?)?),
            _ => limits::apply(&mut self.limits, &value.string()?)?,
        }
        Ok(())
    }
}

/// `HOST:GUEST`, split at the last colon: a host path may well hold one (`C:\...`), a guest path hardly.
fn upload(text: &str) -> Result<Upload, String> {
    match text.rsplit_once(':') {
        Some((host, guest)) if !host.is_empty() && !guest.is_empty() => {
            Ok(Upload { host: host.into(), guest: guest.to_owned() })
        }
        _ => Err(format!("--file {text:?} is not of the form HOST:GUEST, as in data.csv:/workspace/data.csv")),
    }
}

/// `HOST:GUEST`, and `:ro` (the default), `:rw` or `:cow` behind it.
fn folder(text: &str) -> Result<Folder, String> {
    let (paths, mode) = match text.rsplit_once(':') {
        Some((paths, "ro")) => (paths, MountMode::ReadOnly),
        Some((paths, "rw")) => (paths, MountMode::ReadWrite),
        Some((paths, "cow")) => (paths, MountMode::CopyOnWrite),
        _ => (text, MountMode::ReadOnly),
    };
    match paths.rsplit_once(':') {
        Some((host, guest)) if !host.is_empty() && !guest.is_empty() => {
            Ok(Folder { host: host.into(), guest: guest.to_owned(), mode })
        }
        _ => Err(format!("--mount {text:?} is not of the form HOST:GUEST[:ro|rw|cow], as in .:/workspace/repo:cow")),
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("--env {text:?} is not of the form NAME=VALUE")),
    }
}

/// Seconds above 0, fractions allowed.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    text.parse::<f64>()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| format!("{text:?} is not a number of seconds above 0, as in 2 or 0.5"))
}

#[cfg(test)]
mod tests;
