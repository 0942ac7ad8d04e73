//! `set -x`.

use crate::expand::trace_quote;
use crate::ir::{Arith, Assign, AssignValue, Bytes, Cond, CondOp, Simple, Word};
use crate::state::{Run, Shell};

impl Shell {
    /// Writes one traced line to standard error.
    pub(crate) fn trace_raw(&mut self, text: &[u8]) {
        let prefix = self.lookup(b"PS4").unwrap_or_else(|| b"+ ".to_vec());
        let mut line = Bytes::new();
        if let Some(first) = prefix.first() {
            line.extend(std::iter::repeat_n(*first, self.subshell as usize + self.sourcing as usize));
        }
        let expanded = match crate::parse::Parser::new(&prefix, self.line, std::rc::Rc::from(&b""[..])).whole_text() {
            Ok(word) if prefix.contains(&b'$') => {
                let traced = std::mem::replace(&mut self.options.xtrace, false);
                let text = self.expand_text(&word);
                self.options.xtrace = traced;
                text.unwrap_or(prefix)
            }
            _ => prefix,
        };
        line.extend_from_slice(&expanded);
        line.extend_from_slice(text);
        line.push(b'\n');
        // Where standard error is closed there is nobody to show it to.
        let _ = self.io.write(2, &line);
    }

    #[inline(never)]
    pub(crate) fn trace_simple(&mut self, simple: &Simple, args: &[Bytes]) -> Run {
        let assigns: Vec<Bytes> = simple.assigns.iter().map(|a| self.assign_text(a)).collect::<Run<_>>()?;
        for text in assigns {
            self.trace_raw(&text);
        }
        let mut words: Vec<Bytes> = args.iter().map(|arg| trace_quote(arg)).collect();
        for arg in &simple.args {
            if let crate::ir::Arg::Assign(assign) = arg {
                let text = self.assign_text(assign)?;
                words.push(text);
            }
        }
        self.trace_raw(&words.join(&b' '));
        Ok(())
    }

    pub(crate) fn trace_assign(&mut self, assign: &Assign) -> Run {
        let text = self.assign_text(assign)?;
        self.trace_raw(&text);
        Ok(())
    }

    fn assign_text(&mut self, assign: &Assign) -> Run<Bytes> {
        let mut text = assign.name.to_vec();
        if let Some(subscript) = &assign.subscript {
            text.push(b'[');
            text.extend_from_slice(&subscript.key.raw);
            text.push(b']');
        }
        text.extend_from_slice(if assign.append { b"+=" } else { b"=" });
        match &assign.value {
            AssignValue::Word(word) => {
                // Substitutions must not run twice, so such a value is shown as written.
                let value = if crate::parse::simple::is_pure(&word.parts, false) {
                    trace_quote(&self.expand_text(word)?)
                } else {
                    word.raw.to_vec()
                };
                if value != b"''" || !word.parts.is_empty() {
                    text.extend_from_slice(&value);
                }
            }
            AssignValue::Array(elements) => {
                text.push(b'(');
                let words: Vec<Bytes> = elements.iter().map(|e| e.value.raw.to_vec()).collect();
                text.extend(words.join(&b' '));
                text.push(b')');
            }
        }
        Ok(text)
    }

    pub(crate) fn trace_for(&mut self, name: &[u8], words: Option<&[Word]>) {
        let mut text = [b"for ", name].concat();
        match words {
            Some(words) => {
                text.extend_from_slice(b" in");
                for word in words {
                    text.push(b' ');
                    text.extend_from_slice(&word.raw);
                }
            }
            None => text.extend_from_slice(b" in \"$@\""),
        }
        self.trace_raw(&text);
    }

    pub(crate) fn trace_arith(&mut self, arith: &Arith) {
        if self.options.xtrace && !arith.text.parts.is_empty() {
            self.trace_raw(&[b"(( ", arith.text.raw.trim_ascii(), b" ))"].concat());
        }
    }

    pub(crate) fn trace_cond(&mut self, cond: &Cond) -> Run {
        let text = self.cond_text(cond)?;
        self.trace_raw(&[b"[[ ", &text[..], b" ]]"].concat());
        Ok(())
    }

    /// One test of `[[ ]]` as it is shown; substitutions are shown as written, because they must not run twice.
    fn cond_text(&mut self, cond: &Cond) -> Run<Bytes> {
        let mut shown = |word: &Word| -> Run<Bytes> {
            if crate::parse::simple::is_pure(&word.parts, false) {
                let text = self.expand_text(word)?;
                Ok(if text.is_empty() { b"''".to_vec() } else { text })
            } else {
                Ok(word.raw.to_vec())
            }
        };
        Ok(match cond {
            Cond::Word(word) => [b"-n ", &shown(word)?[..]].concat(),
            Cond::Unary(letter, word) => [&[b'-', *letter, b' '], &shown(word)?[..]].concat(),
            Cond::Binary(op, left, right) => {
                let name: Bytes = match op {
                    CondOp::Match => b"==".to_vec(),
                    CondOp::NoMatch => b"!=".to_vec(),
                    CondOp::Regex => b"=~".to_vec(),
                    CondOp::Before => b"<".to_vec(),
                    CondOp::After => b">".to_vec(),
                    CondOp::Test(name) => [b"-", &name[..]].concat(),
                };
                [shown(left)?, name, shown(right)?].join(&b' ')
            }
            Cond::Not(inner) => [b"! ", &self.cond_text(inner)?[..]].concat(),
            Cond::And(left, _) | Cond::Or(left, _) => self.cond_text(left)?,
        })
    }
}
