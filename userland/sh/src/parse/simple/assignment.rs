//! Assignments, to lists too.

use std::rc::Rc;

use crate::ir::{Assign, AssignValue, Element, Name, Part, Word};
use crate::parse::attempts::Attempt;
use crate::parse::token::{is_meta, name_len};
use crate::parse::{Parse, Parser, SyntaxError, SyntaxErrorKind};

impl Parser<'_> {
    /// The assignment that comes next, if one does.
    pub(in crate::parse) fn assignment(&mut self) -> Parse<Option<Assign>> {
        let len = name_len(self.rest());
        if len == 0 {
            return Ok(None);
        }
        let (start, mark) = (self.pos, self.mark());
        if self.has_failed(start, Attempt::Assignment) {
            return Ok(None);
        }
        self.pos += len;
        let subscript = match self.peek() {
            Some(b'[') => self.subscript()?,
            _ => None,
        };
        let append = self.starts_with(b"+=");
        if !append && self.peek() != Some(b'=') {
            if subscript.is_some() {
                self.record_failure(start, Attempt::Assignment);
            }
            self.back(mark);
            return Ok(None);
        }
        let name: Name = self.slice(start, start + len).into();
        self.pos += if append { 2 } else { 1 };
        let value = if self.peek() == Some(b'(') {
            let (from, line) = (self.pos, self.line);
            let elements = self.elements().map_err(|error| match error.kind {
                // The message names the line in which the list starts.
                SyntaxErrorKind::End => SyntaxError::new(SyntaxErrorKind::Unclosed(b')'), line),
                _ => error,
            })?;
            if self.peek().is_none_or(is_meta) {
                AssignValue::Array(elements)
            } else {
                // If text follows it, the list is text too.
                self.word()?;
                AssignValue::Word(self.word_with_list(from))
            }
        } else {
            AssignValue::Word(self.assigned_word()?)
        };
        Ok(Some(Assign { name, subscript, append, value }))
    }

    /// The word starting at `start`, in which a list in parentheses is text.
    pub(super) fn word_with_list(&self, start: usize) -> Word {
        let raw = self.slice(start, self.pos);
        let literal = || Word { parts: vec![Part::Quoted(raw.to_vec())], raw: raw.into(), braces: false };
        if self.is_second_reading {
            return literal();
        }
        let mut parser = Parser { is_second_reading: true, ..Parser::new(raw, self.line, Rc::clone(&self.source)) };
        parser.whole_unquoted().unwrap_or_else(|_| literal())
    }

    /// `( .. )` of an array assignment.
    pub(super) fn elements(&mut self) -> Parse<Vec<Element>> {
        self.deeper(|p| {
            p.pos += 1;
            let mut elements = Vec::new();
            loop {
                p.skip_lines()?;
                match p.peek() {
                    Some(b')') => {
                        p.pos += 1;
                        return Ok(elements);
                    }
                    None => return Err(SyntaxError::new(SyntaxErrorKind::End, p.line)),
                    Some(_) => elements.push(p.element()?),
                }
            }
        })
    }

    pub(super) fn element(&mut self) -> Parse<Element> {
        let mark = self.mark();
        if self.peek() == Some(b'[')
            && !self.has_failed(mark.pos, Attempt::Element)
            && let Some(subscript) = self.subscript()?
        {
            let append = self.starts_with(b"+=");
            if append || self.peek() == Some(b'=') {
                self.pos += if append { 2 } else { 1 };
                let value = self.assigned_word()?;
                return Ok(Element { subscript: Some(subscript), append, value });
            }
            self.record_failure(mark.pos, Attempt::Element);
        }
        self.back(mark);
        match self.word()? {
            Some(value) => Ok(Element { subscript: None, append: false, value }),
            None => Err(self.unexpected()),
        }
    }

    /// The value of an assignment; a word that may be empty.
    fn assigned_word(&mut self) -> Parse<Word> {
        if self.peek().is_none_or(is_meta) && !self.starts_with(b"<(") && !self.starts_with(b">(") {
            return Ok(Word::default());
        }
        let mut word = self.word()?.unwrap_or_default();
        word.braces = false;
        crate::parse::word::tilde_after_colons(&mut word);
        Ok(word)
    }
}

/// The assignment that a text consists of, if it is one.
pub(crate) fn read_assignment(text: &[u8], line: u32) -> Option<Assign> {
    let mut parser = Parser::new(text, line, Rc::from(&b""[..]));
    let assign = parser.assignment().ok()??;
    parser.peek().is_none().then_some(assign)
}
