//! Expressions that have no tree: read and evaluated token by token, as bash does it, so that what stands before the
//! mistake happens and the message names the token that bash names.

mod token;

use std::rc::Rc;

use super::operate::{binary, power};
use super::{Fault, Value, message};
use crate::ir::{BinaryOp, Name, Subscript};
use crate::state::Shell;
use crate::vars::Key;

/// Expressions in parentheses and the like before the interpreter gives up, well below what the stack holds.
const MAX_DEPTH: u32 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    End,
    Name,
    Number,
    Assign,
    /// `+=` and its kin.
    Compound(BinaryOp),
    Binary(BinaryOp),
    And,
    Or,
    /// `++` or `--` before a name, by what it counts.
    Before(i64),
    /// The same after a name.
    After(i64),
    /// A condition has been read; it is nothing that can be assigned to.
    Chosen,
    Byte(u8),
}

/// A variable or an element of an array.
type Place = (Name, Option<Rc<Subscript>>);

#[derive(Clone)]
struct State {
    current: Token,
    last: Token,
    /// Where the next token starts, and where the current one does.
    next: usize,
    start: usize,
    value: i64,
    place: Option<Place>,
    /// More than 0 in a branch that is not taken.
    skipping: u32,
}

struct Interpreter<'a> {
    shell: &'a mut Shell,
    text: &'a [u8],
    at: State,
    depth: u32,
}

/// The value of a text that could not be parsed, or why it has none.
pub(super) fn interpret(shell: &mut Shell, text: &[u8]) -> Value {
    let at = State { current: Token::End, last: Token::End, next: 0, start: 0, value: 0, place: None, skipping: 0 };
    let mut reader = Interpreter { shell, text, at, depth: 0 };
    reader.read()?;
    let value = reader.comma()?;
    if reader.at.current != Token::End {
        return Err(reader.error("syntax error in expression"));
    }
    Ok(value)
}

/// Binary operators by level, the loosest first.
const LEVELS: &[&[BinaryOp]] = &[
    &[BinaryOp::BitOr],
    &[BinaryOp::BitXor],
    &[BinaryOp::BitAnd],
    &[BinaryOp::Equal, BinaryOp::NotEqual],
    &[BinaryOp::LessEqual, BinaryOp::GreaterEqual, BinaryOp::Less, BinaryOp::Greater],
    &[BinaryOp::ShiftLeft, BinaryOp::ShiftRight],
    &[BinaryOp::Add, BinaryOp::Subtract],
    &[BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Modulo],
];

