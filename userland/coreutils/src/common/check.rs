//! Verification of files against a list of checksums.

use tidebox_gnu::message::{path_label, print_error};
use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::Errno;

use crate::common::digest::Algorithm;
use crate::md5sum::escape;

/// Options of `--check`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Do not report missing files.
    pub ignore_missing: bool,
    /// Do not report matching files.
    pub quiet: bool,
    /// Report nothing.
    pub status: bool,
    /// Report each improperly formatted line.
    pub warn: bool,
    /// Improperly formatted lines are errors.
    pub strict: bool,
}

/// Algorithm of the lines of a list.
#[derive(Clone, Copy, Debug)]
pub enum Lines {
    /// All lines have this one.
    Of(Algorithm),
    /// Each line names its own.
    Named,
    /// The length of the digest determines it, as in `shasum`.
    Sha,
}

/// A line of a list.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) algorithm: Algorithm,
    /// Digest in hexadecimal digits.
    pub(crate) sum: Vec<u8>,
    pub(crate) name: Vec<u8>,
}

/// Results of the checked lines.
#[derive(Debug, Default)]
struct Tally {
    proper: u64,
    improper: u64,
    mismatched: u64,
    unreadable: u64,
    matched: u64,
}

/// Checks the files of a list. Returns 0 if all match.
pub fn check(tool: &str, lines: Lines, list: &[u8], options: CheckOptions, out: &mut Output) -> i32 {
    let shown = if list == b"-" { b"standard input".as_slice() } else { list };
    let mut input = match Input::open(list) {
        Ok(input) => input,
        Err(error) => return fail_with(tool, out, &format!("{}: {}", path_label(list), error.text())),
    };
    let mut tally = Tally::default();
    // The first line decides whether one blank or two characters precede the names.
    let mut reversed = None;
    let mut last = None;
    let mut line = Vec::new();
    let mut number = 0u64;
    loop {
        match input.line(b'\n', &mut line) {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => return fail_with(tool, out, &format!("{}: read error", path_label(shown))),
        }
        number += 1;
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.is_empty() || text.starts_with(b"#") {
            continue;
        }
        let found = match lines {
            Lines::Of(algorithm) => entry(algorithm, text, &mut reversed),
            Lines::Named => self_describing(text),
            Lines::Sha => Algorithm::SHA.iter().find_map(|algorithm| entry(*algorithm, text, &mut None)),
        };
        match found.filter(|entry| !(list == b"-" && entry.name == b"-")) {
            Some(entry) => {
                last = Some(entry.algorithm);
                tally.proper += 1;
                one(tool, &entry, options, &mut tally, out);
            }
            None => {
                tally.improper += 1;
                if options.warn {
                    let kind = match lines {
                        Lines::Of(algorithm) => algorithm.name(),
                        Lines::Named => last.map_or("CRC", Algorithm::name),
                        Lines::Sha => "SHA",
                    };
                    fail_with(
                        tool,
                        out,
                        &format!("{}: {number}: improperly formatted {kind} checksum line", path_label(shown)),
                    );
                }
            }
        }
        if out.failure().is_some() {
            return 1;
        }
    }
    sum_up(tool, lines, shown, &tally, options, out)
}

fn fail_with(tool: &str, out: &mut Output, message: &str) -> i32 {
    out.flush_now();
    print_error(tool, message);
    1
}

/// Compares one file.
fn one(tool: &str, entry: &Entry, options: CheckOptions, tally: &mut Tally, out: &mut Output) {
    let result = match Input::open(&entry.name).and_then(|mut input| entry.algorithm.sum(&mut input)) {
        Err(Errno::NOENT) if options.ignore_missing => return,
        Err(error) => {
            fail_with(tool, out, &format!("{}: {}", path_label(&entry.name), error.text()));
            tally.unreadable += 1;
            "FAILED open or read"
        }
        Ok(sum) if sum.as_bytes().eq_ignore_ascii_case(&entry.sum) => {
            tally.matched += 1;
            "OK"
        }
        Ok(_) => {
            tally.mismatched += 1;
            "FAILED"
        }
    };
    if options.status || (options.quiet && result == "OK") {
        return;
    }
    // Only newlines are escaped: a backslash is harmless in this output.
    let escaped = if entry.name.contains(&b'\n') { escape(&entry.name) } else { None };
    if escaped.is_some() {
        out.push(b"\\");
    }
    out.push(&[escaped.as_deref().unwrap_or(&entry.name), b": ", result.as_bytes(), b"\n"].concat());
}

