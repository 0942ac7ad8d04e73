//! From words to code, one line or function at a time.

use std::collections::HashMap;

use crate::code::{Code, Function, HISTORY, IBASE, LAST, OBASE, Op, Own, SCALE};
use crate::token::{Lexer, Token, Word};

/// Parentheses and statements within each other.
const MOST_NESTING: u32 = 500;

/// What an expression is, as its statement must know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kind {
    assignment: bool,
    void: bool,
}

/// Something that can be assigned to.
#[derive(Clone, Copy, Debug)]
enum Target {
    Variable(usize),
    /// The subscript is on the stack.
    Element(usize),
}

/// What was read.
#[derive(Debug)]
pub(crate) enum Item {
    /// A line to run.
    Line(Code),
    /// `quit`.
    Quit,
    End,
}

/// A mistake, which costs the line.
#[derive(Debug)]
pub(crate) enum Mistake {
    At(u32, String),
    Quit,
}

type Parsed<T> = Result<T, Mistake>;

/// Where jumps out of a loop lead.
#[derive(Debug, Default)]
struct Loop {
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

/// Names and the functions that they have.
#[derive(Debug, Default)]
pub(crate) struct Names {
    variables: HashMap<String, usize>,
    arrays: HashMap<String, usize>,
    functions: HashMap<String, usize>,
}

impl Names {
    /// How many variables and arrays there can be so far.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.variables.len() + LAST + 1, self.arrays.len() + 1)
    }

    pub(crate) fn array_name(&self, number: usize) -> String {
        self.arrays.iter().find(|(_, at)| **at == number).map(|(name, _)| name.clone()).unwrap_or_default()
    }

    pub(crate) fn variable_name(&self, number: usize) -> String {
        self.variables.iter().find(|(_, at)| **at == number).map(|(name, _)| name.clone()).unwrap_or_default()
    }

    fn variable(&mut self, name: &str) -> usize {
        let next = self.variables.len() + LAST + 1;
        *self.variables.entry(name.to_owned()).or_insert(next)
    }

    fn array(&mut self, name: &str) -> usize {
        let next = self.arrays.len() + 1;
        *self.arrays.entry(name.to_owned()).or_insert(next)
    }

    pub(crate) fn function(&mut self, name: &str, functions: &mut Vec<Function>) -> usize {
        *self.functions.entry(name.to_owned()).or_insert_with(|| {
            functions.push(Function { name: name.to_owned(), ..Function::default() });
            functions.len() - 1
        })
    }
}

