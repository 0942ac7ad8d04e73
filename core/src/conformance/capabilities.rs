//! What a backend says that it can do.

use std::time::Duration;

use crate::dialect::Dialect;

/// What a backend claims. A case whose needs are not claimed is skipped, and the report says which claim was missing.
///
/// Begin with [`Capabilities::FULL`] and take back what does not hold, so that a claim that is added later is tested too.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// Whose rules the backend follows.
    pub dialect: Dialect,
    /// It runs commands, and its shell and tools are those of a POSIX system.
    pub execute: bool,
    /// Every exit code is known. Where one is not, it must be `None` and never a number.
    pub exit_codes: bool,
    /// Standard output and standard error are told apart.
    pub separate_streams: bool,
    /// Output that is not UTF-8 arrives byte for byte.
    pub binary_output: bool,
    /// Output arrives while the command runs.
    pub streaming: bool,
    /// A command can be given standard input.
    pub stdin: bool,
    /// A command can be given environment variables.
    pub env: bool,
    /// A command can be given a working directory.
    pub cwd: bool,
    /// Each command has a shell of its own: a changed directory or variable is gone with it.
    pub fresh_shell: bool,
    /// A command can be given a timeout, and ends when it is over.
    pub timeout: bool,
    /// A command whose time is up has exit code 124.
    pub timeout_exit_code: bool,
    /// What a command wrote before its time was up is kept.
    pub timeout_output: bool,
    /// How much longer than its timeout a command may take, by [`crate::ExecuteResponse::duration`]. One second is what
    /// the protocol asks for; a busy machine, or one far away, needs more.
    pub timeout_slack: Duration,
    /// Nothing that a command started outlives it.
    pub nothing_outlives: bool,
    /// How many bytes of output one command keeps, when that is at most some megabytes. `None` skips the case that writes
    /// more.
    pub output_bytes: Option<u64>,
    /// Names of files may be any bytes but NUL and `/`. Otherwise only UTF-8 is tried.
    pub byte_names: bool,
    /// There are symbolic links.
    pub symlinks: bool,
    /// Mode bits bind transfers and file operations. They do not where the sandbox's user is root.
    pub modes: bool,
    /// Lists tell the sizes of files.
    pub sizes: bool,
    /// Lists tell when files were changed.
    pub modified: bool,
    /// The largest file that the suite may write, in bytes.
    pub file_bytes: u64,
    /// How many files `glob` returns at most. `None` skips the case that makes one more.
    pub glob_files: Option<usize>,
    /// The suite may write to `/large_tool_results` and `/conversation_history`, as the harness of Deep Agents does.
    pub harness_directories: bool,
    /// What is on the host and must not be seen. `None` where the sandbox is not on the machine that runs the suite.
    pub host: Option<HostProbe>,
    /// The suite may close the sandbox at its end.
    pub may_close: bool,
}

impl Capabilities {
    /// Everything that the contract knows, in the JavaScript dialect. What depends on the place is left out: limits on output
    /// and on `glob`, the probe of the host, and closing.
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
        timeout_slack: Duration::from_secs(1),
        nothing_outlives: true,
        output_bytes: None,
        byte_names: true,
        symlinks: true,
        modes: true,
        sizes: true,
        modified: true,
        file_bytes: 16 << 20,
        glob_files: None,
        harness_directories: true,
        host: None,
        may_close: false,
    };
}

/// Things of the host that a sandbox on the same machine must not show.
#[derive(Clone, Debug)]
pub struct HostProbe {
    /// The absolute path of a file that is on the host and not in the sandbox.
    pub file: String,
    /// A text that is in this file and nowhere in the sandbox.
    pub text: String,
    /// The name of a variable that is in the environment of this process.
    pub variable: String,
    /// Its value, which is nowhere in the sandbox.
    pub value: String,
}

/// What a case needs.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Need {
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
    /// [`Capabilities::nothing_outlives`].
    NothingOutlives,
    /// [`Capabilities::output_bytes`].
    OutputBytes,
    /// [`Capabilities::byte_names`].
    ByteNames,
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
    /// [`Capabilities::harness_directories`].
    HarnessDirectories,
    /// [`Capabilities::host`].
    Host,
    /// [`Capabilities::may_close`].
    MayClose,
    /// A dialect for which this holds, and how to call it.
    Dialect(fn(Dialect) -> bool, &'static str),
}

impl Need {
    /// Why a case with this need is skipped; `None` when the backend meets it.
    pub fn missing(self, has: &Capabilities) -> Option<String> {
        let (met, what) = match self {
            Self::Execute => (has.execute, "runs commands"),
            Self::ExitCodes => (has.exit_codes, "knows every exit code"),
            Self::SeparateStreams => (has.separate_streams, "tells standard output and standard error apart"),
            Self::BinaryOutput => (has.binary_output, "passes on output that is not UTF-8"),
            Self::Streaming => (has.streaming, "streams output"),
            Self::Stdin => (has.stdin, "gives commands standard input"),
            Self::Env => (has.env, "gives commands environment variables"),
            Self::Cwd => (has.cwd, "gives commands a working directory"),
            Self::FreshShell => (has.fresh_shell, "starts a shell for each command"),
            Self::Timeout => (has.timeout, "ends commands whose time is up"),
            Self::TimeoutExitCode => (has.timeout_exit_code, "answers 124 for a command whose time was up"),
            Self::TimeoutOutput => (has.timeout_output, "keeps the output of a command whose time was up"),
            Self::NothingOutlives => (has.nothing_outlives, "ends what a command left running"),
            Self::OutputBytes => (has.output_bytes.is_some(), "names its limit of output"),
            Self::ByteNames => (has.byte_names, "takes names that are not UTF-8"),
            Self::Symlinks => (has.symlinks, "has symbolic links"),
            Self::Modes => (has.modes, "heeds mode bits"),
            Self::Sizes => (has.sizes, "tells sizes"),
            Self::Modified => (has.modified, "tells times of change"),
            Self::FileBytes(bytes) => {
                let met = has.file_bytes >= bytes;
                return (!met).then(|| format!("the backend does not claim that it takes a file of {bytes} bytes"));
            }
            Self::GlobFiles => (has.glob_files.is_some(), "names its limit of files found"),
            Self::HarnessDirectories => (has.harness_directories, "lets the harness write to its directories"),
            Self::Host => (has.host.is_some(), "is on a machine with a probe"),
            Self::MayClose => (has.may_close, "may be closed by the suite"),
            Self::Dialect(holds, what) => {
                return (!holds(has.dialect)).then(|| format!("the dialect {:?} {what}", has.dialect));
            }
        };
        (!met).then(|| format!("the backend does not claim that it {what}"))
    }
}
