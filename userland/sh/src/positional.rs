//! The positional parameters.

use std::ops::Deref;
use std::rc::Rc;

use crate::ir::Bytes;

/// `$1` and so on. Scripts remove hundreds of arguments one by one with `shift`, so `shift` only changes an offset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Positional {
    words: Rc<Vec<Bytes>>,
    shifted: usize,
    /// They were set by `set` since the last call with its own parameters.
    pub(crate) chosen: bool,
}

impl Positional {
    /// Drops the first `count`.
    pub(crate) fn shift(&mut self, count: usize) {
        self.shifted = self.shifted.saturating_add(count).min(self.words.len());
        if self.is_empty() {
            *self = Self { chosen: self.chosen, ..Self::default() };
        }
    }
}

impl Deref for Positional {
    type Target = [Bytes];

    fn deref(&self) -> &[Bytes] {
        self.words.get(self.shifted..).unwrap_or_default()
    }
}

impl From<Vec<Bytes>> for Positional {
    fn from(words: Vec<Bytes>) -> Self {
        Self { words: Rc::new(words), shifted: 0, chosen: false }
    }
}
