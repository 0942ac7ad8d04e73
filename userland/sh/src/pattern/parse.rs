//! From the text of a pattern to its elements.

use std::collections::BTreeSet;
use std::io::Write as _;

use super::{Node, Style};

/// Levels of groups within groups. One more ends the shell, as memory that is used up does: bash's own stack ends somewhere,
/// too.
const MAX_DEPTH: u32 = 500;

fn too_deep() -> ! {
    // The shell exits; a failed write is ignored.
    let _ = writeln!(std::io::stderr(), "sh: pattern: groups are nested more than {MAX_DEPTH} levels deep");
    std::process::exit(2)
}

/// Reads elements from the text of a pattern.
pub(super) struct Reader<'a> {
    pub(super) text: &'a [u8],
    pub(super) pos: usize,
    style: Style,
    depth: u32,
    /// Offsets of groups that do not close.
    unclosed: BTreeSet<usize>,
}

/// The elements of a pattern.
pub(super) fn parse(text: &[u8], style: Style) -> Vec<Node> {
    Reader { text, pos: 0, style, depth: 0, unclosed: BTreeSet::new() }.nodes(b"")
}

impl Reader<'_> {
    pub(super) fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.pos + ahead).copied()
    }

    /// Elements up to one of `stops` or the end.
    pub(super) fn nodes(&mut self, stops: &[u8]) -> Vec<Node> {
        let mut nodes = Vec::new();
        // Parentheses within a group are paired even if they start no group.
        let mut open = 0_u32;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'(' if !stops.is_empty() => open += 1,
                b')' | b'|' if open > 0 && stops.contains(&byte) => open -= u32::from(byte == b')'),
                _ if stops.contains(&byte) => break,
                _ => {}
            }
            if self.style.extended
                && matches!(byte, b'?' | b'*' | b'+' | b'@' | b'!')
                && self.peek(1) == Some(b'(')
                && let Some(group) = self.group(byte)
            {
                nodes.push(group);
                continue;
            }
            self.pos += 1;
            match byte {
                b'*' if matches!(nodes.last(), Some(Node::Star)) => {}
                b'*' => nodes.push(Node::Star),
                b'?' => nodes.push(Node::Any),
                b'[' => match self.set() {
                    Some(set) => nodes.push(set),
                    None if !stops.is_empty() => {
                        // As in bash, the following text belongs to the bracket, so the group does not close.
                        self.pos = self.text.len();
                        return nodes;
                    }
                    None => nodes.push(Node::Byte(b'[')),
                },
                // After `*`, bash finds no character that this backslash quotes.
                b'\\' if self.peek(0).is_none() && matches!(nodes.last(), Some(Node::Star)) => {
                    nodes.push(Node::Set { negated: false, items: Vec::new() });
                }
                b'\\' => {
                    let escaped = self.peek(0);
                    self.pos += usize::from(escaped.is_some());
                    nodes.push(Node::Byte(escaped.unwrap_or(b'\\')));
                }
                _ => nodes.push(Node::Byte(byte)),
            }
        }
        nodes
    }

    /// A group, or `None` with nothing read when it does not close.
    pub(super) fn group(&mut self, kind: u8) -> Option<Node> {
        let start = self.pos;
        if self.unclosed.contains(&start) {
            return None;
        }
        if self.depth >= MAX_DEPTH {
            too_deep();
        }
        self.pos += 2;
        self.depth += 1;
        let mut choices = Vec::new();
        loop {
            choices.push(self.nodes(b"|)"));
            match self.peek(0) {
                Some(b'|') => self.pos += 1,
                Some(_) => {
                    self.pos += 1;
                    self.depth -= 1;
                    return Some(Node::Group { kind, choices });
                }
                None => {
                    // After an unclosed group the text is parsed again, including the groups within it.
                    self.unclosed.insert(start);
                    self.pos = start;
                    self.depth -= 1;
                    return None;
                }
            }
        }
    }
}
