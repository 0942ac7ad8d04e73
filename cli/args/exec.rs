//! Arguments of `tidebox exec`.

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;

use super::SandboxArgs;
use super::values::parse_published_port;
use crate::LOCAL;
use crate::remote::PROVIDERS;

/// Arguments of `tidebox exec`.
#[derive(clap::Args, Debug, PartialEq)]
pub(crate) struct Exec {
    /// A command line for the shell, as one argument, or a program and its arguments after --argv
    #[arg(value_name = "COMMAND")]
    pub(super) words: Vec<String>,
    /// Run a program with the arguments after it, without a shell that expands them
    ///
    /// Options of tidebox must precede the program.
    #[arg(long)]
    pub(super) argv: bool,
    /// Pass the standard input of tidebox to the command [default: empty input]
    #[arg(long)]
    pub(crate) stdin: bool,
    /// Run at a provider, with the key of the provider's environment variable
    ///
    /// Creates a sandbox, uploads the files of --file, runs the command, and deletes the sandbox.
    ///
    /// The network is that of the provider, unless --allow lists hosts.
    #[arg(long, value_name = "NAME", default_value = LOCAL)]
    #[arg(value_parser = PossibleValuesParser::new([LOCAL].into_iter().chain(PROVIDERS.iter().copied())))]
    pub(crate) backend: String,
    /// Print one JSON object at the end instead of streaming the output
    ///
    /// Its fields: stdout, stderr, output, exit_code, truncated, stopped_by, duration_ms, cpu_time_ms, peak_memory_bytes.
    ///
    /// `output` is both streams in the order of arrival. U+FFFD replaces invalid UTF-8.
    ///
    /// If tidebox itself fails, the object has one field: error, with kind, message and retryable.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) options: SandboxArgs,
    /// Let programs of this host connect to a port of the sandbox (repeatable)
    ///
    /// The port is at 127.0.0.1:HOST_PORT while the command runs; its address is printed to stderr.
    ///
    /// Without HOST_PORT, any free port.
    #[arg(long, value_name = "PORT[:HOST_PORT]", value_parser = parse_published_port, help_heading = "Network")]
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

impl Exec {
    /// Returns the command.
    pub(crate) fn command(&self) -> CommandArg {
        match self.argv {
            true => CommandArg::Arguments(self.words.clone()),
            false => CommandArg::Line(self.words.concat()),
        }
    }

    /// Checks the arguments of a command line that is not a program after `--argv`.
    pub(super) fn check_line(&self) -> Result<(), (ErrorKind, String)> {
        match self.words.as_slice() {
            [] if self.argv => Err((ErrorKind::MissingRequiredArgument, "missing program after --argv".to_owned())),
            [] => Err((ErrorKind::MissingRequiredArgument, "missing command".to_owned())),
            [_, ..] if self.argv => Err((ErrorKind::ArgumentConflict, "--argv must be before the program".to_owned())),
            [_] => Ok(()),
            [_, extra, ..] => {
                let message = format!(
                    "unexpected argument {extra:?} after the command; quote the whole command line as one argument, or \
                     pass a program and its arguments after --argv"
                );
                Err((ErrorKind::UnknownArgument, message))
            }
        }
    }
}
