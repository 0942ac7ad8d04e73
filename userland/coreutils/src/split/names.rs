//! The names of pieces: `xaa`, `xab` and on, and longer ones when those are used up.

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

/// Makes one name after the other.
#[derive(Debug)]
pub(super) struct Names {
    prefix: Vec<u8>,
    digits: Digits,
    suffix: Vec<u8>,
    /// Places in the alphabet of the next name.
    places: Vec<usize>,
    /// Longer suffixes follow when those of this length are used up.
    grows: bool,
    ended: bool,
}

impl Names {
    pub(super) fn new(prefix: &[u8], digits: Digits, suffix: &[u8], length: usize, grows: bool, start: usize) -> Self {
        let base = digits.all().len();
        let (mut places, mut left) = (vec![0; length], start);
        for place in places.iter_mut().rev() {
            *place = left % base;
            left /= base;
        }
        Self { prefix: prefix.to_vec(), digits, suffix: suffix.to_vec(), places, grows, ended: false }
    }

    /// `None` when there are no more.
    pub(super) fn next_name(&mut self) -> Option<Vec<u8>> {
        if self.ended {
            return None;
        }
        let all = self.digits.all();
        let shown = self.places.iter().map(|place| all.get(*place).copied().unwrap_or(b'?'));
        let name = self.prefix.iter().copied().chain(shown).chain(self.suffix.iter().copied()).collect();
        self.advance(all.len());
        Some(name)
    }

    fn advance(&mut self, base: usize) {
        for place in self.places.iter_mut().rev() {
            *place += 1;
            if *place < base {
                break;
            }
            *place = 0;
        }
        if self.places.iter().all(|place| *place == 0) {
            self.ended = true;
        }
        // The last letter leads to names that are two longer: xyz is followed by xzaaa.
        if self.grows && self.places.first() == Some(&(base - 1)) {
            let last = self.digits.all().get(base - 1).copied().unwrap_or_default();
            self.prefix.push(last);
            self.places = vec![0; self.places.len() + 1];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Digits, Names};

    #[test]
    fn names_grow_when_they_are_used_up() {
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
