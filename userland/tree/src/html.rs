//! HTML output, with names as links.

use tidebox_gnu::stream::Input;
use tidebox_rt::FileKind;

use crate::draw::{self, strokes};
use crate::entry::Entry;
use crate::list::{List, Position, Totals};
use crate::options::{Lines, Options};
use crate::walk::Walk;
use crate::xml::escaped;

/// A page, with the values of `-H` and related options.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    /// Base URL of the links, replacing the operand.
    pub(crate) base: Vec<u8>,
    pub(crate) title: Option<Vec<u8>>,
    pub(crate) charset: Option<Vec<u8>>,
    /// Files that replace everything before and after the list.
    pub(crate) intro: Option<Vec<u8>>,
    pub(crate) outro: Option<Vec<u8>>,
}

/// The list within a page.
#[derive(Debug)]
pub(crate) struct Html {
    page: Page,
    /// The current operand.
    place: Vec<u8>,
}

/// The style is our own; the class names are those of `tree`, on which pages rely.
const STYLE: &str = " <style type=\"text/css\">
  body { font-family: monospace; }
  .DIR { color: blue; } .LINK { color: teal; } .EXEC { color: green; } .NORM { color: black; }
  .FIFO { color: purple; } .SOCK { color: fuchsia; } .CHAR, .BLOCK { color: olive; }
 </style>
";

impl Html {
    pub(crate) fn new(mut page: Page) -> Self {
        while page.base.ends_with(b"/") {
            page.base.pop();
        }
        Self { page, place: Vec::new() }
    }

    /// Formats an element with the name of a file. Without a URL the element is still written.
    fn anchor(entry: Option<&Entry>, address: Option<&[u8]>, name: &[u8], options: &Options) -> Vec<u8> {
        let mut out = b"<a".to_vec();
        if let Some(entry) = entry.filter(|_| options.colors.is_some()) {
            out.extend_from_slice(format!(" class=\"{}\"", class(entry)).as_bytes());
        }
        if let Some(address) = address.filter(|_| options.links) {
            let slash: &[u8] = if entry.is_some_and(Entry::is_folder) { b"/" } else { b"" };
            out.extend([b" href=\"".as_slice(), address, slash, b"\""].concat());
        }
        out.extend([b">".as_slice(), &escaped(name), b"</a>"].concat());
        out
    }

    fn line(out: &mut Walk, [first, second]: [&[u8]; 2], anchor: &[u8], problem: Option<&str>) {
        let problem = problem.map(|problem| format!("  [{problem}]")).unwrap_or_default();
        out.out.push(&[first, second, anchor, problem.as_bytes(), b"<br>\n"].concat());
    }

    /// Copies a custom header or footer file; as in `tree`, a missing file is empty.
    fn copied(walk: &mut Walk, file: &[u8]) {
        let mut line = Vec::new();
        if let Ok(mut input) = Input::open(file) {
            while input.line(b'\n', &mut line).unwrap_or(false) {
                walk.out.push(&line);
            }
        }
    }

    /// Formats the attributes of a file, with non-breaking spaces.
    fn brackets(walk: &Walk, entry: &Entry) -> String {
        match walk.brackets(entry).strip_suffix("  ") {
            Some(brackets) => format!("{}{}", brackets.replace(' ', "&nbsp;"), "&nbsp;".repeat(4)),
            None => String::new(),
        }
    }
}

/// Returns the class of a file; a link has that of its target.
fn class(entry: &Entry) -> &'static str {
    let stat = entry.beyond.unwrap_or(entry.stat);
    match stat.kind() {
        FileKind::Dir => "DIR",
        FileKind::Pipe => "FIFO",
        FileKind::Socket => "SOCK",
        FileKind::CharDevice => "CHAR",
        FileKind::BlockDevice => "BLOCK",
        FileKind::File if stat.mode & 0o111 != 0 => "EXEC",
        _ => "NORM",
    }
}

/// Encodes a path as a URL.
fn address(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    for byte in path {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'"' | b'#' | b'%' | b'+' | b'<' | b'>' | b'?' | b'['..=b'^' | ..=b' ' | 127.. => {
                out.extend_from_slice(format!("%{byte:02X}").as_bytes());
            }
            byte => out.push(*byte),
        }
    }
    out
}

