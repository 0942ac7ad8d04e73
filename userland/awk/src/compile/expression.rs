//! Expressions, by operator precedence.

use super::{Compiled, Compiler};
use crate::code::{Arithmetic, Arr, Comparison, Op, Origins, Step, Target};
use crate::token::{Keyword, Sign, Token};
use crate::value::Value;

/// Operator precedence.
pub(super) const LOWEST: u8 = 0;
const CONDITION: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const IN: u8 = 4;
const MATCH: u8 = 5;
const COMPARE: u8 = 6;
pub(super) const CONCAT: u8 = 7;
const ADD: u8 = 8;
const MULTIPLY: u8 = 9;
const UNARY: u8 = 10;
const POWER: u8 = 11;

impl Compiler {
    /// An expression whose operators have at least the given precedence.
    pub(super) fn expression(&mut self, least: u8) -> Compiled<()> {
        self.deeper()?;
        let start = self.at();
        let target = self.primary()?;
        self.follow(start, target, least)?;
        self.depth -= 1;
        Ok(())
    }

    /// Like [`Self::expression`], but `>` is always an operator.
    pub(super) fn enclosed(&mut self) -> Compiled<()> {
        let outer = std::mem::replace(&mut self.no_greater, false);
        self.expression(LOWEST)?;
        self.no_greater = outer;
        Ok(())
    }

    /// The operators after a first operand, whose code starts at `start`.
    pub(super) fn follow(&mut self, start: usize, target: Option<Target>, least: u8) -> Compiled<()> {
        if let Some(target) = target
            && self.change(start, target)?
        {
            // An assignment can be an operand.
        }
        while self.operator(start, least)? {}
        Ok(())
    }

    /// One operator with its right operand. Returns whether there was one.
    fn operator(&mut self, start: usize, least: u8) -> Compiled<bool> {
        let Token::Sign(sign) = self.token else {
            if self.token == Token::Keyword(Keyword::In) && least <= IN {
                self.advance()?;
                let array = self.array_name()?;
                self.emit(Op::Within(array));
                return Ok(true);
            }
            return if least <= CONCAT && self.starts_operand() { self.concat(start) } else { Ok(false) };
        };
        let arithmetic = |operation, strength| Some((operation, strength));
        let found = match sign {
            Sign::Plus => arithmetic(Arithmetic::Add, ADD),
            Sign::Minus => arithmetic(Arithmetic::Subtract, ADD),
            Sign::Times => arithmetic(Arithmetic::Multiply, MULTIPLY),
            Sign::Slash => arithmetic(Arithmetic::Divide, MULTIPLY),
            Sign::Percent => arithmetic(Arithmetic::Modulo, MULTIPLY),
            Sign::Caret | Sign::Power2 => arithmetic(Arithmetic::Power, POWER),
            _ => None,
        };
        if let Some((operation, strength)) = found {
            if strength < least {
                return Ok(false);
            }
            self.advance()?;
            // Powers group to the right.
            let middle = self.at();
            self.expression(if strength == POWER { POWER } else { strength + 1 })?;
            self.arithmetic(start, middle, operation)?;
            return Ok(true);
        }
        match sign {
            Sign::Question if least <= CONDITION => self.condition(),
            Sign::Or if least <= OR => self.either(true, OR + 1),
            Sign::And if least <= AND => self.either(false, AND + 1),
            Sign::Match | Sign::NotMatch if least <= MATCH => self.matching(sign == Sign::NotMatch),
            Sign::Pipe | Sign::TwoWay if least <= CONCAT => self.read_from_command(sign == Sign::TwoWay),
            _ if least <= COMPARE && self.comparison(sign).is_some() => self.compare(sign),
            _ if least <= CONCAT && self.starts_operand() => self.concat(start),
            _ => Ok(false),
        }
    }

    fn arithmetic(&mut self, start: usize, middle: usize, operation: Arithmetic) -> Compiled<()> {
        let constant = |op: Option<&Op>| match op {
            Some(Op::Const(at)) => match self.program.constants.get(*at as usize) {
                Some(Value::Number(number)) => Some(*number),
                _ => None,
            },
            _ => None,
        };
        let single = middle == start + 1 && self.at() == middle + 1 && self.barrier <= start;
        let ops = &self.program.ops;
        if single && let (Some(left), Some(right)) = (constant(ops.get(start)), constant(ops.get(middle))) {
            if right == 0.0 && operation == Arithmetic::Divide {
                return Err(self.meaning("division by zero attempted"));
            }
            if right == 0.0 && operation == Arithmetic::Modulo {
                return Err(self.meaning("division by zero attempted in `%'"));
            }
            self.pop_op();
            self.pop_op();
            self.number(crate::machine::calculate(operation, left, right));
            return Ok(());
        }
        self.emit(Op::Arithmetic(operation));
        Ok(())
    }

