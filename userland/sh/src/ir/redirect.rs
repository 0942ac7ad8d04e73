//! Redirections.

use std::cell::OnceCell;
use std::rc::Rc;

use super::word::Word;
use super::{Bytes, Name};

#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    pub(crate) fd: RedirectFd,
    pub(crate) kind: RedirectKind,
}

#[derive(Clone, Debug)]
pub(crate) enum RedirectFd {
    /// 0 for input, 1 for output.
    Default,
    Number(u32),
    /// `{name}`
    Variable(Name),
}

/// A here-document; its body is read after the line that names it.
#[derive(Debug)]
pub(crate) struct HereDoc {
    pub(crate) delimiter: Bytes,
    /// Part of the delimiter is quoted, so the body is not expanded.
    pub(crate) quoted: bool,
    /// `<<-`: tabs at the start of lines do not count.
    pub(crate) strip_tabs: bool,
    pub(crate) body: OnceCell<Word>,
}

#[derive(Clone, Debug)]
pub(crate) enum RedirectKind {
    Read(Word),
    Write(Word),
    /// `>|`
    Clobber(Word),
    Append(Word),
    ReadWrite(Word),
    /// `&>` and `>& word`; append for `&>>`.
    Both {
        word: Word,
        append: bool,
    },
    /// `<&` and `>&`: a number, `-`, or a number and `-`.
    Duplicate {
        word: Word,
        output: bool,
    },
    HereDoc(Rc<HereDoc>),
    HereString(Word),
}
