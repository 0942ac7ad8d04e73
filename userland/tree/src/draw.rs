//! Text output.

use tidebox_gnu::stream::Output;

use crate::entry::{Entry, mark};
use crate::meta::{Meta, size};
use crate::options::{Lines, Options};

/// A vertical line, a space, a branch, and the last branch.
fn strokes(lines: Lines) -> [&'static [u8]; 4] {
    match lines {
        Lines::None => [b"", b"", b"", b""],
        Lines::Ascii => [b"|   ", b"    ", b"|-- ", b"`-- "],
        Lines::Unicode => ["│\u{a0}\u{a0} ".as_bytes(), b"    ", "├── ".as_bytes(), "└── ".as_bytes()],
    }
}

/// Formats a name with visible control characters.
fn visible(name: &[u8], options: &Options) -> Vec<u8> {
    if options.raw {
        return name.to_vec();
    }
    let mut out = String::new();
    for chunk in name.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                _ if letter.is_control() => out.push_str(&format!("\\{:03o}", u32::from(letter))),
                _ => out.push(letter),
            }
        }
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("\\{byte:03o}")));
    }
    out.into_bytes()
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

/// Prints an operand with its content.
pub(crate) fn print(out: &mut Output, operand: &Entry, options: &Options, meta: &Meta) {
    out.push(meta.brackets(operand, options).as_bytes());
    out.push(&line(operand, &operand.name, options));
    print_children(out, operand, &mut Vec::new(), options, meta);
}

fn print_children(out: &mut Output, folder: &Entry, indent: &mut Vec<u8>, options: &Options, meta: &Meta) {
    let [vertical, space, branch, last] = strokes(options.lines);
    for (at, entry) in folder.children.iter().enumerate() {
        let is_last = at + 1 == folder.children.len();
        out.push(indent);
        out.push(if is_last { last } else { branch });
        out.push(meta.brackets(entry, options).as_bytes());
        out.push(&line(entry, if options.full_path { &entry.path } else { &entry.name }, options));
        let length = indent.len();
        indent.extend_from_slice(if is_last { space } else { vertical });
        print_children(out, entry, indent, options, meta);
        indent.truncate(length);
    }
}

/// Prints the numbers of directories and files, and the sum of sizes.
pub(crate) fn report(out: &mut Output, (folders, files): (u64, u64), bytes: u64, options: &Options) {
    let mut text = String::from("\n");
    if options.du {
        let unit = if options.human { "" } else { " bytes" };
        text.push_str(&format!(" {}{unit} used in ", size(bytes, options.human)));
    }
    text.push_str(&format!("{folders} {}", if folders == 1 { "directory" } else { "directories" }));
    if !options.folders_only {
        text.push_str(&format!(", {files} file{}", if files == 1 { "" } else { "s" }));
    }
    text.push('\n');
    out.push(text.as_bytes());
}
