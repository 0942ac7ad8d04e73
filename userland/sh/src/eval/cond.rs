//! `[[ ]]`.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::TestFault;
use crate::expand::{Fault, Mode};
use crate::ir::{Bytes, Cond, CondOp, Part, Word};
use crate::pattern::{Pattern, Style};
use crate::regex::{Regex, RegexError};
use crate::state::{EvalResult, Shell};
use crate::vars::{Value, Var};

type Comparison = fn(i64, i64) -> bool;

/// The comparison of numbers that `-name` makes, if any.
fn comparison(name: &[u8; 2]) -> Option<Comparison> {
    Some(match name {
        b"eq" => |a, b| a == b,
        b"ne" => |a, b| a != b,
        b"lt" => |a, b| a < b,
        b"le" => |a, b| a <= b,
        b"gt" => |a, b| a > b,
        b"ge" => |a, b| a >= b,
        _ => return None,
    })
}

/// Returns whether a word may contain a subscript.
fn may_hold_element(word: &Word) -> bool {
    word.parts.iter().any(|part| matches!(part, Part::Lit(text) if text.contains(&b'[')))
}

impl Shell {
    #[inline(never)]
    pub(crate) fn run_cond(&mut self, cond: &Cond) -> EvalResult {
        self.set_command_text(|| crate::print::condition(cond));
        if !self.run_debug_trap()? {
            return Ok(());
        }
        let truth = self.cond(cond, false)?;
        self.status = match truth {
            Some(true) => 0,
            Some(false) => 1,
            // The error has set the status.
            None => self.status.max(1),
        };
        Ok(())
    }

    /// Truth of the expression; `None` after an error, whose status is set.
    fn cond(&mut self, cond: &Cond, not: bool) -> EvalResult<Option<bool>> {
        match cond {
            Cond::Not(inner) => Ok(self.cond(inner, true)?.map(|truth| !truth)),
            Cond::Group(inner) => self.cond(inner, false),
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
                super::unary_test(self, *letter, &operand).map(Some)
            }
            Cond::Binary(op, left, right) => self.cond_binary(*op, left, right, not),
        }
    }

    #[inline(never)]
    fn cond_binary(&mut self, op: CondOp, left: &Word, right: &Word, not: bool) -> EvalResult<Option<bool>> {
        if let CondOp::Test(name) = op
            && (may_hold_element(left) || may_hold_element(right))
            && let Some(compare) = comparison(&name)
        {
            if self.options.xtrace {
                self.trace_test(not, &[&left.raw, &[b'-', name[0], name[1]], &right.raw]);
            }
            return self.compare_elements(compare, left, right);
        }
        let subject = self.expand_text(left)?;
        match op {
            CondOp::Match | CondOp::Same | CondOp::NoMatch => self.match_pattern(op, &subject, right, not),
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
                self.test_by_name(name, &subject, &other)
            }
        }
    }

    /// Compares two expressions, if at least one may be an element. As in `(( ))`, expansions in its subscript are not
    /// parsed again, because that could run commands in data.
    fn compare_elements(&mut self, compare: Comparison, left: &Word, right: &Word) -> EvalResult<Option<bool>> {
        let mut numbers = [0; 2];
        for (number, word) in numbers.iter_mut().zip([left, right]) {
            let value = match crate::parse::arith_of_source(&word.raw) {
                Some(arith) => self.arith_value(&arith),
                None => {
                    let text = self.expand_text(word)?;
                    self.text_value(&text)
                }
            };
            let Some(value) = self.cond_value(value)? else { return Ok(None) };
            *number = value;
        }
        Ok(Some(compare(numbers[0], numbers[1])))
    }

    /// `==`, `=` and `!=`.
    fn match_pattern(&mut self, op: CondOp, subject: &[u8], right: &Word, not: bool) -> EvalResult<Option<bool>> {
        let pattern;
        if self.options.xtrace {
            let name: &[u8] = match op {
                CondOp::Match => b"==",
                CondOp::Same => b"=",
                _ => b"!=",
            };
            let shown;
            (pattern, shown) = self.traced_pattern(right)?;
            self.trace_test(not, &[subject, name, &shown]);
        } else {
            pattern = self.expand_pattern(right)?;
        }
        let style = Style { extended: true, fold: self.options.nocasematch };
        let matches = Pattern::new(&pattern, style).matches(subject);
        Ok(Some(matches == (op != CondOp::NoMatch)))
    }

    /// Tests with two-letter names: comparisons of numbers such as `-eq`, and of paths such as `-nt`.
    fn test_by_name(&mut self, name: [u8; 2], left: &[u8], right: &[u8]) -> EvalResult<Option<bool>> {
        let Some(compare) = comparison(&name) else {
            return match super::binary_test(&name, left, right) {
                Ok(truth) => Ok(Some(truth)),
                Err(TestFault(text)) => {
                    self.report_error([b"[[: ", &text[..]].concat());
                    self.status = 1;
                    Ok(None)
                }
            };
        };
        let Some(a) = self.cond_number(left)? else { return Ok(None) };
        let Some(b) = self.cond_number(right)? else { return Ok(None) };
        Ok(Some(compare(a, b)))
    }

    /// Evaluates an operand of `-eq` or a similar test, which is an expression.
    fn cond_number(&mut self, text: &[u8]) -> EvalResult<Option<i64>> {
        let value = self.text_value(text);
        self.cond_value(value)
    }

    fn cond_value(&mut self, value: Result<i64, Fault>) -> EvalResult<Option<i64>> {
        match value {
            Ok(value) => Ok(Some(value)),
            Err(Fault::Stop(stop)) => Err(stop),
            Err(Fault::Reported) => {
                self.status = 1;
                Ok(None)
            }
            Err(Fault::Message(text)) => {
                self.report_error([b"[[: ", &text[..]].concat());
                self.status = 1;
                Ok(None)
            }
        }
    }

    #[inline(never)]
    fn regex_match(&mut self, subject: &[u8], pattern: &[u8]) -> EvalResult<Option<bool>> {
        let fold = self.options.nocasematch;
        let known = self.expansion.regex.as_ref().filter(|(text, folds, _)| text == pattern && *folds == fold);
        let regex = match known {
            Some((.., regex)) => Rc::clone(regex),
            None => {
                let regex = match Regex::new(pattern, fold) {
                    Ok(regex) => Rc::new(regex),
                    Err(error) => {
                        if error == RegexError::BackReference {
                            self.report_error("[[: back-references in regular expressions are not supported");
                        }
                        self.status = 2;
                        return Ok(None);
                    }
                };
                self.expansion.regex = Some((pattern.to_vec(), fold, Rc::clone(&regex)));
                regex
            }
        };
        let found = regex.find(subject);
        let mut groups: BTreeMap<u64, Bytes> = BTreeMap::new();
        for (at, group) in (0..).zip(found.iter().flatten()) {
            let text = group.and_then(|(start, end)| subject.get(start..end)).unwrap_or_default();
            groups.insert(at, text.to_vec());
        }
        self.vars.insert(Rc::from(&b"BASH_REMATCH"[..]), Var { value: Value::Indexed(groups), flags: 0 });
        Ok(Some(found.is_some()))
    }
}
