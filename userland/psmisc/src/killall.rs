//! `killall`: sends signals to processes by name.

use regex_lite::{Regex, RegexBuilder};
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::message::print_error;
use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::Errno;

use tidebox_gnu::tool::print;
use tidebox_procps::{Process, SIGNALS, signal, uptime_seconds};

const HELP: &str = include_str!("killall.txt");

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
    /// Process age in seconds: minimum and maximum.
    older: Option<f64>,
    younger: Option<f64>,
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
    let long = [
        long("exact", Takes::Nothing, 'e'),
        long("ignore-case", Takes::Nothing, 'I'),
        long("process-group", Takes::Nothing, 'g'),
        long("younger-than", Takes::Value, 'y'),
        long("older-than", Takes::Value, 'o'),
        long("interactive", Takes::Nothing, 'i'),
        long("list", Takes::Nothing, 'l'),
        long("quiet", Takes::Nothing, 'q'),
        long("regexp", Takes::Nothing, 'r'),
        long("signal", Takes::Value, 's'),
        long("user", Takes::Value, 'u'),
        long("verbose", Takes::Nothing, 'v'),
        long("wait", Takes::Nothing, 'w'),
        long("ns", Takes::Value, 'n'),
        long("context", Takes::Value, 'Z'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let line = CommandLine {
        version: "killall (PSmisc) 23.6\n",
        ..CommandLine::new("killall", "eIgy:o:ilqrs:u:vwn:Z:hV", &long, HELP)
    };
    let read = line.parse::<i32>(arguments, |key, value| options.set(key, &String::from_utf8_lossy(&value)));
    let operands = match read {
        Ok(operands) => operands,
        Err(code) => return code,
    };
    if operands.is_empty() && options.user.is_none() {
        tidebox_gnu::eprint_part!("{HELP}");
        return 1;
    }
    options.run(&operands)
}

impl Options {
    fn set(&mut self, key: char, value: &str) -> Result<(), i32> {
        match key {
            'e' => self.exact = true,
            'I' => self.ignore_case = true,
            'g' => self.group = true,
            'l' => {
                let rows: Vec<String> = SIGNALS.chunks(16).map(|row| row.join(" ")).collect();
                return Err(print("killall", (rows.join("\n").replace(" IO", " POLL") + "\n").as_bytes()));
            }
            'q' => self.quiet = true,
            'r' => self.patterns = true,
            's' => match signal(value) {
                Some(number) => self.signal = number,
                None => {
                    tidebox_gnu::eprint_line!("{value}: unknown signal; killall -l lists signals.");
                    return Err(1);
                }
            },
            'u' => match Names::load(Kind::User).id(value) {
                Some(id) => self.user = Some(id),
                None => {
                    tidebox_gnu::eprint_line!("Cannot find user {value}");
                    return Err(1);
                }
            },
            'v' => self.verbose = true,
            'w' => self.wait = true,
            'y' => self.younger = Some(age(value)?),
            'o' => self.older = Some(age(value)?),
            other => {
                print_error("killall", &format!("option '-{other}' is not supported here"));
                return Err(1);
            }
        }
        Ok(())
    }

    fn run(&self, names: &[Vec<u8>]) -> i32 {
        let own = tidebox_rt::getids().map_or(0, |ids| ids.pid);
        // An exited process counts as removed, even if its parent has not reaped it.
        let lives = |process: &Process| process.pid != own && process.state != 'Z';
        let all: Vec<Process> =
            Process::all().into_iter().filter(|process| lives(process) && self.fits(process)).collect();
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

    fn fits(&self, process: &Process) -> bool {
        let age = uptime_seconds() - process.started as f64 / 100.0;
        self.user.is_none_or(|user| user == process.user)
            && self.older.is_none_or(|least| age >= least)
            && self.younger.is_none_or(|most| age <= most)
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

/// `5s`, `2m`, `1h`, `3d`, `1w`, `1M`, `1y`.
fn age(text: &str) -> Result<f64, i32> {
    let wrong = || {
        tidebox_gnu::eprint_line!("killall: Invalid time format");
        1
    };
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1.0,
        'm' => 60.0,
        'h' => 3600.0,
        'd' => 86_400.0,
        'w' => 604_800.0,
        'M' => 2_629_800.0,
        'y' => 31_557_600.0,
        _ => return Err(wrong()),
    };
    let number = text.strip_suffix(unit).unwrap_or_default();
    number.parse::<f64>().map(|number| number * seconds).map_err(|_| wrong())
}
