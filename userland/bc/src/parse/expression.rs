//! Expressions.

use super::{Kind, Parsed, Parser, Target};
use crate::code::{HISTORY, IBASE, LAST, OBASE, Op, SCALE};
use crate::token::{Token, Word};

impl<'a> Parser<'a> {
    pub(super) fn expression(&mut self, least: u8) -> Parsed<Kind> {
        self.deeper()?;
        let kind = self.operand()?;
        let kind = self.operators(kind, least)?;
        self.depth -= 1;
        Ok(kind)
    }

    /// The operators after a first operand that have at least the given precedence.
    pub(super) fn operators(&mut self, kind: Kind, least: u8) -> Parsed<Kind> {
        let mut kind = kind;
        while let Token::Sign(sign) = self.token {
            let Some(strength) = strength_of(sign) else {
                break;
            };
            if strength < least {
                break;
            }
            self.advance();
            self.operator(sign, strength, kind)?;
            kind = Kind::default();
        }
        Ok(kind)
    }

    pub(super) fn operator(&mut self, sign: &'static str, strength: u8, left: Kind) -> Parsed<()> {
        let right = |this: &mut Self, least: u8| -> Parsed<()> {
            let right = this.expression(least)?;
            if left.void || right.void { this.mistake(&format!("void expression with {sign}")) } else { Ok(()) }
        };
        match sign {
            "&&" => {
                self.code.push(Op::Duplicate);
                let first = self.code.push(Op::JumpUnless(0));
                self.code.push(Op::Pop);
                right(self, AND + 1)?;
                self.code.push(Op::Duplicate);
                let second = self.code.push(Op::JumpUnless(0));
                self.code.push(Op::Pop);
                self.code.push(Op::One);
                let end = self.code.ops.len();
                self.code.aim(first, end);
                self.code.aim(second, end);
            }
            "||" => {
                let first = self.code.push(Op::JumpIf(0));
                right(self, OR + 1)?;
                let second = self.code.push(Op::JumpIf(0));
                self.code.push(Op::Zero);
                let end = self.code.push(Op::Jump(0));
                let one = self.code.ops.len();
                self.code.push(Op::One);
                self.code.aim(first, one);
                self.code.aim(second, one);
                self.code.aim(end, one + 1);
            }
            _ => {
                right(self, if strength == POWER { POWER } else { strength + 1 })?;
                self.code.push(Op::Operate(match sign {
                    "==" => '=',
                    "!=" => '#',
                    "<=" => '{',
                    ">=" => '}',
                    sign => sign.chars().next().unwrap_or('+'),
                }));
            }
        }
        Ok(())
    }

    pub(super) fn operand(&mut self) -> Parsed<Kind> {
        match self.token.clone() {
            Token::Sign("-") => {
                self.advance();
                // Binds tighter than every binary operator.
                self.expression(SIGN)?;
                self.code.push(Op::Negate);
            }
            Token::Sign("!") => {
                self.advance();
                self.expression(RELATION)?;
                self.code.push(Op::Not);
            }
            Token::Sign("(") => {
                self.advance();
                if self.expression(0)?.void {
                    return self.mistake("void expression in parenthesis");
                }
                self.expect(")")?;
            }
            Token::Sign(sign @ ("++" | "--")) => {
                self.advance();
                let target = self.target()?;
                self.step_before(target, sign == "++");
            }
            Token::Number(digits) => {
                self.advance();
                self.code.push(match digits.as_slice() {
                    b"0" => Op::Zero,
                    b"1" => Op::One,
                    _ => Op::Constant(digits),
                });
            }
            Token::Word(Word::Length) => self.function_of(Op::Length)?,
            Token::Word(Word::Sqrt) => self.function_of(Op::SquareRoot)?,
            Token::Word(word @ (Word::Read | Word::Random)) => {
                self.advance();
                self.expect("(")?;
                self.expect(")")?;
                self.code.push(if word == Word::Read { Op::Read } else { Op::Random });
            }
            Token::Word(Word::Scale) => {
                self.advance();
                if !self.accept("(") {
                    return self.named(Target::Variable(SCALE));
                }
                self.value()?;
                self.expect(")")?;
                self.code.push(Op::ScaleOf);
            }
            Token::Name(name) => {
                self.advance();
                if self.accept("(") {
                    return self.call(&name);
                }
                let target = self.name(&name)?;
                return self.named(target);
            }
            Token::Word(Word::Ibase | Word::Obase | Word::Last | Word::History) => {
                let target = self.target()?;
                return self.named(target);
            }
            _ => return self.mistake("syntax error"),
        }
        Ok(Kind::default())
    }

    /// `++name` and `--name`: the result is the new value.
    fn step_before(&mut self, target: Target, up: bool) {
        match target {
            Target::Variable(at) => {
                self.code.push(Op::Step(at, up));
                self.code.push(Op::Load(at));
            }
            Target::Element(at) => {
                self.code.push(Op::Duplicate);
                self.code.push(Op::StepElement(at, up));
                self.code.push(Op::LoadElement(at));
            }
        }
    }

