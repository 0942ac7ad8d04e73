//! `killall`: sends signals to processes by name.

use regex_lite::{Regex, RegexBuilder};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::print;
use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::Errno;

use tidebox_procps::{Process, SIGNALS, signal};

const USAGE: &str = "\
Usage: killall [OPTION]... [--] NAME...
       killall -l, --list
       killall -V, --version

";

tidebox_gnu::options! {
    /// Options of `killall`.
    enum Flag {
        Exact = "-e, --exact", "require exact match for very long names";
        IgnoreCase = "-I, --ignore-case", "case insensitive process name match";
        Group = "-g, --process-group", "kill process group instead of process";
        List = "-l, --list", "list all known signal names";
        Quiet = "-q, --quiet", "don't print complaints";
        Regexp = "-r, --regexp", "interpret NAME as an extended regular expression";
        Signal = "-s, --signal SIGNAL", "send this signal instead of SIGTERM";
        User = "-u, --user USER", "kill only process(es) running as USER";
        Verbose = "-v, --verbose", "report if the signal was successfully sent";
        Version = "-V, --version", "display version information";
        Wait = "-w, --wait", "wait for processes to die";
        Help = "-h, --help", "";
        Younger = "-y, --younger-than TIME", "", unsupported "option '-y' is not supported here";
        Older = "-o, --older-than TIME", "", unsupported "option '-o' is not supported here";
        Interactive = "-i, --interactive", "", unsupported "option '-i' is not supported here";
        Namespace = "-n, --ns PID", "", unsupported "option '-n' is not supported here";
        Context = "-Z, --context REGEXP", "", unsupported "option '-Z' is not supported here";
    }
}

const SYNTAX: Syntax<'_, Flag> =
    Syntax { version: "killall (PSmisc) 23.6\n", notes: "\n", ..Syntax::new("killall", USAGE, 23) };

/// Bytes of a process name stored by the kernel.
const NAME_LENGTH: usize = 15;

/// Interval between checks for exited processes.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(20);

#[derive(Default)]
struct Options {
    signal: u32,
    exact: bool,
    ignore_case: bool,
    group: bool,
    patterns: bool,
    quiet: bool,
    verbose: bool,
    wait: bool,
    user: Option<u32>,
}

/// Runs `killall`.
pub fn main(mut arguments: Vec<Vec<u8>>) -> i32 {
    let mut options = Options { signal: 15, ..Options::default() };
    // A signal may be a separate option.
    let named = |word: &Vec<u8>| {
        let text = std::str::from_utf8(word.strip_prefix(b"-")?).ok()?;
        let is_signal = text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let is_signal = is_signal || text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty();
        is_signal.then(|| signal(text)).flatten()
    };
    if let Some(at) = arguments.iter().position(|word| named(word).is_some()) {
        options.signal = arguments.get(at).and_then(named).unwrap_or(15);
        arguments.remove(at);
    }
    let operands = SYNTAX.parse::<i32>(arguments, |flag, value| options.set(flag, &String::from_utf8_lossy(&value)));
    let operands = match operands {
        Ok(operands) => operands,
        Err(code) => return code,
    };
    if operands.is_empty() && options.user.is_none() {
        tidebox_gnu::eprint_part!("{}", SYNTAX.help());
        return 1;
    }
    options.run(&operands)
}

impl Options {
    fn set(&mut self, flag: Flag, value: &str) -> Result<(), i32> {
        match flag {
            Flag::Exact => self.exact = true,
            Flag::IgnoreCase => self.ignore_case = true,
            Flag::Group => self.group = true,
            Flag::List => {
                let rows: Vec<String> = SIGNALS.chunks(16).map(|row| row.join(" ")).collect();
                return Err(print("killall", (rows.join("\n").replace(" IO", " POLL") + "\n").as_bytes()));
            }
            Flag::Quiet => self.quiet = true,
            Flag::Regexp => self.patterns = true,
            Flag::Signal => match signal(value) {
                Some(number) => self.signal = number,
                None => {
                    tidebox_gnu::eprint_line!("{value}: unknown signal; killall -l lists signals.");
                    return Err(1);
                }
            },
            Flag::User => match Names::load(Kind::User).id(value) {
                Some(id) => self.user = Some(id),
                None => {
                    tidebox_gnu::eprint_line!("Cannot find user {value}");
                    return Err(1);
                }
            },
            Flag::Verbose => self.verbose = true,
            Flag::Wait => self.wait = true,
            _ => {}
        }
        Ok(())
    }

