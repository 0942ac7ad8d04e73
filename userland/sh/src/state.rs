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

/// Why evaluation goes no further. The status is in the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Leave this many loops.
    Break(u32),
    /// Leave all but the last of this many loops and go on with that one.
    Continue(u32),
    /// Leave the function or the sourced file.
    Return,
    /// Leave the shell.
    Exit,
    /// Give up the command that was read, and read the next one.
    Discard,
    /// The same, with the `eval` or the sourced file that it was read from, up to the script itself.
    Abandon,
}

/// What evaluating something answers.
pub(crate) type Run<T = ()> = Result<T, Stop>;

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
    /// The arguments, kept for `BASH_ARGV` only where `extdebug` asks for it.
    pub(crate) args: Option<Vec<Bytes>>,
    /// Simple commands that were begun in it.
    pub(crate) commands: u32,
    /// The options to put back at the end, after `local -`.
    pub(crate) options: Option<Box<Options>>,
}

#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) vars: Vars,
    pub(crate) functions: Map<Name, Rc<Function>>,
    /// Functions that programs get in their environment.
    pub(crate) exported_functions: BTreeSet<Name>,
    pub(crate) readonly_functions: BTreeSet<Name>,
    /// Functions that inherit the traps of their callers.
    pub(crate) traced_functions: BTreeSet<Name>,
    pub(crate) aliases: Rc<Map<Bytes, Bytes>>,
    pub(crate) positional: Positional,
    /// `$0`.
    pub(crate) name: Bytes,
    pub(crate) options: Options,
    pub(crate) status: u8,
    pub(crate) io: Io,
    pub(crate) jobs: Jobs,
    pub(crate) traps: Traps,
    pub(crate) frames: Vec<Frame>,
    pub(crate) line: u32,
    /// The line was changed for good, and those of the commands to come with it.
    pub(crate) recounts: bool,
    /// The text that was read last had a mistake in a condition, which bash's parser then still sees as open.
    pub(crate) condition_open: bool,
    /// The text that was read last ended within quotes or with a backslash, after which bash knows the next word for no
    /// reserved word.
    pub(crate) quote_open: bool,
    /// A default value could not be assigned to all of an array, for which subshells have a status of its own.
    pub(crate) bad_default: bool,
    /// The line from which a substitution counts, where it is another than the one that messages name.
    pub(crate) text_line: Option<u32>,
    /// The line of the command that ended last, which the ERR trap sees.
    pub(crate) ended_line: u32,
    /// The script's file for `BASH_SOURCE` outside functions.
    pub(crate) script: Rc<[u8]>,
    pub(crate) pipe_status: Vec<u8>,
    /// What runs is a substitution, whose errors have the status of a subshell's.
    pub(crate) substituting: bool,
    /// This process runs the commands of a substitution itself, and tells of no signals that end programs.
    pub(crate) substitutes: bool,
    /// The child to come is a substitution, in which `break` still knows of the loops around it.
    pub(crate) keeps_loops: bool,
    /// Patterns among the words that are being expanded, which become names of files when all of them have been: where each
    /// stands and its pattern.
    pub(crate) globs: Option<Vec<(usize, Bytes)>>,
    /// Loops in progress in this function.
    pub(crate) loops: u32,
    /// More than 0 where a failing command is a condition, so that `set -e` lets it be.
    pub(crate) tested: u32,
    pub(crate) levels: u32,
    /// Variables in arithmetic whose values are expressions, one within the other.
    pub(crate) arith_levels: u32,
    /// `$$`; unlike `BASHPID` it stays in subshells.
    pub(crate) pid: Option<u32>,
    /// How many forks lie between this process and the shell that was started.
    pub(crate) subshell: u32,
    pub(crate) last_arg: Bytes,
    /// Kernel's working directory as the script knows it, links kept.
    pub(crate) cwd: Bytes,
    pub(crate) dir_stack: VecDeque<Bytes>,
    /// Commands found in `PATH`.
    pub(crate) hash: Map<Bytes, (Bytes, u32)>,
    pub(crate) random: u32,
    pub(crate) started_ns: u64,
    pub(crate) seconds_offset: i64,
    /// Where `getopts` is within a word.
    pub(crate) getopts_at: (usize, usize),
    /// Limit on calls in progress, from the kernel, asked once.
    pub(crate) nesting: Option<u32>,
    /// Status of the newest substitution in the words of the command, which is the command's when it has no name.
    pub(crate) substituted: Option<u8>,
    /// Process substitutions of the command: descriptors to drop and processes to forget when it ends.
    pub(crate) process_fds: Vec<(u32, rt::Fd)>,
    /// Loops passed since output was last written out.
    pub(crate) quiet_loops: u32,
    /// Sources being read, for `return`.
    pub(crate) sourcing: u32,
    /// The compiled form of the last regular expression.
    pub(crate) regex: Option<(Bytes, bool, Rc<Regex>)>,
    /// The name of the builtin that runs, for its messages.
    pub(crate) running: &'static str,
    /// The status before the trap that runs, which `exit` and `return` without a number answer.
    pub(crate) trap_status: Option<u8>,
    /// The status before the `return` that ends a function, which its RETURN trap sees.
    pub(crate) before_return: Option<u8>,
    /// The compound command that the newest exclamation mark stands before, by its address.
    pub(crate) turned: Option<usize>,
    /// Its redirections could not be made.
    pub(crate) unredirected: bool,
    /// The status that the newest trap ended with.
    pub(crate) debug_status: u8,
    /// Texts within one another that this process runs: a command string, those of `eval`, sources and traps, a substitution. What
    /// ends the shell undoes their redirections first.
    pub(crate) texts: u32,
    /// Texts within one another (traps, `eval`, sources), which `set -x` shows.
    pub(crate) sourcing_depth: u32,
    /// The DEBUG trap has run for the command that a child was forked for.
    pub(crate) debugged: bool,
    /// The words that are expanded are those of a command that gets a process of its own, and nothing else of it has begun.
    pub(crate) expands_alone: bool,
    /// This process stands for a pipeline in the background, whose stages are those of the shell.
    pub(crate) beside: bool,
    /// The simple command that a child was forked for is a stage of a pipeline.
    pub(crate) piped: bool,
    /// Where the function that runs was defined, whose lines an interactive shell counts from there; 0 outside functions.
    pub(crate) function_start: u32,
    /// Commands that were read from a script or from standard input.
    pub(crate) commands: u32,
    /// The builtin that runs was called in a way that it does not know.
    pub(crate) misused: bool,
    /// The builtin that runs could not write all it had to say.
    pub(crate) unwritten: bool,
    /// Calls of `command` in progress, under which special builtins are like others.
    pub(crate) commanded: u32,
    /// The process that started the shell, once it was asked for.
    pub(crate) parent: Option<u32>,
    /// This process is a child that a shell forked.
    pub(crate) forked: bool,
    /// Where `set -x` writes, when `BASH_XTRACEFD` says so.
    pub(crate) trace_fd: Option<u32>,
    /// What `-c` was given.
    pub(crate) execution_string: Option<Bytes>,
    /// What `BASH_ARGV` tells of the shell's own arguments, once it was asked for.
    pub(crate) start_args: Option<Positional>,
    /// The coprocess whose ends the shell holds: its variable and its process.
    pub(crate) coprocess: Option<(Name, u32)>,
    /// How words of commands are completed, the oldest first.
    pub(crate) completions: Vec<(Bytes, crate::builtins::Spec)>,
    pub(crate) history: crate::history::History,
    /// Computed variables that programs get in their environment.
    pub(crate) exported_computed: BTreeSet<&'static str>,
    /// Builtins that `enable -n` switched off.
    pub(crate) disabled: BTreeSet<&'static str>,
    /// Computed variables that were unset, and are ordinary ones since.
    pub(crate) plain: BTreeSet<Bytes>,
    pub(crate) missing_locales: crate::expand::Missing,
    /// Values are expanded that are assigned for one command alone.
    pub(crate) lends: bool,
    /// Limits that the script has set.
    pub(crate) bounds: crate::builtins::Bounds,
    /// Variables of the locale change for a program alone, which is nothing to the shell.
    pub(crate) quiet_locale: bool,
    /// Arguments of the builtin that runs which the script itself writes as elements of arrays, so that their subscripts
    /// have been expanded once.
    pub(crate) references: Vec<Bytes>,
    /// The command that runs, kept only while a trap could ask for it.
    pub(crate) current: Option<Current>,
    /// What to remember of the start of a shell that takes part in a session.
    pub(crate) session: Option<Box<Session>>,
}

