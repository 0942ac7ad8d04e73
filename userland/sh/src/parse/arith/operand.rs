//! Operands: numbers, variables, elements of arrays, expansions.

use std::rc::Rc;

use super::source::MARK;
use super::{ArithError, ExprParser, MAX_DEPTH, Parsed};
use crate::ir::{Bytes, Expr, Name, Part, Subscript, Word};
use crate::parse::token::{is_name_byte, name_len};

/// A variable, or an element of one.
pub(super) type LValue = (Name, Option<Rc<Subscript>>);

/// The value of text that is a decimal number, as most operands are.
pub(crate) fn plain_number(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let leading_zero = digits.len() > 1 && digits.first() == Some(&b'0');
    if digits.is_empty() || digits.len() > 18 || leading_zero || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0_i64, |n, b| n * 10 + i64::from(b - b'0'));
    Some(if digits.len() == text.len() { value } else { -value })
}

impl<'a> ExprParser<'a> {
    pub(super) fn operand(&mut self) -> Parsed {
        match self.rest().first() {
            Some(b'(') => {
                self.take(1);
                let inner = self.comma()?;
                if self.accept(b")") { Ok(inner) } else { Err(self.unexpected("missing `)'")) }
            }
            Some(b'0'..=b'9') => self.number(),
            Some(&MARK) => self.expansion(),
            Some(_) => match self.lvalue()? {
                Some((name, subscript)) => Ok(self.postfix(name, subscript)),
                None => Err(self.error("syntax error: operand expected")),
            },
            None => Err(self.error("syntax error: operand expected")),
        }
    }

    fn postfix(&mut self, name: Name, subscript: Option<Rc<Subscript>>) -> Expr {
        self.skip();
        let rest = self.rest();
        for (text, by) in [(b"++", 1), (b"--", -1)] {
            if rest.starts_with(text) {
                self.take(2);
                return Expr::Step { name, subscript, by, prefix: false };
            }
        }
        match subscript {
            Some(subscript) => Expr::Element(name, subscript),
            None => Expr::Var(name),
        }
    }

    /// A variable or an element of an array.
    pub(super) fn lvalue(&mut self) -> Result<Option<LValue>, ArithError> {
        if let Some((start, end, found)) = &self.last_lvalue
            && *start == self.pos
        {
            (self.token, self.pos) = (*start, *end);
            return Ok(Some(found.clone()));
        }
        let start = self.pos;
        let found = self.read_lvalue()?;
        self.last_lvalue = found.clone().map(|found| (start, self.pos, found));
        Ok(found)
    }

    fn read_lvalue(&mut self) -> Result<Option<LValue>, ArithError> {
        let rest = self.rest();
        let len = name_len(rest);
        if len == 0 || rest.get(len) == Some(&MARK) {
            return Ok(None);
        }
        let name: Name = rest.get(..len).unwrap_or_default().into();
        self.take(len);
        if self.rest().first() != Some(&b'[') {
            return Ok(Some((name, None)));
        }
        let inside = self.rest().get(1..).unwrap_or_default();
        let Some(len) = closing_bracket(inside) else {
            return Err(ArithError { problem: "bad array subscript", token: self.token, end: self.text.len() });
        };
        let subscript = inside.get(..len).unwrap_or_default();
        self.pos += len + 2;
        if self.dynamic && subscript.iter().any(|byte| matches!(byte, b'$' | b'`' | b'"' | b'\'' | b'\\')) {
            return Ok(Some((name, Some(Rc::new(crate::parse::subscript_from_text(subscript))))));
        }
        if let Some(text) = self.quoted_key(subscript) {
            return Ok(Some((
                name,
                Some(Rc::new(Subscript { dynamic: false, ..crate::parse::subscript_from_text(&text) })),
            )));
        }
        let key = self.word_of(subscript);
        let mut subscript = crate::parse::subscript::subscript_of_parts(key);
        subscript.index.guards = true;
        Ok(Some((name, Some(Rc::new(subscript)))))
    }

