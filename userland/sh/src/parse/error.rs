//! Syntax errors and their wording, which is bash's.

use crate::ir::Bytes;

/// Why a text is no program.
#[derive(Debug, Clone)]
pub(crate) struct SyntaxError {
    pub(crate) problem: Problem,
    pub(crate) line: u32,
    /// Where in the text it was noticed.
    pub(crate) place: Place,
}

/// What bash was reading when it noticed an error, which decides what becomes of the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Commands,
    /// The elements of an array: only the rest of the line is given up.
    Elements,
    /// An element that the text ended in, which is a second mistake.
    OpenElement,
    /// `$( )`, whose error has a status of its own in a command string.
    Substitution,
}

#[derive(Debug, Clone)]
pub(crate) enum Problem {
    /// A token where the grammar has none.
    Unexpected(Bytes),
    /// The same where bash has no token to name, but the text that it stands in.
    Near(Bytes),
    /// The text ended within a command.
    End,
    /// The text ended within a quotation that this byte would close.
    Unclosed(u8),
    /// Text of `[[ ]]` that is no expression: the messages, each with its line. `ended` when the text ended there too,
    /// `wants_more` when it did so between tokens.
    Condition { messages: Vec<(u32, Bytes)>, ended: bool, wants_more: bool },
    /// `for (( ))` with too few or too many expressions: what is wrong, and the text in its parentheses.
    ForArith { what: &'static str, text: Bytes },
    /// More levels than the parser allows itself.
    TooDeep,
    /// More here-documents on one line than bash reads.
    TooManyDocuments,
}

impl SyntaxError {
    pub(crate) fn new(problem: Problem, line: u32) -> Self {
        Self { problem, line, place: Place::Commands }
    }

    /// The same error, noticed within this.
    pub(crate) fn within(self, place: Place) -> Self {
        if self.place == Place::Commands { Self { place, ..self } } else { self }
    }

    /// The same error in a text whose first line has another number.
    pub(crate) fn moved(&self, from: u32, to: u32) -> Self {
        let moved = |line: u32| line.saturating_sub(from).saturating_add(to);
        let mut error = Self { line: moved(self.line), ..self.clone() };
        if let Problem::Condition { messages, .. } = &mut error.problem {
            messages.iter_mut().for_each(|(line, _)| *line = moved(*line));
        }
        error
    }

    /// Whether it is one for which bash gives up more than the text: commands of a substitution that are none, and do not just end
    /// too early.
    pub(crate) fn ends_all(&self) -> bool {
        let whole =
            matches!(self.problem, Problem::Unexpected(_) | Problem::Near(_) | Problem::Condition { ended: false, .. });
        self.place == Place::Substitution && whole
    }

    /// Whether more text could make it a program.
    pub(crate) fn is_incomplete(&self) -> bool {
        matches!(self.problem, Problem::End | Problem::Unclosed(_) | Problem::Condition { wants_more: true, .. })
    }

    /// The messages without their prefix, each with its line, and whether bash shows the source line below them.
    pub(crate) fn messages(&self) -> (Vec<(u32, Bytes)>, bool) {
        let one = |text: Bytes| vec![(self.line, text)];
        match &self.problem {
            Problem::Unexpected(token) => {
                (one([b"syntax error near unexpected token `", &token[..], b"'"].concat()), true)
            }
            Problem::Near(text) => (one([b"syntax error near `", &text[..], b"'"].concat()), true),
            Problem::End => (one(b"syntax error: unexpected end of file".to_vec()), false),
            Problem::Unclosed(close) => {
                (one([&b"unexpected EOF while looking for matching `"[..], &[*close], b"'"].concat()), false)
            }
            Problem::Condition { messages, .. } => (messages.clone(), false),
            Problem::ForArith { what, text } => {
                let first = [b"syntax error: ", what.as_bytes()].concat();
                let second = [b"syntax error: `((", &text[..], b"))'"].concat();
                (vec![(self.line, first), (self.line, second)], false)
            }
            Problem::TooManyDocuments => (one(b"maximum here-document count exceeded".to_vec()), false),
            Problem::TooDeep => (one(b"syntax error: commands are nested too deeply".to_vec()), false),
        }
    }
}
