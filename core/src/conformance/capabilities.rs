//! Capabilities of a backend and requirements of cases.

use std::time::Duration;

use crate::backend::BoxFuture;
use crate::dialect::Dialect;
use crate::error::Result;
use crate::port::PortEndpoint;

/// The claimed capabilities of a backend. A case with an unmet requirement is skipped; the report names the missing capability.
///
/// Start with [`Capabilities::FULL`] and disable what the backend does not support, so that capabilities added later are tested
/// too.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// Rules for paths, results and errors that the backend follows.
    pub dialect: Dialect,
    /// The backend runs commands, and its shell and tools are those of a POSIX system.
    pub execute: bool,
    /// Every exit code is known. A backend without this must return `None` for an unknown exit code, never a number.
    pub exit_codes: bool,
    /// Standard output and standard error are separate.
    pub separate_streams: bool,
    /// Output that is not UTF-8 arrives byte for byte.
    pub binary_output: bool,
    /// Output arrives while the command runs.
    pub streaming: bool,
    /// A command can be run with standard input.
    pub stdin: bool,
    /// A command can be run with environment variables.
    pub env: bool,
    /// A command can be run with a working directory.
    pub cwd: bool,
    /// Each command runs in a new shell: changes of the directory and of variables do not persist.
    pub fresh_shell: bool,
    /// A command can have a timeout and is killed when it expires.
    pub timeout: bool,
    /// A command that timed out has exit code 124.
    pub timeout_exit_code: bool,
    /// The output written before a timeout is kept.
    pub timeout_output: bool,
    /// Maximum time that a command may run beyond its timeout, measured by [`crate::ExecuteResponse::duration`]. The protocol
    /// requires one second; a busy or remote host needs more.
    pub timeout_tolerance: Duration,
    /// No process started by a command outlives the command.
    pub kills_background: bool,
    /// Processes can outlive the call that started them.
    pub processes: bool,
    /// Processes can run in a terminal: [`SpawnRequest::terminal`](crate::SpawnRequest::terminal).
    pub terminals: bool,
    /// Clients outside reach the servers of the sandbox: sends a request of a case. `None` skips the cases of
    /// [`port_endpoint`](crate::SandboxBackend::port_endpoint).
    pub ports: Option<PortProbe>,
    /// A command can keep its background processes: [`Background::Keep`](crate::Background::Keep).
    pub keeps_background: bool,
    /// Maximum output of one command in bytes, if it is at most a few megabytes. `None` skips the case that writes more.
    pub output_bytes: Option<u64>,
    /// File names may contain any bytes except NUL and `/`. If false, only UTF-8 names are tested.
    pub non_utf8_names: bool,
    /// Symbolic links are supported.
    pub symlinks: bool,
    /// Mode bits apply to transfers and file operations. They do not if the sandbox's user is root.
    pub modes: bool,
    /// Directory listings include file sizes.
    pub sizes: bool,
    /// Directory listings include modification times.
    pub modified: bool,
    /// Size of the largest file that the suite may write, in bytes.
    pub file_bytes: u64,
    /// Maximum number of files that `glob` returns. `None` skips the case that creates one more.
    pub glob_files: Option<usize>,
    /// The suite may write to `/large_tool_results` and `/conversation_history`, as the harness of Deep Agents does.
    pub offload_directories: bool,
    /// Data of the host that must not be visible. `None` if the sandbox does not run on the host that runs the suite.
    pub host: Option<HostProbe>,
    /// The suite may close the sandbox at its end.
    pub allow_close: bool,
}

impl Capabilities {
    /// All capabilities, in the JavaScript dialect. Excludes those that depend on the environment: limits on output and on
    /// `glob`, the probes of ports and of the host, and closing.
    pub const FULL: Self = Self {
        dialect: Dialect::Js,
        execute: true,
        exit_codes: true,
        separate_streams: true,
        binary_output: true,
        streaming: true,
        stdin: true,
        env: true,
        cwd: true,
        fresh_shell: true,
        timeout: true,
        timeout_exit_code: true,
        timeout_output: true,
        timeout_tolerance: Duration::from_secs(1),
        kills_background: true,
        processes: true,
        terminals: true,
        ports: None,
        keeps_background: true,
        output_bytes: None,
        non_utf8_names: true,
        symlinks: true,
        modes: true,
        sizes: true,
        modified: true,
        file_bytes: 16 << 20,
        glob_files: None,
        offload_directories: true,
        host: None,
        allow_close: false,
    };
}

/// Sends an HTTP request `GET` for the path, with the headers of the endpoint, from a client outside the sandbox. Returns the
/// status and the body of the response.
pub type PortProbe = fn(PortEndpoint, String) -> BoxFuture<'static, Result<(u16, Vec<u8>)>>;

/// Data of the host that a sandbox on the same host must not expose.
#[derive(Clone, Debug)]
pub struct HostProbe {
    /// Absolute path of a file that exists on the host and not in the sandbox.
    pub file: String,
    /// Text that occurs in this file and nowhere in the sandbox.
    pub text: String,
    /// Name of an environment variable of this process.
    pub variable: String,
    /// Value of the variable, which occurs nowhere in the sandbox.
    pub value: String,
}

