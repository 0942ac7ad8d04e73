//! `--merge`: merges a hunk that does not match with the lines of the file.

mod three_way;

use std::ops::Range;

use super::apply::Work;
use super::hunk::{Hunk, Mark};
use super::locate::{Place, is_same};
use three_way::{Group, groups};

/// Conflict style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflicts {
    /// Both sides, without common first and last lines.
    Merge,
    /// Both sides, and between them the expected lines of the hunk.
    Diff3,
}

/// Result of one change of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Merged,
    AlreadyApplied,
    NotMerged,
}

impl Fate {
    fn words(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::AlreadyApplied => "already applied",
            Self::NotMerged => "NOT MERGED",
        }
    }
}

/// Result of a hunk: each change, with its first and last line in the output.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    fates: Vec<(Fate, i64, i64)>,
    /// Difference in lines between the region of the file and the hunk.
    pub(crate) longer: i64,
}

impl Merged {
    pub(crate) fn has_conflicts(&self) -> bool {
        self.fates.iter().any(|(fate, ..)| *fate == Fate::NotMerged)
    }

    /// Returns whether there is nothing to report except that changes were made.
    pub(crate) fn only_merges(&self) -> bool {
        self.fates.iter().all(|(fate, ..)| *fate == Fate::Merged)
    }

    /// `merged at 3,7, NOT MERGED at 9-12`
    pub(crate) fn format_summary(&self) -> String {
        let mut text = String::new();
        let mut before = None;
        for (fate, first, last) in &self.fates {
            if before == Some(fate) {
                text.push(',');
            } else {
                let comma = if before.is_some() { ", " } else { "" };
                text.push_str(&format!("{comma}{} at ", fate.words()));
            }
            before = Some(fate);
            text.push_str(&first.to_string());
            if last > first {
                text.push_str(&format!("-{last}"));
            }
        }
        text
    }
}

impl Work<'_> {
    /// Merges a hunk with the lines of `region`, counted from 0.
    pub(crate) fn merge(&mut self, hunk: &Hunk, region: Range<usize>, loosely: bool, how: Conflicts) -> Merged {
        let base = hunk.pattern();
        let theirs: Vec<&[u8]> =
            hunk.lines.iter().filter(|line| line.mark != Mark::Old).map(|line| line.text.as_slice()).collect();
        let ours = self.input.get(region.clone()).unwrap_or_default().to_vec();
        let mut merged = Merged { fates: Vec::new(), longer: count(&ours) - count(&base) };
        for group in groups(&base, &ours, hunk, |wanted, line| is_same(line, wanted, loosely)) {
            self.copy_to(region.start + group.ours.start);
            let sides = Sides {
                ours: ours.get(group.ours.clone()).unwrap_or_default(),
                base: base.get(group.base.clone()).unwrap_or_default(),
                theirs: theirs.get(group.theirs.clone()).unwrap_or_default(),
            };
            self.change(&group, sides, how, &mut merged);
            // The lines of the file are written with the group, so they are final.
            self.frozen = region.start + group.ours.end;
            self.grown -= count(sides.ours);
        }
        self.copy_to(region.end);
        merged
    }

    /// Writes one group of changes.
    fn change(&mut self, group: &Group, mut sides: Sides<'_>, how: Conflicts, merged: &mut Merged) {
        if !group.is_theirs {
            self.put(sides.ours);
            return;
        }
        let fate = match (group.is_ours, sides.ours == sides.theirs) {
            (false, _) => Fate::Merged,
            (true, true) => Fate::AlreadyApplied,
            (true, false) => Fate::NotMerged,
        };
        let mut behind: &[&[u8]] = &[];
        if fate == Fate::NotMerged && how == Conflicts::Merge {
            let (before, after) = sides.without_common_ends();
            self.put(before);
            behind = after;
        }
        let first = self.next_line();
        match fate {
            Fate::NotMerged => {
                self.put(&[b"<<<<<<<\n"]);
                self.put(sides.ours);
                if how == Conflicts::Diff3 {
                    self.put(&[b"|||||||\n"]);
                    self.put(sides.base);
                }
                self.put(&[b"=======\n"]);
                self.put(sides.theirs);
                self.put(&[b">>>>>>>\n"]);
            }
            Fate::Merged | Fate::AlreadyApplied => self.put(sides.theirs),
        }
        merged.fates.push((fate, first, self.next_line() - 1));
        self.put(behind);
    }

    /// Returns the number of the next output line.
    fn next_line(&self) -> i64 {
        i64::try_from(self.frozen).unwrap_or(i64::MAX).saturating_add(self.grown).saturating_add(1)
    }

    fn put(&mut self, lines: &[&[u8]]) {
        for line in lines {
            self.push(line);
        }
        self.grown += count(lines);
    }
}

