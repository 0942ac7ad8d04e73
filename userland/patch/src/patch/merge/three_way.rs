//! Three-way merge of line changes.

use std::ops::Range;

use super::super::hunk::{Hunk, Mark};

/// Lines changed by one or both sides, with each version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) base: Range<usize>,
    pub(super) ours: Range<usize>,
    pub(super) theirs: Range<usize>,
    pub(super) is_ours: bool,
    pub(super) is_theirs: bool,
}

/// Lines of the base and their replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    base: Range<usize>,
    other: Range<usize>,
}

/// Groups the changes of both sides; adjacent changes are in one group.
pub(super) fn groups(base: &[&[u8]], ours: &[&[u8]], hunk: &Hunk, equal: impl Fn(&[u8], &[u8]) -> bool) -> Vec<Group> {
    let (ours, theirs) = (changes_between(base, ours, equal), changes_of(hunk));
    let (mut ours, mut theirs) = (ours.iter().peekable(), theirs.iter().peekable());
    let mut groups = Vec::new();
    let (mut our_shift, mut their_shift) = (0isize, 0isize);
    loop {
        let starts = [ours.peek(), theirs.peek()].into_iter().flatten().map(|change| change.base.start);
        let Some(start) = starts.min() else {
            return groups;
        };
        let mut end = start;
        let (our_before, their_before) = (our_shift, their_shift);
        let (mut is_ours, mut is_theirs) = (false, false);
        loop {
            if let Some(change) = ours.next_if(|change| change.base.start <= end) {
                (is_ours, end) = (true, end.max(change.base.end));
                our_shift += grown(change);
            } else if let Some(change) = theirs.next_if(|change| change.base.start <= end) {
                (is_theirs, end) = (true, end.max(change.base.end));
                their_shift += grown(change);
            } else {
                break;
            }
        }
        groups.push(Group {
            base: start..end,
            ours: start.saturating_add_signed(our_before)..end.saturating_add_signed(our_shift),
            theirs: start.saturating_add_signed(their_before)..end.saturating_add_signed(their_shift),
            is_ours,
            is_theirs,
        });
    }
}

/// Returns the difference in lines of a change.
fn grown(change: &Change) -> isize {
    change.other.len() as isize - change.base.len() as isize
}

/// Returns the changes of a hunk.
fn changes_of(hunk: &Hunk) -> Vec<Change> {
    let mut changes = Vec::new();
    let (mut old, mut new) = (0, 0);
    for part in hunk.lines.chunk_by(|a, b| (a.mark == Mark::Context) == (b.mark == Mark::Context)) {
        let kept = part.iter().filter(|line| line.mark == Mark::Context).count();
        let taken = part.iter().filter(|line| line.mark == Mark::Old).count();
        let made = part.iter().filter(|line| line.mark == Mark::New).count();
        if kept == 0 {
            changes.push(Change { base: old..old + taken, other: new..new + made });
        }
        old += kept + taken;
        new += kept + made;
    }
    changes
}

/// Returns the fewest changes that turn `base` into `other`.
fn changes_between(base: &[&[u8]], other: &[&[u8]], equal: impl Fn(&[u8], &[u8]) -> bool) -> Vec<Change> {
    // `common[i][j]` is the number of common lines of `base[i..]` and `other[j..]`.
    let width = other.len() + 1;
    let mut common = vec![0u32; (base.len() + 1) * width];
    let at = |table: &[u32], row: usize, column: usize| table.get(row * width + column).copied().unwrap_or(0);
    for (row, old) in base.iter().enumerate().rev() {
        for (column, new) in other.iter().enumerate().rev() {
            let best = if equal(old, new) {
                at(&common, row + 1, column + 1) + 1
            } else {
                at(&common, row + 1, column).max(at(&common, row, column + 1))
            };
            if let Some(cell) = common.get_mut(row * width + column) {
                *cell = best;
            }
        }
    }
    let mut changes: Vec<Change> = Vec::new();
    let (mut row, mut column) = (0, 0);
    while row < base.len() || column < other.len() {
        let same = match (base.get(row), other.get(column)) {
            (Some(old), Some(new)) => equal(old, new),
            _ => false,
        };
        if same {
            (row, column) = (row + 1, column + 1);
            continue;
        }
        let takes =
            column >= other.len() || row < base.len() && at(&common, row + 1, column) >= at(&common, row, column + 1);
        let (old, new) = if takes { (row..row + 1, column..column) } else { (row..row, column..column + 1) };
        match changes.last_mut().filter(|last| last.base.end == row && last.other.end == column) {
            Some(last) => (last.base.end, last.other.end) = (old.end, new.end),
            None => changes.push(Change { base: old.clone(), other: new.clone() }),
        }
        (row, column) = (old.end, new.end);
    }
    changes
}
