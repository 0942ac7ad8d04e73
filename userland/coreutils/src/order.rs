//! `sort`: what that of uutils does by a second thread, which there is not, and its messages about files.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tidebox_gnu::getopt::Item;
use tidebox_gnu::message::{cited, complain, named, quoted, reason};
use tidebox_rt::FileKind;

use crate::border::{Turn, options_end, os_string};
use crate::grammar;

/// A wrong use of `sort`, and any trouble with files.
const TROUBLE: i32 = 2;

/// A command line of `sort`, taken apart.
#[derive(Debug, Default)]
struct Asked {
    /// Options that are passed on as they are.
    options: Vec<OsString>,
    files: Vec<Vec<u8>>,
    /// `-c` or `-C`
    check: Option<char>,
    output: bool,
    unique: bool,
    zero: bool,
    list: bool,
    random: bool,
}

/// Decides what becomes of a command line.
pub(crate) fn sort(arguments: Vec<OsString>, run: fn(std::vec::IntoIter<OsString>) -> i32) -> Turn {
    let asked = match Asked::read(&arguments) {
        Ok(Some(asked)) => asked,
        Ok(None) => return Turn::Run(old_keys(&arguments)),
        Err(message) => return Turn::Refuse(message, TROUBLE),
    };
    if let Some(letter) = asked.check {
        return match asked.files.get(1) {
            Some(extra) => Turn::Refuse(format!("extra operand {} not allowed with -{letter}", quoted(extra)), TROUBLE),
            None => asked.check(letter, run),
        };
    }
    for file in asked.files.iter().filter(|file| file.as_slice() != b"-" && !asked.list) {
        match tidebox_rt::stat(file, true) {
            Err(error) => return Turn::Refuse(format!("cannot read: {}: {}", named(file), error.text()), TROUBLE),
            Ok(stat) if stat.kind() == FileKind::Dir => {
                return Turn::Refuse(format!("read failed: {}: Is a directory", named(file)), TROUBLE);
            }
            Ok(_) => {}
        }
    }
    let mut words = vec![OsString::from("sort")];
    words.extend(asked.options);
    words.push("--".into());
    words.extend(asked.files.iter().map(|file| os_string(file)));
    Turn::Run(words)
}

impl Asked {
    /// `None` when help is asked for, or something that only the tool itself understands.
    fn read(arguments: &[OsString]) -> Result<Option<Self>, String> {
        let arguments = old_keys(arguments);
        let Some(items) = grammar::items("sort", &arguments) else {
            return Ok(None);
        };
        let mut asked = Self::default();
        let dashes = |word: &[u8]| os_string(word);
        for (name, item) in items {
            let (letter, value) = match item {
                Item::Operand(operand) => {
                    asked.files.push(operand);
                    continue;
                }
                Item::Option(letter, value) => (letter, value),
            };
            let word = value.clone().unwrap_or_default();
            match (letter, name) {
                ('c' | 'C', _) | (_, "check") => {
                    let quiet = letter == 'C' || b"quiet".starts_with(&word) && !word.is_empty() || word == b"silent";
                    let letter = if quiet { 'C' } else { 'c' };
                    if asked.check.is_some_and(|other| other != letter) {
                        return Err("options '-cC' are incompatible".to_owned());
                    }
                    asked.check = Some(letter);
                    continue;
                }
                // Sorting gives the same as merging what is sorted.
                ('m', _) | (_, "merge") => continue,
                ('t', _) | (_, "field-separator") => separator(&word)?,
                (_, "parallel") if word.iter().all(|digit| *digit == b'0') => {
                    return Err("number in parallel must be nonzero".to_owned());
                }
                ('o', _) | (_, "output") => asked.output = true,
                ('u', _) | (_, "unique") => asked.unique = true,
                ('z', _) | (_, "zero-terminated") => asked.zero = true,
                ('R', _) | (_, "random-sort") => asked.random = true,
                (_, "files0-from") => asked.list = true,
                _ => {}
            }
            asked.options.push(match (name, value) {
                ("", Some(value)) => dashes(&[b"-", letter.to_string().as_bytes(), &value].concat()),
                ("", None) => dashes(format!("-{letter}").as_bytes()),
                (name, Some(value)) => dashes(&[format!("--{name}=").as_bytes(), value.as_slice()].concat()),
                (name, None) => dashes(format!("--{name}").as_bytes()),
            });
            // `-t ''` and the like have a value of their own, though an empty one.
            if matches!(letter, 't' | 'T' | 'S' | 'k' | 'o') && word.is_empty() && name.is_empty() {
                asked.options.push(OsString::new());
            }
        }
        if asked.check.is_some() && asked.output {
            return Err("options '-co' are incompatible".to_owned());
        }
        if asked.list && !asked.files.is_empty() {
            return Ok(None);
        }
        Ok(Some(asked))
    }

