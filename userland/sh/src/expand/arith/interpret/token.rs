//! Tokens of an expression that is read as it is evaluated.

use std::rc::Rc;

use super::{Interpreter, Token};
use crate::expand::arith::{Fault, message};
use crate::ir::{BinaryOp, Name};
use crate::parse::token::{is_name_byte, name_len};
use crate::parse::{closing_bracket, number_value, subscript_from_text};

/// Operators of one byte and those that are followed by `=` in a compound assignment.
fn single(byte: u8) -> Option<BinaryOp> {
    Some(match byte {
        b'*' => BinaryOp::Multiply,
        b'/' => BinaryOp::Divide,
        b'%' => BinaryOp::Modulo,
        b'+' => BinaryOp::Add,
        b'-' => BinaryOp::Subtract,
        b'&' => BinaryOp::BitAnd,
        b'^' => BinaryOp::BitXor,
        b'|' => BinaryOp::BitOr,
        b'<' => BinaryOp::Less,
        b'>' => BinaryOp::Greater,
        _ => return None,
    })
}

impl Interpreter<'_> {
    pub(super) fn read(&mut self) -> Result<(), Fault> {
        let mut at = self.at.next;
        while self.byte(at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            at += 1;
        }
        let Some(byte) = self.byte(at) else {
            self.at.last = self.at.current;
            self.at.current = Token::End;
            self.at.next = at;
            return Ok(());
        };
        self.at.start = at;
        let rest = self.text.get(at..).unwrap_or_default();
        let len = name_len(rest);
        if len > 0 {
            return self.read_name(at, len);
        }
        if byte.is_ascii_digit() {
            let len = rest.iter().position(|&b| !is_name_byte(b) && !matches!(b, b'#' | b'@')).unwrap_or(rest.len());
            let digits = rest.get(..len).unwrap_or_default();
            self.at.value = number_value(digits).map_err(|problem| {
                Fault::Message(message(self.text.get(..at + len).unwrap_or_default(), problem, digits))
            })?;
            return self.take(Token::Number, at + len);
        }
        self.read_operator(at, byte)
    }

    fn take(&mut self, token: Token, next: usize) -> Result<(), Fault> {
        self.at.last = self.at.current;
        self.at.current = token;
        self.at.next = next;
        Ok(())
    }

    /// A name, with the value that its variable has unless the name is assigned to.
    fn read_name(&mut self, at: usize, len: usize) -> Result<(), Fault> {
        let name: Name = self.text.get(at..at + len).unwrap_or_default().into();
        let mut end = at + len;
        let mut subscript = None;
        if self.byte(end) == Some(b'[') {
            let inside = self.text.get(end + 1..).unwrap_or_default();
            let Some(len) = closing_bracket(inside) else { return Err(self.error("bad array subscript")) };
            subscript = Some(Rc::new(subscript_from_text(inside.get(..len).unwrap_or_default())));
            end += len + 2;
        }
        let place = (name, subscript);
        let mut before = self.at.clone();
        self.at.current = Token::Name;
        self.at.next = end;
        self.at.skipping += 1;
        self.read()?;
        let follows = self.at.current;
        let counts = matches!(before.last, Token::Before(_));
        before.place = Some(place);
        self.at = before;
        self.at.value = 0;
        if (counts || follows != Token::Assign) && self.at.skipping == 0 {
            self.at.value = self.place_value()?;
        }
        self.take(Token::Name, end)
    }

    fn read_operator(&mut self, at: usize, byte: u8) -> Result<(), Fault> {
        let (next, third) = (self.byte(at + 1), self.byte(at + 2));
        let pair = match (byte, next) {
            (b'=', Some(b'=')) => Token::Binary(BinaryOp::Equal),
            (b'!', Some(b'=')) => Token::Binary(BinaryOp::NotEqual),
            (b'>', Some(b'=')) => Token::Binary(BinaryOp::GreaterEqual),
            (b'<', Some(b'=')) => Token::Binary(BinaryOp::LessEqual),
            (b'<' | b'>', Some(second)) if second == byte => {
                let op = if byte == b'<' { BinaryOp::ShiftLeft } else { BinaryOp::ShiftRight };
                if third == Some(b'=') {
                    return self.take(Token::Compound(op), at + 3);
                }
                Token::Binary(op)
            }
            (b'&', Some(b'&')) => Token::And,
            (b'|', Some(b'|')) => Token::Or,
            (b'*', Some(b'*')) => Token::Binary(BinaryOp::Power),
            (b'+' | b'-', Some(second)) if second == byte => {
                let by = if byte == b'+' { 1 } else { -1 };
                let rest = self.text.get(at + 2..).unwrap_or_default().trim_ascii_start();
                if self.at.current == Token::Name {
                    Token::After(by)
                } else if name_len(rest) > 0 {
                    Token::Before(by)
                } else {
                    return self.take_single(at, byte);
                }
            }
            (_, Some(b'=')) if b"*/%+-&^|".contains(&byte) => match single(byte) {
                Some(op) => Token::Compound(op),
                None => return self.take_single(at, byte),
            },
            _ => return self.take_single(at, byte),
        };
        self.take(pair, at + 2)
    }

    fn take_single(&mut self, at: usize, byte: u8) -> Result<(), Fault> {
        let token = match byte {
            b'=' => Token::Assign,
            b'!' | b'~' | b'(' | b')' | b'?' | b':' | b',' => Token::Byte(byte),
            _ => match single(byte) {
                Some(op) => Token::Binary(op),
                None => {
                    let operand = matches!(self.at.current, Token::Name | Token::Number)
                        && self.at.current != Token::Byte(b'(')
                        || matches!(self.at.current, Token::After(_) | Token::Before(_));
                    let problem = if operand {
                        "syntax error: invalid arithmetic operator"
                    } else {
                        "syntax error: operand expected"
                    };
                    return Err(self.error(problem));
                }
            },
        };
        self.take(token, at + 1)
    }
}
