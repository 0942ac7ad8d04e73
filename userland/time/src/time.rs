//! `time` as a program: reports the resource use of a command.

use tidebox_gnu::command::Command;
use tidebox_gnu::options::Syntax;
use tidebox_rt::{Errno, ExitStatus, Open};

const USAGE: &str = "\
Usage: time [OPTION]... COMMAND [ARGUMENT]...
Runs COMMAND and reports its resource use. All processor time counts as user time.

";

tidebox_gnu::options! {
    /// Options of `time`.
    enum Flag {
        Append = "-a, --append", "append to the file of -o";
        Format = "-f, --format=FORMAT", "report in FORMAT";
        Output = "-o, --output=FILE", "write the report to FILE instead of standard error";
        Portability = "-p, --portability", "report in the format of POSIX";
        Quiet = "-q, --quiet", "do not report the exit status of a command that failed";
        Verbose = "-v, --verbose", "report everything";
        Help = "-h, --help", "";
        Version = "-V, --version", "";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax {
    permute: false,
    usage_exit_code: 125,
    version: "time (GNU Time) 1.9 (Tidebox)\n",
    ..Syntax::new("time", USAGE, 23)
};

const DEFAULT: &str = "%Uuser %Ssystem %Eelapsed %PCPU (%Xavgtext+%Davgdata %Mmaxresident)k\n%Iinputs+%Ooutputs (%Fmajor+%Rminor)pagefaults %Wswaps";
const POSIX: &str = "real %e\nuser %U\nsys %S";
const VERBOSE: &str = "\tCommand being timed: \"%C\"
\tUser time (seconds): %U
\tSystem time (seconds): %S
\tPercent of CPU this job got: %P
\tElapsed (wall clock) time (h:mm:ss or m:ss): %E
\tAverage shared text size (kbytes): %X
\tAverage unshared data size (kbytes): %D
\tAverage stack size (kbytes): %p
\tAverage total size (kbytes): %K
\tMaximum resident set size (kbytes): %M
\tAverage resident set size (kbytes): %t
\tMajor (requiring I/O) page faults: %F
\tMinor (reclaiming a frame) page faults: %R
\tVoluntary context switches: %w
\tInvoluntary context switches: %c
\tSwaps: %W
\tFile system inputs: %I
\tFile system outputs: %O
\tSocket messages sent: %s
\tSocket messages received: %r
\tSignals delivered: %k
\tPage size (bytes): %Z
\tExit status: %x";

/// Runs `time`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut format = std::env::var("TIME").unwrap_or_else(|_| DEFAULT.to_owned());
    let (mut file, mut append, mut quiet) = (None, false, false);
    let words = SYNTAX.parse(arguments, |flag, value| {
        match flag {
            Flag::Append => append = true,
            Flag::Format => format = String::from_utf8_lossy(&value).into_owned(),
            Flag::Output => file = Some(value),
            Flag::Portability => format = POSIX.to_owned(),
            Flag::Quiet => quiet = true,
            _ => format = VERBOSE.to_owned(),
        }
        Ok(())
    });
    let words = match words {
        Ok(words) if words.is_empty() => return SYNTAX.usage_error("missing program to run"),
        Ok(words) => words,
        Err(code) => return code,
    };
    let (begin, cpu_begin) = (tidebox_rt::monotonic_ns(), tidebox_rt::cpu_times().children);
    let (status, message) = run(&words);
    let times = Times {
        elapsed: tidebox_rt::monotonic_ns().saturating_sub(begin),
        user: tidebox_rt::cpu_times().children.saturating_sub(cpu_begin),
    };
    let mut text = message.filter(|_| !quiet).map(|message| message + "\n").unwrap_or_default();
    text.push_str(&format_times(&format, times, &words, status));
    text.push('\n');
    if let Err(code) = write(file.as_deref(), append, &text) {
        return code;
    }
    i32::from(status.code())
}

/// Runs the command. Returns its exit status and the report values.
fn run(words: &[Vec<u8>]) -> (ExitStatus, Option<String>) {
    let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    match Command::new(&arguments).run() {
        Ok(status @ ExitStatus::Killed(signal)) => (status, Some(format!("Command terminated by signal {signal}"))),
        Ok(status @ ExitStatus::Exited(code)) if code > 0 => {
            (status, Some(format!("Command exited with non-zero status {code}")))
        }
        Ok(status) => (status, None),
        Err(errno) => {
            let name = words.first().map(|word| String::from_utf8_lossy(word).into_owned()).unwrap_or_default();
            tidebox_gnu::eprint_line!("time: cannot run {name}: {}", errno.text());
            let code = if errno == Errno::NOENT { 127 } else { 126 };
            (ExitStatus::Exited(code), Some(format!("Command exited with non-zero status {code}")))
        }
    }
}

/// Writes the report to a file or standard error. The error is the exit code.
fn write(file: Option<&[u8]>, append: bool, text: &str) -> Result<(), i32> {
    let fd = match file {
        None => 2,
        Some(name) => {
            let how = Open { write: true, create: true, truncate: !append, append, ..Open::default() };
            tidebox_rt::open(name, how).map_err(|errno| {
                tidebox_gnu::eprint_line!("time: cannot open {}: {}", String::from_utf8_lossy(name), errno.text());
                125
            })?
        }
    };
    // Ignore the error: it cannot be reported elsewhere.
    let _ = tidebox_rt::write_all(fd, text.as_bytes());
    Ok(())
}

/// Nanoseconds of a command.
#[derive(Clone, Copy)]
struct Times {
    elapsed: u64,
    user: u64,
}

fn format_times(format: &str, times: Times, words: &[Vec<u8>], status: ExitStatus) -> String {
    let (hundredths, user) = (times.elapsed / 10_000_000, times.user / 10_000_000);
    let (seconds, rest) = (hundredths / 100, hundredths % 100);
    let mut out = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => match letters.next() {
                Some('%') => out.push('%'),
                Some('C') => {
                    let words: Vec<String> =
                        words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
                    out.push_str(&words.join(" "));
                }
                Some('e') => out.push_str(&format!("{seconds}.{rest:02}")),
                Some('E') if seconds >= 3600 => {
                    out.push_str(&format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60));
                }
                Some('E') => out.push_str(&format!("{}:{:02}.{rest:02}", seconds / 60, seconds % 60)),
                Some('U') => out.push_str(&format!("{}.{:02}", user / 100, user % 100)),
                Some('S') => out.push_str("0.00"),
                Some('P') => out.push_str(&format!("{}%", times.user.saturating_mul(100) / times.elapsed.max(1))),
                Some('Z') => out.push_str("65536"),
                Some('x') => match status {
                    ExitStatus::Exited(code) => out.push_str(&code.to_string()),
                    ExitStatus::Killed(_) => out.push('0'),
                },
                Some('D' | 'F' | 'I' | 'K' | 'M' | 'O' | 'R' | 'W' | 'X' | 'c' | 'k' | 'p' | 'r' | 's' | 't' | 'w') => {
                    out.push('0');
                }
                Some(other) => {
                    out.push('?');
                    out.push(other);
                }
                None => out.push('?'),
            },
            '\\' => match letters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('\\') => out.push('\\'),
                Some(other) => {
                    out.push('?');
                    out.push('\\');
                    out.push(other);
                }
                None => out.push_str("?\\"),
            },
            letter => out.push(letter),
        }
    }
    out
}
