//! `[` and `test`.

use crate::eval::{TestFault, binary_test, unary_test};
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

/// Parentheses and `!` within one another.
const MAX_DEPTH: u32 = 200;

pub(super) fn test(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    run(shell, args.get(1..).unwrap_or_default(), None)
}

pub(super) fn bracket(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    match args.split_last() {
        Some((last, words)) if last == b"]" && !words.is_empty() => {
            run(shell, words.get(1..).unwrap_or_default(), Some(last))
        }
        _ => {
            shell.report_builtin_error("missing `]'");
            Ok(2)
        }
    }
}

/// `last` is the closing bracket of `[`.
fn run(shell: &mut Shell, words: &[Bytes], last: Option<&Bytes>) -> EvalResult<u8> {
    // The form that is frequent in loops.
    if let [left, op, right] = words
        && let Some(name) = op.strip_prefix(b"-").filter(|name| name.len() == 2)
        && is_binary(op)
    {
        return finish(shell, binary_test(name, left, right));
    }
    let mut tests = Tests { shell, words, last, at: 0, depth: 0, stop: None };
    let truth = tests.whole();
    let stop = tests.stop;
    match stop {
        Some(stop) => Err(stop),
        None => finish(shell, truth),
    }
}

fn finish(shell: &mut Shell, truth: Result<bool, TestFault>) -> EvalResult<u8> {
    match truth {
        Ok(truth) => Ok(u8::from(!truth)),
        Err(TestFault(text)) => {
            shell.report_builtin_error(text);
            Ok(2)
        }
    }
}

/// The operators with two operands.
const BINARY: &[&str] = &["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

fn is_binary(word: &[u8]) -> bool {
    BINARY.iter().any(|operator| operator.as_bytes() == word)
}

fn is_unary(word: &[u8]) -> bool {
    matches!(word, [b'-', letter] if b"abcdefghknoprstuvwxzGLNORS".contains(letter))
}

struct Tests<'a> {
    shell: &'a mut Shell,
    words: &'a [Bytes],
    /// The word after the expression, which a message may name.
    last: Option<&'a Bytes>,
    at: usize,
    depth: u32,
    /// Something that ends more than this test.
    stop: Option<crate::state::Unwind>,
}

type Truth = Result<bool, TestFault>;

impl Tests<'_> {
    /// POSIX decides by the number of words, up to four.
    fn whole(&mut self) -> Truth {
        let truth = match self.words {
            [] => return Ok(false),
            [only] => return Ok(!only.is_empty()),
            [not, only] if not == b"!" => return Ok(only.is_empty()),
            [name, operand] if is_unary(name) => return self.unary(name, operand),
            [name, _] => {
                return Err(TestFault([name, &b": unary operator expected"[..]].concat()));
            }
            [left, op, right] if is_binary(op) => return self.binary(op, left, right),
            [left, op, right] if op == b"-a" => return Ok(!left.is_empty() && !right.is_empty()),
            [left, op, right] if op == b"-o" => return Ok(!left.is_empty() || !right.is_empty()),
            [not, ..] if not == b"!" && self.words.len() <= 4 => {
                let all = self.words;
                self.words = all.get(1..).unwrap_or_default();
                let truth = self.whole();
                self.words = all;
                return truth.map(|truth| !truth);
            }
            [open, inner @ .., close] if inner.len() == 2 && open == b"(" && close == b")" => {
                let all = std::mem::replace(&mut self.words, inner);
                let truth = self.whole();
                self.words = all;
                return truth;
            }
            [open, only, close] if open == b"(" && close == b")" => return Ok(!only.is_empty()),
            [_, op, _] => {
                return Err(TestFault([op, &b": binary operator expected"[..]].concat()));
            }
            _ => self.or()?,
        };
        match self.words.get(self.at) {
            None => Ok(truth),
            Some(word) if word.starts_with(b"-") => {
                Err(TestFault([b"syntax error: `", word.as_slice(), b"' unexpected"].concat()))
            }
            Some(_) => Err(TestFault(b"too many arguments".to_vec())),
        }
    }

    fn peek(&self) -> Option<&[u8]> {
        self.words.get(self.at).map(Vec::as_slice)
    }

    fn or(&mut self) -> Truth {
        let mut truth = self.and()?;
        while self.peek() == Some(b"-o") {
            self.at += 1;
            truth |= self.and()?;
        }
        Ok(truth)
    }

    fn and(&mut self) -> Truth {
        let mut truth = self.term()?;
        while self.peek() == Some(b"-a") {
            self.at += 1;
            truth &= self.term()?;
        }
        Ok(truth)
    }

    fn term(&mut self) -> Truth {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(TestFault(b"expression is nested too deeply".to_vec()));
        }
        let truth = self.deep_term();
        self.depth -= 1;
        truth
    }

    fn deep_term(&mut self) -> Truth {
        let words = self.words;
        let Some(first) = words.get(self.at) else { return Err(TestFault(b"argument expected".to_vec())) };
        let opens = matches!(first.as_slice(), b"(" | b"!");
        if !opens
            && let (Some(op), Some(right)) = (words.get(self.at + 1), words.get(self.at + 2))
            && is_binary(op)
        {
            self.at += 3;
            return self.binary(op, first, right);
        }
        self.at += 1;
        match first.as_slice() {
            b"!" => self.term().map(|truth| !truth),
            b"(" => {
                let truth = self.or()?;
                if self.peek() != Some(b")") {
                    let found = self.peek().or(self.last.map(Vec::as_slice));
                    let found = found.map_or(Bytes::new(), |word| [b", found ", word].concat());
                    return Err(TestFault([b"`)' expected", &found[..]].concat()));
                }
                self.at += 1;
                Ok(truth)
            }
            _ if is_unary(first) => match words.get(self.at) {
                Some(operand) => {
                    self.at += 1;
                    self.unary(first, operand)
                }
                None => Ok(true),
            },
            word => Ok(!word.is_empty()),
        }
    }

    fn unary(&mut self, name: &[u8], operand: &[u8]) -> Truth {
        match unary_test(self.shell, name.get(1).copied().unwrap_or(0), operand) {
            Ok(truth) => Ok(truth),
            Err(stop) => {
                self.stop = Some(stop);
                Ok(false)
            }
        }
    }

    fn binary(&mut self, op: &[u8], left: &[u8], right: &[u8]) -> Truth {
        let name = op.strip_prefix(b"-").filter(|_| op.len() == 3).unwrap_or(op);
        binary_test(name, left, right)
    }
}
