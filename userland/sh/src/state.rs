//! The state of one shell.

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
use crate::vars::{self, Map, Value, Var, Vars};

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

/// Levels of evaluation (commands within commands, substitutions, calls) before the shell gives up. `eval`,
/// `source` and calls within compound commands, without end, come to this message within the engine's 3 MiB of native stack.
const MAX_LEVELS: u32 = 1600;
/// Levels that every engine has room for. Where functions may nest less deep than 1,000, levels are fewer, too.
const FEWEST_LEVELS: u32 = 200;
/// What `eval`, `source` and traps count for.
pub(crate) const TEXT_LEVELS: u32 = 2;

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
    /// The status that the newest trap ended with.
    pub(crate) debug_status: u8,
    /// Texts within one another (traps, `eval`, sources), which `set -x` shows.
    pub(crate) sourcing_depth: u32,
    /// The DEBUG trap has run for the command that a child was forked for.
    pub(crate) debugged: bool,
    /// The words that are expanded are those of a command that gets a process of its own, and nothing else of it has begun.
    pub(crate) expands_alone: bool,
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
            debug_status: 0,
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

    /// Takes over the environment and sets what every shell has. A restricted shell takes no functions and no options.
    pub(crate) fn import_environment(&mut self, called: &[u8]) {
        for line in rt::environ() {
            let Some(at) = line.iter().position(|&b| b == b'=') else { continue };
            let name = line.get(..at).unwrap_or_default();
            let trusted = !self.options.restricted_shell;
            if trusted && self.import_function(name, line.get(at + 1..).unwrap_or_default()) {
                continue;
            }
            if matches!(name, b"SHELLOPTS" | b"BASHOPTS") {
                if trusted {
                    self.take_options(name, line.get(at + 1..).unwrap_or_default());
                }
                continue;
            }
            if crate::parse::token::name_len(name) != name.len() || name.is_empty() {
                self.vars.pass_on(line);
                continue;
            }
            let value = line.get(at + 1..).unwrap_or_default();
            if name == b"OLDPWD" && !rt::stat(value, true).is_ok_and(|stat| stat.kind() == rt::FileKind::Dir) {
                continue;
            }
            let value = Value::Text(value.to_vec());
            self.vars.insert(name.into(), Var { value, flags: vars::EXPORT });
        }
        self.start_locale();
        self.cwd = match self.vars.get(b"PWD").and_then(Var::scalar) {
            Some(path) if path.first() == Some(&b'/') && self.is_cwd(path) => path.clone(),
            _ => rt::getcwd().unwrap_or_else(|_| b"/".to_vec()),
        };
        let cwd = self.cwd.clone();
        self.set_exported(b"PWD", cwd);
        if self.vars.get(b"OLDPWD").is_none() {
            self.vars.insert(Name::from(&b"OLDPWD"[..]), Var { value: Value::Unset, flags: vars::EXPORT });
        }
        for (name, buckets) in [(&b"BASH_ALIASES"[..], 64), (b"BASH_CMDS", 256)] {
            let value = Value::Assoc(vars::Assoc::with_buckets(buckets));
            self.vars.insert(name.into(), Var { value, flags: 0 });
        }
        let level =
            self.vars.get(b"SHLVL").and_then(Var::scalar).and_then(|v| crate::parse::plain_number(v.trim_ascii()));
        // Beyond a bound it begins anew.
        let level = match level.unwrap_or(0).saturating_add(1) {
            i64::MIN..0 => 0,
            level @ 0..1000 => level,
            high => {
                let why = format!(": warning: shell level ({high}) too high, resetting to 1\n");
                // Where standard error is closed there is nobody to tell.
                let _ = self.io.write(2, &[called, why.as_bytes()].concat());
                1
            }
        };
        self.set_exported(b"SHLVL", level.to_string().into_bytes());
        for (name, value) in [(&b"IFS"[..], &b" \t\n"[..]), (b"PS4", b"+ "), (b"OPTERR", b"1")] {
            self.vars.insert(name.into(), Var { value: Value::Text(value.to_vec()), flags: 0 });
        }
        let index = Var { value: Value::Text(b"1".to_vec()), flags: vars::INTEGER };
        self.vars.insert(Name::from(&b"OPTIND"[..]), index);
        // The path by which this shell was started, or how it is called.
        let started = self.vars.get(b"_").and_then(Var::scalar);
        self.last_arg = started.map_or_else(|| called.to_vec(), Clone::clone);
        self.vars.remove(b"_");
        if self.vars.get(b"PATH").is_none() {
            let path = b"/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin:.".to_vec();
            self.vars.insert(Name::from(&b"PATH"[..]), Var { value: Value::Text(path), flags: 0 });
        }
    }

    /// Whether a path names the working directory, as an inherited `PWD` claims.
    fn is_cwd(&self, path: &[u8]) -> bool {
        let here = rt::stat(b".", true);
        here.is_ok() && rt::stat(path, true).map(|s| (s.dev, s.ino)).ok() == here.map(|s| (s.dev, s.ino)).ok()
    }

    pub(crate) fn set_exported(&mut self, name: &[u8], value: Bytes) {
        let var = self.vars.entry(&name.into());
        var.value = Value::Text(value);
        var.flags |= vars::EXPORT;
    }

    /// What messages start with: the script, where in it, and what reads it when that is not the shell itself.
    pub(crate) fn message_prefix(&self, origin: &[u8]) -> Bytes {
        if self.options.interactive {
            // Who types the commands knows where they are.
            let mut line = self.base_name().to_vec();
            line.extend_from_slice(b": ");
            return line;
        }
        let source = self.frames.last().map_or(&self.script, |frame| &frame.source);
        let mut line = if source.is_empty() { self.name.clone() } else { source.to_vec() };
        if !origin.is_empty() {
            line.extend_from_slice(b": ");
            line.extend_from_slice(origin);
        }
        line.extend_from_slice(b": line ");
        line.extend_from_slice(self.line.to_string().as_bytes());
        line.extend_from_slice(b": ");
        line
    }

    /// The name of the shell without the directories before it.
    pub(crate) fn base_name(&self) -> &[u8] {
        self.name.rsplit(|&b| b == b'/').next().unwrap_or_default()
    }

    /// How an error ends that a script does not survive: an interactive shell gives up the command only.
    pub(crate) fn fatal(&self) -> Stop {
        if self.options.interactive && !self.forked { Stop::Discard } else { Stop::Exit }
    }

    /// As [`Self::fatal`] in posix mode, where special builtins are concerned; else nothing ends.
    pub(crate) fn fatal_in_posix(&self) -> Run {
        let spared = !self.options.posix || self.options.interactive || self.commanded > 0;
        if spared { Ok(()) } else { Err(Stop::Exit) }
    }

    /// Writes a message of the shell to standard error, in bash's form.
    pub(crate) fn complain(&mut self, text: impl AsRef<[u8]>) {
        let mut line = self.message_prefix(b"");
        line.extend_from_slice(text.as_ref());
        line.push(b'\n');
        // Where standard error is closed there is nobody to tell.
        let _ = self.io.write(2, &line);
    }

    /// Complains about a parameter without a value and ends the shell; a command string has a status of its own for that.
    pub(crate) fn abort_unset<T>(&mut self, text: impl AsRef<[u8]>) -> Run<T> {
        self.complain(text);
        self.end_of_expansion()
    }

    /// Ends the shell because of an expansion that was complained about.
    pub(crate) fn end_of_expansion<T>(&mut self) -> Run<T> {
        let string = self.options.from_string && !self.options.interactive;
        let outermost = self.subshell == u32::from(self.expands_alone);
        let status = if string && outermost && !self.substituting && !self.options.errexit { 127 } else { 1 };
        self.status = status;
        if string && !self.io.is_capturing() && !self.expands_alone {
            // A command string ends right here, in the function and with the redirections that this stands in.
            self.run_exit_trap();
        }
        // The EXIT trap that it ends leaves the status of the shell alone.
        if self.traps.is_running(crate::trap::EXIT) {
            self.status = self.trap_status.unwrap_or(status);
        }
        Err(self.fatal())
    }

    /// As [`Self::complain`], with the name of the builtin that runs.
    pub(crate) fn complain_builtin(&mut self, text: impl AsRef<[u8]>) {
        let mut line = self.running.as_bytes().to_vec();
        line.extend_from_slice(b": ");
        line.extend_from_slice(text.as_ref());
        self.complain(line);
    }

    /// Complains and gives up the command that was read, with status 1.
    pub(crate) fn discard<T>(&mut self, text: impl AsRef<[u8]>) -> Run<T> {
        self.complain(text);
        self.status = 1;
        Err(Stop::Discard)
    }

    /// The same for an expansion that is none, with which `set -e` ends the shell wherever it stands.
    pub(crate) fn discard_expansion<T>(&mut self, text: impl AsRef<[u8]>) -> Run<T> {
        self.complain(text);
        self.status = 1;
        Err(if self.options.errexit { Stop::Exit } else { Stop::Discard })
    }

    /// Makes an error give up what the shell itself has read: the command in a script, and all of a command string.
    pub(crate) fn abandon<T>(&self, result: Run<T>) -> Run<T> {
        match result {
            Err(Stop::Discard) if self.options.from_string => Err(Stop::Exit),
            Err(Stop::Discard) => Err(Stop::Abandon),
            other => other,
        }
    }

    /// Complains and ends the shell with `status`.
    pub(crate) fn abort<T>(&mut self, status: u8, text: impl AsRef<[u8]>) -> Run<T> {
        self.complain(text);
        self.status = status;
        Err(Stop::Exit)
    }

    /// Ends the shell because memory ran out, in the words of bash.
    pub(crate) fn out_of_memory<T>(&mut self, wanted: usize) -> Run<T> {
        self.abort(2, format!("xrealloc: cannot allocate {wanted} bytes"))
    }

    /// Runs `inner` one level deeper, or ends the shell when it is too deep for the stack.
    pub(crate) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        self.descend(1, inner)
    }

    /// Runs `inner` this many levels deeper.
    pub(crate) fn descend<T>(&mut self, levels: u32, inner: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        let deep = self.levels + levels;
        if deep > FEWEST_LEVELS && deep > self.most_levels() {
            return self.abort(1, "evaluation is nested too deeply");
        }
        self.levels += levels;
        let result = inner(self);
        self.levels -= levels;
        result
    }

    fn most_levels(&mut self) -> u32 {
        (self.sandbox_nesting() / 5).saturating_mul(8).clamp(FEWEST_LEVELS, MAX_LEVELS)
    }

    /// How deep the sandbox lets functions nest.
    pub(crate) fn sandbox_nesting(&mut self) -> u32 {
        *self.nesting.get_or_insert_with(|| rt::limits().map_or(1000, |limits| limits.nesting))
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