impl Interpreter<'_> {
    fn error(&self, problem: &str) -> Fault {
        Fault::Message(message(self.text, problem, self.text.get(self.at.start..).unwrap_or_default()))
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    fn place_value(&mut self) -> Value {
        match self.at.place.clone() {
            Some((name, subscript)) => match self.value_of_place(&name, subscript.as_ref()) {
                Err(Fault::Message(_)) if self.shell.arith_levels >= super::MAX_LEVELS => {
                    Err(self.error("expression recursion level exceeded"))
                }
                value => value,
            },
            None => Ok(0),
        }
    }

    fn value_of_place(&mut self, name: &Name, subscript: Option<&Rc<Subscript>>) -> Value {
        match (self.shell.place(name, subscript)?, subscript) {
            (Some(Key::Whole), _) if self.shell.arith_levels >= super::MAX_LEVELS => match self.shell.lookup(name) {
                Some(text) => self.shell.nested_value(&text),
                None => self.shell.value_at(name, &Key::Whole),
            },
            (Some(key), _) => self.shell.value_at(name, &key),
            (None, Some(subscript)) => self.shell.element_value(name, subscript),
            (None, None) => Ok(0),
        }
    }

    fn store(&mut self, place: Option<Place>, value: i64) -> Result<(), Fault> {
        match place {
            Some((name, subscript)) if self.at.skipping == 0 => {
                let key = self.shell.place(&name, subscript.as_ref())?;
                self.shell.change(&name, subscript.as_ref(), key, value)
            }
            _ => Ok(()),
        }
    }

    fn comma(&mut self) -> Value {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("expression recursion level exceeded"));
        }
        let mut value = self.assignment()?;
        while self.at.current == Token::Byte(b',') {
            self.read()?;
            value = self.assignment()?;
        }
        self.depth -= 1;
        Ok(value)
    }

    fn assignment(&mut self) -> Value {
        let old = self.choice()?;
        let op = match self.at.current {
            Token::Assign => None,
            Token::Compound(op) => Some(op),
            _ => return Ok(old),
        };
        if self.at.last != Token::Name {
            return Err(self.error("attempted assignment to non-variable"));
        }
        let place = self.at.place.clone();
        self.read()?;
        let mut value = self.nested(Self::assignment)?;
        if let Some(op) = op {
            value = self.apply(op, old, value, None)?;
        }
        self.store(place, value)?;
        self.at.place = None;
        Ok(value)
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Value) -> Value {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("expression recursion level exceeded"));
        }
        let value = inner(self);
        self.depth -= 1;
        value
    }

    /// Runs `inner` without effects where `skip` says so.
    fn unless(&mut self, skip: bool, inner: fn(&mut Self) -> Value) -> Value {
        self.at.skipping += u32::from(skip);
        self.read()?;
        if matches!(self.at.current, Token::End | Token::Byte(b':')) && self.at.last == Token::Byte(b'?')
            || self.at.current == Token::End && self.at.last == Token::Byte(b':')
        {
            return Err(self.error("expression expected"));
        }
        let value = self.nested(inner)?;
        self.at.skipping -= u32::from(skip);
        Ok(value)
    }

    fn choice(&mut self) -> Value {
        let condition = self.or()?;
        if self.at.current != Token::Byte(b'?') {
            return Ok(condition);
        }
        let yes = self.unless(condition == 0, Self::comma)?;
        if self.at.current != Token::Byte(b':') {
            return Err(self.error("`:' expected for conditional expression"));
        }
        let no = self.unless(condition != 0, Self::choice)?;
        self.at.last = Token::Chosen;
        Ok(if condition != 0 { yes } else { no })
    }

    fn or(&mut self) -> Value {
        let mut left = self.and()?;
        while self.at.current == Token::Or {
            let right = self.unless(left != 0, Self::and)?;
            left = i64::from(left != 0 || right != 0);
            self.at.last = Token::Or;
        }
        Ok(left)
    }

    fn and(&mut self) -> Value {
        let mut left = self.level(0)?;
        while self.at.current == Token::And {
            let right = self.unless(left == 0, |reader| reader.level(0))?;
            left = i64::from(left != 0 && right != 0);
            self.at.last = Token::And;
        }
        Ok(left)
    }

    fn level(&mut self, level: usize) -> Value {
        let Some(operators) = LEVELS.get(level) else { return self.power() };
        let mut left = self.level(level + 1)?;
        loop {
            let op = match self.at.current {
                Token::Binary(op) if operators.contains(&op) => op,
                _ => return Ok(left),
            };
            let divisor = self.at.next;
            self.read()?;
            let right = self.level(level + 1)?;
            left = self.apply(op, left, right, Some(divisor))?;
            self.at.last = Token::Number;
        }
    }

    /// The result of an operator. A divisor of 0 is told with its text, if it is known where that starts.
    fn apply(&mut self, op: BinaryOp, left: i64, right: i64, divisor: Option<usize>) -> Value {
        if matches!(op, BinaryOp::Divide | BinaryOp::Modulo) && right == 0 {
            if self.at.skipping > 0 {
                return Ok(left);
            }
            if let Some(from) = divisor {
                let text = self.text.get(from..).unwrap_or_default();
                self.at.start = from + text.len() - text.trim_ascii_start().len();
            }
            return Err(self.error("division by 0"));
        }
        binary(op, left, right, 0)
    }

    fn power(&mut self) -> Value {
        let base = self.unary()?;
        if self.at.current != Token::Binary(BinaryOp::Power) {
            return Ok(base);
        }
        self.read()?;
        let exponent = self.nested(Self::power)?;
        self.at.last = Token::Number;
        if exponent < 0 {
            return Err(self.error("exponent less than 0"));
        }
        Ok(power(base, exponent))
    }

    fn unary(&mut self) -> Value {
        let operator = match self.at.current {
            Token::Byte(byte @ (b'!' | b'~')) => byte,
            Token::Binary(BinaryOp::Add) => b'+',
            Token::Binary(BinaryOp::Subtract) => b'-',
            _ => return self.operand(),
        };
        self.read()?;
        let value = self.nested(Self::unary)?;
        self.at.last = Token::Number;
        Ok(match operator {
            b'!' => i64::from(value == 0),
            b'~' => !value,
            b'-' => value.wrapping_neg(),
            _ => value,
        })
    }

    fn operand(&mut self) -> Value {
        match self.at.current {
            Token::Before(by) => {
                self.at.last = self.at.current;
                self.read()?;
                if self.at.current != Token::Name {
                    return Err(self.error("identifier expected"));
                }
                let value = self.at.value.wrapping_add(by);
                self.store(self.at.place.clone(), value)?;
                self.at.current = Token::Number;
                self.read()?;
                Ok(value)
            }
            Token::Byte(b'(') => {
                self.read()?;
                let value = self.comma()?;
                if self.at.current != Token::Byte(b')') {
                    return Err(self.error("missing `)'"));
                }
                self.read()?;
                Ok(value)
            }
            Token::Name => {
                let (value, place) = (self.at.value, self.at.place.clone());
                self.read()?;
                if let Token::After(by) = self.at.current {
                    self.store(place, value.wrapping_add(by))?;
                    self.at.current = Token::Number;
                    self.read()?;
                } else {
                    self.at.place = place;
                }
                Ok(value)
            }
            Token::Number => {
                let value = self.at.value;
                self.read()?;
                Ok(value)
            }
            _ => Err(self.error("syntax error: operand expected")),
        }
    }
}
