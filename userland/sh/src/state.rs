//! The state of one shell.

mod depth;
mod environment;
mod failure;

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use tidebox_rt as rt;

use crate::function::Function;
use crate::io::Io;
use crate::ir::{Bytes, Name, Simple};
use crate::jobs::Jobs;
use crate::options::Options;
use crate::positional::Positional;
use crate::regex::Regex;
use crate::session::Session;
use crate::trap::Traps;
use crate::vars::{Map, Vars};

pub(crate) use depth::TEXT_LEVELS;

/// Control transfer out of an evaluation. The status is in the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unwind {
    /// Leave this many loops.
    Break(u32),
    /// Leave all but the last of this many loops and continue that one.
    Continue(u32),
    /// Leave the function or the sourced file.
    Return,
    /// Leave the shell.
    Exit,
    /// Give up the command that was read, and read the next one.
    Discard,
}

/// The result of an evaluation.
pub(crate) type EvalResult<T = ()> = Result<T, Unwind>;

/// The command that `BASH_COMMAND` shows.
#[derive(Clone, Debug)]
pub(crate) enum Current {
    Simple(Rc<Simple>),
    Text(Bytes),
}

/// A call in progress.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The function's name, or `source`.
    pub(crate) name: Name,
    /// The file that holds its text.
    pub(crate) source: Rc<[u8]>,
    /// The line of the call.
    pub(crate) line: u32,
    pub(crate) is_function: bool,
    /// The arguments, for `BASH_ARGV`. Set only with `extdebug`.
    pub(crate) args: Option<Vec<Bytes>>,
    /// The options to restore at the end, after `local -`.
    pub(crate) options: Option<Box<Options>>,
}

/// The functions that the script has defined.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    pub(crate) by_name: Map<Name, Rc<Function>>,
    /// Functions in the environment of programs.
    pub(crate) exported: BTreeSet<Name>,
    pub(crate) readonly: BTreeSet<Name>,
    /// Functions that inherit the traps of their callers.
    pub(crate) traced: BTreeSet<Name>,
}

/// The working directory and the stack of `pushd`.
#[derive(Debug, Default)]
pub(crate) struct Directories {
    /// The working directory with symbolic links kept.
    pub(crate) cwd: Bytes,
    pub(crate) stack: VecDeque<Bytes>,
}

/// State of the expansion of one command's words.
#[derive(Debug, Default)]
pub(crate) struct Expansion {
    /// Patterns among the words, by their index. They become file names when all words have been expanded.
    pub(crate) pending_globs: Option<Vec<(usize, Bytes)>>,
    /// Status of the last command substitution, which is the status of a command without a name.
    pub(crate) substitution_status: Option<u8>,
    /// Process substitutions of the command: descriptors to close when it ends.
    pub(crate) process_fds: Vec<(u32, rt::Fd)>,
    /// Nesting of variables in arithmetic whose values are expressions.
    pub(crate) arith_depth: u32,
    /// The last regular expression, compiled.
    pub(crate) regex: Option<(Bytes, bool, Rc<Regex>)>,
    /// A substitution is being expanded, whose errors have the status of a subshell.
    pub(crate) in_substitution: bool,
    /// Locales that were not found, each warned about once.
    pub(crate) missing_locales: crate::expand::Missing,
    /// Locale variables change for one program only, without warnings.
    pub(crate) quiet_locale: bool,
}

/// Invocation of the shell.
#[derive(Debug)]
pub(crate) struct Invocation {
    /// `$0`.
    pub(crate) name: Bytes,
    /// The script file, for `BASH_SOURCE` outside functions.
    pub(crate) script: Rc<[u8]>,
    /// The argument of `-c`.
    pub(crate) command_string: Option<Bytes>,
    /// The arguments of the shell, for `BASH_ARGV`; set on first use.
    pub(crate) args: Option<Positional>,
}

/// The process that runs this shell.
#[derive(Debug, Default)]
pub(crate) struct Process {
    /// `$$`, which subshells inherit.
    pub(crate) pid: Option<u32>,
    /// `$PPID`; set on first use.
    pub(crate) parent: Option<u32>,
    /// `$BASH_SUBSHELL`.
    pub(crate) subshell: u32,
    /// A shell forked this process.
    pub(crate) forked: bool,
    /// This process runs the commands of a substitution, which does not report signals that end programs.
    pub(crate) is_substitution: bool,
    /// The next fork is for a substitution.
    pub(crate) forks_substitution: bool,
    /// The DEBUG trap has run for the command that this process was forked for.
    pub(crate) debug_trap_ran: bool,
    /// This process was forked for a simple command that is a stage of a pipeline.
    pub(crate) is_stage: bool,
}