    /// Whether the file is sorted, found out by sorting it: the lines keep their places just when they are in order.
    fn check(self, letter: char, run: fn(std::vec::IntoIter<OsString>) -> i32) -> Turn {
        let file = self.files.first().cloned().unwrap_or_else(|| b"-".to_vec());
        let text = match content(&file) {
            Ok(text) => text,
            Err(message) => return Turn::Refuse(message, TROUBLE),
        };
        let end = if self.zero { 0 } else { b'\n' };
        let mut lines: Vec<&[u8]> = text.split(|byte| *byte == end).collect();
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        let place = Place::new();
        let sorted = |unique: bool| -> Result<Vec<Vec<u8>>, i32> {
            fs::write(&place.from, &text).map_err(|error| place.complain(&error))?;
            let mut words = vec![OsString::from("sort")];
            let drop = |option: &&OsString| !matches!(option.as_encoded_bytes(), b"-u" | b"--unique");
            words.extend(self.options.iter().filter(drop).cloned());
            if self.unique {
                words.push(if unique { "-u".into() } else { "-s".into() });
            }
            words.extend(["-o".into(), place.to.clone().into_os_string(), place.from.clone().into_os_string()]);
            match run(words.into_iter()) {
                0 => {}
                code => return Err(code),
            }
            let text = fs::read(&place.to).map_err(|error| place.complain(&error))?;
            let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == end).map(<[u8]>::to_vec).collect();
            lines.pop();
            Ok(lines)
        };
        let found = sorted(false).and_then(|order| {
            let kept = if self.unique { Some(sorted(true)?) } else { None };
            Ok(disorder(&lines, &order, kept.as_deref()))
        });
        match found {
            Err(code) => Turn::Answer(code),
            Ok(None) => Turn::Answer(0),
            Ok(Some(at)) => {
                if letter == 'c' {
                    let line = String::from_utf8_lossy(lines.get(at).copied().unwrap_or_default()).into_owned();
                    complain("sort", &format!("{}:{}: disorder: {line}", String::from_utf8_lossy(&file), at + 1));
                }
                Turn::Answer(1)
            }
        }
    }
}

/// `+POS1 [-POS2]`, the keys of old, as `-k` writes them: fields and characters count from 0 there.
fn old_keys(arguments: &[OsString]) -> Vec<OsString> {
    let end = options_end(arguments);
    let mut out: Vec<OsString> = Vec::with_capacity(arguments.len());
    let mut words = arguments.iter().enumerate().peekable();
    while let Some((at, word)) = words.next() {
        let Some((field, char, flags)) = position(word.as_encoded_bytes(), b'+').filter(|_| at > 0 && at < end) else {
            out.push(word.clone());
            continue;
        };
        let mut key = format!("{}", field + 1);
        if char > 0 {
            key.push_str(&format!(".{}", char + 1));
        }
        key.push_str(&flags);
        if let Some((_, (field, char, flags))) =
            words.peek().and_then(|(at, word)| Some((at, position(word.as_encoded_bytes(), b'-')?)))
        {
            words.next();
            // The end is what comes before that position.
            let last = if char == 0 { format!(",{field}") } else { format!(",{}.{char}", field + 1) };
            key.push_str(&last);
            key.push_str(&flags);
        }
        out.extend(["-k".into(), key.into()]);
    }
    out
}

/// `+1.2nr`: field, character and flags.
fn position(word: &[u8], sign: u8) -> Option<(u64, u64, String)> {
    let text = std::str::from_utf8(word).ok()?.strip_prefix(char::from(sign))?;
    let flags = text.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.');
    let numbers = text.strip_suffix(flags)?;
    let (field, char) = numbers.split_once('.').unwrap_or((numbers, "0"));
    if !flags.bytes().all(|flag| b"bdfginMhnRrV".contains(&flag)) {
        return None;
    }
    Some((field.parse().ok()?, char.parse().ok()?, flags.to_owned()))
}

