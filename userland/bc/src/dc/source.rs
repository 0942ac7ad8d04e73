//! Where commands come from.

use std::rc::Rc;

use tidebox_gnu::stream::Input;

/// A text that is read byte by byte.
pub(super) enum Source {
    /// An expression or a macro, and how far it is read.
    Text(Rc<[u8]>, usize),
    File(Input),
    /// Standard input, of which `?` reads lines too.
    Standard,
}

impl Source {
    pub(super) fn text(text: impl Into<Rc<[u8]>>) -> Self {
        Self::Text(text.into(), 0)
    }

    pub(super) fn next(&mut self, standard: &mut Input) -> Option<u8> {
        match self {
            Self::Text(text, at) => {
                let byte = text.get(*at).copied();
                *at += 1;
                byte
            }
            Self::File(input) => next_of(input),
            Self::Standard => next_of(standard),
        }
    }

    /// Whether only blanks are left of a text.
    pub(super) fn is_at_end(&self) -> bool {
        match self {
            Self::Text(text, at) => text.get(*at..).is_none_or(|rest| rest.iter().all(u8::is_ascii_whitespace)),
            _ => false,
        }
    }
}

fn next_of(input: &mut Input) -> Option<u8> {
    // What cannot be read ends like what has an end.
    let byte = input.piece().ok()?.first().copied()?;
    input.take(1);
    Some(byte)
}