    pub(super) fn function_of(&mut self, op: Op) -> Parsed<()> {
        self.advance();
        self.expect("(")?;
        self.value()?;
        self.expect(")")?;
        self.code.push(op);
        Ok(())
    }

    /// An assignment target. Emits its subscript.
    pub(super) fn target(&mut self) -> Parsed<Target> {
        let special = match self.token.clone() {
            Token::Word(Word::Ibase) => IBASE,
            Token::Word(Word::Obase) => OBASE,
            Token::Word(Word::Scale) => SCALE,
            Token::Word(Word::Last) => LAST,
            Token::Word(Word::History) => HISTORY,
            Token::Name(name) => {
                self.advance();
                return self.name(&name);
            }
            _ => return self.mistake("syntax error"),
        };
        self.advance();
        Ok(Target::Variable(special))
    }

    pub(super) fn name(&mut self, name: &str) -> Parsed<Target> {
        if !self.accept("[") {
            return Ok(Target::Variable(self.names.variable(name)));
        }
        let array = self.names.array(name);
        self.value()?;
        self.expect("]")?;
        Ok(Target::Element(array))
    }

    /// A variable or element, with its postfix and assignment operators.
    pub(super) fn named(&mut self, target: Target) -> Parsed<Kind> {
        let sign = match self.token {
            Token::Sign(sign) => sign,
            _ => "",
        };
        let load = |at: Target| match at {
            Target::Variable(at) => Op::Load(at),
            Target::Element(at) => Op::LoadElement(at),
        };
        match sign {
            "++" | "--" => {
                self.advance();
                match target {
                    Target::Variable(at) => {
                        self.code.push(Op::Load(at));
                        self.code.push(Op::Step(at, sign == "++"));
                    }
                    Target::Element(at) => {
                        self.code.push(Op::Duplicate);
                        self.code.push(Op::LoadElement(at));
                        self.code.push(Op::Exchange);
                        self.code.push(Op::StepElement(at, sign == "++"));
                    }
                }
            }
            "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "^=" => {
                self.advance();
                if sign != "=" {
                    if let Target::Element(_) = target {
                        self.code.push(Op::Duplicate);
                    }
                    self.code.push(load(target));
                }
                if self.expression(RELATION + 1)?.void {
                    return self.mistake("Assignment of a void expression");
                }
                if sign != "=" {
                    self.code.push(Op::Operate(sign.chars().next().unwrap_or('+')));
                }
                self.code.push(match target {
                    Target::Variable(at) => Op::Store(at),
                    Target::Element(at) => Op::StoreElement(at),
                });
                return Ok(Kind { assignment: true, void: false });
            }
            _ => {
                self.code.push(load(target));
            }
        }
        Ok(Kind::default())
    }

    pub(super) fn call(&mut self, name: &str) -> Parsed<Kind> {
        let mut arguments = Vec::new();
        while !self.is(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.argument()?);
        }
        self.advance();
        let function = self.names.function(name, self.functions);
        self.code.push(Op::Call(function, arguments));
        let void = self.functions.get(function).is_some_and(|function| function.is_void);
        Ok(Kind { assignment: false, void })
    }

    /// One argument. Returns whether it is an array.
    pub(super) fn argument(&mut self) -> Parsed<bool> {
        if let Token::Name(name) = self.token.clone() {
            self.advance();
            if self.accept("(") {
                let kind = self.call(&name)?;
                return self.rest_of_argument(kind);
            }
            if self.accept("[") {
                let array = self.names.array(&name);
                if self.accept("]") {
                    self.code.push(Op::Array(array));
                    return Ok(true);
                }
                self.value()?;
                self.expect("]")?;
                let kind = self.named(Target::Element(array))?;
                return self.rest_of_argument(kind);
            }
            let variable = self.names.variable(&name);
            let kind = self.named(Target::Variable(variable))?;
            return self.rest_of_argument(kind);
        }
        if self.expression(0)?.void { self.mistake("void argument") } else { Ok(false) }
    }

    /// The rest of an argument after its first operand.
    pub(super) fn rest_of_argument(&mut self, kind: Kind) -> Parsed<bool> {
        let kind = self.operators(kind, 0)?;
        if kind.void { self.mistake("void argument") } else { Ok(false) }
    }
}

pub(super) fn strength_of(sign: &str) -> Option<u8> {
    Some(match sign {
        "||" => OR,
        "&&" => AND,
        "<" | "<=" | "==" | "!=" | ">" | ">=" => RELATION,
        "+" | "-" => ADD,
        "*" | "/" | "%" => MULTIPLY,
        "^" => POWER,
        _ => return None,
    })
}

pub(super) const OR: u8 = 1;

pub(super) const AND: u8 = 2;

pub(super) const RELATION: u8 = 4;

pub(super) const ADD: u8 = 6;

pub(super) const MULTIPLY: u8 = 7;

pub(super) const POWER: u8 = 8;

pub(super) const SIGN: u8 = 9;
