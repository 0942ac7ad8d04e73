//! `ts`: prefixes each line with the time.

use tidebox_gnu::calendar::Moment;
use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::{Input, Output};
use tidebox_gnu::strftime::of_c_library;
use tidebox_gnu::zone::Zone;

const USAGE: &str = "usage: ts [-r] [-i | -s] [-m] [format]\n";

const NS: u64 = 1_000_000_000;

#[derive(Default)]
struct Options {
    since_last: bool,
    since_start: bool,
    monotonic: bool,
    format: Option<Vec<u8>>,
    files: Vec<Vec<u8>>,
}

/// Runs `ts`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut options = Options::default();
    let mut words = arguments.into_iter();
    while let Some(word) = words.next() {
        match word.as_slice() {
            b"-i" | b"--i" => options.since_last = true,
            b"-s" | b"--s" => options.since_start = true,
            b"-m" | b"--m" => options.monotonic = true,
            b"-r" | b"--r" => {
                print_error("ts", "-r is not supported here: times of input are not read");
                return 1;
            }
            b"--" => options.files.extend(words.by_ref()),
            [b'-', name @ ..] if !name.is_empty() => {
                let name = String::from_utf8_lossy(name).into_owned();
                tidebox_gnu::eprint_line!("Unknown option: {}", name.trim_start_matches('-'));
                tidebox_gnu::eprint_part!("{USAGE}");
                return 255;
            }
            _ => options.files.push(word),
        }
    }
    if !options.files.is_empty() {
        options.format = Some(options.files.remove(0));
    }
    run(&options)
}

fn now(options: &Options) -> u64 {
    if options.monotonic && (options.since_last || options.since_start) {
        tidebox_rt::monotonic_ns()
    } else {
        tidebox_rt::realtime_ns()
    }
}

fn run(options: &Options) -> i32 {
    let relative = options.since_last || options.since_start;
    let default: &[u8] = if relative { b"%H:%M:%S" } else { b"%b %d %H:%M:%S" };
    let format = options.format.as_deref().unwrap_or(default);
    let (mut last, mut out, mut line) = (now(options), Output::standard(), Vec::new());
    let standard = [b"-".to_vec()];
    let files = if options.files.is_empty() { standard.as_slice() } else { options.files.as_slice() };
    for file in files {
        let mut input = match Input::open(file) {
            Ok(input) => input,
            Err(errno) => {
                print_error("ts", &format!("Can't open {}: {}", String::from_utf8_lossy(file), errno.text()));
                continue;
            }
        };
        while input.line(b'\n', &mut line).unwrap_or(false) {
            let moment = now(options);
            let shown = if relative { moment.saturating_sub(last) } else { moment };
            if options.since_last {
                last = moment;
            }
            out.push(&stamp(format, shown));
            out.push(b" ");
            out.push(&line);
            // Flush each line, because the timestamps are useful only without delay.
            out.flush_now();
            if out.failure().is_some() {
                break;
            }
        }
    }
    out.finish("ts", 0)
}

/// Formats a time like `strftime`; `%.S`, `%.s` and `%.T` have six more digits.
pub(crate) fn stamp(format: &[u8], ns: u64) -> Vec<u8> {
    let moment = Moment::local_ns(ns);
    let micros = ns % NS / 1000;
    let mut out = Vec::new();
    let mut rest = format;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, after) {
            (b'%', [b'.', letter @ (b'S' | b's' | b'T'), more @ ..]) => {
                out.extend_from_slice(moment.field(char::from(*letter)).unwrap_or_default().as_bytes());
                out.extend_from_slice(format!(".{micros:06}").as_bytes());
                rest = more;
            }
            (b'%', after) => {
                // A field ends with its letter; flags and widths come before.
                let end = after
                    .iter()
                    .position(|byte| !b"-_0^#+:EO123456789".contains(byte))
                    .map_or(after.len(), |at| at + 1);
                let (field, more) = after.split_at(end);
                let field = [b"%", field].concat();
                out.extend_from_slice(&of_c_library(&field, (moment.seconds, moment.nanoseconds), Zone::local()));
                rest = more;
            }
            (byte, _) => out.push(*byte),
        }
    }
    out
}