    fn run(&self, names: &[Vec<u8>]) -> i32 {
        let own = tidebox_rt::getids().map_or(0, |ids| ids.pid);
        // An exited process counts as removed, even if its parent has not reaped it.
        let lives = |process: &Process| process.pid != own && process.state != 'Z';
        let is_of_user = |process: &Process| self.user.is_none_or(|user| user == process.user);
        let all: Vec<Process> =
            Process::all().into_iter().filter(|process| lives(process) && is_of_user(process)).collect();
        let (mut code, mut killed) = (i32::from(names.is_empty() && all.is_empty()), Vec::new());
        let any = [b"".to_vec()];
        for name in if names.is_empty() { &any } else { names } {
            let shown = String::from_utf8_lossy(name).into_owned();
            let pattern = match self.pattern(&shown) {
                Ok(pattern) => pattern,
                Err(code) => return code,
            };
            let named =
                all.iter().filter(|process| names.is_empty() || self.is_named(process, &shown, pattern.as_ref()));
            let mut found = false;
            for process in named {
                found |= self.kill(process, &mut killed);
            }
            if !found {
                code = 1;
                if !self.quiet && !names.is_empty() {
                    tidebox_gnu::eprint_line!("{shown}: no process found");
                }
            }
        }
        // A zombie counts as exited.
        while self.wait && Process::all().iter().any(|process| process.state != 'Z' && killed.contains(&process.pid)) {
            std::thread::sleep(PAUSE);
        }
        code
    }

    fn pattern(&self, text: &str) -> Result<Option<Regex>, i32> {
        if !self.patterns {
            return Ok(None);
        }
        match RegexBuilder::new(text).case_insensitive(self.ignore_case).build() {
            Ok(regex) => Ok(Some(regex)),
            Err(_) => {
                tidebox_gnu::eprint_line!("killall: Bad regular expression: {text}");
                Err(1)
            }
        }
    }

    fn is_named(&self, process: &Process, name: &str, pattern: Option<&Regex>) -> bool {
        if let Some(pattern) = pattern {
            return pattern.is_match(&process.name);
        }
        let same =
            |left: &str, right: &str| if self.ignore_case { left.eq_ignore_ascii_case(right) } else { left == right };
        if name.contains('/') {
            return process.arguments.first().is_some_and(|program| same(&String::from_utf8_lossy(program), name));
        }
        // The kernel truncates long names; the command line has the rest.
        let full = process.arguments.first().map(|program| String::from_utf8_lossy(program).into_owned());
        let full = full.as_deref().and_then(|program| program.rsplit('/').next()).unwrap_or_default();
        if name.len() > NAME_LENGTH {
            let head = name.get(..NAME_LENGTH).unwrap_or(name);
            return same(&process.name, head) && (same(full, name) || full.is_empty() && !self.exact);
        }
        same(&process.name, name)
    }

    fn kill(&self, process: &Process, killed: &mut Vec<u32>) -> bool {
        let pid = i32::try_from(process.pid).unwrap_or(i32::MAX);
        let to = if self.group { i32::try_from(process.group).map_or(pid, |group| -group) } else { pid };
        match tidebox_rt::kill(to, self.signal) {
            Ok(()) => {
                if self.verbose {
                    tidebox_gnu::eprint_line!(
                        "Killed {}({}{pid}) with signal {}",
                        process.name,
                        if self.group { "pgid " } else { "" },
                        self.signal
                    );
                }
                killed.push(process.pid);
                true
            }
            Err(Errno::SRCH) => false,
            Err(errno) => {
                tidebox_gnu::eprint_line!("{}({pid}): {}", process.name, errno.text());
                false
            }
        }
    }
}
