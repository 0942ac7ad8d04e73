//! Matching: where the text may stand after each element.

use std::rc::Rc;

use super::Node;
use super::bracket::in_set;
use crate::character::{char_at, char_len};
use crate::vars::Map;

fn same_byte(a: u8, b: u8, fold: bool) -> bool {
    a == b || (fold && a.eq_ignore_ascii_case(&b))
}

/// How many bytes of `text` one element other than a star or a group takes.
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

/// Matching without groups: only the newest star ever has to take more.
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

/// Where a group that starts at a place may end after one of its choices: (address of the choices, place) to places.
/// Without it nested groups would be matched again and again, each level doubling the work.
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

    /// All places where the text may stand after `nodes`, from any of `starts`; both in order.
    pub(super) fn ends(&mut self, nodes: &[Node], starts: Vec<usize>) -> Vec<usize> {
        let mut places = starts;
        for node in nodes {
            let Some(first) = places.first().copied() else { return places };
            places = match node {
                // Only nothing at all can be before the dot.
                Node::Star if self.hidden && first == 0 => {
                    let mut places = places.get(1).map(|&next| self.from(next)).unwrap_or_default();
                    places.push(0);
                    places
                }
                Node::Star => self.from(first),
                Node::Group { kind, choices } => self.group_ends(*kind, choices, places),
                element => places
                    .iter()
                    .filter(|at| !self.hidden || **at > 0 || matches!(element, Node::Byte(_)))
                    .filter_map(|&at| step(element, self.rest(at), self.fold).map(|len| at + len))
                    .collect(),
            };
            places.sort_unstable();
            places.dedup();
        }
        places
    }

    /// All boundaries of characters from `at` on.
    pub(super) fn from(&self, at: usize) -> Vec<usize> {
        let mut places = vec![at];
        let mut at = at;
        while at < self.text.len() {
            at += char_len(self.rest(at)).max(1);
            places.push(at);
        }
        places
    }

    /// Places after one of the choices, from one place.
    fn once(&mut self, choices: &[Vec<Node>], start: usize) -> Rc<Vec<usize>> {
        let key = (choices.as_ptr() as usize, start);
        if let Some(known) = self.memo.get(&key) {
            return Rc::clone(known);
        }
        let mut places = Vec::new();
        for choice in choices {
            places.extend(self.ends(choice, vec![start]));
        }
        let places = Rc::new(places);
        self.memo.insert(key, Rc::clone(&places));
        places
    }

    /// Places after a group, from any of `starts`.
    fn group_ends(&mut self, kind: u8, choices: &[Vec<Node>], starts: Vec<usize>) -> Vec<usize> {
        let mut places = Vec::new();
        match kind {
            b'!' => {
                for start in starts {
                    let matched = self.once(choices, start);
                    let hidden = self.hidden && start == 0;
                    let others = self.from(start).into_iter().filter(|place| !hidden || *place == 0);
                    places.extend(others.filter(|place| !matched.contains(place)));
                }
            }
            b'@' | b'?' => {
                for &start in &starts {
                    places.extend_from_slice(&self.once(choices, start));
                }
                if kind == b'?' {
                    places.extend(starts);
                }
            }
            _ => {
                // Each place is gone on from once.
                let mut reached = vec![false; self.text.len() + 1];
                let mut waiting = starts.clone();
                while let Some(start) = waiting.pop() {
                    for &place in self.once(choices, start).iter() {
                        if let Some(seen) = reached.get_mut(place).filter(|seen| !**seen) {
                            *seen = true;
                            waiting.push(place);
                        }
                    }
                }
                places.extend(reached.iter().enumerate().filter(|(_, seen)| **seen).map(|(place, _)| place));
                if kind == b'*' {
                    places.extend(starts);
                }
            }
        }
        places
    }
}