/// A requirement of a case.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Requirement {
    /// [`Capabilities::execute`].
    Execute,
    /// [`Capabilities::exit_codes`].
    ExitCodes,
    /// [`Capabilities::separate_streams`].
    SeparateStreams,
    /// [`Capabilities::binary_output`].
    BinaryOutput,
    /// [`Capabilities::streaming`].
    Streaming,
    /// [`Capabilities::stdin`].
    Stdin,
    /// [`Capabilities::env`].
    Env,
    /// [`Capabilities::cwd`].
    Cwd,
    /// [`Capabilities::fresh_shell`].
    FreshShell,
    /// [`Capabilities::timeout`].
    Timeout,
    /// [`Capabilities::timeout_exit_code`].
    TimeoutExitCode,
    /// [`Capabilities::timeout_output`].
    TimeoutOutput,
    /// [`Capabilities::kills_background`].
    KillsBackground,
    /// [`Capabilities::processes`].
    Processes,
    /// [`Capabilities::terminals`].
    Terminals,
    /// [`Capabilities::ports`].
    Ports,
    /// [`Capabilities::keeps_background`].
    KeepsBackground,
    /// [`Capabilities::output_bytes`].
    OutputBytes,
    /// [`Capabilities::non_utf8_names`].
    NonUtf8Names,
    /// [`Capabilities::symlinks`].
    Symlinks,
    /// [`Capabilities::modes`].
    Modes,
    /// [`Capabilities::sizes`].
    Sizes,
    /// [`Capabilities::modified`].
    Modified,
    /// [`Capabilities::file_bytes`] of at least this.
    FileBytes(u64),
    /// [`Capabilities::glob_files`].
    GlobFiles,
    /// [`Capabilities::offload_directories`].
    OffloadDirectories,
    /// [`Capabilities::host`].
    Host,
    /// [`Capabilities::allow_close`].
    AllowClose,
    /// A predicate on the dialect, and the description of a dialect that does not meet it.
    Dialect(fn(Dialect) -> bool, &'static str),
}

impl Requirement {
    /// Returns the reason to skip a case with this requirement, or `None` if the backend meets it.
    pub fn unmet_reason(self, has: &Capabilities) -> Option<String> {
        let (met, what) = match self {
            Self::Execute => (has.execute, "runs commands"),
            Self::ExitCodes => (has.exit_codes, "reports the exit code of every command"),
            Self::SeparateStreams => (has.separate_streams, "separates standard output and standard error"),
            Self::BinaryOutput => (has.binary_output, "preserves output that is not UTF-8"),
            Self::Streaming => (has.streaming, "streams output"),
            Self::Stdin => (has.stdin, "supports standard input of commands"),
            Self::Env => (has.env, "supports environment variables of commands"),
            Self::Cwd => (has.cwd, "supports a working directory of commands"),
            Self::FreshShell => (has.fresh_shell, "starts a shell for each command"),
            Self::Timeout => (has.timeout, "stops commands at their timeout"),
            Self::TimeoutExitCode => (has.timeout_exit_code, "returns exit code 124 for a command that timed out"),
            Self::TimeoutOutput => (has.timeout_output, "keeps the output of a command that timed out"),
            Self::KillsBackground => (has.kills_background, "kills the background processes of a command"),
            Self::Processes => (has.processes, "has processes that outlive a call"),
            Self::Terminals => (has.terminals, "runs processes in a terminal"),
            Self::Ports => (has.ports.is_some(), "has ports that clients outside reach"),
            Self::KeepsBackground => (has.keeps_background, "keeps the background processes of a command"),
            Self::OutputBytes => (has.output_bytes.is_some(), "states its output limit"),
            Self::NonUtf8Names => (has.non_utf8_names, "supports file names that are not UTF-8"),
            Self::Symlinks => (has.symlinks, "supports symbolic links"),
            Self::Modes => (has.modes, "enforces mode bits"),
            Self::Sizes => (has.sizes, "reports file sizes"),
            Self::Modified => (has.modified, "reports modification times"),
            Self::FileBytes(bytes) => {
                let met = has.file_bytes >= bytes;
                return (!met).then(|| format!("the backend does not claim that it accepts a file of {bytes} bytes"));
            }
            Self::GlobFiles => (has.glob_files.is_some(), "states its glob limit"),
            Self::OffloadDirectories => (has.offload_directories, "allows writing to the offload directories"),
            Self::Host => (has.host.is_some(), "has a host probe"),
            Self::AllowClose => (has.allow_close, "allows the suite to close it"),
            Self::Dialect(holds, what) => {
                return (!holds(has.dialect)).then(|| format!("the dialect {:?} {what}", has.dialect));
            }
        };
        (!met).then(|| format!("the backend does not claim that it {what}"))
    }
}