    /// Returns whether the next token starts an operand to concatenate.
    fn starts_operand(&self) -> bool {
        match &self.token {
            Token::Number(_) | Token::Text(_) | Token::Name(_) | Token::Called(_) | Token::Builtin(_) => true,
            Token::TypedRegex | Token::CalledByName(_) => true,
            Token::Sign(sign) => {
                matches!(sign, Sign::Dollar | Sign::Not | Sign::Open | Sign::Increment | Sign::Decrement)
            }
            _ => false,
        }
    }

    fn concat(&mut self, start: usize) -> Compiled<bool> {
        let mut parts = 1;
        while self.starts_operand() {
            self.expression(ADD)?;
            parts += 1;
        }
        let at = self.emit(Op::Concat(parts));
        self.last_concat = (start, at);
        Ok(true)
    }

    fn comparison(&self, sign: Sign) -> Option<Comparison> {
        Some(match sign {
            Sign::Less => Comparison::Less,
            Sign::LessOrEqual => Comparison::LessOrEqual,
            Sign::Equal => Comparison::Equal,
            Sign::NotEqual => Comparison::NotEqual,
            Sign::Greater if !self.no_greater => Comparison::Greater,
            Sign::GreaterOrEqual => Comparison::GreaterOrEqual,
            _ => return None,
        })
    }

    fn compare(&mut self, sign: Sign) -> Compiled<bool> {
        let Some(comparison) = self.comparison(sign) else {
            return Ok(false);
        };
        self.advance()?;
        self.expression(CONCAT)?;
        self.emit(Op::Compare(comparison));
        if let Token::Sign(next) = self.token
            && self.comparison(next).is_some()
        {
            return Err(self.unexpected());
        }
        Ok(true)
    }

    fn matching(&mut self, negated: bool) -> Compiled<bool> {
        self.advance()?;
        let start = self.at();
        self.expression(COMPARE)?;
        self.as_pattern(start);
        let op = match self.last() {
            Some(Op::Regex(pattern)) if self.at() == start + 1 => {
                self.pop_op();
                Op::MatchConst { pattern, negated }
            }
            _ => Op::Match { negated },
        };
        self.emit(op);
        Ok(true)
    }

    /// A constant regular expression, whose code starts at `start`, is used as a value and not as a match.
    pub(super) fn as_pattern(&mut self, start: usize) {
        if self.at() == start + 1
            && let Some(Op::MatchRecord(pattern)) = self.last()
        {
            self.pop_op();
            self.emit(Op::Regex(pattern));
        }
    }

    /// `&&` and `||`.
    fn either(&mut self, or: bool, strength: u8) -> Compiled<bool> {
        self.advance()?;
        self.skip_newlines()?;
        let decided = if or { self.emit(Op::JumpIf(0)) } else { self.jump_unless() };
        self.expression(strength)?;
        self.emit(Op::Truth);
        let end = self.emit(Op::Jump(0));
        self.land(decided);
        self.number(if or { 1.0 } else { 0.0 });
        self.land(end);
        Ok(true)
    }

    fn condition(&mut self) -> Compiled<bool> {
        self.advance()?;
        self.skip_newlines()?;
        let otherwise = self.jump_unless();
        self.expression(LOWEST)?;
        self.skip_newlines()?;
        self.expect(Sign::Colon)?;
        self.skip_newlines()?;
        let end = self.emit(Op::Jump(0));
        self.land(otherwise);
        self.expression(CONDITION)?;
        self.land(end);
        Ok(true)
    }

    /// `command | getline`, when `getline` follows.
    fn read_from_command(&mut self, two_way: bool) -> Compiled<bool> {
        let mut ahead = self.lexer.clone();
        if ahead.next() != Ok(Token::Keyword(Keyword::Getline)) {
            return Ok(false);
        }
        self.advance()?;
        self.advance()?;
        let placed = self.place()?;
        let from = if two_way { Origins::TwoWay } else { Origins::Pipe };
        self.emit(Op::Getline { from, placed });
        Ok(true)
    }

