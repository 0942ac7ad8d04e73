//! Selection of members, and their stored names.

use std::collections::BTreeSet;

use tidebox_gnu::glob::{self, Flags};

use crate::header::Member;
use crate::message::{error, warn};
use crate::options::{How, Mode, Options, Word};
use crate::quote::escaped;
use crate::transform::Of;

/// Seconds and nanoseconds.
pub(crate) fn time(ns: u64) -> (i64, u32) {
    let seconds = i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX);
    (seconds, u32::try_from(ns % 1_000_000_000).unwrap_or(0))
}

/// Returns whether a time is later than another one of an archive, which may have only whole seconds.
pub(crate) fn is_newer(time: (i64, u32), kept: (i64, u32)) -> bool {
    if kept.1 == 0 || time.1 == 0 { time.0 > kept.0 } else { time > kept }
}

/// Requested members.
#[derive(Debug)]
pub(crate) struct Selection {
    names: Vec<Name>,
}

#[derive(Debug)]
struct Name {
    text: Vec<u8>,
    /// Directory into which matches are extracted.
    folder: Option<Vec<u8>>,
    how: How,
    is_matched: bool,
}

impl Selection {
    /// Collects the names of the command line and of name lists.
    pub(crate) fn new(options: &Options) -> Self {
        let mut names = Vec::new();
        let mut folder: Option<Vec<u8>> = None;
        for word in &options.words {
            match word {
                Word::Folder(next) => folder = Some(below(folder.as_deref(), next)),
                Word::Name(text, how) => {
                    let text =
                        text.strip_suffix(b"/").filter(|rest| !rest.is_empty()).map_or(text.clone(), <[u8]>::to_vec);
                    names.push(Name { text, folder: folder.clone(), how: *how, is_matched: false });
                }
            }
        }
        Self { names }
    }

    /// Returns whether a member is selected, and the directory into which it is extracted.
    pub(crate) fn select(&mut self, member: &[u8]) -> Option<Option<Vec<u8>>> {
        if self.names.is_empty() {
            return Some(None);
        }
        let member = member.strip_suffix(b"/").unwrap_or(member);
        let name = self.names.iter_mut().find(|name| fits(&name.text, member, name.how))?;
        name.is_matched = true;
        Some(name.folder.clone())
    }

    /// Reports names that no member matches.
    pub(crate) fn report(&self) {
        let mut hinted = false;
        for name in self.names.iter().filter(|name| !name.is_matched) {
            if !hinted && name.how.wildcards.is_none() && glob::is_pattern(&name.text) {
                warn(&[b"Pattern matching characters used in file names"]);
                warn(&[b"Use --wildcards to enable pattern matching, or --no-wildcards to suppress this warning"]);
                hinted = true;
            }
            error(&[&escaped(&name.text, true), b": Not found in archive"]);
        }
    }
}

/// Returns whether a name selects a member: itself, by a parent directory, or by its end if requested.
fn fits(pattern: &[u8], member: &[u8], how: How) -> bool {
    let flags = Flags { ignore_case: how.ignore_case, pathname: !how.slash_is_plain };
    let same = |part: &[u8]| {
        if how.wildcards == Some(true) {
            glob::matches(pattern, part, flags)
        } else if how.ignore_case {
            pattern.eq_ignore_ascii_case(part)
        } else {
            pattern == part
        }
    };
    let from = |start: usize| {
        let member = member.get(start..).unwrap_or_default();
        let inner = |at: &usize| member.get(*at) == Some(&b'/');
        same(member)
            || how.recursive && (1..member.len()).filter(inner).any(|at| same(member.get(..at).unwrap_or_default()))
    };
    let behind = |at: &usize| member.get(*at) == Some(&b'/') && member.get(at + 1) != Some(&b'/');
    from(0) || how.anchored == Some(false) && (0..member.len()).filter(behind).any(|at| from(at + 1))
}

/// Resolves a directory relative to another one.
pub(crate) fn below(folder: Option<&[u8]>, name: &[u8]) -> Vec<u8> {
    match folder {
        Some(folder) if !name.starts_with(b"/") => {
            let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
            [folder, slash, name].concat()
        }
        _ => name.to_vec(),
    }
}

/// Stored names: without parts that lead out of the directory, and transformed by the expressions.
#[derive(Debug, Default)]
pub(crate) struct Naming {
    reported: BTreeSet<(Vec<u8>, bool)>,
}

impl Naming {
    /// Strips everything that leads out of the directory: up to the last `..`, and leading slashes. The stripped prefix is
    /// reported once.
    pub(crate) fn safe_name<'a>(&mut self, name: &'a [u8], options: &Options, of_link: bool) -> &'a [u8] {
        if options.absolute {
            return name;
        }
        let mut cut = 0;
        let mut at = 0;
        for part in name.split(|byte| *byte == b'/') {
            at += part.len() + 1;
            if part == b".." {
                cut = at.min(name.len());
            }
        }
        let slashes = name.get(cut..).unwrap_or_default().iter().take_while(|byte| **byte == b'/').count();
        cut += slashes;
        let (taken, rest) = name.split_at_checked(cut).unwrap_or((b"", name));
        if !taken.is_empty() && self.reported.insert((taken.to_vec(), of_link)) {
            let what: &[u8] = if of_link { b"' from hard link targets" } else { b"' from member names" };
            warn(&[b"Removing leading `", taken, what]);
        }
        if rest.is_empty() {
            if name.is_empty() && self.reported.insert((Vec::new(), of_link)) {
                let what: &[u8] = if of_link { b"empty hard link target" } else { b"empty member name" };
                warn(&[b"Substituting `.' for ", what]);
            }
            return b".";
        }
        rest
    }
}

/// Strips leading components; `None` if the name has no more.
pub(crate) fn stripped(name: &[u8], count: usize) -> Option<&[u8]> {
    let mut rest = name;
    for _ in 0..count {
        let at = rest.iter().position(|byte| *byte == b'/')?;
        rest = rest.get(at..)?.trim_ascii_start();
        while let Some(after) = rest.strip_prefix(b"/") {
            rest = after;
        }
    }
    (!rest.is_empty()).then_some(rest)
}

/// Applies expressions and stripping to a name; `None` if the result is empty.
pub(crate) fn transformed(name: &[u8], of: Of, options: &Options) -> Option<Vec<u8>> {
    let mut name = name.to_vec();
    if of != Of::SymbolicLink && options.strip > 0 {
        name = stripped(&name, options.strip)?.to_vec();
    }
    for transform in &options.transforms {
        name = transform.apply(&name, of);
    }
    if of != Of::SymbolicLink
        && let Some(top) = &options.one_top_level
        && options.mode == Mode::Extract
    {
        name = top_level(&name, top);
    }
    (!name.is_empty()).then_some(name)
}

/// Prefixes a name with a directory, unless it has the prefix already.
fn top_level(name: &[u8], top: &[u8]) -> Vec<u8> {
    let plain = name.strip_prefix(b"./").unwrap_or(name);
    let inside = plain.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"));
    match plain {
        _ if inside => name.to_vec(),
        b"" | b"." => top.to_vec(),
        plain => [top, b"/", plain].concat(),
    }
}

/// Returns whether a name contains `..`.
pub(crate) fn leads_up(name: &[u8]) -> bool {
    name.split(|byte| *byte == b'/').any(|part| part == b"..")
}

/// Returns whether a member is excluded.
pub(crate) fn is_excluded(member: &Member, options: &Options) -> bool {
    options.excludes.matches(&member.name, usize::MAX)
}
