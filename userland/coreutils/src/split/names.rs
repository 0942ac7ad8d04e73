//! Names of output files: `xaa`, `xab`, and longer names after those.

/// Suffix alphabet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Digits {
    #[default]
    Letters,
    Decimal,
    Hexadecimal,
}

impl Digits {
    pub(super) fn all(self) -> &'static [u8] {
        match self {
            Self::Letters => b"abcdefghijklmnopqrstuvwxyz",
            Self::Decimal => b"0123456789",
            Self::Hexadecimal => b"0123456789abcdef",
        }
    }
}

/// Generator of names.
#[derive(Debug)]
pub(super) struct Names {
    prefix: Vec<u8>,
    digits: Digits,
    suffix: Vec<u8>,
    /// Indices of the letters of the next suffix.
    indices: Vec<usize>,
    /// Longer suffixes follow after the last one of this length.
    grows: bool,
    ended: bool,
}

impl Names {
    pub(super) fn new(prefix: &[u8], digits: Digits, suffix: &[u8], length: usize, grows: bool, start: usize) -> Self {
        let base = digits.all().len();
        let (mut indices, mut left) = (vec![0; length], start);
        for index in indices.iter_mut().rev() {
            *index = left % base;
            left /= base;
        }
        Self { prefix: prefix.to_vec(), digits, suffix: suffix.to_vec(), indices, grows, ended: false }
    }

    /// Returns the next name; `None` after the last one.
    pub(super) fn next_name(&mut self) -> Option<Vec<u8>> {
        if self.ended {
            return None;
        }
        let all = self.digits.all();
        let shown = self.indices.iter().map(|index| all.get(*index).copied().unwrap_or(b'?'));
        let name = self.prefix.iter().copied().chain(shown).chain(self.suffix.iter().copied()).collect();
        self.advance(all.len());
        Some(name)
    }

    fn advance(&mut self, base: usize) {
        for index in self.indices.iter_mut().rev() {
            *index += 1;
            if *index < base {
                break;
            }
            *index = 0;
        }
        if self.indices.iter().all(|index| *index == 0) {
            self.ended = true;
        }
        // The last letter as first one is reserved for names that are two letters longer: xyz is followed by xzaaa.
        if self.grows && self.indices.first() == Some(&(base - 1)) {
            let last = self.digits.all().get(base - 1).copied().unwrap_or_default();
            self.prefix.push(last);
            self.indices = vec![0; self.indices.len() + 1];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Digits, Names};

    #[test]
    fn names_grow_after_the_last_one() {
        let mut names = Names::new(b"x", Digits::Decimal, b"", 2, true, 0);
        let all: Vec<String> =
            (0..92).filter_map(|_| names.next_name()).map(|name| String::from_utf8_lossy(&name).into_owned()).collect();
        assert_eq!(all.get(89).map(String::as_str), Some("x89"));
        assert_eq!(all.get(90).map(String::as_str), Some("x9000"));
        let mut names = Names::new(b"p", Digits::Letters, b".t", 1, false, 24);
        assert_eq!(names.next_name().as_deref(), Some(&b"py.t"[..]));
        assert_eq!(names.next_name().as_deref(), Some(&b"pz.t"[..]));
        assert_eq!(names.next_name(), None);
    }
}