/// Reads one source.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    pub(crate) lexer: &'a mut Lexer,
    token: Token,
    pub(crate) names: &'a mut Names,
    pub(crate) functions: &'a mut Vec<Function>,
    code: Code,
    loops: Vec<Loop>,
    depth: u32,
    in_function: Option<bool>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(lexer: &'a mut Lexer, names: &'a mut Names, functions: &'a mut Vec<Function>) -> Self {
        Self {
            lexer,
            token: Token::Newline,
            names,
            functions,
            code: Code::default(),
            loops: Vec::new(),
            depth: 0,
            in_function: None,
        }
    }

    fn advance(&mut self) -> Token {
        let next = self.lexer.next();
        std::mem::replace(&mut self.token, next)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.token, Token::Sign(found) if found == sign)
    }

    fn accept(&mut self, sign: &str) -> bool {
        let here = self.is(sign);
        if here {
            self.advance();
        }
        here
    }

    fn mistake<T>(&self, what: &str) -> Parsed<T> {
        Err(Mistake::At(self.lexer.line, what.to_owned()))
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.accept(sign) { Ok(()) } else { self.mistake("syntax error") }
    }

    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MOST_NESTING { self.mistake("parser stack overflow") } else { Ok(()) }
    }

    /// The next line, or the next function, which is kept among the functions.
    pub(crate) fn item(&mut self) -> Parsed<Item> {
        self.code = Code::default();
        self.loops.clear();
        self.depth = 0;
        self.in_function = None;
        self.advance();
        if self.token == Token::End {
            return Ok(Item::End);
        }
        let outcome = if self.token == Token::Word(Word::Define) { self.function() } else { self.line() };
        match outcome {
            Ok(()) => Ok(Item::Line(std::mem::take(&mut self.code))),
            Err(Mistake::Quit) => Ok(Item::Quit),
            Err(mistake) => {
                while !matches!(self.token, Token::Newline | Token::End) {
                    self.advance();
                }
                Err(mistake)
            }
        }
    }

    fn line(&mut self) -> Parsed<()> {
        loop {
            while self.accept(";") {}
            if matches!(self.token, Token::Newline | Token::End) {
                return Ok(());
            }
            self.statement()?;
            if !self.is(";") && !matches!(self.token, Token::Newline | Token::End) {
                return self.mistake("syntax error");
            }
        }
    }

    fn function(&mut self) -> Parsed<()> {
        self.advance();
        let is_void = self.token == Token::Word(Word::Void);
        if is_void {
            self.advance();
        }
        let Token::Name(name) = self.token.clone() else {
            return self.mistake("syntax error");
        };
        self.advance();
        self.expect("(")?;
        let parameters = self.own_names(")")?;
        self.expect(")")?;
        while self.token == Token::Newline {
            self.advance();
        }
        self.expect("{")?;
        while self.token == Token::Newline {
            self.advance();
        }
        let mut autos = Vec::new();
        if self.token == Token::Word(Word::Auto) {
            self.advance();
            autos = self.own_names(";")?;
            if !self.accept(";") && self.token != Token::Newline {
                return self.mistake("syntax error");
            }
        }
        self.in_function = Some(is_void);
        self.statements()?;
        self.expect_closing()?;
        self.code.push(Op::Zero);
        self.code.push(Op::Return);
        let at = self.names.function(&name, self.functions);
        let code = std::mem::take(&mut self.code);
        if let Some(function) = self.functions.get_mut(at) {
            *function = Function { name, is_void, parameters, autos, code, defined: true, library: None };
        }
        Ok(())
    }

    /// The brace that ends a function; the word behind it is not read yet, because what follows is a line of its own.
    fn expect_closing(&mut self) -> Parsed<()> {
        if self.is("}") { Ok(()) } else { self.mistake("syntax error") }
    }

    fn own_names(&mut self, end: &str) -> Parsed<Vec<Own>> {
        let mut own = Vec::new();
        while !self.is(end) && self.token != Token::Newline {
            if !own.is_empty() {
                self.expect(",")?;
            }
            let shared = self.accept("*") || self.accept("&");
            let Token::Name(name) = self.token.clone() else {
                return self.mistake("syntax error");
            };
            self.advance();
            let is_array = self.accept("[");
            if is_array {
                self.expect("]")?;
            }
            let number = if is_array { self.names.array(&name) } else { self.names.variable(&name) };
            own.push(Own { name: number, is_array, shared });
        }
        Ok(own)
    }

    fn statements(&mut self) -> Parsed<()> {
        loop {
            while self.token == Token::Newline || self.is(";") {
                self.advance();
            }
            if self.is("}") || self.token == Token::End {
                return Ok(());
            }
            self.statement()?;
            if !self.is(";") && !self.is("}") && self.token != Token::Newline {
                return self.mistake("syntax error");
            }
        }
    }

    fn statement(&mut self) -> Parsed<()> {
        self.deeper()?;
        match self.token.clone() {
            Token::Text(text) => {
                self.advance();
                self.code.push(Op::Text(text));
            }
            Token::Sign("{") => {
                self.advance();
                self.statements()?;
                self.expect("}")?;
            }
            Token::Word(word) => self.reserved(word)?,
            _ => self.expression_statement()?,
        }
        self.depth -= 1;
        Ok(())
    }

    fn expression_statement(&mut self) -> Parsed<()> {
        let kind = self.expression(0)?;
        self.code.push(if kind.assignment || kind.void { Op::Pop } else { Op::Write(true) });
        Ok(())
    }

    fn reserved(&mut self, word: Word) -> Parsed<()> {
        match word {
            Word::Quit => return Err(Mistake::Quit),
            Word::Halt => {
                self.advance();
                self.code.push(Op::Halt);
            }
            Word::Limits | Word::Warranty => {
                self.advance();
                self.code.push(Op::Text(if word == Word::Limits { LIMITS } else { WARRANTY }.as_bytes().to_vec()));
            }
            Word::Break | Word::Continue => {
                let jump = self.code.push(Op::Jump(0));
                match (self.loops.last_mut(), word) {
                    (Some(innermost), Word::Break) => innermost.breaks.push(jump),
                    (Some(innermost), _) => innermost.continues.push(jump),
                    (None, Word::Break) => return self.mistake("Break outside a for/while"),
                    (None, _) => return self.mistake("Continue outside a for"),
                }
                self.advance();
            }
            Word::Return => self.give_back()?,
            Word::If => self.conditional()?,
            Word::While => self.while_loop()?,
            Word::For => self.for_loop()?,
            Word::Print => self.print()?,
            _ => self.expression_statement()?,
        }
        Ok(())
    }

    fn give_back(&mut self) -> Parsed<()> {
        self.advance();
        let empty = matches!(self.token, Token::Newline | Token::End) || self.is(";") || self.is("}");
        if empty {
            self.code.push(Op::Zero);
        } else {
            self.expression(0)?;
        }
        match self.in_function {
            None => return self.mistake("Return outside of a function."),
            Some(true) if !empty => return self.mistake("Return expression in a void function."),
            _ => {}
        }
        self.code.push(Op::Return);
        Ok(())
    }

    fn value(&mut self) -> Parsed<()> {
        if self.expression(0)?.void { self.mistake("void expression") } else { Ok(()) }
    }

    /// A line end may stand before the statement that a condition is for.
    fn body(&mut self) -> Parsed<()> {
        while self.token == Token::Newline {
            self.advance();
        }
        if self.is(";") {
            return Ok(());
        }
        self.statement()
    }

    fn conditional(&mut self) -> Parsed<()> {
        self.advance();
        self.expect("(")?;
        self.value()?;
        self.expect(")")?;
        let otherwise = self.code.push(Op::JumpUnless(0));
        self.body()?;
        if self.token == Token::Word(Word::Else) {
            self.advance();
            let end = self.code.push(Op::Jump(0));
            self.code.aim(otherwise, self.code.ops.len());
            self.body()?;
            self.code.aim(end, self.code.ops.len());
        } else {
            self.code.aim(otherwise, self.code.ops.len());
        }
        Ok(())
    }

    fn while_loop(&mut self) -> Parsed<()> {
        self.advance();
        let top = self.code.ops.len();
        self.expect("(")?;
        self.value()?;
        self.expect(")")?;
        let end = self.code.push(Op::JumpUnless(0));
        self.loops.push(Loop::default());
        self.body()?;
        self.code.push(Op::Jump(top));
        self.end_loop(top, end);
        Ok(())
    }

    fn end_loop(&mut self, again: usize, end: usize) {
        let after = self.code.ops.len();
        self.code.aim(end, after);
        let Loop { breaks, continues } = self.loops.pop().unwrap_or_default();
        breaks.into_iter().for_each(|jump| self.code.aim(jump, after));
        continues.into_iter().for_each(|jump| self.code.aim(jump, again));
    }

    fn for_loop(&mut self) -> Parsed<()> {
        self.advance();
        self.expect("(")?;
        if !self.is(";") {
            self.value()?;
            self.code.push(Op::Pop);
        }
        self.expect(";")?;
        let top = self.code.ops.len();
        if self.is(";") {
            self.code.push(Op::One);
        } else {
            self.value()?;
        }
        self.expect(";")?;
        let body = self.code.push(Op::JumpIf(0));
        let end = self.code.push(Op::Jump(0));
        let step = self.code.ops.len();
        if !self.is(")") {
            self.value()?;
            self.code.push(Op::Pop);
        }
        self.expect(")")?;
        self.code.push(Op::Jump(top));
        self.code.aim(body, self.code.ops.len());
        self.loops.push(Loop::default());
        self.body()?;
        self.code.push(Op::Jump(step));
        self.end_loop(step, end);
        Ok(())
    }

    fn print(&mut self) -> Parsed<()> {
        self.advance();
        loop {
            if let Token::Text(text) = self.token.clone() {
                self.advance();
                self.code.push(Op::PrintText(text));
            } else {
                if self.expression(0)?.void {
                    return self.mistake("void expression in print");
                }
                self.code.push(Op::Write(false));
            }
            if !self.accept(",") {
                return Ok(());
            }
        }
    }

    // Expressions, by the strength of their operators.

    fn expression(&mut self, least: u8) -> Parsed<Kind> {
        self.deeper()?;
        let kind = self.operand()?;
        let kind = self.operators(kind, least)?;
        self.depth -= 1;
        Ok(kind)
    }

    /// The operators behind a first operand that bind at least so strongly.
    fn operators(&mut self, kind: Kind, least: u8) -> Parsed<Kind> {
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

    fn operator(&mut self, sign: &'static str, strength: u8, left: Kind) -> Parsed<()> {
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

    fn operand(&mut self) -> Parsed<Kind> {
        match self.token.clone() {
            Token::Sign("-") => {
                self.advance();
                // It binds stronger than every operator of two.
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
                match self.target()? {
                    Target::Variable(at) => {
                        self.code.push(Op::Step(at, sign == "++"));
                        self.code.push(Op::Load(at));
                    }
                    Target::Element(at) => {
                        self.code.push(Op::Duplicate);
                        self.code.push(Op::StepElement(at, sign == "++"));
                        self.code.push(Op::LoadElement(at));
                    }
                }
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
                if self.accept("(") {
                    self.value()?;
                    self.expect(")")?;
                    self.code.push(Op::ScaleOf);
                    return Ok(Kind::default());
                }
                return self.named(Target::Variable(SCALE));
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

    fn function_of(&mut self, op: Op) -> Parsed<()> {
        self.advance();
        self.expect("(")?;
        self.value()?;
        self.expect(")")?;
        self.code.push(op);
        Ok(())
    }

    /// Something to assign to; its subscript is emitted.
    fn target(&mut self) -> Parsed<Target> {
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

    fn name(&mut self, name: &str) -> Parsed<Target> {
        if !self.accept("[") {
            return Ok(Target::Variable(self.names.variable(name)));
        }
        let array = self.names.array(name);
        self.value()?;
        self.expect("]")?;
        Ok(Target::Element(array))
    }

    /// A variable or element, with what may be done to it.
    fn named(&mut self, target: Target) -> Parsed<Kind> {
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

    fn call(&mut self, name: &str) -> Parsed<Kind> {
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

    /// One argument. Whether it is an array.
    fn argument(&mut self) -> Parsed<bool> {
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

    /// What follows the first operand of an argument.
    fn rest_of_argument(&mut self, kind: Kind) -> Parsed<bool> {
        let kind = self.operators(kind, 0)?;
        if kind.void { self.mistake("void argument") } else { Ok(false) }
    }
}

fn strength_of(sign: &str) -> Option<u8> {
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

const OR: u8 = 1;
const AND: u8 = 2;
const RELATION: u8 = 4;
const ADD: u8 = 6;
const MULTIPLY: u8 = 7;
const POWER: u8 = 8;
const SIGN: u8 = 9;

const LIMITS: &str = "BC_BASE_MAX     = 2147483647\nBC_DIM_MAX      = 16777215\nBC_SCALE_MAX    = 2147483647\n\
                      BC_STRING_MAX   = 2147483647\nMAX Exponent    = 9223372036854775807\nNumber of vars  = 32767\n";
const WARRANTY: &str = "\nThis bc is part of Tidebox and comes without any warranty.\n";
