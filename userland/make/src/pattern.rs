//! Patterns: words with a `%` that stands for any text.

/// A pattern, or a plain word when there is no `%` in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pattern {
    pub(crate) prefix: Vec<u8>,
    /// `None` for a plain word, which is the prefix then.
    pub(crate) suffix: Option<Vec<u8>>,
}

impl Pattern {
    /// Reads a pattern, in which backslashes quote a `%`.
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

    /// Whether it has a `%`.
    pub(crate) fn has_percent(&self) -> bool {
        self.suffix.is_some()
    }

    /// What `%` stands for in a word; `None` when the word does not fit. A plain word fits itself.
    pub(crate) fn stem<'w>(&self, word: &'w [u8]) -> Option<&'w [u8]> {
        match &self.suffix {
            None => (word == self.prefix).then_some(b""),
            Some(suffix) => word.strip_prefix(self.prefix.as_slice())?.strip_suffix(suffix.as_slice()),
        }
    }

    /// The word with that text in the place of `%`.
    pub(crate) fn fill(&self, stem: &[u8]) -> Vec<u8> {
        match &self.suffix {
            None => self.prefix.clone(),
            Some(suffix) => [self.prefix.as_slice(), stem, suffix].concat(),
        }
    }

    /// How it was written.
    pub(crate) fn text(&self) -> Vec<u8> {
        self.fill(b"%")
    }
}

/// What `patsubst` makes of one word.
pub(crate) fn replaced(pattern: &Pattern, replacement: &Pattern, word: &[u8]) -> Vec<u8> {
    match pattern.stem(word) {
        Some(stem) if pattern.has_percent() => replacement.fill(stem),
        Some(_) => replacement.text(),
        None => word.to_vec(),
    }
}
