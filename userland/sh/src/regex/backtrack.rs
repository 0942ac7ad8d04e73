//! Searching with back-references: every branch through the program is tried, the preferred one first.

use super::program::{Program, Step, is_at, match_length, same_letter};
use super::search::Registers;
use super::{Groups, RegexError};
use crate::character::{char_at, char_len};

/// Maximum steps of one search; back-references can make it exponential.
const MAX_EFFORT: u32 = 5_000_000;

/// A branch that was not match_length yet.
struct Branch {
    step: usize,
    at: usize,
    registers: Registers,
    /// Splits passed since the last character.
    passed: Vec<usize>,
}

pub(super) fn find(program: &Program, text: &[u8], fold: bool) -> Result<Option<Groups>, RegexError> {
    let mut effort = MAX_EFFORT;
    let mut start = 0;
    loop {
        if let Some(groups) = from(program, text, fold, start, &mut effort)? {
            return Ok(Some(groups));
        }
        let rest = text.get(start..).unwrap_or_default();
        if rest.is_empty() || program.anchored {
            return Ok(None);
        }
        start += char_len(rest).max(1);
    }
}

/// The longest match that starts here.
fn from(
    program: &Program,
    text: &[u8],
    fold: bool,
    start: usize,
    effort: &mut u32,
) -> Result<Option<Groups>, RegexError> {
    let mut best: Option<(usize, Registers)> = None;
    let mut branches =
        vec![Branch { step: 0, at: start, registers: Registers::new(program.groups), passed: Vec::new() }];
    while let Some(mut branch) = branches.pop() {
        loop {
            *effort = effort.checked_sub(1).ok_or(RegexError::Effort)?;
            let here = program.steps.get(branch.step);
            branch.registers.pass(here, branch.at);
            let rest = text.get(branch.at..).unwrap_or_default();
            match here {
                None => break,
                Some(Step::Match) => {
                    if best.as_ref().is_none_or(|(end, _)| branch.at > *end) {
                        best = Some((branch.at, branch.registers));
                    }
                    break;
                }
                Some(Step::Jump(to)) => branch.step = *to,
                Some(Step::Split(first, second)) => {
                    if branch.passed.contains(&branch.step) {
                        branch.step = *second;
                        continue;
                    }
                    branch.passed.push(branch.step);
                    let (registers, passed) = (branch.registers.clone(), branch.passed.clone());
                    branches.push(Branch { step: *second, at: branch.at, registers, passed });
                    branch.step = *first;
                }
                Some(Step::Open(_) | Step::Close { .. }) => branch.step += 1,
                Some(Step::Assertion(position)) if is_at(*position, text, branch.at) => branch.step += 1,
                Some(Step::Recall(group)) => {
                    let Some(len) = recalled(&branch.registers, *group, text, rest, fold) else { break };
                    branch.at += len;
                    branch.step += 1;
                }
                Some(other) => {
                    let Some(len) = match_length(other, rest, fold) else { break };
                    branch.at += len;
                    branch.step += 1;
                    branch.passed.clear();
                }
            }
        }
        if best.as_ref().is_some_and(|(end, _)| *end == text.len()) {
            break;
        }
    }
    Ok(best.map(|(end, registers)| {
        let mut groups: Groups = vec![None; program.groups + 1];
        registers.into_groups(&mut groups);
        if let Some(whole) = groups.first_mut() {
            *whole = Some((start, end));
        }
        groups
    }))
}

/// The number of bytes of `rest` that repeat the match of the group.
fn recalled(registers: &Registers, group: usize, text: &[u8], rest: &[u8], fold: bool) -> Option<usize> {
    let (start, end) = registers.get(group)?;
    let mut required = text.get(start..end)?;
    if rest.starts_with(required) {
        return Some(required.len());
    }
    if !fold {
        return None;
    }
    let mut len = 0;
    while let Some((char, required_len)) = char_at(required) {
        let (other, other_len) = char_at(rest.get(len..)?)?;
        if !same_letter(char, other) {
            return None;
        }
        required = required.get(required_len..)?;
        len += other_len;
    }
    Some(len)
}
