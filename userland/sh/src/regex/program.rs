//! An expression compiled to instructions for the search.

use super::RegexError;
use super::parse::{Assertion, Node, Parsed};
use crate::character::{char_at, char_len};
use crate::pattern::{Item, in_set};

/// Maximum number of instructions of a program. Repetitions are unrolled, so a short text may require many.
const MAX_STEPS: usize = 200_000;

#[derive(Debug)]
pub(super) enum Step {
    /// One character, or an invalid byte.
    Char(Vec<u8>),
    Any,
    Set {
        negated: bool,
        items: std::rc::Rc<Vec<Item>>,
    },
    Assertion(Assertion),
    /// Goes on at the first of these, or at the other one.
    Split(usize, usize),
    Jump(usize),
    Open(usize),
    /// The end of a group; `optional` if the group may be skipped.
    Close {
        group: usize,
        optional: bool,
    },
    Match,
}

#[derive(Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) groups: usize,
    /// A match can only be at the start of the text.
    pub(super) anchored: bool,
}

impl Program {
    pub(super) fn new(parsed: &Parsed) -> Result<Self, RegexError> {
        let mut writer = Writer { steps: Vec::new() };
        writer.node(&parsed.node, false)?;
        writer.push(Step::Match)?;
        let first = writer.steps.iter().find(|step| !matches!(step, Step::Open(_)));
        let anchored = matches!(first, Some(Step::Assertion(Assertion::Start)));
        Ok(Self { steps: writer.steps, groups: parsed.groups, anchored })
    }
}

struct Writer {
    steps: Vec<Step>,
}

impl Writer {
    fn push(&mut self, step: Step) -> Result<usize, RegexError> {
        if self.steps.len() >= MAX_STEPS {
            return Err(RegexError::Pattern);
        }
        self.steps.push(step);
        Ok(self.steps.len() - 1)
    }

    fn set(&mut self, at: usize, step: Step) {
        if let Some(slot) = self.steps.get_mut(at) {
            *slot = step;
        }
    }

    /// Writes a node; `optional` when it is a repetition that need not be.
    fn node(&mut self, node: &Node, optional: bool) -> Result<(), RegexError> {
        match node {
            Node::Empty => {}
            Node::Char(bytes) => drop(self.push(Step::Char(bytes.clone()))?),
            Node::Any => drop(self.push(Step::Any)?),
            Node::Set { negated, items } => {
                let items = std::rc::Rc::new(items.clone());
                self.push(Step::Set { negated: *negated, items })?;
            }
            Node::Assertion(position) => drop(self.push(Step::Assertion(*position))?),
            Node::Group { number, inner } => {
                self.push(Step::Open(*number))?;
                self.node(inner, false)?;
                self.push(Step::Close { group: *number, optional })?;
            }
            Node::Concat(nodes) => nodes.iter().try_for_each(|node| self.node(node, false))?,
            Node::Alternate(nodes) => self.alternatives(nodes)?,
            Node::Repeat { inner, min, max } => self.repeat(inner, *min, *max)?,
        }
        Ok(())
    }

    fn alternatives(&mut self, nodes: &[Node]) -> Result<(), RegexError> {
        let mut ends = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            if at + 1 == nodes.len() {
                self.node(node, false)?;
                break;
            }
            let split = self.push(Step::Match)?;
            self.node(node, false)?;
            ends.push(self.push(Step::Match)?);
            self.set(split, Step::Split(split + 1, self.steps.len()));
        }
        let end = self.steps.len();
        ends.into_iter().for_each(|at| self.set(at, Step::Jump(end)));
        Ok(())
    }

    fn repeat(&mut self, inner: &Node, min: u32, max: Option<u32>) -> Result<(), RegexError> {
        for _ in 0..min {
            self.node(inner, false)?;
        }
        let Some(max) = max else {
            let split = self.push(Step::Match)?;
            self.node(inner, true)?;
            self.push(Step::Jump(split))?;
            self.set(split, Step::Split(split + 1, self.steps.len()));
            return Ok(());
        };
        let mut splits = Vec::new();
        for _ in min..max {
            splits.push(self.push(Step::Match)?);
            self.node(inner, true)?;
        }
        let end = self.steps.len();
        splits.into_iter().for_each(|at| self.set(at, Step::Split(at + 1, end)));
        Ok(())
    }
}

/// The number of bytes of `rest` that a one-character step matches; `None` if it does not match.
pub(super) fn match_length(step: &Step, rest: &[u8], fold: bool) -> Option<usize> {
    match step {
        Step::Char(bytes) if rest.starts_with(bytes) => Some(bytes.len()).filter(|len| *len == char_len(rest)),
        Step::Char(bytes) if fold => {
            let ((a, _), (b, len)) = (char_at(bytes)?, char_at(rest)?);
            same_letter(a, b).then_some(len)
        }
        Step::Any => valid_char(rest).map(|(_, len)| len),
        Step::Set { negated, items } => {
            let (char, len) = valid_char(rest)?;
            in_set(*negated, items, char, fold).then_some(len)
        }
        _ => None,
    }
}

/// The character at the start; invalid bytes match only themselves.
fn valid_char(text: &[u8]) -> Option<(char, usize)> {
    char_at(text).filter(|(_, len)| *len > 1 || text.first().is_some_and(u8::is_ascii))
}

fn same_letter(a: char, b: char) -> bool {
    a == b || a.to_lowercase().eq(b.to_lowercase())
}

/// Returns whether a position is here.
pub(super) fn is_at(position: Assertion, text: &[u8], at: usize) -> bool {
    match position {
        Assertion::Start => return at == 0,
        Assertion::End => return at == text.len(),
        _ => {}
    }
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let after = text.get(at..).and_then(char_at).is_some_and(|(char, _)| is_word(char));
    let before = (1..=4.min(at)).find_map(|back| {
        let bytes = text.get(at - back..at)?;
        if back > 1 || bytes.first()?.is_ascii() { std::str::from_utf8(bytes).ok()?.chars().next() } else { None }
    });
    let before = before.is_some_and(is_word);
    match position {
        Assertion::WordEdge => before != after,
        Assertion::NoWordEdge => before == after,
        Assertion::WordStart => !before && after,
        Assertion::WordEnd => before && !after,
        Assertion::Start | Assertion::End => false,
    }
}
