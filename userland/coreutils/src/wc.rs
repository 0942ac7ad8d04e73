//! `wc`: counts lines, words, characters and bytes. words: allow `wc` counts words

use memchr::memchr_iter;
use tidebox_gnu::message::{path_label, print_error, quote_path, unicode_locale};
use tidebox_gnu::options::Syntax;
use tidebox_rt::{Errno, FileKind};
use unicode_width::UnicodeWidthChar;

use crate::cat::write;
use crate::common::Failure;
use crate::common::input::{CHUNK, Input};

const USAGE: &str = "\
Usage: wc [OPTION]... [FILE]...
  or:  wc [OPTION]... --files0-from=F
Prints the numbers of lines, words and bytes of each FILE, and the totals of several FILEs.
Without FILE, or if FILE is -, reads standard input.

";

tidebox_gnu::options! {
    /// Options of `wc`.
    enum Flag {
        Bytes = "-c, --bytes", "print the number of bytes";
        Chars = "-m, --chars", "print the number of characters";
        Lines = "-l, --lines", "print the number of newlines";
        Files0From = "--files0-from=F", "read file names from F, each ended by NUL";
        MaxLineLength = "-L, --max-line-length", "print the width of the widest line";
        Words = "-w, --words", "print the number of words";
    }
}

/// Counts to print, in output order.
#[derive(Clone, Copy, Debug, Default)]
struct Selection {
    lines: bool,
    words: bool,
    chars: bool,
    bytes: bool,
    width: bool,
}

/// Counts of a file, or totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    lines: u64,
    words: u64,
    chars: u64,
    bytes: u64,
    width: u64,
}

/// Runs `wc`.
pub fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut wanted = Selection::default();
    let mut list = None;
    let mut files = Syntax::core("wc", USAGE, 25).parse(arguments, |key, value| {
        match key {
            Flag::Lines => wanted.lines = true,
            Flag::Words => wanted.words = true,
            Flag::Chars => wanted.chars = true,
            Flag::Bytes => wanted.bytes = true,
            Flag::MaxLineLength => wanted.width = true,
            _ => list = Some(value),
        }
        Ok::<_, Failure>(())
    })?;
    if wanted.count() == 0 {
        (wanted.lines, wanted.words, wanted.bytes) = (true, true, true);
    }
    let (mut code, mut skipped) = (0, 0);
    let listed = list.is_some();
    let mut streamed = false;
    if let Some(list) = list {
        if let Some(extra) = files.first() {
            let rest = "file operands cannot be combined with --files0-from";
            return Err(Failure::Usage(format!("extra operand {}\n{rest}", quote_path(extra))));
        }
        streamed = !names_are_in_file(&list);
        (files, skipped) = names(&list)?;
        code = i32::from(skipped > 0);
    }
    let alone = files.is_empty() && !listed;
    if alone {
        files.push(b"-".to_vec());
    }
    // File names from a pipe are not known in advance, so the numbers are not aligned.
    let width = if streamed { 1 } else { column(&wanted, &files) };
    let mut total = Counts::default();
    for file in &files {
        let (counts, error) = count(file, wanted);
        if let Some(error) = error {
            print_error("wc", &format!("{}: {}", path_label(file), error.text()));
            code = 1;
        }
        if let Some(counts) = counts {
            print(&wanted, &counts, width, (!alone).then_some(file))?;
            total.add(&counts);
        }
    }
    if files.len() + skipped > 1 {
        print(&wanted, &total, width, Some(&b"total".to_vec()))?;
    }
    Ok(code)
}

impl Selection {
    fn count(&self) -> usize {
        [self.lines, self.words, self.chars, self.bytes, self.width].iter().filter(|wanted| **wanted).count()
    }
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.words += other.words;
        self.chars += other.chars;
        self.bytes += other.bytes;
        self.width = self.width.max(other.width);
    }
}

/// Returns the names in a list, and how many were skipped after a message.
fn names(list: &[u8]) -> Result<(Vec<Vec<u8>>, usize), Failure> {
    let wrong = |error: Errno| {
        Failure::Unsupported(match error {
            Errno::ISDIR => format!("{}: read error: {}", path_label(list), error.text()),
            error => format!("cannot open {} for reading: {}", quote_path(list), error.text()),
        })
    };
    let input = Input::open(list).map_err(wrong)?;
    let mut text = Vec::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        match input.read(&mut buffer).map_err(wrong)? {
            0 => break,
            got => text.extend_from_slice(buffer.get(..got).unwrap_or_default()),
        }
    }
    let mut names = Vec::new();
    let mut skipped = 0;
    let listed = text.strip_suffix(b"\0").unwrap_or(&text);
    for (at, name) in listed.split(|byte| *byte == 0).enumerate().filter(|_| !text.is_empty()) {
        match name {
            b"" => {
                print_error("wc", &format!("{}:{}: invalid zero-length file name", path_label(list), at + 1));
                skipped += 1;
            }
            b"-" if list == b"-" => {
                let reason = "when reading file names from stdin, no file name of '-' allowed";
                print_error("wc", reason);
                skipped += 1;
            }
            name => names.push(name.to_vec()),
        }
    }
    Ok((names, skipped))
}

/// Returns whether a list of names is a regular file. It can be read before the first file is counted.
fn names_are_in_file(list: &[u8]) -> bool {
    let stat = if list == b"-" { tidebox_rt::fstat(0) } else { tidebox_rt::stat(list, true) };
    stat.is_ok_and(|stat| stat.kind() == FileKind::File)
}

