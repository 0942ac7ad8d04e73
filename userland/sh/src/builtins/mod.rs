//! Builtins: one table, one file for each or for a family.

mod alias;
mod bind;
mod cd;
mod command;
mod complete;
mod declare;
mod dirs;
mod echo;
mod enable;
mod eval;
mod exec;
mod flow;
mod getopts;
mod hash;
mod help;
mod history;
mod jobs;
mod kill;
mod let_builtin;
mod limits;
mod mapfile;
mod option_letters;
mod printf;
mod read;
mod set;
mod shopt;
mod strftime;
mod test;
mod trap;
mod type_builtin;
mod ulimit;
mod unset;

pub(crate) use exec::exec;
pub(crate) use help::of_builtin as help_of;
pub(crate) use set::options_text;
pub(crate) use shopt::shopt_text;
pub(crate) use ulimit::Bounds;

use crate::eval::DeclArg;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

/// The call of a builtin. It returns the status.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    /// Takes the arguments; the first is the name.
    Plain(fn(&mut Shell, &[Bytes]) -> EvalResult<u8>),
    /// Takes arguments that may be assignments, which were not split.
    Declare(fn(&mut Shell, &[DeclArg]) -> EvalResult<u8>),
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Declare(_) => "Declare",
        })
    }
}

/// A command that the shell runs itself.
#[derive(Debug)]
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) call: Call,
    /// It only writes, so it can run without the subshell of a substitution.
    pub(crate) prints_only: bool,
}

const fn plain(name: &'static str, run: fn(&mut Shell, &[Bytes]) -> EvalResult<u8>) -> Builtin {
    Builtin { name, call: Call::Plain(run), prints_only: false }
}

const fn prints(name: &'static str, run: fn(&mut Shell, &[Bytes]) -> EvalResult<u8>) -> Builtin {
    Builtin { name, call: Call::Plain(run), prints_only: true }
}

const fn declares(name: &'static str, run: fn(&mut Shell, &[DeclArg]) -> EvalResult<u8>) -> Builtin {
    Builtin { name, call: Call::Declare(run), prints_only: false }
}

/// All builtins, sorted by name.
pub(crate) static BUILTINS: &[Builtin] = &[
    plain(".", eval::source),
    plain(":", flow::succeed),
    prints("[", test::bracket),
    plain("alias", alias::alias),
    plain("bg", jobs::background),
    plain("bind", bind::bind),
    plain("break", flow::break_loop),
    plain("builtin", command::builtin),
    plain("caller", flow::caller),
    plain("cd", cd::cd),
    plain("command", command::command),
    plain("compgen", complete::compgen),
    plain("complete", complete::complete),
    plain("compopt", complete::complete),
    plain("continue", flow::continue_loop),
    declares("declare", declare::declare),
    plain("dirs", dirs::dirs),
    plain("disown", jobs::disown),
    prints("echo", echo::echo),
    plain("enable", enable::enable),
    plain("eval", eval::eval),
    plain("exec", exec::exec),
    plain("exit", flow::exit),
    declares("export", declare::export),
    prints("false", flow::fail),
    plain("fc", history::fc),
    plain("fg", jobs::foreground),
    plain("getopts", getopts::getopts),
    plain("hash", hash::hash),
    plain("help", help::help),
    plain("history", history::history),
    plain("jobs", jobs::jobs),
    plain("kill", kill::kill),
    plain("let", let_builtin::evaluate),
    declares("local", declare::local),
    plain("logout", jobs::logout),
    plain("mapfile", mapfile::mapfile),
    plain("popd", dirs::popd),
    prints("printf", printf::printf),
    plain("pushd", dirs::pushd),
    prints("pwd", cd::pwd),
    plain("read", read::read),
    plain("readarray", mapfile::mapfile),
    declares("readonly", declare::readonly),
    plain("return", flow::return_builtin),
    plain("set", set::set),
    plain("shift", flow::shift),
    plain("shopt", shopt::shopt),
    plain("source", eval::source),
    plain("suspend", jobs::suspend),
    prints("test", test::test),
    plain("times", limits::times),
    plain("trap", trap::trap),
    prints("true", flow::succeed),
    plain("type", type_builtin::type_builtin),
    declares("typeset", declare::declare),
    plain("ulimit", ulimit::ulimit),
    plain("umask", limits::umask),
    plain("unalias", alias::unalias),
    plain("unset", unset::unset),
    plain("wait", jobs::wait),
];

/// POSIX's special builtins, whose failures end a shell in posix mode.
const SPECIAL: &[&str] = &[
    ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "source",
    "times", "trap", "unset",
];

/// Returns whether POSIX defines this name as a special builtin.
pub(crate) fn is_special(name: &[u8]) -> bool {
    SPECIAL.iter().any(|special| special.as_bytes() == name)
}

/// Returns whether the first argument requests help. The listed builtins treat `--help` as an ordinary argument.
pub(crate) fn requests_help(builtin: &Builtin, first: Option<&Bytes>) -> bool {
    first.is_some_and(|word| word == b"--help")
        && !matches!(builtin.name, ":" | "[" | "bind" | "echo" | "false" | "test" | "true")
}

/// The builtin with this name.
pub(crate) fn find(name: &[u8]) -> Option<&'static Builtin> {
    let at = BUILTINS.binary_search_by(|builtin| builtin.name.as_bytes().cmp(name)).ok()?;
    BUILTINS.get(at)
}

impl Shell {
    /// Writes to standard output. Errors are reported after the builtin.
    pub(crate) fn print(&mut self, text: impl AsRef<[u8]>) -> u8 {
        // An empty output does not notice a closed descriptor.
        if text.as_ref().is_empty() {
            return 0;
        }
        match self.io.write(1, text.as_ref()) {
            Ok(()) => 0,
            // These do not look whether they could write.
            Err(_) if matches!(self.builtin.name, "command" | "help" | "kill" | "ulimit") => 0,
            Err(errno) => {
                self.report_builtin_error(format!("write error: {errno}"));
                self.builtin.write_failed = true;
                1
            }
        }
    }

    /// Reports an invalid option and the usage of the current builtin. Returns the status.
    pub(crate) fn bad_option(&mut self, option: &[u8]) -> u8 {
        self.report_builtin_error([option, b": invalid option"].concat());
        self.usage()
    }

    /// Reports the usage of the current builtin, which ends a shell in posix mode. Returns the status.
    pub(crate) fn usage(&mut self) -> u8 {
        self.builtin.usage_error = true;
        self.print_usage()
    }

    /// Reports the usage of the current builtin. Returns the status.
    fn print_usage(&mut self) -> u8 {
        let line = format!("{}: usage: {}\n", self.builtin.name, help::usage_of(self.builtin.name));
        // A closed standard error is ignored.
        let _ = self.io.write(2, line.as_bytes());
        2
    }
}