impl Shell {
    pub(crate) fn new(name: Bytes) -> Self {
        Self {
            vars: Vars::default(),
            functions: Map::default(),
            exported_functions: BTreeSet::new(),
            readonly_functions: BTreeSet::new(),
            traced_functions: BTreeSet::new(),
            aliases: Rc::default(),
            positional: Positional::default(),
            name,
            options: Options::default(),
            status: 0,
            io: Io::new(),
            jobs: Jobs::default(),
            traps: Traps::default(),
            frames: Vec::new(),
            line: 1,
            recounts: false,
            condition_open: false,
            quote_open: false,
            bad_default: false,
            text_line: None,
            ended_line: 1,
            script: Rc::from(&b""[..]),
            pipe_status: Vec::new(),
            substituting: false,
            substitutes: false,
            keeps_loops: false,
            globs: None,
            loops: 0,
            tested: 0,
            levels: 0,
            arith_levels: 0,
            pid: None,
            subshell: 0,
            last_arg: Bytes::new(),
            cwd: Bytes::new(),
            dir_stack: VecDeque::new(),
            hash: Map::default(),
            random: 0,
            started_ns: 0,
            seconds_offset: 0,
            getopts_at: (0, 0),
            nesting: None,
            substituted: None,
            process_fds: Vec::new(),
            quiet_loops: 0,
            sourcing: 0,
            regex: None,
            running: "",
            trap_status: None,
            before_return: None,
            turned: None,
            unredirected: false,
            debug_status: 0,
            texts: 0,
            sourcing_depth: 0,
            exported_computed: BTreeSet::new(),
            history: crate::history::History::default(),
            completions: Vec::new(),
            coprocess: None,
            debugged: false,
            commands: 0,
            function_start: 0,
            misused: false,
            unwritten: false,
            commanded: 0,
            parent: None,
            forked: false,
            expands_alone: false,
            beside: false,
            piped: false,
            execution_string: None,
            start_args: None,
            disabled: BTreeSet::new(),
            trace_fd: None,
            plain: BTreeSet::new(),
            missing_locales: crate::expand::Missing::new(),
            lends: false,
            bounds: crate::builtins::Bounds::new(),
            quiet_locale: false,
            references: Vec::new(),
            current: None,
            session: None,
        }
    }

    /// Runs `inner` where a failing command is no reason for `set -e` to end the shell.
    pub(crate) fn as_condition<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.tested += 1;
        let result = inner(self);
        self.tested -= 1;
        result
    }

    /// `$$`.
    pub(crate) fn own_pid(&mut self) -> u32 {
        *self.pid.get_or_insert_with(|| rt::getids().map_or(1, |ids| ids.pid))
    }
}