    /// A first operand with its prefix operators. Returns the target if it is assignable.
    pub(super) fn primary(&mut self) -> Compiled<Option<Target>> {
        let Token::Sign(sign) = self.token else {
            return self.word();
        };
        match sign {
            Sign::Open => {
                self.group()?;
                Ok(None)
            }
            Sign::Dollar => self.field().map(Some),
            Sign::Slash | Sign::DivideSet => {
                let pattern = self.regex_constant(false)?;
                self.emit(Op::MatchRecord(pattern));
                Ok(None)
            }
            Sign::Not | Sign::Minus | Sign::Plus => {
                self.advance()?;
                let start = self.at();
                self.expression(UNARY)?;
                self.unary(sign, start);
                Ok(None)
            }
            Sign::Increment | Sign::Decrement => {
                self.advance()?;
                let Some(target) = self.primary()? else {
                    return Err(self.unexpected());
                };
                self.pop_op();
                self.emit(Op::Step(Step { up: sign == Sign::Increment, after: false }, target));
                Ok(None)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn unary(&mut self, sign: Sign, start: usize) {
        if let Some(Op::Const(at)) = self.last()
            && self.at() == start + 1
            && sign != Sign::Not
            && let Some(Value::Number(number)) = self.program.constants.get(at as usize)
        {
            let number = *number;
            self.pop_op();
            self.number(if sign == Sign::Minus { -number } else { number });
            return;
        }
        self.emit(match sign {
            Sign::Not => Op::Not,
            Sign::Minus => Op::Negate,
            _ => Op::Plus,
        });
    }

    fn word(&mut self) -> Compiled<Option<Target>> {
        match self.token.clone() {
            Token::Number(number) => {
                self.advance()?;
                self.number(number);
            }
            Token::Text(text) => {
                self.advance()?;
                self.text(&text);
            }
            Token::TypedRegex => {
                let pattern = self.regex_constant(true)?;
                self.emit(Op::Regex(pattern));
            }
            Token::Name(name) => return self.name(&name).map(Some),
            Token::Called(name) => self.call(&name)?,
            Token::CalledByName(name) => self.call_by_name(&name)?,
            Token::Builtin(builtin) => self.builtin(builtin)?,
            Token::Keyword(Keyword::Getline) => {
                self.advance()?;
                let placed = self.place()?;
                let from = if self.accept(Sign::Less)? {
                    self.expression(ADD)?;
                    Origins::File
                } else {
                    Origins::Main
                };
                self.emit(Op::Getline { from, placed });
            }
            _ => return Err(self.unexpected()),
        }
        Ok(None)
    }

    pub(super) fn regex_constant(&mut self, typed: bool) -> Compiled<u32> {
        let source = self.lexer.regex(typed).map_err(|mistake| self.mistake(mistake))?;
        let pattern = self.pattern(source)?;
        self.advance()?;
        Ok(pattern)
    }

    /// An expression in parentheses, or a list of them before `in`.
    fn group(&mut self) -> Compiled<()> {
        let count = self.parenthesized()?;
        if count == 1 {
            self.barrier = self.at();
            return Ok(());
        }
        self.within_list(count)
    }

    /// The `in` after a list in parentheses.
    pub(super) fn within_list(&mut self, count: u32) -> Compiled<()> {
        if self.token != Token::Keyword(Keyword::In) {
            return Err(self.unexpected());
        }
        self.advance()?;
        self.emit(Op::Join(count));
        let array = self.array_name()?;
        self.emit(Op::Within(array));
        Ok(())
    }

    /// Parses one or more expressions in parentheses. Returns their number.
    pub(super) fn parenthesized(&mut self) -> Compiled<u32> {
        self.list_between(Sign::Open, Sign::Close)
    }

    /// Parses one or more expressions separated by commas. Returns their number.
    pub(super) fn list_between(&mut self, open: Sign, close: Sign) -> Compiled<u32> {
        self.expect(open)?;
        self.enclosed()?;
        let mut count = 1;
        while self.accept(Sign::Comma)? {
            self.skip_newlines()?;
            self.enclosed()?;
            count += 1;
        }
        self.expect(close)?;
        Ok(count)
    }

    /// An array name, with subscripts for nested arrays.
    pub(super) fn array_name(&mut self) -> Compiled<Arr> {
        let Token::Name(name) = self.token.clone() else {
            return Err(self.unexpected());
        };
        self.advance()?;
        let variable = self.variable(&name)?;
        let array = Self::array_of(variable);
        if !self.is(Sign::OpenBracket) {
            return Ok(array);
        }
        let mut array = array;
        while self.is(Sign::OpenBracket) {
            self.subscript()?;
            self.emit(Op::SubArray(array));
            array = Arr::Stack;
        }
        Ok(array)
    }
}
