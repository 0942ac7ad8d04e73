//! Matching: the positions in the text after each element.

use std::rc::Rc;

use super::Node;
use super::bracket::in_set;
use crate::character::{char_at, char_len};
use crate::vars::Map;

fn same_byte(a: u8, b: u8, fold: bool) -> bool {
    a == b || (fold && a.eq_ignore_ascii_case(&b))
}

/// The number of bytes of `text` that one element other than a star or a group matches.
fn step(node: &Node, text: &[u8], fold: bool) -> Option<usize> {
    match node {
        Node::Byte(byte) => text.first().is_some_and(|b| same_byte(*b, *byte, fold)).then_some(1),
        Node::Any => Some(char_len(text)).filter(|len| *len > 0),
        Node::Set { negated, items } => {
            let (char, len) = char_at(text)?;
            in_set(*negated, items, char, fold).then_some(len)
        }
        Node::Star | Node::Group { .. } => None,
    }
}

/// Matching without groups: only the newest star has to be retried.
pub(super) fn simple_match(nodes: &[Node], text: &[u8], fold: bool) -> bool {
    let (mut node, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        match nodes.get(node) {
            Some(Node::Star) => {
                retry = Some((node + 1, at));
                node += 1;
                continue;
            }
            Some(element) => {
                if let Some(len) = step(element, rest, fold) {
                    node += 1;
                    at += len;
                    continue;
                }
            }
            None if rest.is_empty() => return true,
            None => {}
        }
        let Some((after, from)) = retry else { return false };
        let skipped = text.get(from..).unwrap_or_default();
        if skipped.is_empty() {
            return false;
        }
        let from = from + char_len(skipped);
        retry = Some((after, from));
        node = after;
        at = from;
    }
}

/// Positions after one of the choices of a group, by the address of the choices and the start. Without it, matching nested
/// groups would take exponential time.
type Memo = Map<(usize, usize), Rc<Vec<usize>>>;

/// Matching with groups.
pub(super) struct Matcher<'a> {
    text: &'a [u8],
    fold: bool,
    /// The text starts with a dot that only a dot matches.
    hidden: bool,
    memo: Memo,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(text: &'a [u8], fold: bool, hidden: bool) -> Self {
        Self { text, fold, hidden, memo: Memo::default() }
    }

    pub(super) fn rest(&self, at: usize) -> &[u8] {
        self.text.get(at..).unwrap_or_default()
    }

    /// All positions after `nodes`, starting at any of `starts`; both sorted.
    pub(super) fn ends(&mut self, nodes: &[Node], starts: Vec<usize>) -> Vec<usize> {
        let mut positions = starts;
        for node in nodes {
            let Some(first) = positions.first().copied() else { return positions };
            positions = match node {
                // Only nothing at all can be before the dot.
                Node::Star if self.hidden && first == 0 => {
                    let mut positions = positions.get(1).map(|&next| self.from(next)).unwrap_or_default();
                    positions.push(0);
                    positions
                }
                Node::Star => self.from(first),
                Node::Group { kind, choices } => self.group_ends(*kind, choices, positions),
                element => positions
                    .iter()
                    .filter(|at| !self.hidden || **at > 0 || matches!(element, Node::Byte(_)))
                    .filter_map(|&at| step(element, self.rest(at), self.fold).map(|len| at + len))
                    .collect(),
            };
            positions.sort_unstable();
            positions.dedup();
        }
        positions
    }

    /// All character boundaries starting at `at`.
    pub(super) fn from(&self, at: usize) -> Vec<usize> {
        let mut positions = vec![at];
        let mut at = at;
        while at < self.text.len() {
            at += char_len(self.rest(at)).max(1);
            positions.push(at);
        }
        positions
    }

    /// Positions after one of the choices, from one position.
    fn once(&mut self, choices: &[Vec<Node>], start: usize) -> Rc<Vec<usize>> {
        let key = (choices.as_ptr() as usize, start);
        if let Some(known) = self.memo.get(&key) {
            return Rc::clone(known);
        }
        let mut positions = Vec::new();
        for choice in choices {
            positions.extend(self.ends(choice, vec![start]));
        }
        let positions = Rc::new(positions);
        self.memo.insert(key, Rc::clone(&positions));
        positions
    }

    /// Places after a group, from any of `starts`.
    fn group_ends(&mut self, kind: u8, choices: &[Vec<Node>], starts: Vec<usize>) -> Vec<usize> {
        let mut positions = Vec::new();
        match kind {
            b'!' => {
                for start in starts {
                    let matched = self.once(choices, start);
                    let hidden = self.hidden && start == 0;
                    let others = self.from(start).into_iter().filter(|position| !hidden || *position == 0);
                    positions.extend(others.filter(|position| !matched.contains(position)));
                }
            }
            b'@' | b'?' => {
                for &start in &starts {
                    positions.extend_from_slice(&self.once(choices, start));
                }
                if kind == b'?' {
                    positions.extend(starts);
                }
            }
            _ => {
                // Each position is continued only once.
                let mut reached = vec![false; self.text.len() + 1];
                let mut waiting = starts.clone();
                while let Some(start) = waiting.pop() {
                    for &position in self.once(choices, start).iter() {
                        if let Some(seen) = reached.get_mut(position).filter(|seen| !**seen) {
                            *seen = true;
                            waiting.push(position);
                        }
                    }
                }
                positions.extend(reached.iter().enumerate().filter(|(_, seen)| **seen).map(|(position, _)| position));
                if kind == b'*' {
                    positions.extend(starts);
                }
            }
        }
        positions
    }
}