    /// The text of a subscript that is all in single quotes, between which nothing is expanded.
    fn quoted_key(&self, text: &[u8]) -> Option<Bytes> {
        let inside = text.strip_prefix(b"'")?.strip_suffix(b"'")?;
        if inside.contains(&b'\'') {
            return None;
        }
        let mut key = b"'".to_vec();
        for (index, section) in inside.split(|&byte| byte == MARK).enumerate() {
            match (index % 2, self.part(section)) {
                (0, _) => key.extend_from_slice(section),
                (_, Some(Part::Param(param))) => key.extend_from_slice(&param.raw),
                _ => return None,
            }
        }
        key.push(b'\'');
        Some(key)
    }

    /// The parts of a section of the flat text.
    fn word_of(&self, text: &[u8]) -> Word {
        let mut parts = Vec::new();
        for (index, section) in text.split(|&b| b == MARK).enumerate() {
            if index % 2 == 1 {
                parts.extend(self.part(section).cloned());
            } else if !section.is_empty() {
                parts.push(Part::Lit(section.to_vec()));
            }
        }
        Word { parts, raw: text.into(), braces: false }
    }

    pub(super) fn part(&self, digits: &[u8]) -> Option<&'a Part> {
        usize::try_from(plain_number(digits)?).ok().and_then(|index| self.parts.get(index))
    }

    /// An expansion that is a separate operand; one that touches other text is not.
    pub(super) fn expansion(&mut self) -> Parsed {
        let before = self.pos.checked_sub(1).and_then(|at| self.text.get(at)).copied();
        let inside = self.rest().get(1..).unwrap_or_default();
        let len = inside.iter().position(|&b| b == MARK).unwrap_or(inside.len());
        let after = inside.get(len + 1).copied();
        let joins = |b: Option<u8>| b.is_some_and(|b| is_name_byte(b) || matches!(b, MARK | b'#' | b'@' | b'['));
        let part = self.part(inside.get(..len).unwrap_or_default());
        let (Some(part), false) = (part, joins(before) || joins(after)) else {
            return Err(self.error("syntax error: operand expected"));
        };
        self.used.push(part.clone());
        self.take(len + 2);
        Ok(Expr::Expansion(self.used.len() - 1))
    }

    fn number(&mut self) -> Parsed {
        let rest = self.rest();
        let len = rest.iter().position(|&b| !is_name_byte(b) && !matches!(b, b'#' | b'@')).unwrap_or(rest.len());
        let text = rest.get(..len).unwrap_or_default();
        self.take(len);
        if rest.get(len) == Some(&MARK) {
            return Err(self.error("syntax error: operand expected"));
        }
        let value = number_value(text).map_err(|problem| ArithError { problem, token: self.token, end: self.pos })?;
        Ok(Expr::Number(value))
    }
}

/// Length of the text before the bracket that closes a subscript. Deeply nested subscripts count as unclosed.
pub(crate) fn closing_bracket(text: &[u8]) -> Option<usize> {
    let mut open = 0_u32;
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'[' if open >= MAX_DEPTH => return None,
            b'[' => open += 1,
            b']' if open == 0 => return Some(at),
            b']' => open -= 1,
            _ => {}
        }
    }
    None
}

/// The value of a constant: decimal, `0x`, octal with a leading zero, or `base#digits`. It wraps as bash's does.
pub(crate) fn number_value(text: &[u8]) -> Result<i64, &'static str> {
    let (mut base, digits) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (16, digits),
        [b'0', _, ..] => (8, text),
        _ => (10, text),
    };
    // The number before `#` may still be the base.
    let mut may_be_base = base == 10;
    let mut value = 0_i64;
    for (at, &byte) in digits.iter().enumerate() {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            b'A'..=b'Z' if base <= 36 => byte - b'A' + 10,
            b'A'..=b'Z' => byte - b'A' + 36,
            b'@' => 62,
            b'_' => 63,
            b'#' if !may_be_base => return Err("invalid number"),
            b'#' if !(2..=64).contains(&value) => return Err("invalid arithmetic base"),
            b'#' if at + 1 == digits.len() => return Err("invalid integer constant"),
            b'#' => {
                may_be_base = false;
                base = std::mem::take(&mut value);
                continue;
            }
            _ => return Err("syntax error in expression"),
        };
        if i64::from(digit) >= base {
            return Err("value too great for base");
        }
        value = value.wrapping_mul(base).wrapping_add(i64::from(digit));
    }
    Ok(value)
}
