//! Colors of names.

use std::cell::Cell;

use tidebox_gnu::glob::{self, Flags};
use tidebox_rt::FileKind;

use super::Listed;

/// Patterns for the names of terminals that have colors.
const TERMINALS: &[&str] = &[
    "Eterm",
    "ansi",
    "*color*",
    "con[0-9]*x[0-9]*",
    "cons25",
    "console",
    "cygwin",
    "*direct*",
    "dtterm",
    "gnome",
    "hurd",
    "jfbterm",
    "konsole",
    "kterm",
    "linux",
    "linux-c",
    "mlterm",
    "putty",
    "rxvt*",
    "screen*",
    "st",
    "terminator",
    "tmux*",
    "vt100",
    "xterm*",
];

/// Default colors without LS_COLORS.
const DEFAULTS: &[(&str, &str)] = &[
    ("di", "01;34"),
    ("ln", "01;36"),
    ("pi", "33"),
    ("so", "01;35"),
    ("bd", "01;33"),
    ("cd", "01;33"),
    ("ex", "01;32"),
    ("su", "37;41"),
    ("sg", "30;43"),
    ("st", "37;44"),
    ("ow", "34;42"),
    ("tw", "30;42"),
];

/// Colors by kind and by the end of a name.
#[derive(Debug)]
pub(crate) struct Colors {
    kinds: Vec<(String, String)>,
    ends: Vec<(String, String)>,
    /// A color was printed. The first one follows a reset of all attributes.
    used: Cell<bool>,
}

impl Colors {
    /// Returns the colors of the environment, or `None` if the terminal has no colors.
    pub(crate) fn from_environment() -> Option<Self> {
        let of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let mut colors = Self {
            kinds: DEFAULTS.iter().map(|(kind, color)| ((*kind).to_owned(), (*color).to_owned())).collect(),
            ends: Vec::new(),
            used: Cell::new(false),
        };
        if let Some(text) = of("LS_COLORS") {
            colors.read(&text);
            return Some(colors);
        }
        let terminal = of("TERM").unwrap_or_default();
        let fits = |pattern: &&str| glob::matches(pattern.as_bytes(), terminal.as_bytes(), Flags::default());
        (of("COLORTERM").is_some() || TERMINALS.iter().any(fits)).then_some(colors)
    }

    fn read(&mut self, text: &str) {
        for entry in text.split(':') {
            let Some((name, color)) = entry.split_once('=') else {
                continue;
            };
            match name.strip_prefix('*') {
                Some(end) => self.ends.push((end.to_owned(), color.to_owned())),
                None => {
                    self.kinds.retain(|(kind, _)| kind != name);
                    self.kinds.push((name.to_owned(), color.to_owned()));
                }
            }
        }
    }

    fn kind(&self, name: &str) -> Option<&str> {
        let found = self.kinds.iter().find(|(kind, _)| kind == name).map(|(_, color)| color.as_str());
        found.filter(|color| !matches!(*color, "" | "0" | "00"))
    }

    /// Returns the color of a file.
    fn color(&self, file: &Listed) -> Option<&str> {
        let mode = file.stat.as_ref().map_or(0, |stat| stat.mode);
        let bits = |bits: u32, name: &str| if mode & bits == bits { self.kind(name) } else { None };
        match file.kind {
            FileKind::Dir => {
                bits(0o1002, "tw").or(bits(0o002, "ow")).or(bits(0o1000, "st")).or_else(|| self.kind("di"))
            }
            FileKind::Symlink => {
                let target = tidebox_rt::stat(&file.path, true).ok();
                match (self.kind("ln"), target) {
                    (_, None) if self.kind("or").is_some() => self.kind("or"),
                    (Some("target"), Some(stat)) => {
                        let target = Listed { kind: stat.kind(), stat: Some(stat), ..file.clone() };
                        if stat.kind() == FileKind::Symlink { None } else { self.color(&target) }
                    }
                    (color, _) => color,
                }
            }
            FileKind::Pipe => self.kind("pi"),
            FileKind::Socket => self.kind("so"),
            FileKind::BlockDevice => self.kind("bd"),
            FileKind::CharDevice => self.kind("cd"),
            FileKind::File => {
                let special = bits(0o4000, "su").or(bits(0o2000, "sg"));
                let program = if mode & 0o111 != 0 { self.kind("ex") } else { None };
                let names = file.stat.as_ref().map_or(1, |stat| stat.nlink);
                let linked = if names > 1 { self.kind("mh") } else { None };
                special.or(program).or(linked).or_else(|| self.end(&file.name)).or_else(|| self.kind("fi"))
            }
            FileKind::Unknown => None,
        }
    }

    /// Returns the color of a name by its end. The last entry that matches takes precedence.
    fn end(&self, name: &[u8]) -> Option<&str> {
        let fits = |end: &str| {
            let start = name.len().checked_sub(end.len());
            start.and_then(|at| name.get(at..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()))
        };
        self.ends.iter().rev().find(|(end, _)| fits(end)).map(|(_, color)| color.as_str())
    }

    /// Returns a quoted name in the color of its file.
    pub(crate) fn paint(&self, file: &Listed, name: &[u8]) -> Vec<u8> {
        let Some(color) = self.color(file) else {
            return name.to_vec();
        };
        let reset: &[u8] = if self.used.replace(true) { b"" } else { b"\x1b[0m" };
        [reset, b"\x1b[", color.as_bytes(), b"m", name, b"\x1b[0m"].concat()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::Colors;

    #[test]
    fn the_last_matching_end_takes_precedence() {
        let mut colors = Colors { kinds: Vec::new(), ends: Vec::new(), used: Cell::new(false) };
        colors.read("di=1:*.gz=31:*.tar.gz=32:ex=0");
        assert_eq!(colors.end(b"x.TAR.gz"), Some("32"));
        assert_eq!(colors.end(b"x.gz"), Some("31"));
        assert_eq!((colors.kind("di"), colors.kind("ex")), (Some("1"), None));
    }
}