fn indentation(position: &Position, lines: Lines) -> Vec<u8> {
    let [vertical, branch, last] = strokes(lines);
    let mut out = Vec::new();
    match lines {
        Lines::None => return out,
        Lines::Ansi => out.extend_from_slice(b"\x1b(0"),
        _ => out.push(b'\t'),
    }
    for more in &position.more {
        out.extend_from_slice(if *more { vertical } else { b"&nbsp;&nbsp;&nbsp; " });
    }
    out.extend_from_slice(if position.last { last } else { branch });
    if lines == Lines::Ansi {
        out.extend_from_slice(b"\x1b(B");
    }
    out
}

impl List for Html {
    fn begin(&mut self, walk: &mut Walk) {
        if let Some(file) = &self.page.intro {
            return Self::copied(walk, file);
        }
        let charset: &[u8] = match &self.page.charset {
            Some(charset) => charset,
            None if tidebox_gnu::message::unicode_locale() => b"UTF-8",
            None => b"iso-8859-1",
        };
        let title = self.page.title.as_deref().unwrap_or(b"Directory Tree");
        let parts: [&[u8]; 8] = [
            b"<!DOCTYPE html>\n<html>\n<head>\n <meta http-equiv=\"Content-Type\" content=\"text/html; charset=",
            charset,
            b"\">\n <title>",
            title,
            b"</title>\n",
            STYLE.as_bytes(),
            b"</head>\n<body>\n\t<h1>",
            title,
        ];
        walk.out.push(&parts.concat());
        walk.out.push(b"</h1><p>\n");
    }

    fn place(&mut self, walk: &mut Walk, name: &[u8], entry: Option<&Entry>, _opens: bool) {
        name.clone_into(&mut self.place);
        let Some(entry) = entry else {
            let anchor = Self::anchor(None, None, &self.page.base, &walk.options);
            return Self::line(walk, [b"", b""], &anchor, Some("error opening dir"));
        };
        let brackets = Self::brackets(walk, entry);
        let tab: &[u8] = if matches!(walk.options.lines, Lines::None | Lines::Ansi) { b"" } else { b"\t" };
        let before = in_order(walk, tab, &brackets);
        // The operand is treated as a directory here, regardless of its type.
        let base = [self.page.base.as_slice(), if entry.is_folder() { b"" } else { b"/" }].concat();
        let anchor = Self::anchor(Some(entry), Some(&base), &self.page.base, &walk.options);
        Self::line(walk, before, &anchor, entry.problem.as_deref());
    }

    fn entry(&mut self, walk: &mut Walk, entry: &Entry, position: &Position) {
        let brackets = Self::brackets(walk, entry);
        let indent = indentation(position, walk.options.lines);
        let name = if walk.options.full_path { &entry.path } else { &entry.name };
        let below = entry.path.strip_prefix(self.place.as_slice()).unwrap_or(&entry.path);
        let below = below.strip_prefix(b"/").unwrap_or(below);
        let folder = below.strip_suffix(entry.name.as_slice()).unwrap_or_default();
        // `tree` appends the name as displayed to the directory, even if that is the whole path.
        let link = [self.page.base.as_slice(), b"/", &address(folder), &address(name)].concat();
        let anchor = Self::anchor(Some(entry), Some(&link), name, &walk.options);
        let before = in_order(walk, &indent, &brackets);
        Self::line(walk, before, &anchor, entry.problem.as_deref());
    }

    fn close(&mut self, _walk: &mut Walk, _entry: &Entry, _position: &Position) {}

    fn close_place(&mut self, _walk: &mut Walk, _entry: Option<&Entry>, _opened: bool, _last: bool) {}

    fn end(&mut self, walk: &mut Walk, totals: &Totals) {
        if walk.options.report {
            walk.out.push(b"<br><br><p>\n");
            draw::report(walk, totals);
            walk.out.push(b"\n</p>\n");
        }
        match &self.page.outro {
            Some(file) => Self::copied(walk, file),
            None => walk.out.push(b"\t<hr>\n</body>\n</html>\n"),
        }
    }
}

/// Formats the indentation and the attributes of a file, in the selected order.
fn in_order<'a>(walk: &Walk, indent: &'a [u8], brackets: &'a str) -> [&'a [u8]; 2] {
    match walk.options.meta_first {
        true => [brackets.as_bytes(), indent],
        false => [indent, brackets.as_bytes()],
    }
}
