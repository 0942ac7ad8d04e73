//! Search for the position of a hunk in a file.

use super::hunk::{Hunk, Mark};

/// A file's lines with their ends.
pub(crate) type FileLines<'a> = Vec<&'a [u8]>;

/// Splits a file into lines.
pub(crate) fn split(text: &[u8]) -> FileLines<'_> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// State of the search.
#[derive(Debug)]
pub(crate) struct Position<'a> {
    pub(crate) input: &'a [&'a [u8]],
    /// Lines fixed by earlier hunks.
    pub(crate) frozen: i64,
    /// Offset of the last hunk from its expected position.
    pub(crate) offset: i64,
    /// Blanks match any other blanks.
    pub(crate) loosely: bool,
}

impl Position<'_> {
    /// Returns the nearest line (from 1) where a hunk matches if `fuzz` lines of context may differ.
    pub(crate) fn locate(&self, hunk: &Hunk, fuzz: i64) -> Option<i64> {
        let pattern = hunk.pattern();
        let guess = hunk.old_first + self.offset;
        if pattern.is_empty() {
            return Some(guess);
        }
        let (prefix, suffix) = hunk.contexts();
        let context = prefix.max(suffix);
        let (prefix_fuzz, suffix_fuzz) = (fuzz + prefix - context, fuzz + suffix - context);
        let (lines, size) = (length(self.input), length(&pattern));
        let fits = |at: i64, before: i64, behind: i64| self.fits(&pattern, at, before, behind);
        // A hunk with less context before than after started at the start of the file.
        if prefix_fuzz < 0 && hunk.old_first <= 1 {
            let whole = suffix_fuzz >= 0 || (size == lines && prefix >= self.frozen);
            let free = self.frozen <= prefix && lines >= size - suffix_fuzz.max(0);
            return (whole && free && fits(1, 0, suffix_fuzz.max(0))).then_some(1);
        }
        let prefix_fuzz = prefix_fuzz.max(0);
        // A hunk with less context after than before ended at the end of the file.
        if suffix_fuzz < 0 {
            let at = lines - size + 1;
            return (at > self.frozen && at >= 1 && fits(at, prefix_fuzz, 0)).then_some(at);
        }
        let (first, last) = ((self.frozen + 1).max(1), lines - (size - suffix_fuzz) + 1);
        self.nearest(guess, first, last, |at| fits(at, prefix_fuzz, suffix_fuzz))
    }

    /// Tries the lines from `first` to `last`, nearest to `guess` first, later ones before earlier ones.
    fn nearest(&self, guess: i64, first: i64, last: i64, fits: impl Fn(i64) -> bool) -> Option<i64> {
        let farthest = (last - guess).max(guess - first);
        let nearest = (first - guess).max(guess - last).max(0);
        for away in nearest..=farthest {
            let later = guess + away;
            if (first..=last).contains(&later) && fits(later) {
                return Some(later);
            }
            let earlier = guess - away;
            if away > 0 && (first..=last).contains(&earlier) && fits(earlier) {
                return Some(earlier);
            }
        }
        None
    }

    fn fits(&self, pattern: &[&[u8]], at: i64, before: i64, behind: i64) -> bool {
        let (Ok(before), Ok(behind)) = (usize::try_from(before), usize::try_from(behind)) else {
            return false;
        };
        let Some(wanted) = pattern.get(before..pattern.len().saturating_sub(behind)) else {
            // The fuzz excludes all lines.
            return true;
        };
        let Some(begin) = usize::try_from(at - 1).ok().and_then(|at| at.checked_add(before)) else {
            return false;
        };
        let Some(lines) = begin.checked_add(wanted.len()).and_then(|end| self.input.get(begin..end)) else {
            return false;
        };
        lines.iter().zip(wanted).all(|(line, wanted)| self.equal(line, wanted))
    }

    /// Returns whether a line of the file matches the hunk.
    pub(crate) fn equal(&self, line: &[u8], wanted: &[u8]) -> bool {
        is_same(line, wanted, self.loosely)
    }

    /// Returns whether the file matches the hunk at a line, ignoring line ends.
    pub(crate) fn differs_in_line_ends(&self, hunk: &Hunk, at: i64) -> bool {
        let has_return = |line: &[u8]| line.ends_with(b"\r\n");
        let wanted = hunk.lines.iter().find(|line| line.mark != Mark::New).map(|line| line.text.as_slice());
        let at = usize::try_from(at - 1).unwrap_or(0).min(self.input.len().saturating_sub(1));
        match (wanted, self.input.get(at)) {
            (Some(wanted), Some(line)) => has_return(wanted) != has_return(line),
            _ => false,
        }
    }
}

fn length(lines: &[&[u8]]) -> i64 {
    i64::try_from(lines.len()).unwrap_or(i64::MAX)
}

/// Returns whether two lines are equal; `loosely` ignores differences in blanks.
pub(super) fn is_same(line: &[u8], wanted: &[u8], loosely: bool) -> bool {
    line == wanted || loosely && is_alike(line, wanted)
}

/// Returns whether two lines are equal if runs of blanks are, ignoring trailing blanks.
fn is_alike(a: &[u8], b: &[u8]) -> bool {
    let words = |line: &[u8]| -> Vec<Vec<u8>> {
        let leads = line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t'));
        let parts = line.split(|byte| matches!(byte, b' ' | b'\t' | b'\n')).filter(|part| !part.is_empty());
        std::iter::once(vec![u8::from(leads)]).chain(parts.map(<[u8]>::to_vec)).collect()
    };
    words(a) == words(b)
}
