//! Difference blocks of three files.

use std::ops::Range;

use crate::script::{Change, Script};

/// Roles of the files in the comparison: two compared files and the common one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order([usize; 3]);

impl Order {
    /// Both changed files are compared with the old one, which is the second operand.
    pub(crate) const OLD_IS_COMMON: Self = Self([0, 2, 1]);
    /// The first two are compared with the third.
    pub(crate) const THIRD_IS_COMMON: Self = Self([0, 1, 2]);

    /// Returns the operand with this role: 0 and 1 are compared with 2.
    pub(crate) fn file(self, place: usize) -> usize {
        self.0.get(place).copied().unwrap_or_default()
    }
}

/// The files that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All three differ.
    All,
    /// This file differs from the others, which are equal.
    Odd(usize),
}

/// A block of differing lines. Lines are counted from 0, files as operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    pub(crate) ranges: [Range<usize>; 3],
}

/// Returns all blocks, from both comparisons with the common file.
pub(crate) fn find(first: &Script<'_>, second: &Script<'_>, order: Order) -> Vec<Block> {
    let scripts = [first, second];
    let mut rest = [first.changes.as_slice(), second.changes.as_slice()];
    // Line count of each compared file minus that of the common one, up to the end of the last block.
    let mut shift = [0_isize; 2];
    let mut blocks = Vec::new();
    while let Some(group) = next_group(&mut rest) {
        let common = group.common;
        let ranges = [0, 1].map(|thread| {
            let begin = common.start.saturating_add_signed(shift[thread]);
            let grown = group.changes[thread].iter().map(grows).sum::<isize>();
            shift[thread] += grown;
            begin..common.end.saturating_add_signed(shift[thread]).max(begin)
        });
        let parts = [0, 1].map(|thread| scripts[thread].old.get(ranges[thread].clone()).unwrap_or_default());
        let kind = match (group.changes[0].is_empty(), group.changes[1].is_empty()) {
            (true, _) => Kind::Odd(order.file(1)),
            (_, true) => Kind::Odd(order.file(0)),
            _ if parts[0] == parts[1] => Kind::Odd(order.file(2)),
            _ => Kind::All,
        };
        let mut by_operand = [0..0, 0..0, 0..0];
        for (place, range) in ranges.into_iter().chain([common]).enumerate() {
            if let Some(slot) = by_operand.get_mut(order.file(place)) {
                *slot = range;
            }
        }
        blocks.push(Block { kind, ranges: by_operand });
    }
    blocks
}

/// Groups adjacent changes of both comparisons.
struct Group<'a> {
    common: Range<usize>,
    changes: [&'a [Change]; 2],
}

/// Returns the next group. The common file is the new text of both comparisons.
fn next_group<'a>(rest: &mut [&'a [Change]; 2]) -> Option<Group<'a>> {
    let begins = |changes: &[Change]| changes.first().map(|change| change.new.start);
    let mut thread = match (begins(rest[0]), begins(rest[1])) {
        (None, None) => return None,
        (Some(first), Some(second)) => usize::from(first > second),
        (first, _) => usize::from(first.is_none()),
    };
    let whole = *rest;
    let mut taken = [0, 0];
    let start = begins(rest[thread])?;
    let mut end = start;
    // Extends the group with overlapping changes of the other side until none is left.
    while let Some((change, left)) = rest[thread].split_first() {
        if taken != [0, 0] && change.new.start > end {
            break;
        }
        (rest[thread], taken[thread]) = (left, taken[thread] + 1);
        let further = taken == [1, 0] || taken == [0, 1] || change.new.end > end;
        end = end.max(change.new.end);
        if further {
            thread ^= 1;
        }
    }
    let changes = [0, 1].map(|thread| whole[thread].get(..taken[thread]).unwrap_or_default());
    Some(Group { common: start..end, changes })
}

/// Returns the line count of the compared file minus that of the common one.
fn grows(change: &Change) -> isize {
    let signed = |count: usize| isize::try_from(count).unwrap_or(isize::MAX);
    signed(change.old.len()) - signed(change.new.len())
}
