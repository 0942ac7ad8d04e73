//! Command sources.

use std::rc::Rc;

use tidebox_gnu::stream::Input;
use tidebox_rt::Errno;

/// A text that is read byte by byte.
pub(super) enum Source {
    /// An expression or a macro, and the read position.
    Text(Rc<[u8]>, usize),
    File(Input),
    /// Standard input, which `?` also reads lines from.
    Standard,
}

impl Source {
    pub(super) fn text(text: impl Into<Rc<[u8]>>) -> Self {
        Self::Text(text.into(), 0)
    }

    /// The next byte; `None` at the end.
    pub(super) fn next(&mut self, standard: &mut Input) -> Result<Option<u8>, Errno> {
        match self {
            Self::Text(text, at) => {
                let byte = text.get(*at).copied();
                *at += 1;
                Ok(byte)
            }
            Self::File(input) => next_of(input),
            Self::Standard => next_of(standard),
        }
    }

    /// Returns whether the rest of a text is blank.
    pub(super) fn is_at_end(&self) -> bool {
        match self {
            Self::Text(text, at) => text.get(*at..).is_none_or(|rest| rest.iter().all(u8::is_ascii_whitespace)),
            _ => false,
        }
    }
}

fn next_of(input: &mut Input) -> Result<Option<u8>, Errno> {
    let byte = input.chunk()?.first().copied();
    if byte.is_some() {
        input.consume(1);
    }
    Ok(byte)
}
