//! Excluded names.

use std::collections::HashMap;

use tidebox_gnu::glob::{self, Flags};

/// Directories and files of version control systems.
pub(crate) const VCS: &[&[u8]] = &[
    b"CVS",
    b".cvsignore",
    b"RCS",
    b"SCCS",
    b".git",
    b".gitignore",
    b".gitattributes",
    b".gitmodules",
    b".svn",
    b".arch-ids",
    b"{arch}",
    b"=RELEASE-ID",
    b"=meta-update",
    b"=update",
    b".bzr",
    b".bzrignore",
    b".bzrtags",
    b".hg",
    b".hgignore",
    b".hgrags",
    b"_darcs",
];

/// A pattern, with the matching options at its position on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exclude {
    pub(crate) pattern: Vec<u8>,
    /// Index of the next command-line name: names before it are not affected.
    pub(crate) from: usize,
    pub(crate) wildcards: bool,
    /// Must match from the start of a name and not only after one of its slashes.
    pub(crate) anchored: bool,
    pub(crate) ignore_case: bool,
    /// `*` and `?` match a slash.
    pub(crate) slash_is_plain: bool,
}

impl Exclude {
    /// Returns whether a name, or a directory that contains it, matches.
    pub(crate) fn matches(&self, name: &[u8]) -> bool {
        let name = name.strip_suffix(b"/").unwrap_or(name);
        self.fits(name)
            || !self.anchored
                && (0..name.len()).any(|at| {
                    let behind = name.get(at) == Some(&b'/') && name.get(at + 1) != Some(&b'/');
                    behind && self.fits(name.get(at + 1..).unwrap_or_default())
                })
    }

    fn fits(&self, name: &[u8]) -> bool {
        let ends = (0..name.len()).filter(|at| *at > 0 && name.get(*at) == Some(&b'/'));
        let flags = Flags { ignore_case: self.ignore_case, pathname: !self.slash_is_plain };
        ends.chain([name.len()]).any(|end| {
            let part = name.get(..end).unwrap_or_default();
            if self.wildcards {
                glob::matches(&self.pattern, part, flags)
            } else if self.ignore_case {
                self.pattern.eq_ignore_ascii_case(part)
            } else {
                self.pattern == part
            }
        })
    }
}

/// All excludes. Plain names may number a hundred thousand, so they are in a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Excludes {
    /// Plain names, and the index of the command-line name that follows the first occurrence of each.
    plain: HashMap<Vec<u8>, usize>,
    others: Vec<Exclude>,
}

impl Excludes {
    pub(crate) fn push(&mut self, exclude: Exclude) {
        let is_plain = !exclude.wildcards || !exclude.pattern.iter().any(|byte| b"*?[\\".contains(byte));
        if is_plain && !exclude.anchored && !exclude.ignore_case {
            self.plain.entry(exclude.pattern).or_insert(exclude.from);
        } else {
            self.others.push(exclude);
        }
    }

    /// Returns whether a name is excluded for a command-line name.
    pub(crate) fn matches(&self, name: &[u8], word: usize) -> bool {
        self.others.iter().any(|exclude| exclude.from <= word && exclude.matches(name))
            || !self.plain.is_empty() && self.has_plain(name.strip_suffix(b"/").unwrap_or(name), word)
    }

    /// Returns whether any run of components of a name is one of the plain names.
    fn has_plain(&self, name: &[u8], word: usize) -> bool {
        let slash = |at: &usize| name.get(*at) == Some(&b'/');
        let starts = (0..name.len()).filter(slash).map(|at| at + 1).filter(|at| name.get(*at) != Some(&b'/'));
        let mut ends = (1..name.len()).filter(slash).collect::<Vec<_>>();
        ends.push(name.len());
        std::iter::once(0).chain(starts).any(|start| {
            let part = |end: &usize| name.get(start..*end).and_then(|part| self.plain.get(part));
            ends.iter().filter_map(part).any(|from| *from <= word)
        })
    }
}