/// Lines of the file, expected lines, and new lines of the hunk.
#[derive(Clone, Copy)]
struct Sides<'a> {
    ours: &'a [&'a [u8]],
    base: &'a [&'a [u8]],
    theirs: &'a [&'a [u8]],
}

impl<'a> Sides<'a> {
    /// Removes and returns the common first and last lines of file and hunk.
    fn without_common_ends(&mut self) -> (&'a [&'a [u8]], &'a [&'a [u8]]) {
        let before = self.ours.iter().zip(self.theirs).take_while(|(a, b)| a == b).count();
        let (head, ours) = self.ours.split_at_checked(before).unwrap_or_default();
        let theirs = self.theirs.get(before..).unwrap_or_default();
        let behind = ours.iter().rev().zip(theirs.iter().rev()).take_while(|(a, b)| a == b).count();
        let (ours, tail) = ours.split_at_checked(ours.len() - behind).unwrap_or_default();
        self.ours = ours;
        self.theirs = theirs.get(..theirs.len() - behind).unwrap_or_default();
        (head, tail)
    }
}

fn count(lines: &[&[u8]]) -> i64 {
    i64::try_from(lines.len()).unwrap_or(i64::MAX)
}

impl Place<'_> {
    /// Returns the lines, counted from 0, that match the hunk with the fewest changes; on ties the nearest to the expected
    /// position, then the longest. As in GNU, they are at least as many as the hunk changes, with at most twice as many changes
    /// as lines of context. If no lines match, returns an empty range at the expected position.
    pub(crate) fn most_alike(&self, hunk: &Hunk) -> Range<usize> {
        let pattern = hunk.pattern();
        let (prefix, suffix) = hunk.contexts();
        let context = usize::try_from(prefix + suffix).unwrap_or(0);
        let frozen = usize::try_from(self.frozen).unwrap_or(0).min(self.input.len());
        let guess = usize::try_from(hunk.old_first + self.offset - 1).unwrap_or(0).clamp(frozen, self.input.len());
        let search = Search {
            pattern: &pattern,
            least: pattern.len().saturating_sub(context),
            // A hunk with less context after than before ended at the end of the file.
            at_end: suffix < prefix,
        };
        let at_begin = prefix < suffix && hunk.old_first <= 1 && frozen == 0;
        let mut most = context.saturating_mul(2);
        let mut found = guess..guess;
        for away in 0..=(guess - frozen).max(self.input.len() - guess) {
            let places = [guess.checked_add(away), guess.checked_sub(away).filter(|_| away > 0)];
            for start in places.into_iter().flatten().filter(|start| (frozen..=self.input.len()).contains(start)) {
                if (start == 0 || !at_begin)
                    && let Some((cost, end)) = search.at(self, start, most)
                {
                    found = start..end;
                    let Some(less) = cost.checked_sub(1) else {
                        return found;
                    };
                    most = less;
                }
            }
        }
        found
    }
}

/// The pattern of a search starting at one line.
struct Search<'a> {
    pattern: &'a [&'a [u8]],
    /// Minimum number of lines.
    least: usize,
    at_end: bool,
}

impl Search<'_> {
    /// Returns the fewest changes, up to `most`, that turn the lines starting at `start` into the pattern, and their end.
    fn at(&self, place: &Place<'_>, start: usize, most: usize) -> Option<(usize, usize)> {
        let lines = place.input.get(start..)?;
        let lines = lines.get(..lines.len().min(self.pattern.len() + most)).unwrap_or_default();
        // Cost of reaching the current line, for each prefix of the pattern.
        let mut row: Vec<usize> = (0..=lines.len()).collect();
        for wanted in self.pattern {
            let mut above_left = row.first().copied().unwrap_or(0);
            let mut left = above_left + 1;
            let mut least = left;
            if let Some(first) = row.first_mut() {
                *first = left;
            }
            for (cell, line) in row.iter_mut().skip(1).zip(lines) {
                let above = *cell;
                *cell = if is_same(line, wanted, place.loosely) { above_left } else { above.min(left) + 1 };
                (above_left, left) = (above, *cell);
                least = least.min(left);
            }
            if least > most {
                return None;
            }
        }
        let ends = row.iter().enumerate().skip(self.least);
        let ends =
            ends.filter(|(length, cost)| **cost <= most && (!self.at_end || start + length == place.input.len()));
        let best = ends.min_by_key(|(length, cost)| (**cost, std::cmp::Reverse(*length)));
        best.map(|(length, cost)| (*cost, start + length))
    }
}
