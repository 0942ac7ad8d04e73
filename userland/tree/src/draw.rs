//! Text output.

use crate::entry::{Entry, mark};
use crate::list::{List, Position, Totals};
use crate::meta::size;
use crate::options::{Lines, Options, Unprintable};
use crate::walk::Walk;

pub(crate) struct Drawing;

/// A vertical line, a branch, and the last branch.
fn strokes(lines: Lines) -> [&'static [u8]; 3] {
    match lines {
        Lines::None => [b"", b"", b""],
        Lines::Ascii => [b"|   ", b"|-- ", b"`-- "],
        Lines::Unicode => ["│\u{a0}\u{a0} ".as_bytes(), "├── ".as_bytes(), "└── ".as_bytes()],
    }
}

fn indentation(position: &Position, lines: Lines) -> Vec<u8> {
    let [vertical, branch, last] = strokes(lines);
    let mut out = Vec::new();
    if lines == Lines::None {
        return out;
    }
    for more in &position.more {
        out.extend_from_slice(if *more { vertical } else { b"    " });
    }
    out.extend_from_slice(if position.last { last } else { branch });
    out
}

/// Formats a name with visible control characters.
fn visible(name: &[u8], options: &Options) -> Vec<u8> {
    let mut out = Vec::new();
    if options.unprintable == Unprintable::Raw {
        out.extend_from_slice(name);
    } else if let Ok(text) = std::str::from_utf8(name) {
        for letter in text.chars() {
            let visible = !letter.is_control() && !matches!(letter, '\u{2028}' | '\u{2029}');
            match options.unprintable {
                _ if visible => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
                Unprintable::Question => out.push(b'?'),
                _ => out.extend_from_slice(format!("\\{:03o}", u32::from(letter)).as_bytes()),
            }
        }
    } else {
        name.iter().for_each(|byte| push_byte(*byte, options, &mut out));
    }
    if options.quotes { [b"\"", out.as_slice(), b"\""].concat() } else { out }
}

/// Formats a byte of a name that is not text.
fn push_byte(byte: u8, options: &Options, out: &mut Vec<u8>) {
    match byte {
        7..=13 => {
            out.push(b'\\');
            out.push(b"abtnvfr".get(usize::from(byte - 7)).copied().unwrap_or(b'?'));
        }
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'"' if options.quotes => out.extend_from_slice(b"\\\""),
        b' ' if !options.quotes => out.extend_from_slice(b"\\ "),
        32..=126 => out.push(byte),
        _ if options.unprintable == Unprintable::Question => out.push(if byte > 127 { byte } else { b'?' }),
        _ => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
    }
}

fn colored(text: Vec<u8>, color: Option<&str>) -> Vec<u8> {
    match color {
        Some(color) => [b"\x1b[", color.as_bytes(), b"m", &text, b"\x1b[0m"].concat(),
        None => text,
    }
}

/// Formats the name of a file with its suffixes on the line.
fn line(entry: &Entry, name: &[u8], options: &Options) -> Vec<u8> {
    let color = |name: &[u8], stat, orphan| options.colors.as_ref().and_then(|colors| colors.of(name, stat, orphan));
    let orphan = entry.is_link() && entry.beyond.is_none();
    let mut out = colored(visible(name, options), color(&entry.name, Some(&entry.stat), orphan));
    if let Some(target) = &entry.target {
        out.extend_from_slice(b" -> ");
        out.extend(colored(visible(target, options), color(target, entry.beyond.as_ref(), false)));
        if options.marks {
            out.extend_from_slice(entry.beyond.as_ref().map_or(b"".as_slice(), mark));
        }
    } else if options.marks {
        out.extend_from_slice(mark(&entry.stat));
    }
    if let Some(problem) = &entry.problem {
        out.extend_from_slice(format!("  [{problem}]").as_bytes());
    }
    out.push(b'\n');
    out
}

impl List for Drawing {
    fn begin(&mut self, _walk: &mut Walk) {}

    fn operand(&mut self, walk: &mut Walk, name: &[u8], entry: Option<&Entry>, _opens: bool) {
        match entry {
            Some(entry) => {
                let brackets = walk.brackets(entry);
                walk.out.push(brackets.as_bytes());
                walk.out.push(&line(entry, name, &walk.options));
            }
            None => walk.out.push(&[&visible(name, &walk.options), b"  [error opening dir]\n".as_slice()].concat()),
        }
    }

    fn entry(&mut self, walk: &mut Walk, entry: &Entry, position: &Position) {
        let brackets = walk.brackets(entry);
        let indent = indentation(position, walk.options.lines);
        walk.out.push(&indent);
        walk.out.push(brackets.as_bytes());
        let name = if walk.options.full_path { &entry.path } else { &entry.name };
        walk.out.push(&line(entry, name, &walk.options));
    }

    fn close(&mut self, _walk: &mut Walk, _entry: &Entry, _position: &Position) {}

    fn close_operand(&mut self, _walk: &mut Walk, _entry: Option<&Entry>, _opened: bool, _last: bool) {}

    fn end(&mut self, walk: &mut Walk, totals: &Totals) {
        if !walk.options.no_report {
            report(walk, totals);
        }
    }
}

/// Prints the numbers of directories and files.
fn report(walk: &mut Walk, totals: &Totals) {
    let mut text = String::from("\n");
    if walk.options.du {
        let unit = if walk.options.sizes == crate::options::Sizes::Bytes { " bytes" } else { "" };
        text.push_str(&format!(" {}{unit} used in ", size(totals.size, walk.options.sizes)));
    }
    let folders = if totals.folders == 1 { "directory" } else { "directories" };
    text.push_str(&format!("{} {folders}", totals.folders));
    if !walk.options.folders_only {
        text.push_str(&format!(", {} file{}", totals.files, if totals.files == 1 { "" } else { "s" }));
    }
    text.push('\n');
    walk.out.push(text.as_bytes());
}