/// Returns the width of the numbers: that of the total size, and at least 7 if the size of a file is unknown.
fn column(wanted: &Selection, files: &[Vec<u8>]) -> usize {
    if files.len() == 1 && wanted.count() == 1 {
        return 1;
    }
    let (mut min_width, mut sum) = (1, 0_u64);
    for file in files {
        match if file == b"-" { tidebox_rt::fstat(0) } else { tidebox_rt::stat(file, true) } {
            Ok(stat) if stat.kind() == FileKind::File => sum = sum.saturating_add(stat.size),
            Ok(_) => min_width = 7,
            Err(_) => {}
        }
    }
    sum.to_string().len().max(min_width)
}

fn print(wanted: &Selection, counts: &Counts, width: usize, name: Option<&Vec<u8>>) -> Result<(), Failure> {
    let numbers = [
        (wanted.lines, counts.lines),
        (wanted.words, counts.words),
        (wanted.chars, counts.chars),
        (wanted.bytes, counts.bytes),
        (wanted.width, counts.width),
    ];
    let shown = numbers.iter().filter(|(wanted, _)| *wanted).map(|(_, number)| format!("{number:>width$}"));
    let mut line = shown.collect::<Vec<_>>().join(" ").into_bytes();
    if let Some(name) = name {
        line.push(b' ');
        // A line end in a name is quoted, so that each file has one line.
        match name.contains(&b'\n') {
            true => line.extend_from_slice(path_label(name).as_bytes()),
            false => line.extend_from_slice(name),
        }
    }
    line.push(b'\n');
    write(&line)
}

/// Counts a file; counts made before an error are kept.
fn count(file: &[u8], wanted: Selection) -> (Option<Counts>, Option<Errno>) {
    let input = match Input::open(file) {
        Ok(input) => input,
        Err(error) => return (None, Some(error)),
    };
    let mut counter = Counter::new(wanted);
    let mut buffer = vec![0; CHUNK];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return (Some(counter.end()), None),
            Ok(got) => counter.pass(buffer.get(..got).unwrap_or_default()),
            Err(error) => return (Some(counter.end()), Some(error)),
        }
    }
}

/// Incremental counter.
struct Counter {
    counts: Counts,
    /// Characters have to be decoded. Lines and bytes alone do not need that.
    decodes: bool,
    unicode: bool,
    in_word: bool,
    position: u64,
    /// Incomplete character at the end of a chunk.
    partial: Vec<u8>,
}

impl Counter {
    fn new(wanted: Selection) -> Self {
        Self {
            counts: Counts::default(),
            decodes: wanted.words || wanted.chars || wanted.width,
            unicode: unicode_locale(),
            in_word: false,
            position: 0,
            partial: Vec::new(),
        }
    }

    fn pass(&mut self, bytes: &[u8]) {
        self.counts.bytes += bytes.len() as u64;
        if !self.decodes {
            self.counts.lines += memchr_iter(b'\n', bytes).count() as u64;
            return;
        }
        if !self.unicode {
            bytes.iter().for_each(|byte| self.character(if byte.is_ascii() { char::from(*byte) } else { '\u{fffe}' }));
            return;
        }
        let joined;
        let mut rest = bytes;
        if !self.partial.is_empty() {
            joined = [std::mem::take(&mut self.partial).as_slice(), bytes].concat();
            rest = &joined;
        }
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(text) => return text.chars().for_each(|char| self.character(char)),
                Err(error) => {
                    let (text, after) = rest.split_at_checked(error.valid_up_to()).unwrap_or((rest, b""));
                    String::from_utf8_lossy(text).chars().for_each(|char| self.character(char));
                    match error.error_len() {
                        // Invalid UTF-8 counts as bytes only.
                        Some(length) => rest = after.get(length.min(1)..).unwrap_or_default(),
                        None => {
                            self.partial = after.to_vec();
                            return;
                        }
                    }
                }
            }
        }
    }

    fn character(&mut self, char: char) {
        self.counts.chars += 1;
        match char {
            '\n' | '\r' | '\x0c' => {
                self.counts.lines += u64::from(char == '\n');
                self.counts.width = self.counts.width.max(self.position);
                self.position = 0;
                self.in_word = false;
            }
            '\t' => {
                self.position += 8 - self.position % 8;
                self.in_word = false;
            }
            ' ' => {
                self.position += 1;
                self.in_word = false;
            }
            '\x0b' => self.in_word = false,
            char if char.is_control() || char == '\u{fffe}' => {}
            char => {
                self.position += char.width().unwrap_or(0) as u64;
                let apart = char.is_whitespace() || char == '\u{2060}';
                self.counts.words += u64::from(!apart && !self.in_word);
                self.in_word = !apart;
            }
        }
    }

    fn end(mut self) -> Counts {
        self.counts.width = self.counts.width.max(self.position);
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::{Counter, Counts, Selection};

    fn counted(pieces: &[&[u8]]) -> Counts {
        let mut counter = Counter::new(Selection { words: true, ..Selection::default() });
        counter.unicode = true;
        pieces.iter().for_each(|piece| counter.pass(piece));
        counter.end()
    }

    #[test]
    fn characters_may_span_chunks() {
        let text = "a b\n\u{e4}\tcc\n\n".as_bytes();
        let whole = counted(&[text]);
        assert_eq!(whole, Counts { lines: 3, words: 4, chars: 10, bytes: 11, width: 10 });
        for at in 0..text.len() {
            let (before, after) = text.split_at(at);
            assert_eq!(counted(&[before, after]), whole, "{at}");
        }
    }

    #[test]
    fn invalid_utf8_is_not_counted_as_characters() {
        let counts = counted(&[b"\xff\xfe x\n"]);
        assert_eq!((counts.words, counts.chars, counts.bytes), (1, 3, 5));
    }
}