/// Reports the number of lines of each kind.
fn sum_up(tool: &str, lines: Lines, list: &[u8], tally: &Tally, options: CheckOptions, out: &mut Output) -> i32 {
    if tally.proper == 0 {
        let kind = if matches!(lines, Lines::Sha) { "SHA " } else { "" };
        let message = format!("{}: no properly formatted {kind}checksum lines found", path_label(list));
        return fail_with(tool, out, &message);
    }
    if !options.status {
        let counts = [
            (tally.improper, "line is improperly formatted", "lines are improperly formatted"),
            (tally.unreadable, "listed file could not be read", "listed files could not be read"),
            (tally.mismatched, "computed checksum did NOT match", "computed checksums did NOT match"),
        ];
        for (count, one, several) in counts.into_iter().filter(|(count, ..)| *count > 0) {
            fail_with(tool, out, &format!("WARNING: {count} {}", if count == 1 { one } else { several }));
        }
    }
    if options.ignore_missing && tally.matched == 0 {
        if !options.status {
            fail_with(tool, out, &format!("{}: no file was verified", path_label(list)));
        }
        return 1;
    }
    let fine = tally.mismatched == 0
        && tally.unreadable == 0
        && (!options.ignore_missing || tally.matched > 0)
        && (!options.strict || tally.improper == 0);
    i32::from(!fine)
}

/// Parses a line that starts with the name of its algorithm.
fn self_describing(line: &[u8]) -> Option<Entry> {
    let start = line.iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
    let text = line.get(start..)?;
    let (escaped, text) = text.strip_prefix(b"\\").map_or((false, text), |rest| (true, rest));
    let known = |algorithm: &Algorithm| {
        let rest = text.strip_prefix(algorithm.name().as_bytes())?;
        matches!(rest.first(), Some(b' ' | b'(' | b'-')).then_some((*algorithm, rest))
    };
    let (algorithm, rest) = Algorithm::NAMED.iter().find_map(known)?;
    tagged(algorithm, rest, escaped)
}

/// Parses a line of a list. `reversed` stores whether one blank precedes the names, as decided by the first line.
pub(crate) fn entry(algorithm: Algorithm, line: &[u8], reversed: &mut Option<bool>) -> Option<Entry> {
    let start = line.iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
    let mut text = line.get(start..)?;
    let escaped = text.first() == Some(&b'\\');
    if escaped {
        text = text.get(1..)?;
    }
    if let Some(rest) = text.strip_prefix(algorithm.name().as_bytes()) {
        return tagged(algorithm, rest, escaped);
    }
    let end = text.iter().position(|byte| !byte.is_ascii_hexdigit())?;
    let algorithm = match algorithm {
        // The length of the digest determines the number of bits.
        Algorithm::Blake2b(_) if (2..=128).contains(&end) && end % 2 == 0 => Algorithm::Blake2b(end * 4),
        other => other,
    };
    if end * 4 != algorithm.bits() {
        return None;
    }
    let (sum, rest) = text.split_at_checked(end)?;
    let rest = rest.strip_prefix(b" ").or_else(|| rest.strip_prefix(b"\t"))?;
    let name = match rest {
        [b' ' | b'*', name @ ..] if !name.is_empty() && *reversed != Some(true) => {
            *reversed = Some(false);
            name
        }
        [] => return None,
        name if *reversed != Some(false) => {
            *reversed = Some(true);
            name
        }
        _ => return None,
    };
    Some(Entry { algorithm, sum: sum.to_vec(), name: unescaped(name, escaped)? })
}

/// Parses `(NAME) = SUM` after the name of the algorithm. The blanks are optional.
fn tagged(algorithm: Algorithm, mut rest: &[u8], escaped: bool) -> Option<Entry> {
    let mut algorithm = algorithm;
    if let (Algorithm::Blake2b(_), Some(bits)) = (algorithm, rest.strip_prefix(b"-")) {
        let end = bits.iter().position(|byte| !byte.is_ascii_digit())?;
        let count: usize = std::str::from_utf8(bits.get(..end)?).ok()?.parse().ok()?;
        if count == 0 || count > 512 || !count.is_multiple_of(8) {
            return None;
        }
        algorithm = Algorithm::Blake2b(count);
        rest = bits.get(end..)?;
    }
    let rest = rest.strip_prefix(b" ").unwrap_or(rest).strip_prefix(b"(")?;
    let close = rest.iter().rposition(|byte| *byte == b')')?;
    let (name, after) = (rest.get(..close)?, rest.get(close + 1..)?);
    let blank = |text: &[u8]| text.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(text.len());
    let after = after.get(blank(after)..)?.strip_prefix(b"=")?;
    let sum = after.get(blank(after)..)?;
    let hex = sum.len() * 4 == algorithm.bits() && sum.iter().all(u8::is_ascii_hexdigit);
    if !hex {
        return None;
    }
    Some(Entry { algorithm, sum: sum.to_vec(), name: unescaped(name, escaped)? })
}

/// Returns an escaped name without its escapes.
fn unescaped(name: &[u8], escaped: bool) -> Option<Vec<u8>> {
    if !escaped {
        return Some(name.to_vec());
    }
    let mut out = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => out.push(match bytes.next()? {
                b'n' => b'\n',
                b'r' => b'\r',
                b'\\' => b'\\',
                _ => return None,
            }),
            0 => return None,
            byte => out.push(*byte),
        }
    }
    Some(out)
}
