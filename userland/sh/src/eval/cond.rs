//! `[[ ]]`.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::TestFault;
use crate::expand::{Fault, Mode, lossy};
use crate::ir::{Bytes, Cond, CondOp, Word};
use crate::pattern::{Pattern, Style};
use crate::state::{Run, Shell};
use crate::vars::{Value, Var};

impl Shell {
    #[inline(never)]
    pub(crate) fn run_cond(&mut self, cond: &Cond) -> Run {
        self.names_command(|| crate::print::condition(cond));
        if !self.run_debug_trap()? {
            return Ok(());
        }
        self.status = 0;
        let truth = self.cond(cond, false)?;
        self.status = match truth {
            Some(true) => 0,
            Some(false) => 1,
            None => self.status.max(1),
        };
        Ok(())
    }

    /// Truth of the expression; `None` after an error, whose status is set.
    fn cond(&mut self, cond: &Cond, not: bool) -> Run<Option<bool>> {
        match cond {
            Cond::Not(inner) => Ok(self.cond(inner, true)?.map(|truth| !truth)),
            Cond::And(left, right) => match self.cond(left, false)? {
                Some(true) => self.cond(right, false),
                other => Ok(other),
            },
            Cond::Or(left, right) => match self.cond(left, false)? {
                Some(false) => self.cond(right, false),
                other => Ok(other),
            },
            Cond::Word(word) => {
                let operand = self.expand_text(word)?;
                if self.options.xtrace {
                    self.trace_test(not, &[b"-n", &operand]);
                }
                Ok(Some(!operand.is_empty()))
            }
            Cond::Unary(letter, word) => {
                let operand = self.expand_text(word)?;
                if self.options.xtrace {
                    self.trace_test(not, &[&[b'-', *letter], &operand]);
                }
                let truth = super::unary_test(self, *letter, &operand)?;
                Ok(Some(truth))
            }
            Cond::Binary(op, left, right) => self.cond_binary(*op, left, right, not),
        }
    }

    #[inline(never)]
    fn cond_binary(&mut self, op: CondOp, left: &Word, right: &Word, not: bool) -> Run<Option<bool>> {
        let subject = self.expand_text(left)?;
        match op {
            CondOp::Match | CondOp::NoMatch => {
                let pattern = self.expand_pattern(right)?;
                if self.options.xtrace {
                    let name: &[u8] = if op == CondOp::Match { b"==" } else { b"!=" };
                    self.trace_test(not, &[&subject, name, &pattern]);
                }
                let style = Style { extended: true, fold: self.options.nocasematch };
                let matches = Pattern::new(&pattern, style).matches(&subject);
                Ok(Some(matches == (op == CondOp::Match)))
            }
            CondOp::Regex => {
                let pattern = self.expand_as(&right.parts, Mode::Regex)?;
                if self.options.xtrace {
                    self.trace_test(not, &[&subject, b"=~", &pattern]);
                }
                self.regex_match(&subject, &pattern)
            }
            CondOp::Before | CondOp::After => {
                let other = self.expand_text(right)?;
                if self.options.xtrace {
                    self.trace_test(not, &[&subject, if op == CondOp::Before { b"<" } else { b">" }, &other]);
                }
                Ok(Some(if op == CondOp::Before { subject < other } else { subject > other }))
            }
            CondOp::Test(name) => {
                let other = self.expand_text(right)?;
                if self.options.xtrace {
                    self.trace_test(not, &[&subject, &[b'-', name[0], name[1]], &other]);
                }
                let compare: fn(i64, i64) -> bool = match &name {
                    b"eq" => |a, b| a == b,
                    b"ne" => |a, b| a != b,
                    b"lt" => |a, b| a < b,
                    b"le" => |a, b| a <= b,
                    b"gt" => |a, b| a > b,
                    b"ge" => |a, b| a >= b,
                    _ => {
                        return match super::binary_test(&name, &subject, &other) {
                            Ok(truth) => Ok(Some(truth)),
                            Err(TestFault(text)) => {
                                self.complain([b"[[: ", &text[..]].concat());
                                Ok(None)
                            }
                        };
                    }
                };
                let (Some(a), Some(b)) = (self.cond_number(&subject)?, self.cond_number(&other)?) else {
                    return Ok(None);
                };
                Ok(Some(compare(a, b)))
            }
        }
    }

