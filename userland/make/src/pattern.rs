//! Patterns: names in which `%` matches any text.

/// A pattern, or a plain name without `%`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pattern {
    pub(crate) prefix: Vec<u8>,
    /// `None` for a plain name, which is stored in the prefix.
    pub(crate) suffix: Option<Vec<u8>>,
}

impl Pattern {
    /// Parses a pattern. A backslash quotes a `%`.
    pub(crate) fn parse(text: &[u8]) -> Self {
        let mut prefix = Vec::with_capacity(text.len());
        let mut at = 0;
        while let Some(byte) = text.get(at).copied() {
            let slashes = text.iter().skip(at).take_while(|byte| **byte == b'\\').count();
            if slashes > 0 && text.get(at + slashes) == Some(&b'%') {
                prefix.extend(std::iter::repeat_n(b'\\', slashes / 2));
                at += slashes;
                if slashes % 2 == 1 {
                    prefix.push(b'%');
                    at += 1;
                }
                continue;
            }
            if byte == b'%' {
                return Self { prefix, suffix: Some(text.get(at + 1..).unwrap_or_default().to_vec()) };
            }
            prefix.push(byte);
            at += 1;
        }
        Self { prefix, suffix: None }
    }

    /// Returns whether it contains a `%`.
    pub(crate) fn has_percent(&self) -> bool {
        self.suffix.is_some()
    }

    /// The stem of a name; `None` if it does not match. A plain name matches itself.
    pub(crate) fn stem<'w>(&self, word: &'w [u8]) -> Option<&'w [u8]> {
        match &self.suffix {
            None => (word == self.prefix).then_some(b""),
            Some(suffix) => word.strip_prefix(self.prefix.as_slice())?.strip_suffix(suffix.as_slice()),
        }
    }

    /// Replaces `%` with a text.
    pub(crate) fn fill(&self, stem: &[u8]) -> Vec<u8> {
        match &self.suffix {
            None => self.prefix.clone(),
            Some(suffix) => [self.prefix.as_slice(), stem, suffix].concat(),
        }
    }

    /// The pattern as written.
    pub(crate) fn text(&self) -> Vec<u8> {
        self.fill(b"%")
    }
}

/// Applies `patsubst` to one word.
pub(crate) fn replaced(pattern: &Pattern, replacement: &Pattern, word: &[u8]) -> Vec<u8> {
    match pattern.stem(word) {
        Some(stem) if pattern.has_percent() => replacement.fill(stem),
        Some(_) => replacement.text(),
        None => word.to_vec(),
    }
}
