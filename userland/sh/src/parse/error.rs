//! Syntax errors and their messages.

use crate::ir::Bytes;

/// A syntax error.
#[derive(Debug, Clone)]
pub(crate) struct SyntaxError {
    pub(crate) kind: SyntaxErrorKind,
    pub(crate) line: u32,
}

#[derive(Debug, Clone)]
pub(crate) enum SyntaxErrorKind {
    /// A token that the grammar does not allow.
    Unexpected(Bytes),
    /// The text ended within a command.
    End,
    /// The text ended within a quotation that this byte would close.
    Unclosed(u8),
    /// An invalid expression in `[[ ]]`; `ended` if the text ended in it.
    Condition { text: Bytes, ended: bool },
    /// `for (( ))` with too few or too many expressions: the cause, and the text in its parentheses.
    ForArith { what: &'static str, text: Bytes },
    /// Nesting beyond the limit of the parser.
    TooDeep,
    /// More here-documents on one line than bash reads.
    TooManyDocuments,
}

impl SyntaxError {
    pub(crate) fn new(kind: SyntaxErrorKind, line: u32) -> Self {
        Self { kind, line }
    }

    /// Returns whether more text could make the text valid.
    pub(crate) fn is_incomplete(&self) -> bool {
        matches!(
            self.kind,
            SyntaxErrorKind::End | SyntaxErrorKind::Unclosed(_) | SyntaxErrorKind::Condition { ended: true, .. }
        )
    }

    /// Returns whether the message shows the source line.
    pub(crate) fn shows_line(&self) -> bool {
        matches!(self.kind, SyntaxErrorKind::Unexpected(_))
    }

    /// The message lines, without their prefix.
    pub(crate) fn messages(&self) -> Vec<Bytes> {
        let one = |text: &[u8]| vec![text.to_vec()];
        match &self.kind {
            SyntaxErrorKind::Unexpected(token) => {
                one(&[b"syntax error near unexpected token `", &token[..], b"'"].concat())
            }
            SyntaxErrorKind::End => one(b"syntax error: unexpected end of file"),
            SyntaxErrorKind::Unclosed(close) => {
                one(&[&b"unexpected EOF while looking for matching `"[..], &[*close], b"'"].concat())
            }
            SyntaxErrorKind::Condition { text, .. } => one(text),
            SyntaxErrorKind::ForArith { what, text } => {
                vec![[b"syntax error: ", what.as_bytes()].concat(), [b"syntax error: `((", &text[..], b"))'"].concat()]
            }
            SyntaxErrorKind::TooManyDocuments => one(b"maximum here-document count exceeded"),
            SyntaxErrorKind::TooDeep => one(b"syntax error: commands are nested too deeply"),
        }
    }
}
