//! Finds the next patch in a file of patches, mails and other text, and parses its header.

use super::lines::{Lines, Packing, indentation};
use super::name::{INDEX, NEW, Named, OLD, fetch, quoted, stripped};
use super::read::{Style, number};

/// Header of a patch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Header {
    pub(crate) files: [Named; 3],
    /// Set if the patch marks the old or the new file as missing: 1 it is empty, 2 it does not exist.
    pub(crate) absent: [u8; 2],
    /// Written by git, with an extended header.
    pub(crate) git: bool,
    pub(crate) renames: bool,
    pub(crate) copies: bool,
    /// Mode bits including the file type, or 0.
    pub(crate) modes: [u32; 2],
}

impl Header {
    /// True for a symbolic link, whose target git writes as its content.
    pub(crate) fn is_link(&self) -> bool {
        self.modes.iter().any(|mode| mode & 0o170_000 == 0o120_000)
    }
}

/// A patch that was found.
#[derive(Debug)]
pub(crate) struct FoundPatch {
    pub(crate) header: Header,
    pub(crate) style: Style,
    pub(crate) packing: Packing,
    /// First line of its hunks.
    pub(crate) start: usize,
}

impl FoundPatch {
    /// A patch that changes nothing.
    pub(crate) fn of_no_hunks() -> Self {
        Self { header: Header::default(), style: Style::Unified, packing: Packing::default(), start: 0 }
    }
}

/// Search options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    pub(crate) strip: Option<usize>,
    /// Style from the command line.
    pub(crate) style: Option<Style>,
    /// Normal diffs have no header: they are accepted only if the file is given.
    pub(crate) needs_header: bool,
    /// Keep carriage returns.
    pub(crate) binary: bool,
}

impl Search {
    /// Finds a patch, starting at a line.
    pub(crate) fn find(self, lines: &Lines, from: usize) -> Option<FoundPatch> {
        let mut scan = Scan {
            search: self,
            header: Header::default(),
            needs_header: self.needs_header,
            returns: false,
            extended: false,
            renamed: [false; 2],
            copied: [false; 2],
            last_was_command: false,
            last_was_stars: false,
            last_indent: 0,
        };
        let mut at = from;
        while let Some(line) = lines.get(at) {
            if let Some((style, start)) = scan.line(lines, at, line) {
                return Some(scan.into_header(style, start, lines));
            }
            at += 1;
        }
        scan.extended.then(|| scan.into_header(Style::Unified, at, lines))
    }
}

struct Scan {
    search: Search,
    header: Header,
    needs_header: bool,
    /// The header's lines end with carriage returns.
    returns: bool,
    /// True after a line that only git writes.
    extended: bool,
    renamed: [bool; 2],
    copied: [bool; 2],
    last_was_command: bool,
    last_was_stars: bool,
    /// The indentation of the previous line, in columns.
    last_indent: usize,
}

impl Scan {
    fn into_header(mut self, style: Style, start: usize, lines: &Lines) -> FoundPatch {
        self.header.renames = self.renamed == [true; 2];
        self.header.copies = self.copied == [true; 2];
        if self.extended {
            // No hunks followed that would have ordered the names.
            let [old, new, _] = &mut self.header.files;
            std::mem::swap(old, new);
        }
        let indent = lines.get(start).map_or(0, |line| indentation(line).0);
        let packing = Packing { indent, strip_returns: self.returns && !self.search.binary };
        FoundPatch { header: self.header, style, packing, start }
    }

    fn allows(&self, style: Style) -> bool {
        self.search.style.is_none_or(|asked| asked == style)
    }