    /// Operands of `-eq` and its kind are expressions here.
    fn cond_number(&mut self, text: &[u8]) -> Run<Option<i64>> {
        match self.text_value(text) {
            Ok(value) => Ok(Some(value)),
            Err(Fault::Stop(stop)) => Err(stop),
            Err(Fault::Reported) => {
                self.status = 1;
                Ok(None)
            }
            Err(Fault::Message(text)) => {
                self.complain([b"[[: ", &text[..]].concat());
                self.status = 1;
                Ok(None)
            }
            Err(Fault::Zero(_)) => {
                self.complain("[[: division by 0");
                self.status = 1;
                Ok(None)
            }
        }
    }

    #[inline(never)]
    fn regex_match(&mut self, subject: &[u8], pattern: &[u8]) -> Run<Option<bool>> {
        let translated = translate(pattern);
        let source = if self.options.nocasematch { format!("(?i){translated}") } else { translated };
        let regex = match &self.regex {
            Some((text, regex)) if *text == source => Rc::clone(regex),
            _ => match regex_lite::Regex::new(&source) {
                Ok(regex) => {
                    let regex = Rc::new(regex);
                    self.regex = Some((source, Rc::clone(&regex)));
                    regex
                }
                Err(_) => {
                    self.status = 2;
                    return Ok(None);
                }
            },
        };
        let subject = lossy(subject);
        let found = regex.captures(&subject);
        let mut groups: BTreeMap<u64, Bytes> = BTreeMap::new();
        if let Some(captures) = &found {
            for (at, group) in captures.iter().enumerate() {
                groups.insert(at as u64, group.map_or(Bytes::new(), |group| group.as_str().as_bytes().to_vec()));
            }
        }
        self.vars.insert(Rc::from(&b"BASH_REMATCH"[..]), Var { value: Value::Indexed(groups), flags: 0 });
        Ok(Some(found.is_some()))
    }
}

/// A POSIX expression in the syntax of the regex crate: within brackets a backslash means itself there, and `[` does
/// too unless it starts a class.
fn translate(pattern: &[u8]) -> String {
    let text = lossy(pattern);
    let mut out = String::with_capacity(text.len() + 8);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' => {
                let Some(next) = chars.next() else {
                    out.push_str("\\\\");
                    break;
                };
                // A backslash before a letter means the letter, but for the classes that the C library knows too.
                if !next.is_ascii_alphanumeric() || "wWsSbB".contains(next) {
                    out.push('\\');
                }
                match next {
                    '<' | '>' => {
                        out.pop();
                        out.push_str("\\b");
                    }
                    _ => out.push(next),
                }
            }
            '[' => translate_set(&mut chars, &mut out),
            // A brace that starts no interval is text.
            '{' if !chars.peek().is_some_and(char::is_ascii_digit) => out.push_str("\\{"),
            _ => out.push(char),
        }
    }
    out
}

fn translate_set(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    out.push('[');
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut first = true;
    while let Some(char) = chars.next() {
        match char {
            ']' if !first => break,
            '[' if chars.peek() == Some(&':') => {
                out.push('[');
                for inner in chars.by_ref() {
                    out.push(inner);
                    if inner == ']' {
                        break;
                    }
                }
            }
            '[' | ']' | '\\' | '&' | '~' | '^' => {
                out.push('\\');
                out.push(char);
            }
            '-' if first || chars.peek() == Some(&']') => out.push_str("\\-"),
            _ => out.push(char),
        }
        first = false;
    }
    out.push(']');
}