/// The first line that stands behind one that it should stand before. `order` has the lines sorted, `kept` those that
/// are left when equal ones are dropped, if that counts.
fn disorder(lines: &[&[u8]], order: &[Vec<u8>], kept: Option<&[Vec<u8>]>) -> Option<usize> {
    // Lines with the same text keep their order, so that the k-th of them before is the k-th of them after.
    let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (at, line) in order.iter().enumerate().rev() {
        places.entry(line).or_default().push(at);
    }
    let mut left: HashMap<&[u8], usize> = HashMap::new();
    for line in kept.unwrap_or_default() {
        *left.entry(line).or_default() += 1;
    }
    let mut before = None;
    for (at, line) in lines.iter().enumerate() {
        let place = places.get_mut(line).and_then(Vec::pop);
        let dropped = kept.is_some()
            && left.get_mut(line).is_none_or(|left| {
                let gone = *left == 0;
                *left = left.saturating_sub(1);
                gone
            });
        if before > place || dropped {
            return Some(at);
        }
        before = place;
    }
    None
}

/// One byte, or `\0`.
fn separator(word: &[u8]) -> Result<(), String> {
    match word {
        [] => Err("empty tab".to_owned()),
        [_] | b"\\0" => Ok(()),
        _ => Err(format!("multi-character tab {}", cited(word))),
    }
}

fn content(file: &[u8]) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let told = |error: &io::Error| match error.kind() {
        io::ErrorKind::IsADirectory => format!("read failed: {}: {}", named(file), reason(error)),
        _ => format!("cannot read: {}: {}", named(file), reason(error)),
    };
    if file == b"-" {
        io::stdin().lock().read_to_end(&mut text).map_err(|error| told(&error))?;
    } else {
        let mut opened = fs::File::open(tidebox_rt::path_of_bytes(file)).map_err(|error| told(&error))?;
        opened.read_to_end(&mut text).map_err(|error| told(&error))?;
    }
    Ok(text)
}

/// Two temporary files that go when the work is done.
struct Place {
    from: PathBuf,
    to: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = std::env::var_os("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let id = tidebox_rt::getids().map_or(0, |ids| ids.pid);
        let name = |what: &str| folder.join(format!("sort-{what}-{id}"));
        Self { from: name("input"), to: name("output") }
    }

    fn complain(&self, error: &io::Error) -> i32 {
        let shown = |path: &Path| quoted(path.as_os_str().as_encoded_bytes());
        complain("sort", &format!("cannot use temporary file {}: {}", shown(&self.from), reason(error)));
        TROUBLE
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What was never made cannot be removed.
        let _ = (fs::remove_file(&self.from), fs::remove_file(&self.to));
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{disorder, sort};
    use crate::border::Turn;

    fn prepared(line: &str) -> Turn {
        sort(line.split(' ').map(OsString::from).collect(), |_| 0)
    }

    fn words(line: &str) -> Turn {
        Turn::Run(line.split(' ').map(OsString::from).collect())
    }

    #[test]
    fn merging_becomes_sorting() {
        for (asked, run) in [
            ("sort -m -", "sort -- -"),
            ("sort -nmr -k 2 --merge -", "sort -n -r -k2 -- -"),
            ("sort -mt m -k2m -", "sort -tm -k2m -- -"),
            ("sort -o -m -", "sort -o-m -- -"),
            ("sort --reverse -", "sort --reverse -- -"),
            ("sort +1n -2 -", "sort -k2n,2 -- -"),
        ] {
            assert_eq!(prepared(asked), words(run), "{asked}");
        }
    }

    #[test]
    fn options_that_contradict_each_other_are_told() {
        for (asked, message) in [
            ("sort -cC -", "options '-cC' are incompatible"),
            ("sort -c -o x -", "options '-co' are incompatible"),
            ("sort -c - b", "extra operand 'b' not allowed with -c"),
        ] {
            assert_eq!(prepared(asked), Turn::Refuse(message.to_owned(), 2), "{asked}");
        }
    }

    #[test]
    fn the_first_line_out_of_place_is_found() {
        let order = |lines: &[&str]| -> Vec<Vec<u8>> { lines.iter().map(|line| line.as_bytes().to_vec()).collect() };
        let lines: Vec<&[u8]> = vec![b"a", b"c", b"b", b"b"];
        assert_eq!(disorder(&lines, &order(&["a", "b", "b", "c"]), None), Some(2));
        let lines: Vec<&[u8]> = vec![b"a", b"a", b"b"];
        assert_eq!(disorder(&lines, &order(&["a", "a", "b"]), None), None);
        assert_eq!(disorder(&lines, &order(&["a", "a", "b"]), Some(&order(&["a", "b"]))), Some(1));
    }
}