    /// Checks a line. Returns a style, and the first line of hunks in that style.
    fn line(&mut self, lines: &Lines, at: usize, line: &[u8]) -> Option<(Style, usize)> {
        let (indent, text) = indentation(line);
        let last_indent = std::mem::replace(&mut self.last_indent, indent);
        let last_was_stars = self.last_was_stars;
        let last_was_command = std::mem::replace(&mut self.last_was_command, is_command(text));
        self.last_was_stars = text.starts_with(b"********");
        if let Some(start) = self.names(text, at, last_was_stars) {
            return Some(start);
        }
        if self.needs_header {
            return None;
        }
        if self.allows(Style::Unified) && text.starts_with(b"@@ -") {
            self.unified(text);
            return Some((Style::Unified, at));
        }
        if (self.allows(Style::Context) || self.allows(Style::NewContext))
            && last_was_stars
            && indent == last_indent
            && text.starts_with(b"*** ")
        {
            return Some((self.context(lines, at, text), at.saturating_sub(1)));
        }
        let is_normal = text.starts_with(b"< ") || text.starts_with(b"> ");
        (self.allows(Style::Normal) && last_was_command && is_normal).then(|| {
            let start = at.saturating_sub(1);
            self.returns = lines.get(start).is_some_and(|command| command.ends_with(b"\r\n"));
            (Style::Normal, start)
        })
    }

    fn name(&mut self, which: usize, rest: &[u8]) {
        let returns = rest.ends_with(b"\r\n");
        let rest = rest.strip_suffix(b"\n").unwrap_or(rest);
        let rest = if self.search.binary { rest } else { rest.strip_suffix(b"\r").unwrap_or(rest) };
        let named = fetch(rest, self.search.strip);
        if let Some(slot) = self.header.files.get_mut(which) {
            *slot = named;
        }
        self.needs_header = false;
        self.returns = returns;
    }

    /// Parses a line with names. The header of another git patch ends one without hunks.
    fn names(&mut self, text: &[u8], at: usize, last_was_stars: bool) -> Option<(Style, usize)> {
        // If both are present, `---` is the new file of a context diff and the old one of a unified diff; `unified` swaps.
        if let Some(rest) = text.strip_prefix(b"*** ").filter(|_| !last_was_stars) {
            self.name(OLD, rest);
        } else if let Some(rest) = text.strip_prefix(b"+++ ") {
            self.name(OLD, rest);
        } else if let Some(rest) = text.strip_prefix(b"Index:") {
            self.name(INDEX, rest);
        } else if let Some(rest) = text.strip_prefix(b"diff --git ") {
            if self.extended {
                return Some((Style::Unified, at));
            }
            self.git_names(rest);
        } else if self.header.git && self.git_line(text) {
            if text.starts_with(b"GIT binary patch") {
                return Some((Style::GitBinary, at));
            }
        } else {
            let mut rest = text;
            while let Some(after) = rest.strip_prefix(b"- ") {
                rest = after;
            }
            if let Some(rest) = rest.strip_prefix(b"--- ") {
                self.name(NEW, rest);
            }
        }
        None
    }

    fn git_names(&mut self, rest: &[u8]) {
        self.header = Header { git: true, ..Header::default() };
        (self.renamed, self.copied) = ([false; 2], [false; 2]);
        self.needs_header = false;
        let strip = self.search.strip;
        if let Some((old, new)) = two_names(rest.trim_ascii_end()) {
            for (slot, name) in self.header.files.iter_mut().zip([new, old]) {
                // As with `---` and `+++`, the names are reversed until the hunks start.
                slot.name = stripped(&name, strip);
            }
        }
    }

    /// Parses a line of git's extended header; false if it is not one.
    fn git_line(&mut self, text: &[u8]) -> bool {
        let mode = |rest: &[u8]| {
            let digits = String::from_utf8_lossy(rest.trim_ascii()).into_owned();
            u32::from_str_radix(&digits, 8).unwrap_or(0)
        };
        if let Some(rest) = text.strip_prefix(b"index ") {
            self.index(rest);
        } else if let Some(rest) = text.strip_prefix(b"old mode ") {
            self.header.modes[OLD] = mode(rest);
        } else if let Some(rest) = text.strip_prefix(b"new mode ") {
            self.header.modes[NEW] = mode(rest);
        } else if let Some(rest) = text.strip_prefix(b"deleted file mode ") {
            self.header.modes[OLD] = mode(rest);
            self.header.absent[NEW] = 2;
        } else if let Some(rest) = text.strip_prefix(b"new file mode ") {
            self.header.modes[NEW] = mode(rest);
            self.header.absent[OLD] = 2;
        } else if text.starts_with(b"rename from ") {
            self.renamed[OLD] = true;
        } else if text.starts_with(b"rename to ") {
            self.renamed[NEW] = true;
        } else if text.starts_with(b"copy from ") {
            self.copied[OLD] = true;
        } else if text.starts_with(b"copy to ") {
            self.copied[NEW] = true;
        } else {
            return text.starts_with(b"GIT binary patch");
        }
        self.extended = true;
        true
    }

