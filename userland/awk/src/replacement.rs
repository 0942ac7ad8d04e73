//! Replacement text of `sub`, `gsub` and `gensub`.

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    /// A reference to a group; 0 is the whole match.
    Group(usize),
}

/// A replacement, parsed once for all matches.
#[derive(Debug, Default)]
pub(crate) struct Replacement {
    parts: Vec<Part>,
    /// Literal text that ends at the next part.
    open: Vec<u8>,
}

impl Replacement {
    /// Parses a replacement for `sub` and `gsub`: `&` is the match, `\&` is `&`, and two backslashes before either are one.
    pub(crate) fn plain(text: &[u8]) -> Self {
        let mut replacement = Self::default();
        let mut rest = text;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'\\' => {
                    let run = 1 + after.iter().take_while(|byte| **byte == b'\\').count();
                    rest = after.get(run - 1..).unwrap_or_default();
                    if rest.first() != Some(&b'&') {
                        replacement.backslashes(run);
                        continue;
                    }
                    replacement.backslashes(run / 2);
                    if run % 2 == 1 {
                        replacement.open.push(b'&');
                        rest = rest.get(1..).unwrap_or_default();
                    }
                }
                b'&' => replacement.group(0),
                _ => replacement.open.push(*byte),
            }
        }
        replacement.end_text();
        replacement
    }

    /// Parses a replacement for `gensub`, which supports groups.
    pub(crate) fn with_groups(text: &[u8]) -> Self {
        let mut replacement = Self::default();
        let mut rest = text;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            match (byte, after.first()) {
                (b'\\', Some(digit @ b'0'..=b'9')) => {
                    replacement.group(usize::from(digit - b'0'));
                    rest = after.get(1..).unwrap_or_default();
                }
                (b'\\', Some(next @ (b'&' | b'\\'))) => {
                    replacement.open.push(*next);
                    rest = after.get(1..).unwrap_or_default();
                }
                (b'&', _) => replacement.group(0),
                _ => replacement.open.push(*byte),
            }
        }
        replacement.end_text();
        replacement
    }

    fn backslashes(&mut self, count: usize) {
        self.open.resize(self.open.len() + count, b'\\');
    }

    fn group(&mut self, number: usize) {
        self.end_text();
        self.parts.push(Part::Group(number));
    }

    fn end_text(&mut self) {
        if !self.open.is_empty() {
            self.parts.push(Part::Text(std::mem::take(&mut self.open)));
        }
    }

    /// Returns whether the replacement refers to groups.
    pub(crate) fn names_groups(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Group(1..)))
    }

    /// Appends the replacement of a match. `group` returns the text that a group matched.
    pub(crate) fn append<'t>(&self, out: &mut Vec<u8>, group: impl Fn(usize) -> &'t [u8]) {
        for part in &self.parts {
            out.extend_from_slice(match part {
                Part::Text(text) => text,
                Part::Group(number) => group(*number),
            });
        }
    }
}
