//! `timeout`: runs a command with a time limit.

use std::io::Write;

use tidebox_gnu::command::Command;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{print_error, quote_value};
use tidebox_gnu::options::Syntax;
use tidebox_rt::{Disposition, Errno, ExitStatus, Readiness};

use crate::common::{run, signal};

const USAGE: &str = "\
Usage: timeout [OPTION] DURATION COMMAND [ARG]...
  or:  timeout [OPTION]
Runs COMMAND, and ends it if it still runs after DURATION. DURATION is a number of seconds,
or of minutes, hours or days with the suffix m, h or d. 0 disables the limit.

";

const NOTES: &str = "\n\
Exit code: 124 after a timeout, 125 for an error of timeout, 126 if COMMAND cannot run,
127 if it does not exist, 137 if KILL was sent, otherwise that of COMMAND.
";

tidebox_gnu::options! {
    /// Options of `timeout`.
    enum Flag {
        Signal = "-s, --signal=SIGNAL", "send SIGNAL instead of TERM";
        KillAfter = "-k, --kill-after=DURATION", "send KILL if it still runs after another DURATION";
        Verbose = "-v, --verbose", "print each signal";
        PreserveStatus = "--preserve-status", "exit with the exit code of COMMAND, even after a timeout";
        Foreground = "--foreground", "run COMMAND in the same process group";
    }
}

/// Maximum wait before the child is polled, in case its signal arrived just before the wait.
const MAX_WAIT_NS: u64 = 50_000_000;

#[derive(Debug)]
struct Options {
    signal: u32,
    kill_after: Option<u64>,
    verbose: bool,
    preserve: bool,
    foreground: bool,
}

/// Runs `timeout`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut options =
        Options { signal: signal::TERMINATE, kill_after: None, verbose: false, preserve: false, foreground: false };
    let line = Syntax { notes: NOTES, permute: false, usage_exit_code: 125, ..Syntax::core("timeout", USAGE, 27) };
    let words =
        line.parse(arguments, |key, value| options.option(key, &value).map_err(|message| line.usage_error(message)));
    let words = match words {
        Ok(words) => words,
        Err(answer) => return answer,
    };
    match words.as_slice() {
        [time, command @ ..] if !command.is_empty() => match duration(time) {
            Ok(time) => options.run(time, command),
            Err(message) => line.usage_error(message),
        },
        _ => {
            // GNU prints only this line.
            let _ = writeln!(std::io::stderr(), "Try 'timeout --help' for more information.");
            ToolResult::Code(125)
        }
    }
}

/// Parses a duration. Returns nanoseconds; 0 disables the limit.
pub(crate) fn duration(text: &[u8]) -> Result<u64, String> {
    let wrong = || format!("invalid time interval {}", quote_value(text));
    let string = std::str::from_utf8(text).map_err(|_| wrong())?.trim_ascii_start();
    let string = string.strip_prefix('+').filter(|rest| !rest.starts_with(['+', '-'])).unwrap_or(string);
    let (number, unit) = match string.get(..2) {
        Some("0x" | "0X") => hexadecimal(string.get(2..).unwrap_or_default()).ok_or_else(wrong)?,
        _ => {
            let digits = string.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(string);
            let number: f64 = digits.parse().map_err(|_| wrong())?;
            (number, string.get(digits.len()..).unwrap_or_default())
        }
    };
    if number.is_nan() || number < 0.0 {
        return Err(wrong());
    }
    let seconds = match unit {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(wrong()),
    };
    // Longer durations become the largest one, 584 years.
    Ok((number * seconds * 1e9).ceil() as u64)
}

/// Parses a hexadecimal number with optional point and exponent. Returns it with the rest of the text.
fn hexadecimal(text: &str) -> Option<(f64, &str)> {
    let (mut value, mut scale, mut any, mut after_point) = (0.0, 1.0, false, false);
    let mut end = 0;
    for char in text.chars() {
        match char.to_digit(16) {
            Some(digit) => {
                any = true;
                scale *= if after_point { 16.0 } else { 1.0 };
                value = value * 16.0 + f64::from(digit);
            }
            None if char == '.' && !after_point => after_point = true,
            None => break,
        }
        end += 1;
    }
    let rest = text.get(end..).filter(|_| any)?;
    let power = rest.strip_prefix(['p', 'P']).unwrap_or_default();
    let signs = usize::from(power.starts_with(['+', '-']));
    let digits = power.bytes().skip(signs).take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return Some((value / scale, rest));
    }
    let exponent: i32 = power.get(..signs + digits)?.parse().ok()?;
    Some((value / scale * f64::from(exponent).exp2(), power.get(signs + digits..)?))
}