    /// `OLD..NEW [MODE]`: a hash of zeros is a missing file.
    fn index(&mut self, rest: &[u8]) {
        let text = String::from_utf8_lossy(rest.trim_ascii()).into_owned();
        let (hashes, mode) = text.split_once(' ').unwrap_or((&text, ""));
        let Some((old, new)) = hashes.split_once("..") else {
            return;
        };
        for (hash, slot) in [old, new].into_iter().zip(&mut self.header.absent) {
            if !hash.is_empty() && hash.bytes().all(|digit| digit == b'0') {
                *slot = 2;
            } else if hash.starts_with("e69de29") {
                *slot = (*slot).max(1);
            }
        }
        if let Ok(mode) = u32::from_str_radix(mode, 8)
            && mode != 0
        {
            self.header.modes = [mode; 2];
        }
    }

    fn absence(&self, which: usize) -> u8 {
        let seconds = self.header.files.get(which).and_then(|file| file.seconds);
        1 + u8::from(seconds == Some(0))
    }

    fn unified(&mut self, text: &[u8]) {
        let [old, new, _] = &mut self.header.files;
        std::mem::swap(old, new);
        self.extended = false;
        let starts_with_zero = |text: &[u8]| number(text).is_some_and(|(first, _)| first == 0);
        let rest = text.get(4..).unwrap_or_default();
        if starts_with_zero(rest) {
            self.header.absent[OLD] = self.header.absent[OLD].max(self.absence(OLD));
        }
        let after = rest.iter().position(|byte| *byte == b'+').and_then(|at| rest.get(at + 1..)).unwrap_or_default();
        if starts_with_zero(after) {
            self.header.absent[NEW] = self.header.absent[NEW].max(self.absence(NEW));
        }
    }

    fn context(&mut self, lines: &Lines, at: usize, text: &[u8]) -> Style {
        let starts_with_zero = |text: &[u8]| number(text).is_some_and(|(first, _)| first == 0);
        if starts_with_zero(text.get(4..).unwrap_or_default()) {
            self.header.absent[OLD] = self.absence(OLD);
        }
        // The range of the new lines follows the old ones.
        let mut next = at + 1;
        while let Some(line) = lines.get(next) {
            let (_, text) = indentation(line);
            if let Some(range) = text.strip_prefix(b"--- ") {
                if starts_with_zero(range) {
                    self.header.absent[NEW] = self.absence(NEW);
                }
                break;
            }
            if text.starts_with(b"*** ") {
                break;
            }
            next += 1;
        }
        let is_new = text.trim_ascii_end().ends_with(b"*");
        if is_new { Style::NewContext } else { Style::Context }
    }
}

/// Parses the two names of `diff --git`, which are quoted or have no spaces, or are equal except for their first directory.
fn two_names(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let one = |text| -> Option<(Vec<u8>, &[u8])> {
        let text: &[u8] = text;
        if text.starts_with(b"\"") {
            return quoted(text);
        }
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (name, rest) = text.split_at_checked(end)?;
        (!name.is_empty()).then(|| (name.to_vec(), rest))
    };
    let (old, rest) = one(text)?;
    let (new, rest) = one(rest.trim_ascii_start())?;
    rest.trim_ascii().is_empty().then_some((old, new))
}

/// Returns whether a line could be a command of a normal diff.
fn is_command(text: &[u8]) -> bool {
    let rest = text.trim_ascii_end();
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b',').count();
    let rest = rest.get(if rest.first().is_some_and(u8::is_ascii_digit) { digits(rest) } else { rest.len() }..);
    rest.and_then(<[u8]>::split_first)
        .is_some_and(|(letter, rest)| matches!(letter, b'a' | b'c' | b'd') && digits(rest) == rest.len())
}
