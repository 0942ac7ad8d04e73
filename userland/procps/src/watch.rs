//! `watch`: runs a command repeatedly. Without a screen, each run is printed below the previous one.

use std::time::Duration;

use tidebox_gnu::calendar::Moment;
use tidebox_gnu::command::Command;
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Input, Output, read_all};
use tidebox_rt::Errno;

const USAGE: &str = "
Usage:
 watch [options] command

Options:
";

const NOTES: &str = "
 -h, --help     display this help and exit
 -v, --version  output version information and exit

For more details see watch(1).
";

tidebox_gnu::options! {
    /// Options of `watch`.
    enum Flag {
        Beep = "-b, --beep", "beep if command has a non-zero exit";
        Color = "-c, --color", "interpret ANSI color and style sequences";
        Differences = "-d, --differences[=<permanent>]", "highlight changes between updates";
        ErrExit = "-e, --errexit", "exit if command has a non-zero exit";
        ChgExit = "-g, --chgexit", "exit when output from command changes";
        EquExit = "-q, --equexit <cycles>", "exit when output from command does not change";
        Interval = "-n, --interval <secs>", "seconds to wait between updates";
        Precise = "-p, --precise", "attempt run command in precise intervals";
        NoTitle = "-t, --no-title", "turn off header";
        NoWrap = "-w, --no-wrap", "turn off line wrapping";
        Exec = "-x, --exec", "pass command to exec instead of \"sh -c\"";
        Help = "-h, --help", "";
        Version = "-v, --version", "";
    }
}

const SYNTAX: Syntax<'_, Flag> =
    Syntax { permute: false, notes: NOTES, version: "watch from procps-ng 4.0.2\n", ..Syntax::new("watch", USAGE, 25) };

/// Columns of the title.
const COLUMNS: usize = 80;

struct Options {
    beep: bool,
    exit_on_error: bool,
    exit_on_change: bool,
    /// Number of equal runs after which to stop.
    equal: Option<u64>,
    interval: Duration,
    title: bool,
    direct: bool,
}

/// Runs `watch`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut options = Options {
        beep: false,
        exit_on_error: false,
        exit_on_change: false,
        equal: None,
        interval: Duration::from_secs(2),
        title: true,
        direct: false,
    };
    match SYNTAX.parse::<i32>(arguments, |flag, value| options.set(flag, &value)) {
        Err(code) => code,
        Ok(words) if words.is_empty() => {
            tidebox_gnu::eprint_part!("{}", SYNTAX.help());
            1
        }
        Ok(words) => options.run(&words).unwrap_or_else(|errno| {
            print_error("watch", &format!("unable to execute '{}': {}", joined(&words), errno.text()));
            if errno == Errno::NOENT { 127 } else { 1 }
        }),
    }
}

fn joined(words: &[Vec<u8>]) -> String {
    let words: Vec<String> = words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    words.join(" ")
}

impl Options {
    /// Applies one option. The error is the exit code.
    fn set(&mut self, flag: Flag, value: &[u8]) -> Result<(), i32> {
        let text = String::from_utf8_lossy(value);
        let invalid = || {
            print_error("watch", &format!("failed to parse argument: '{text}': Invalid argument"));
            1
        };
        match flag {
            Flag::Beep => self.beep = true,
            Flag::ErrExit => self.exit_on_error = true,
            Flag::ChgExit => self.exit_on_change = true,
            Flag::EquExit => self.equal = Some(text.parse().map_err(|_| invalid())?),
            Flag::Interval => {
                let seconds = text.replace(',', ".").parse::<f64>().ok().filter(|seconds| seconds.is_finite());
                // As in the original, the minimum is a tenth of a second.
                self.interval = Duration::from_secs_f64(seconds.ok_or_else(invalid)?.clamp(0.1, 4_294_967.0));
            }
            Flag::NoTitle => self.title = false,
            Flag::Exec => self.direct = true,
            // Without a screen, colours are passed through, changes are not marked and lines are not wrapped.
            _ => {}
        }
        Ok(())
    }

    fn run(&self, words: &[Vec<u8>]) -> Result<i32, Errno> {
        let line = words.join(&b' ');
        let command: Vec<&[u8]> =
            if self.direct { words.iter().map(Vec::as_slice).collect() } else { vec![b"sh", b"-c", &line] };
        let (mut before, mut equal): (Option<Vec<u8>>, u64) = (None, 0);
        loop {
            let (text, code) = output_of(&command)?;
            let mut out = Output::standard();
            if self.title {
                out.push(self.title_of(&joined(words)).as_bytes());
            }
            out.push(&text);
            if self.beep && code != 0 {
                out.push(b"\x07");
            }
            out.flush_now();
            if let Some(errno) = out.failure() {
                return if errno == Errno::PIPE { Ok(141) } else { Err(errno) };
            }
            if code != 0 && self.exit_on_error {
                return Ok(code);
            }
            let same = before.as_ref() == Some(&text);
            if before.is_some() && !same && self.exit_on_change {
                return Ok(0);
            }
            equal = if same { equal + 1 } else { 0 };
            if self.equal.is_some_and(|wanted| equal >= wanted.max(1)) {
                return Ok(0);
            }
            before = Some(text);
            std::thread::sleep(self.interval);
        }
    }

    /// The line above a run: interval and command, and on the right host and time.
    fn title_of(&self, command: &str) -> String {
        let host = read_all(b"/proc/sys/kernel/hostname").unwrap_or_default();
        let host = String::from_utf8_lossy(&host).trim().to_owned();
        let moment = Moment::local_ns(tidebox_rt::realtime_ns());
        let right = format!("{host}: {}", moment.field('c').unwrap_or_default());
        let left = format!("Every {:.1}s: {command}", self.interval.as_secs_f64());
        let room = COLUMNS.saturating_sub(right.chars().count());
        format!("{:<room$.room$}{right}\n\n", left)
    }
}

/// Output of a command, and its exit code.
fn output_of(words: &[&[u8]]) -> Result<(Vec<u8>, i32), Errno> {
    let (read, write) = tidebox_rt::pipe()?;
    let spawned = Command { descriptors: &[(0, 0), (1, write), (2, write)], ..Command::new(words) }.spawn();
    tidebox_rt::close(write)?;
    let text = Input::of(read).read_to_end();
    let child = spawned?;
    let text = text?;
    let waited = tidebox_rt::wait(i32::try_from(child).unwrap_or(-1), true)?;
    Ok((text, waited.map_or(0, |waited| i32::from(waited.status.code()))))
}
