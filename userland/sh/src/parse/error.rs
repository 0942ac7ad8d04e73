//! Syntax errors and their wording, which is bash's.

use crate::ir::Bytes;

/// Why a text is no program.
#[derive(Debug, Clone)]
pub(crate) struct SyntaxError {
    pub(crate) problem: Problem,
    pub(crate) line: u32,
}

#[derive(Debug, Clone)]
pub(crate) enum Problem {
    /// A token where the grammar has none.
    Unexpected(Bytes),
    /// The text ended within a command.
    End,
    /// The text ended within a quotation that this byte would close.
    Unclosed(u8),
    /// Text of `[[ ]]` that is no expression.
    Condition(Bytes),
    /// More levels than the parser allows itself.
    TooDeep,
}

impl SyntaxError {
    /// Whether more text could make it a program.
    pub(crate) fn is_incomplete(&self) -> bool {
        matches!(self.problem, Problem::End | Problem::Unclosed(_))
    }

    /// The message without its prefix, and whether bash shows the source line below it.
    pub(crate) fn message(&self) -> (Bytes, bool) {
        match &self.problem {
            Problem::Unexpected(token) => {
                let mut text = b"syntax error near unexpected token `".to_vec();
                text.extend_from_slice(token);
                text.push(b'\'');
                (text, true)
            }
            Problem::End => (b"syntax error: unexpected end of file".to_vec(), false),
            Problem::Unclosed(close) => {
                let mut text = b"unexpected EOF while looking for matching `".to_vec();
                text.push(*close);
                text.push(b'\'');
                (text, false)
            }
            Problem::Condition(near) => {
                let mut text = b"syntax error in conditional expression: unexpected token `".to_vec();
                text.extend_from_slice(near);
                text.push(b'\'');
                (text, true)
            }
            Problem::TooDeep => (b"syntax error: commands are nested too deeply".to_vec(), false),
        }
    }
}
