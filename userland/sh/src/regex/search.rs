//! Searching, in time that grows with the text and the program and no faster.

use super::Groups;
use super::program::{Program, Step, is_at, match_length};
use crate::character::char_len;

/// Reached steps in order, each with the start of its match.
struct Reached {
    list: Vec<(usize, usize)>,
    seen: Vec<bool>,
}

impl Reached {
    fn new(len: usize) -> Self {
        Self { list: Vec::new(), seen: vec![false; len] }
    }

    fn clear(&mut self) {
        for (step, _) in self.list.drain(..) {
            if let Some(seen) = self.seen.get_mut(step) {
                *seen = false;
            }
        }
    }

    /// Adds a step and all that follow from it without taking a character.
    fn add(&mut self, program: &Program, text: &[u8], at: usize, step: usize, start: usize) {
        let mut waiting = vec![step];
        while let Some(step) = waiting.pop() {
            match self.seen.get_mut(step) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            self.list.push((step, start));
            match program.steps.get(step) {
                Some(Step::Jump(to)) => waiting.push(*to),
                Some(Step::Split(first, second)) => waiting.extend([*second, *first]),
                Some(Step::Open(_) | Step::Close { .. }) => waiting.push(step + 1),
                Some(Step::Assertion(position)) if is_at(*position, text, at) => waiting.push(step + 1),
                _ => {}
            }
        }
    }
}

/// Start and end of the leftmost, longest match.
pub(super) fn bounds(program: &Program, text: &[u8], fold: bool) -> Option<(usize, usize)> {
    let (mut now, mut next) = (Reached::new(program.steps.len()), Reached::new(program.steps.len()));
    let mut best: Option<(usize, usize)> = None;
    // Characters take different numbers of bytes only by their length, so all steps stay side by side.
    let mut at = 0;
    loop {
        if best.is_none() && (at == 0 || !program.anchored) {
            now.add(program, text, at, 0, at);
        }
        if now.list.is_empty() && (best.is_some() || program.anchored) {
            return best;
        }
        let rest = text.get(at..).unwrap_or_default();
        for &(step, start) in &now.list {
            if best.is_some_and(|(first, _)| start > first) {
                continue;
            }
            match program.steps.get(step) {
                Some(Step::Match) if best.is_none_or(|(first, end)| start < first || at > end) => {
                    best = Some((start, at));
                }
                Some(step_here) => {
                    if let Some(len) = match_length(step_here, rest, fold) {
                        next.add(program, text, at + len, step + 1, start);
                    }
                }
                None => {}
            }
        }
        if rest.is_empty() {
            return best;
        }
        at += char_len(rest).max(1);
        now.clear();
        std::mem::swap(&mut now, &mut next);
    }
}

/// The steps from which the end of the match is reachable, for each position.
struct Reachable {
    steps: usize,
    bits: Vec<u64>,
}

impl Reachable {
    fn index(&self, position: usize, step: usize) -> (usize, u64) {
        let bit = position * self.steps + step;
        (bit / 64, 1 << (bit % 64))
    }

    fn has(&self, position: usize, step: usize) -> bool {
        let (word, mask) = self.index(position, step);
        self.bits.get(word).is_some_and(|bits| bits & mask != 0)
    }

    fn insert(&mut self, position: usize, step: usize) {
        let (word, mask) = self.index(position, step);
        if let Some(bits) = self.bits.get_mut(word) {
            *bits |= mask;
        }
    }
}

/// The groups of the match between `start` and `end`: the way through the program that prefers earlier alternatives and
/// more repetitions, among those that end there.
pub(super) fn groups(program: &Program, text: &[u8], fold: bool, start: usize, end: usize) -> Groups {
    let mut groups: Groups = vec![None; program.groups + 1];
    if let Some(whole) = groups.first_mut() {
        *whole = Some((start, end));
    }
    if program.groups == 0 {
        return groups;
    }
    let reachable = reachable(program, text, fold, start, end);
    let mut registers = Registers::new(program.groups);
    let (mut step, mut at) = (0, start);
    // Steps passed since the last character, so that an empty repetition does not loop forever.
    let mut passed: Vec<usize> = Vec::new();
    loop {
        let here = program.steps.get(step);
        registers.pass(here, at);
        step = match here {
            None | Some(Step::Match) => break,
            Some(Step::Jump(to)) => *to,
            Some(Step::Split(first, second)) => {
                let again = passed.contains(&step);
                passed.push(step);
                if !again && reachable.has(at - start, *first) { *first } else { *second }
            }
            Some(Step::Open(_) | Step::Close { .. } | Step::Assertion(_)) => step + 1,
            Some(other) => {
                let Some(len) = match_length(other, text.get(at..).unwrap_or_default(), fold) else { break };
                at += len;
                passed.clear();
                step + 1
            }
        };
    }
    registers.into_groups(&mut groups);
    groups
}

fn reachable(program: &Program, text: &[u8], fold: bool, start: usize, end: usize) -> Reachable {
    let steps = program.steps.len();
    let mut reachable = Reachable { steps, bits: vec![0; ((end - start + 1) * steps).div_ceil(64)] };
    for at in (start..=end).rev() {
        let position = at - start;
        loop {
            let mut changed = false;
            for (step, here) in program.steps.iter().enumerate().rev() {
                if reachable.has(position, step) {
                    continue;
                }
                let reaches = match here {
                    Step::Match => at == end,
                    Step::Jump(to) => reachable.has(position, *to),
                    Step::Split(first, second) => reachable.has(position, *first) || reachable.has(position, *second),
                    Step::Open(_) | Step::Close { .. } => reachable.has(position, step + 1),
                    Step::Assertion(kind) => reachable.has(position, step + 1) && is_at(*kind, text, at),
                    other => match_length(other, text.get(at..).unwrap_or_default(), fold)
                        .is_some_and(|len| at + len <= end && reachable.has(position + len, step + 1)),
                };
                if reaches {
                    reachable.insert(position, step);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
    }
    reachable
}

/// The matches of groups until now.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    now: Vec<(Option<usize>, Option<usize>)>,
    before: Vec<(Option<usize>, Option<usize>)>,
}

impl Registers {
    pub(super) fn new(groups: usize) -> Self {
        let empty = vec![(None, None); groups + 1];
        Self { now: empty.clone(), before: empty }
    }

    pub(super) fn get(&self, group: usize) -> Option<(usize, usize)> {
        let (start, end) = *self.now.get(group)?;
        Some((start?, end?))
    }

    /// Records the start or end of a group. An optional group that matches nothing a second time keeps what it had.
    pub(super) fn pass(&mut self, step: Option<&Step>, at: usize) {
        match step {
            Some(Step::Open(group)) => {
                if let Some(slot) = self.now.get_mut(*group) {
                    *slot = (Some(at), None);
                }
            }
            Some(Step::Close { group, optional }) => {
                let Some(slot) = self.now.get_mut(*group) else { return };
                if slot.0.is_some_and(|start| start < at) {
                    slot.1 = Some(at);
                    self.before.clone_from(&self.now);
                } else if *optional && self.before.get(*group).is_some_and(|(start, _)| start.is_some()) {
                    self.now.clone_from(&self.before);
                } else {
                    slot.1 = Some(at);
                }
            }
            _ => {}
        }
    }

    pub(super) fn into_groups(self, groups: &mut Groups) {
        for (group, slot) in groups.iter_mut().enumerate().skip(1) {
            *slot = self.get(group);
        }
    }
}
