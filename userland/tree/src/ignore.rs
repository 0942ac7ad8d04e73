//! `.gitignore` rules.

use tidebox_gnu::glob::{Flags, matches};

use crate::entry::joined;

/// One rule.
#[derive(Clone, Debug)]
struct Rule {
    /// The directory of the file, with a trailing slash.
    base: Vec<u8>,
    pattern: Vec<u8>,
    /// Negates an earlier rule.
    keeps: bool,
    folders_only: bool,
    /// The pattern matches a path below the directory, not a name at any depth.
    anchored: bool,
}

/// The rules of a directory and of all its parents; later ones take precedence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
}

impl Rules {
    /// Adds the rules of a file, which apply below `folder`. Returns the previous number of rules.
    pub(crate) fn add(&mut self, text: &[u8], folder: &[u8]) -> usize {
        let before = self.rules.len();
        self.rules.extend(text.split(|byte| *byte == b'\n').filter_map(|line| rule(line, folder)));
        before
    }

    /// Adds the `.gitignore` of a directory, if it exists.
    pub(crate) fn enter(&mut self, folder: &[u8]) -> usize {
        let text = tidebox_gnu::stream::read_all(&joined(folder, b".gitignore")).unwrap_or_default();
        self.add(&text, folder)
    }

    /// Truncates the rules to an earlier number.
    pub(crate) fn leave(&mut self, before: usize) {
        self.rules.truncate(before);
    }

    /// Returns whether a file is ignored.
    pub(crate) fn ignores(&self, path: &[u8], is_folder: bool) -> bool {
        self.rules.iter().rev().find(|rule| rule.fits(path, is_folder)).is_some_and(|rule| !rule.keeps)
    }
}

impl Rule {
    fn fits(&self, path: &[u8], is_folder: bool) -> bool {
        if self.folders_only && !is_folder {
            return false;
        }
        let Some(below) = path.strip_prefix(self.base.as_slice()) else {
            return false;
        };
        if self.anchored {
            let pattern: Vec<&[u8]> = self.pattern.split(|byte| *byte == b'/').collect();
            let parts: Vec<&[u8]> = below.split(|byte| *byte == b'/').collect();
            return fits_parts(&pattern, &parts);
        }
        let name = below.rsplit(|byte| *byte == b'/').next().unwrap_or(below);
        matches(&self.pattern, name, Flags::default())
    }
}

/// Matches component by component; `**` matches any number of components.
fn fits_parts(pattern: &[&[u8]], parts: &[&[u8]]) -> bool {
    match pattern.split_first() {
        None => parts.is_empty(),
        Some((&b"**", [])) => !parts.is_empty(),
        Some((&b"**", rest)) => (0..=parts.len()).any(|skip| fits_parts(rest, parts.get(skip..).unwrap_or_default())),
        Some((first, rest)) => match parts.split_first() {
            Some((part, after)) => matches(first, part, Flags::default()) && fits_parts(rest, after),
            None => false,
        },
    }
}

fn rule(line: &[u8], folder: &[u8]) -> Option<Rule> {
    let line = line.trim_ascii_end();
    if line.is_empty() || line.starts_with(b"#") {
        return None;
    }
    let (keeps, line) = line.strip_prefix(b"!").map_or((false, line), |rest| (true, rest));
    let (folders_only, line) = line.strip_suffix(b"/").map_or((false, line), |rest| (true, rest));
    let anchored = line.contains(&b'/');
    let pattern = line.strip_prefix(b"/").unwrap_or(line).to_vec();
    (!pattern.is_empty()).then(|| Rule { base: joined(folder, b""), pattern, keeps, folders_only, anchored })
}
