//! `tac`: prints the records of files in reverse order.

use tidebox_gnu::message::{path_label, print_error, quote_path, unicode_locale};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::regex::{Error, Options, Regex, Subject};
use tidebox_rt::Errno;

use crate::cat::write;
use crate::common::Failure;
use crate::common::input::{CHUNK, Input};

const USAGE: &str = "\
Usage: tac [OPTION]... [FILE]...
Prints the lines of each FILE in reverse order. Without FILE, or if FILE is -, reads standard input.

";

tidebox_gnu::options! {
    /// Options of `tac`.
    enum Flag {
        Before = "-b, --before", "attach separators to the following text";
        Regex = "-r, --regex", "treat STRING as a regular expression";
        Separator = "-s, --separator=STRING", "separate by STRING instead of newlines";
    }
}

/// Runs `tac`.
pub fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut separator = b"\n".to_vec();
    let (mut before, mut regex) = (false, false);
    let mut files = Syntax::core("tac", USAGE, 26).parse(arguments, |key, value| {
        match key {
            Flag::Separator => separator = value,
            Flag::Regex => regex = true,
            _ => before = true,
        }
        Ok::<_, Failure>(())
    })?;
    // As in GNU, an empty separator is the byte 0.
    if separator.is_empty() {
        if regex {
            return Err(Failure::Unsupported("separator cannot be empty".to_owned()));
        }
        separator.push(0);
    }
    let separator = if regex { Separator::pattern(separator)? } else { Separator::Text(separator) };
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut code = 0;
    for file in &files {
        match load(file) {
            Ok(text) => match &separator {
                Separator::Text(separator) => write(&reversed(&text, separator, before))?,
                Separator::Pattern(regex) => write(&reversed_at(&text, &separators(&text, regex)?, before))?,
            },
            Err(message) => {
                print_error("tac", &message);
                code = 1;
            }
        }
    }
    Ok(code)
}

/// Reads a whole file, because its last record is printed first.
fn load(name: &[u8]) -> Result<Vec<u8>, String> {
    let input = Input::open(name)
        .map_err(|errno| format!("failed to open {} for reading: {}", quote_path(name), errno.text()))?;
    let read_error = |errno: Errno| format!("{}: read error: {}", path_label(name), errno.text());
    let mut text = Vec::new();
    loop {
        let used = text.len();
        text.try_reserve(CHUNK).map_err(|_| read_error(Errno::NOMEM))?;
        text.resize(used + CHUNK, 0);
        let got = input.read(text.get_mut(used..).unwrap_or_default()).map_err(read_error)?;
        text.truncate(used + got);
        if got == 0 {
            return Ok(text);
        }
    }
}

/// Record separator.
enum Separator {
    Text(Vec<u8>),
    Pattern(Box<Regex>),
}

impl Separator {
    fn pattern(source: Vec<u8>) -> Result<Self, Failure> {
        let options = Options {
            subject: Subject::TextOfLines,
            unicode: unicode_locale(),
            // GNU `tac` sets no syntax. The default is the syntax of Emacs.
            ..Options::emacs()
        };
        let regex = Regex::new(&[source], &options).map_err(|error| Failure::Unsupported(error.to_string()))?;
        Ok(Self::Pattern(Box::new(regex)))
    }
}

/// Returns the ranges of the separators, the last one first. Each starts as late as possible before the following one.
fn separators(text: &[u8], regex: &Regex) -> Result<Vec<(usize, usize)>, Failure> {
    let failed = |error: Error| Failure::Unsupported(format!("error in regular expression search: {error}"));
    let mut starts = Vec::new();
    let mut from = 0;
    while let Some(found) = regex.find_in_line(text, from).map_err(failed)? {
        starts.push(found.start);
        from = found.start + 1;
        if from > text.len() {
            break;
        }
    }
    let mut separators = Vec::new();
    let mut limit = text.len();
    for start in starts.into_iter().rev().filter(|start| *start < text.len()) {
        if start >= limit {
            continue;
        }
        // Separators do not overlap.
        let found = regex.find_in_line(text.get(..limit).unwrap_or_default(), start).map_err(failed)?;
        if let Some(found) = found.filter(|found| found.start == start && found.end > start) {
            separators.push((start, found.end));
            limit = start;
        }
    }
    Ok(separators)
}

/// Returns the records of a text in reverse order. `separators` are their ranges, the last one first.
fn reversed_at(text: &[u8], separators: &[(usize, usize)], before: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut end = text.len();
    for (start, stop) in separators {
        let cut = if before { *start } else { *stop };
        out.extend_from_slice(text.get(cut..end).unwrap_or_default());
        end = cut;
    }
    out.extend_from_slice(text.get(..end).unwrap_or_default());
    out
}

/// Returns the records of a text in reverse order. A separator ends a record or, with `before`, starts one.
pub(crate) fn reversed(text: &[u8], separator: &[u8], before: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut end = text.len();
    // Separators are found from the end, so that overlapping ones are taken as GNU takes them.
    let finder = memchr::memmem::FinderRev::new(separator);
    let mut searched = text;
    while let Some(at) = finder.rfind(searched) {
        let cut = if before { at } else { at + separator.len() };
        out.extend_from_slice(text.get(cut..end).unwrap_or_default());
        end = cut;
        searched = text.get(..at).unwrap_or_default();
    }
    out.extend_from_slice(text.get(..end).unwrap_or_default());
    out
}