/// Nesting of the commands in progress.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Loops in progress in this function.
    pub(crate) loops: u32,
    /// Conditions in progress, in which `set -e` ignores failures.
    pub(crate) conditions: u32,
    /// Levels of evaluation.
    pub(crate) depth: u32,
    /// Maximum number of calls in progress, from the kernel; set on first use.
    pub(crate) max_calls: Option<u32>,
    /// Iterations of loops since output was last flushed.
    pub(crate) unflushed_loops: u32,
    /// Sourced files in progress, for `return`.
    pub(crate) sources: u32,
    /// Nesting of texts (traps, `eval`, sourced files, substitutions), which `set -x` shows.
    pub(crate) trace_depth: u32,
}

/// State of builtins.
#[derive(Debug, Default)]
pub(crate) struct BuiltinState {
    /// The builtin that runs, for messages.
    pub(crate) name: &'static str,
    /// The builtin was called with invalid options or arguments.
    pub(crate) usage_error: bool,
    /// Its output could not be written.
    pub(crate) write_failed: bool,
    /// Calls of `command` in progress, which make special builtins ordinary.
    pub(crate) command_calls: u32,
    /// Position of `getopts`: the word and the offset in it.
    pub(crate) getopts_position: (usize, usize),
    /// Builtins disabled by `enable -n`.
    pub(crate) disabled: BTreeSet<&'static str>,
    /// Limits set by `ulimit`.
    pub(crate) limits: crate::builtins::Bounds,
}

/// Sources of computed variables such as `RANDOM` and `SECONDS`.
#[derive(Debug, Default)]
pub(crate) struct Computed {
    pub(crate) random: u32,
    /// Monotonic time at which `SECONDS` was `seconds_offset`, in nanoseconds.
    pub(crate) started_ns: u64,
    pub(crate) seconds_offset: i64,
    /// `$_`.
    pub(crate) last_arg: Bytes,
    /// Commands read from a script or from standard input.
    pub(crate) commands_read: u32,
    /// Computed variables in the environment of programs.
    pub(crate) exported: BTreeSet<&'static str>,
    /// Computed variables that were unset and are ordinary since.
    pub(crate) unset: BTreeSet<Bytes>,
}

/// The state of one shell.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) vars: Vars,
    pub(crate) functions: Functions,
    pub(crate) aliases: Rc<Map<Bytes, Bytes>>,
    pub(crate) positional: Positional,
    pub(crate) options: Options,
    pub(crate) status: u8,
    pub(crate) pipe_status: Vec<u8>,
    /// The line of the command in progress, for messages and `LINENO`.
    pub(crate) line: u32,
    pub(crate) io: Io,
    pub(crate) jobs: Jobs,
    /// The coprocess whose pipes the shell holds: its variable and its process.
    pub(crate) coprocess: Option<(Name, u32)>,
    pub(crate) traps: Traps,
    /// Settings of the terminal at the last prompt.
    pub(crate) terminal_mode: Option<tidebox_rt::TerminalMode>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) flow: Flow,
    pub(crate) expansion: Expansion,
    pub(crate) builtin: BuiltinState,
    pub(crate) computed: Computed,
    pub(crate) dirs: Directories,
    /// Programs found in `PATH`, with the number of uses.
    pub(crate) hash: Map<Bytes, (Bytes, u32)>,
    pub(crate) invocation: Invocation,
    pub(crate) process: Process,
    pub(crate) history: crate::history::History,
    /// The initial state, if the execution has a shell session.
    pub(crate) session: Option<Box<Session>>,
}

impl Shell {
    pub(crate) fn new(name: Bytes) -> Self {
        Self {
            vars: Vars::default(),
            functions: Functions::default(),
            aliases: Rc::default(),
            positional: Positional::default(),
            options: Options::default(),
            status: 0,
            pipe_status: Vec::new(),
            line: 1,
            io: Io::new(),
            jobs: Jobs::default(),
            coprocess: None,
            traps: Traps::default(),
            terminal_mode: None,
            frames: Vec::new(),
            flow: Flow::default(),
            expansion: Expansion::default(),
            builtin: BuiltinState::default(),
            computed: Computed::default(),
            dirs: Directories::default(),
            hash: Map::default(),
            invocation: Invocation { name, script: Rc::from(&b""[..]), command_string: None, args: None },
            process: Process::default(),
            history: crate::history::History::default(),
            session: None,
        }
    }

    /// Runs `inner` as a condition, in which `set -e` ignores failures.
    pub(crate) fn as_condition<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.flow.conditions += 1;
        let result = inner(self);
        self.flow.conditions -= 1;
        result
    }

    /// `$$`.
    pub(crate) fn own_pid(&mut self) -> u32 {
        *self.process.pid.get_or_insert_with(|| rt::getids().map_or(1, |ids| ids.pid))
    }
}
