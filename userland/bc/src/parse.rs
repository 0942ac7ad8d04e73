//! Compiler from tokens to code, one line or function at a time.

mod expression;
mod statement;
use std::collections::HashMap;

use crate::code::{Code, Function, LAST, Op, Own};
use crate::token::{Lexer, Token, Word};

/// Maximum nesting of parentheses and statements.
const MAX_NESTING: u32 = 500;

/// Properties of an expression that its statement needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kind {
    assignment: bool,
    void: bool,
}

/// An assignment target.
#[derive(Clone, Copy, Debug)]
enum Target {
    Variable(usize),
    /// The subscript is on the stack.
    Element(usize),
}

/// A parsed unit.
#[derive(Debug)]
pub(crate) enum Item {
    /// A line to run.
    Line(Code),
    /// `quit`.
    Quit,
    End,
}

/// A syntax error; the line is discarded.
#[derive(Debug)]
pub(crate) enum Mistake {
    At(u32, String),
    Quit,
}

type Parsed<T> = Result<T, Mistake>;

/// Targets of jumps out of a loop.
#[derive(Debug, Default)]
struct Loop {
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

/// Names and their functions.
#[derive(Debug, Default)]
pub(crate) struct Names {
    variables: HashMap<String, usize>,
    arrays: HashMap<String, usize>,
    functions: HashMap<String, usize>,
}

impl Names {
    /// Number of variables and arrays until now.
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

/// Parser of one source.
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
        if self.depth > MAX_NESTING { self.mistake("parser stack overflow") } else { Ok(()) }
    }

    /// The next line. A function definition is stored among the functions.
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

    /// The brace that ends a function. The next token is not read yet, because it belongs to a separate line.
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

    // Expressions, by operator precedence.
}
