//! Order of two lines.

use std::cmp::Ordering;

use md5::{Digest, Md5};

use super::key::Key;
use super::numeric;

/// Options that determine the order of lines.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) keys: Vec<Key>,
    /// Field separator; `None` is a change from blanks to non-blanks.
    pub(super) tab: Option<u8>,
    pub(super) reverse: bool,
    pub(super) stable: bool,
    pub(super) unique: bool,
    /// Salt of the hashes of `-R`.
    pub(super) salt: [u8; 16],
    /// The locale is not C.
    pub(super) collates: bool,
}

/// Cached range of the first key of a line, and its value if it is a small number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    start: usize,
    end: usize,
    number: Option<i64>,
}

impl Rules {
    pub(super) fn mark(&self, line: &[u8]) -> Mark {
        let Some(key) = self.keys.first() else {
            return Mark::default();
        };
        let (start, end) = key.range(line, self.tab);
        let number = match key.ordering.numeric {
            true => numeric::small_whole(line.get(start..end).unwrap_or_default()),
            false => None,
        };
        Mark { start, end, number }
    }

    /// Compares two lines with their marks.
    pub(super) fn compare(&self, a: (&[u8], Mark), b: (&[u8], Mark)) -> Ordering {
        if !self.keys.is_empty() {
            let order = self.by_keys(a, b);
            if order != Ordering::Equal || self.unique || self.stable {
                return order;
            }
        }
        let order = a.0.cmp(b.0);
        if self.reverse { order.reverse() } else { order }
    }

    fn by_keys(&self, a: (&[u8], Mark), b: (&[u8], Mark)) -> Ordering {
        for (at, key) in self.keys.iter().enumerate() {
            let order = match (at, a.1.number, b.1.number) {
                (0, Some(a), Some(b)) => a.cmp(&b),
                (0, ..) => {
                    let part = |(line, mark): (_, Mark)| slice(line, (mark.start, mark.end));
                    self.of_key(key, part(a), part(b))
                }
                _ => {
                    let part = |line| slice(line, key.range(line, self.tab));
                    self.of_key(key, part(a.0), part(b.0))
                }
            };
            if order != Ordering::Equal {
                return if key.ordering.reverse { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }

    fn of_key(&self, key: &Key, a: &[u8], b: &[u8]) -> Ordering {
        let how = &key.ordering;
        if !(how.dictionary || how.printable || how.fold) {
            return self.of_texts(key, a, b);
        }
        let kept = |byte: &u8| match () {
            () if how.dictionary => byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\t'),
            () if how.printable => matches!(byte, b' '..=b'~'),
            () => true,
        };
        let folded = |byte: &u8| if how.fold { byte.to_ascii_uppercase() } else { *byte };
        if !(how.is_numeric() || how.month || how.random || how.version) {
            return a.iter().filter(|byte| kept(byte)).map(folded).cmp(b.iter().filter(|byte| kept(byte)).map(folded));
        }
        let text = |text: &[u8]| -> Vec<u8> { text.iter().filter(|byte| kept(byte)).map(folded).collect() };
        self.of_texts(key, &text(a), &text(b))
    }

    fn of_texts(&self, key: &Key, a: &[u8], b: &[u8]) -> Ordering {
        let how = &key.ordering;
        match () {
            () if how.numeric => numeric::numeric(a, b),
            () if how.general => numeric::general(a, b),
            () if how.human => numeric::human(a, b),
            () if how.month => numeric::month(a).cmp(&numeric::month(b)),
            () if how.random => self.hash(a).cmp(&self.hash(b)).then_with(|| a.cmp(b)),
            () if how.version => tidebox_gnu::version_order::compare(a, b),
            () => a.cmp(b),
        }
    }

    fn hash(&self, text: &[u8]) -> [u8; 16] {
        // In other locales than C, GNU hashes the result of `strxfrm`, which ends with NUL.
        let end: &[u8] = if self.collates && !text.is_empty() { b"\0" } else { b"" };
        Md5::new().chain_update(self.salt).chain_update(text).chain_update(end).finalize().into()
    }
}

fn slice(line: &[u8], (start, end): (usize, usize)) -> &[u8] {
    line.get(start..end).unwrap_or_default()
}
