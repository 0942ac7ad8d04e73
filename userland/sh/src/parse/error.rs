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
    /// A token that an expression in `[[ ]]` does not allow; `ended` if the text ended in it.
    Condition { token: Bytes, ended: bool },
    /// Nesting beyond the limit of the parser.
    TooDeep,
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
        matches!(self.kind, SyntaxErrorKind::Unexpected(_) | SyntaxErrorKind::Condition { .. })
    }

    /// The message, without its prefix.
    pub(crate) fn message(&self) -> Bytes {
        match &self.kind {
            SyntaxErrorKind::Unexpected(token) => [b"syntax error near unexpected token `", &token[..], b"'"].concat(),
            SyntaxErrorKind::End => b"syntax error: unexpected end of file".to_vec(),
            SyntaxErrorKind::Unclosed(close) => {
                [&b"unexpected EOF while looking for matching `"[..], &[*close], b"'"].concat()
            }
            SyntaxErrorKind::Condition { token, .. } => {
                [b"syntax error in conditional expression: unexpected token `", &token[..], b"'"].concat()
            }
            SyntaxErrorKind::TooDeep => b"syntax error: commands are nested too deeply".to_vec(),
        }
    }
}
