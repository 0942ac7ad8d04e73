//! Line comparison.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use imara_diff::{Algorithm, Diff, InternedInput};
use tidebox_gnu::regex::Regex;

/// Comparison options.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    /// Case-insensitive.
    pub(crate) ignore_case: bool,
    /// Handling of white space.
    pub(crate) space: Space,
    /// A tab equals the spaces that it expands to.
    pub(crate) ignore_tabs: bool,
    /// Ignore changes that consist only of lines that match.
    pub(crate) ignored: Option<Rc<Regex>>,
    /// Ignore changes that consist only of blank lines.
    pub(crate) ignore_blank_lines: bool,
    /// Strip a carriage return before a line end.
    pub(crate) strip_return: bool,
    /// Find the smallest set of changes, regardless of time.
    pub(crate) minimal: bool,
}

/// Handling of white space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Space {
    /// Significant.
    #[default]
    Exact,
    /// Ignored at the end of a line.
    NotAtEnd,
    /// Ignored at the end of a line; amount ignored elsewhere.
    Some,
    /// Ignored.
    Nothing,
}

/// Replaced lines, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
    /// True if the change is ignored, because it consists of blank lines only.
    pub(crate) ignored: bool,
}

/// Two texts in lines (with their line ends) and the changes between them.
#[derive(Debug)]
pub(crate) struct Script<'a> {
    pub(crate) old: Vec<&'a [u8]>,
    pub(crate) new: Vec<&'a [u8]>,
    pub(crate) changes: Vec<Change>,
}

impl Rules {
    /// Returns whether every byte is significant, so that texts differ if their bytes do.
    pub(crate) fn are_strict(&self) -> bool {
        let plain = !self.ignore_case && !self.ignore_blank_lines && !self.ignore_tabs && !self.strip_return;
        plain && self.space == Space::Exact && self.ignored.is_none()
    }
}

impl<'a> Script<'a> {
    /// Returns the changes that are not ignored.
    pub(crate) fn counted(&self) -> impl DoubleEndedIterator<Item = &Change> {
        self.changes.iter().filter(|change| !change.ignored)
    }

    /// Compares two texts.
    pub(crate) fn new(old: &'a [u8], new: &'a [u8], rules: &Rules) -> Self {
        let (old, new) = (lines(old), lines(new));
        let mut input: InternedInput<Cow<'_, [u8]>> = InternedInput::default();
        input.update_before(old.iter().map(|line| essence(line, rules)));
        input.update_after(new.iter().map(|line| essence(line, rules)));
        let algorithm = if rules.minimal { Algorithm::MyersMinimal } else { Algorithm::Myers };
        let mut diff = Diff::compute(algorithm, &input);
        diff.postprocess_no_heuristic(&input);
        let mut changes = collect(&diff, old.len(), new.len());
        if rules.ignore_blank_lines || rules.ignored.is_some() {
            let blank = |line: &&[u8]| {
                let matches = |regex: &Rc<Regex>| {
                    let line = line.strip_suffix(b"\n").unwrap_or(line);
                    // A line that exceeds the search limit does not match.
                    regex.find_in_line(line, 0).is_ok_and(|found| found.is_some())
                };
                (rules.ignore_blank_lines && is_blank(line, rules)) || rules.ignored.as_ref().is_some_and(matches)
            };
            for change in &mut changes {
                let all_old = old.get(change.old.clone()).unwrap_or_default().iter().all(blank);
                change.ignored = all_old && new.get(change.new.clone()).unwrap_or_default().iter().all(blank);
            }
        }
        Self { old, new, changes }
    }

    /// Returns whether there are changes that are not ignored.
    pub(crate) fn differs(&self) -> bool {
        self.changes.iter().any(|change| !change.ignored)
    }
}

/// Splits into lines with their line ends; the last may have none.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

fn collect(diff: &Diff, old_lines: usize, new_lines: usize) -> Vec<Change> {
    let removed = |at: usize| at < old_lines && u32::try_from(at).is_ok_and(|at| diff.is_removed(at));
    let added = |at: usize| at < new_lines && u32::try_from(at).is_ok_and(|at| diff.is_added(at));
    let (mut old, mut new) = (0, 0);
    let mut changes = Vec::new();
    while old < old_lines || new < new_lines {
        let (from_old, from_new) = (old, new);
        while removed(old) {
            old += 1;
        }
        while added(new) {
            new += 1;
        }
        if (from_old, from_new) == (old, new) {
            (old, new) = (old + 1, new + 1);
        } else {
            changes.push(Change { old: from_old..old, new: from_new..new, ignored: false });
        }
    }
    changes
}

/// Returns the significant part of a line. If white space is significant, so is a missing line end.
pub(crate) fn essence<'l>(line: &'l [u8], rules: &Rules) -> Cow<'l, [u8]> {
    let mut line = line;
    if rules.space != Space::Exact {
        let end = line.iter().rposition(|byte| !is_space(*byte)).map_or(0, |last| last + 1);
        line = line.get(..end).unwrap_or_default();
    }
    let mut line = match rules.space {
        Space::Exact | Space::NotAtEnd if rules.ignore_tabs => Cow::Owned(expanded(line, 8)),
        Space::Exact | Space::NotAtEnd => Cow::Borrowed(line),
        Space::Nothing => Cow::Owned(line.iter().copied().filter(|byte| !is_space(*byte)).collect()),
        Space::Some => Cow::Owned(one_space(line)),
    };
    if rules.ignore_case {
        line.to_mut().make_ascii_lowercase();
    }
    line
}

/// Expands tabs to spaces.
pub(crate) fn expanded(line: &[u8], tab: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut column = 0;
    for byte in line {
        match byte {
            b'\t' => {
                let spaces = tab - column % tab;
                out.resize(out.len() + spaces, b' ');
                column += spaces;
            }
            byte => {
                out.push(*byte);
                column += 1;
            }
        }
    }
    out
}

/// Collapses each run of white space to one space.
fn one_space(line: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(line.len());
    let mut in_space = false;
    for byte in line {
        let space = is_space(*byte);
        if !space {
            out.push(*byte);
        } else if !in_space {
            out.push(b' ');
        }
        in_space = space;
    }
    out
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn is_blank(line: &[u8], rules: &Rules) -> bool {
    match rules.space {
        Space::Exact => line == b"\n",
        _ => line.iter().all(|byte| is_space(*byte)),
    }
}
