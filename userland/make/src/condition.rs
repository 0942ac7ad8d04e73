//! Conditionals: `ifeq`, `ifdef` and related directives.

use crate::Make;
use crate::failure::Stop;
use crate::words::{first_word, is_blank, trim_start};

/// An open conditional.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Branch {
    /// The current branch is read.
    Taken,
    /// No branch was taken yet.
    Waiting,
    /// A branch was taken, or the enclosing conditional is skipped.
    Over,
}

/// The open conditionals of a makefile.
#[derive(Debug, Default)]
pub(crate) struct Conditionals {
    open: Vec<(Branch, bool)>,
}

/// The error of a line.
enum Mistake {
    Syntax,
    Says(String),
    Stops(Stop),
}

impl From<Stop> for Mistake {
    fn from(stop: Stop) -> Self {
        Self::Stops(stop)
    }
}

impl Conditionals {
    /// Returns whether lines are skipped.
    pub(crate) fn skipping(&self) -> bool {
        self.open.iter().any(|(branch, _)| *branch != Branch::Taken)
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }
}

impl Make {
    /// Handles a conditional directive; returns false for other lines.
    pub(crate) fn conditional(&mut self, conditionals: &mut Conditionals, line: &[u8]) -> Result<bool, Stop> {
        let (word, rest) = first_word(line);
        if !matches!(word, b"ifeq" | b"ifneq" | b"ifdef" | b"ifndef" | b"else" | b"endif") {
            return Ok(false);
        }
        match self.conditional_word(conditionals, word, rest) {
            Ok(()) => Ok(true),
            Err(Mistake::Stops(stop)) => Err(stop),
            Err(Mistake::Says(message)) => Err(self.fatal(message)),
            Err(Mistake::Syntax) => Err(self.fatal("invalid syntax in conditional".to_owned())),
        }
    }

    fn conditional_word(&mut self, open: &mut Conditionals, word: &[u8], rest: &[u8]) -> Result<(), Mistake> {
        match word {
            b"endif" => {
                if !rest.is_empty() {
                    self.warn("extraneous text after 'endif' directive");
                }
                let message = "extraneous 'endif'".to_owned();
                open.open.pop().map(|_| ()).ok_or(Mistake::Says(message))
            }
            b"else" => self.else_branch(open, rest),
            _ => {
                let branch = if open.skipping() {
                    Branch::Over
                } else if self.holds(word, rest)? {
                    Branch::Taken
                } else {
                    Branch::Waiting
                };
                open.open.push((branch, false));
                Ok(())
            }
        }
    }

    fn else_branch(&mut self, open: &mut Conditionals, rest: &[u8]) -> Result<(), Mistake> {
        let outer_skips = open.open.iter().rev().skip(1).any(|(branch, _)| *branch != Branch::Taken);
        let Some((branch, seen_else)) = open.open.last_mut() else {
            return Err(Mistake::Says("extraneous 'else'".to_owned()));
        };
        if *seen_else {
            return Err(Mistake::Says("only one 'else' per conditional".to_owned()));
        }
        let (word, arguments) = first_word(rest);
        let chained = matches!(word, b"ifeq" | b"ifneq" | b"ifdef" | b"ifndef");
        *seen_else = !chained;
        *branch = match *branch {
            Branch::Waiting if !outer_skips => {
                if !chained || self.holds(word, arguments)? {
                    Branch::Taken
                } else {
                    Branch::Waiting
                }
            }
            _ => Branch::Over,
        };
        if !rest.is_empty() && !chained {
            self.warn("extraneous text after 'else' directive");
        }
        Ok(())
    }

    /// Evaluates a condition.
    fn holds(&mut self, word: &[u8], arguments: &[u8]) -> Result<bool, Mistake> {
        match word {
            b"ifdef" | b"ifndef" => {
                let names = self.expand(arguments)?;
                let (name, behind) = first_word(&names);
                if name.is_empty() || !behind.is_empty() {
                    return Err(Mistake::Syntax);
                }
                let defined = match self.find_variable(name, None) {
                    Some((_, variable)) => !variable.value.is_empty(),
                    None => self.special(name).is_some_and(|value| !value.is_empty()),
                };
                Ok(defined == (word == b"ifdef"))
            }
            _ => {
                let (left, right, behind) = operands(arguments).ok_or(Mistake::Syntax)?;
                let (left, right) = (self.expand(&left)?, self.expand(&right)?);
                if !behind.is_empty() {
                    let directive = String::from_utf8_lossy(word).into_owned();
                    self.warn(&format!("extraneous text after '{directive}' directive"));
                }
                Ok((left == right) == (word == b"ifeq"))
            }
        }
    }
}

/// The two sides of `(a,b)` or `"a" 'b'`, and the text after them.
fn operands(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>, &[u8])> {
    let (open, rest) = text.split_first()?;
    if *open != b'(' {
        let (left, rest) = in_quotes(text)?;
        let (right, rest) = in_quotes(trim_start(rest))?;
        return Some((left, right, trim_start(rest)));
    }
    let comma = unnested(rest, b',')?;
    let left = rest.get(..comma)?;
    let right = trim_start(rest.get(comma + 1..)?);
    let end = unnested(right, b')')?;
    let left = left.iter().rposition(|byte| !is_blank(*byte)).and_then(|at| left.get(..=at)).unwrap_or_default();
    Some((left.to_vec(), right.get(..end)?.to_vec(), trim_start(right.get(end + 1..)?)))
}

fn in_quotes(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (quote, rest) = text.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    let end = rest.iter().position(|byte| byte == quote)?;
    Some((rest.get(..end)?.to_vec(), rest.get(end + 1..)?))
}

/// Position of a character outside parentheses.
fn unnested(text: &[u8], wanted: u8) -> Option<usize> {
    let mut depth = 0i64;
    for (at, byte) in text.iter().enumerate() {
        match *byte {
            byte if byte == wanted && depth <= 0 => return Some(at),
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}