impl Options {
    fn option(&mut self, key: Flag, value: &[u8]) -> Result<(), String> {
        match key {
            Flag::Signal => {
                let parsed = signal::parse(&String::from_utf8_lossy(value));
                self.signal = parsed.ok_or_else(|| format!("{}: invalid signal", quote_value(value)))?;
            }
            Flag::KillAfter => self.kill_after = Some(duration(value)?),
            Flag::Verbose => self.verbose = true,
            Flag::PreserveStatus => self.preserve = true,
            Flag::Foreground => self.foreground = true,
        }
        Ok(())
    }

    fn run(&self, time: u64, words: &[Vec<u8>]) -> ToolResult {
        // Installed before the child starts, so that no exit is missed.
        let installed = tidebox_rt::sig_set(signal::CHILD, Disposition::Note);
        let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let command = Command { group: u32::from(!self.foreground), ..Command::new(&arguments) };
        let pid = match installed.and_then(|()| command.spawn()) {
            Ok(pid) => pid,
            Err(error) => return run::failed_to_run(&command, error),
        };
        let waiter = match Waiter::new(pid) {
            Ok(waiter) => waiter,
            Err(error) => return ToolResult::Failure(format!("cannot wait: {}", error.text()), 125),
        };
        match waiter.until(time) {
            Ok(Some(status)) => ToolResult::Code(i32::from(status.code())),
            Ok(None) => self.end(&waiter, &command),
            Err(error) => ToolResult::Failure(format!("cannot wait: {}", error.text()), 125),
        }
    }

    /// Handles the timeout.
    fn end(&self, waiter: &Waiter, command: &Command<'_>) -> ToolResult {
        self.send(waiter.pid, self.signal, command);
        let mut killed = self.signal == signal::KILL;
        let mut status = match self.kill_after {
            Some(time) if !killed => waiter.until(time),
            _ => waiter.until(0),
        };
        if status == Ok(None) {
            self.send(waiter.pid, signal::KILL, command);
            killed = true;
            status = waiter.until(0);
        }
        match status {
            Ok(Some(status)) if self.preserve || killed => {
                if killed && !self.foreground {
                    // The signal goes to the command's group, which includes GNU timeout itself.
                    kill_self();
                }
                ToolResult::Code(i32::from(status.code()))
            }
            _ => ToolResult::Code(124),
        }
    }

    fn send(&self, pid: u32, number: u32, command: &Command<'_>) {
        if self.verbose {
            let name = command.arguments.first().copied().unwrap_or_default();
            let shown = match number {
                0 => "EXIT".to_owned(),
                number => signal::name(number).map_or_else(|| number.to_string(), str::to_owned),
            };
            print_error("timeout", &format!("sending signal {shown} to command {}", quote_value(name)));
        }
        let Ok(pid) = i32::try_from(pid) else { return };
        let target = if self.foreground { pid } else { -pid };
        // The child may have exited; the following wait reports that.
        let _ = tidebox_rt::kill(target, number);
    }
}

/// Kills this process with `KILL`. If that fails, exits with the equivalent code.
fn kill_self() {
    if let Some(pid) = tidebox_rt::getids().ok().and_then(|ids| i32::try_from(ids.pid).ok()) {
        let _ = tidebox_rt::kill(pid, signal::KILL);
    }
}

/// Waits for a child with a timeout. It polls a pipe without data: SIGCHLD interrupts the poll when the child exits.
struct Waiter {
    pid: u32,
    silent: u32,
}

impl Waiter {
    fn new(pid: u32) -> Result<Self, Errno> {
        let (silent, _kept_open) = tidebox_rt::pipe()?;
        Ok(Self { pid, silent })
    }

    /// Waits for the child up to `time` nanoseconds; 0 disables the timeout. Returns `None` if the child still runs.
    fn until(&self, time: u64) -> Result<Option<ExitStatus>, Errno> {
        let pid = i32::try_from(self.pid).map_err(|_| Errno::CHILD)?;
        if time == 0 {
            return tidebox_gnu::command::wait(self.pid).map(Some);
        }
        let deadline = tidebox_rt::monotonic_ns().saturating_add(time);
        loop {
            if let Some(waited) = tidebox_rt::wait(pid, false)? {
                return Ok(Some(waited.status));
            }
            let left = deadline.saturating_sub(tidebox_rt::monotonic_ns());
            if left == 0 {
                return Ok(None);
            }
            match tidebox_rt::poll_read(self.silent, left.min(MAX_WAIT_NS)) {
                Ok(Readiness::Ready | Readiness::TimedOut) | Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
            // A pending signal would interrupt every further wait immediately.
            let _ = tidebox_rt::sig_take();
        }
    }
}
