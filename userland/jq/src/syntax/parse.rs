//! The grammar's outer part: modules, definitions, operators.

mod operator;
use jaq_core::load::parse::BinaryOp;

use super::constants::constant;
use super::lex::{Kind, Token, tokens};
use super::lower::bind;
use super::names::Scope;
use super::{Def, Pattern, Term, keep};
use crate::value::Val;

/// Parentheses, operators and the like that may stand within one another, as each takes some of the stack.
const MOST_NESTING: usize = 300;

/// Operators that may follow one another. What they make is as deep as it is long, because each has all before it on its left.
const LONGEST_CHAIN: usize = 3000;

/// `import` or `include`.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) path: String,
    /// The name that it gets here; none for `include`, with a dollar for data.
    pub(crate) name: Option<String>,
    pub(crate) meta: Option<Term>,
}

/// What a program or module consists of.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) meta: Option<Term>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) definitions: Vec<Def>,
    /// What a program does; a module has no such term.
    pub(crate) main: Option<Term>,
}

/// Something wrong with a program, and where.
#[derive(Clone, Debug)]
pub(crate) struct Wrong {
    pub(crate) message: String,
    pub(crate) at: usize,
}

/// Grammar errors end the reading; the parser keeps what is wrong.
pub(super) type Outcome<T> = Result<T, Broken>;

/// What is wrong has been noted.
#[derive(Debug)]
pub(super) struct Broken;

/// What decides which further message an error gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// Brackets, behind which reading would go on.
    Brackets,
    /// An `if` that has got as far as `then`, and where it begins.
    Then(usize),
}

/// Reads a program.
pub(crate) struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    pub(super) fresh: usize,
    pub(super) within: Vec<Within>,
    nesting: usize,
    /// The longest chain of operators in the term that is being read, which no less than this is deep.
    chain: usize,
    pub(crate) scope: &'a mut Scope,
    /// What is wrong with the program.
    pub(crate) wrongs: Vec<Wrong>,
    /// Filters that the program calls and does not define.
    pub(crate) calls: Vec<(&'static str, usize, usize)>,
    /// The definitions that are being read, and whether they were called from inside.
    pub(super) defining: Vec<(&'static str, usize, bool)>,
    pub(super) program: &'static str,
    /// What stands before the names of a module's definitions.
    prefix: String,
    /// The file that the program is in, as `$__loc__` tells it.
    pub(super) file: &'static str,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(program: &'static str, prefix: &str, file: &'static str, scope: &'a mut Scope) -> Self {
        Self {
            tokens: tokens(program),
            at: 0,
            fresh: 0,
            within: Vec::new(),
            nesting: 0,
            chain: 0,
            scope,
            wrongs: Vec::new(),
            calls: Vec::new(),
            defining: Vec::new(),
            program,
            prefix: prefix.to_owned(),
            file,
        }
    }

    /// Reads what stands before the definitions: the module's own line, and what it imports.
    pub(crate) fn head(&mut self) -> Parsed {
        let mut parsed = Parsed::default();
        // What is wrong has been noted.
        let _ = self.read_head(&mut parsed);
        parsed
    }

    /// Reads the rest of a program.
    pub(crate) fn program(&mut self, parsed: &mut Parsed) {
        let _ = self.read_program(parsed);
    }

    /// Reads the rest of a module, or of a text that is only definitions.
    pub(crate) fn module(&mut self, parsed: &mut Parsed) {
        let _ = self.read_module(parsed);
    }

    fn read_head(&mut self, parsed: &mut Parsed) -> Outcome<()> {
        let start = self.peek().at;
        if self.eat("module") {
            let meta = self.pipe()?;
            self.expect(";", &[])?;
            self.check_meta(&meta, start)?;
            parsed.meta = Some(meta);
        }
        while self.peek().is("import") || self.peek().is("include") {
            let start = self.next();
            let path = self.constant_text()?;
            let name = if start.text == "import" {
                self.expect("as", &["as"])?;
                let dollar = if self.eat("$") { "$" } else { "" };
                Some(format!("{dollar}{}", self.name(&["IDENT"])?))
            } else {
                None
            };
            let meta = if self.peek().is(";") { None } else { Some(self.pipe()?) };
            self.expect(";", &[])?;
            if let Some(meta) = &meta {
                self.check_meta(meta, start.at)?;
            }
            parsed.dependencies.push(Dependency { path, name, meta });
        }
        Ok(())
    }

    fn check_meta(&mut self, meta: &Term, at: usize) -> Outcome<()> {
        match constant(meta) {
            None => Err(self.wrong("Module metadata must be constant", at)),
            Some(Val::Object(_)) => Ok(()),
            Some(_) => Err(self.wrong("Module metadata must be an object", at)),
        }
    }

    fn constant_text(&mut self) -> Outcome<String> {
        let at = self.peek().at;
        if self.peek().kind != Kind::QuoteStart {
            return Err(self.unexpected(&["FORMAT", "QQSTRING_START"]));
        }
        match self.string(None)? {
            Term::Str(None, parts) => {
                let text = super::terms::plain_text(&parts);
                text.ok_or_else(|| self.wrong("Import path must be constant", at))
            }
            _ => Err(self.wrong("Import path must be constant", at)),
        }
    }

    fn read_program(&mut self, parsed: &mut Parsed) -> Outcome<()> {
        let main = if self.peek().kind == Kind::End && !self.tokens.is_empty() {
            Term::Id
        } else {
            self.definitions_and_term()?
        };
        parsed.main = Some(main);
        match self.peek().kind {
            Kind::End => Ok(()),
            _ => Err(self.unexpected(&["$end"])),
        }
    }

    /// Definitions, and the term after them; where none follows the program is `.`.
    fn definitions_and_term(&mut self) -> Outcome<Term> {
        if !self.peek().is("def") {
            return match self.peek().kind {
                Kind::Invalid => Err(self.unexpected(&["$end"])),
                _ => self.pipe(),
            };
        }
        let def = self.def("")?;
        let rest = if self.peek().kind == Kind::End { Term::Id } else { self.definitions_and_term()? };
        Ok(Term::Def(vec![def], Box::new(rest)))
    }

    fn read_module(&mut self, parsed: &mut Parsed) -> Outcome<()> {
        while self.peek().is("def") {
            let prefix = self.prefix.clone();
            parsed.definitions.push(self.def(&prefix)?);
        }
        match self.peek().kind {
            Kind::End => Ok(()),
            _ => Err(self.unexpected(&["$end"])),
        }
    }

    // --- tokens ---

    pub(super) fn peek(&self) -> Token {
        self.look(0)
    }

    /// The token that comes after `count` others.
    pub(super) fn look(&self, count: usize) -> Token {
        let end = Token { kind: Kind::End, text: "", at: 0 };
        self.tokens.get(self.at + count).or(self.tokens.last()).copied().unwrap_or(end)
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.peek().is(text);
        if found {
            self.at += 1;
        }
        found
    }

    pub(super) fn expect(&mut self, text: &str, expected: &[&str]) -> Outcome<()> {
        if self.eat(text) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    pub(super) fn name(&mut self, expected: &[&str]) -> Outcome<&'static str> {
        if self.peek().is_name() { Ok(self.next().text) } else { Err(self.unexpected(expected)) }
    }

    /// Notes that the next token fits nowhere.
    pub(super) fn unexpected(&mut self, expected: &[&str]) -> Broken {
        let token = self.peek();
        let mut message = format!("syntax error, unexpected {}", token.shown());
        // What cannot begin a program is told to have come after an empty one.
        let expected = if expected.is_empty() && self.at == 0 { &["$end"] } else { expected };
        for (count, name) in expected.iter().enumerate() {
            message.push_str(if count == 0 { ", expecting " } else { " or " });
            message.push_str(name);
        }
        message.push_str(" (Unix shell quoting issues?)");
        self.wrongs.push(Wrong { message, at: token.at });
        if let Some(Within::Then(at)) = self.within.last() {
            let message = "Possibly unterminated 'if' statement".to_owned();
            self.wrongs.push(Wrong { message, at: *at });
        }
        Broken
    }

    pub(super) fn wrong(&mut self, message: impl Into<String>, at: usize) -> Broken {
        self.wrongs.push(Wrong { message: message.into(), at });
        Broken
    }

    /// Goes one level deeper, which has an end.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if self.nesting >= MOST_NESTING {
            let at = self.peek().at;
            return Err(self.wrong(format!("program nests deeper than {MOST_NESTING} levels"), at));
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// Notes that a term has become the left side of another one.
    pub(super) fn chained(&mut self) -> Outcome<()> {
        self.chain += 1;
        if self.chain > LONGEST_CHAIN {
            let at = self.peek().at;
            return Err(self.wrong(format!("more than {LONGEST_CHAIN} operators in a row"), at));
        }
        Ok(())
    }

    /// Reads a term that stands beside others, so that its chain does not go on from theirs.
    fn beside(&mut self, read: impl FnOnce(&mut Self) -> Outcome<Term>) -> Outcome<Term> {
        let before = std::mem::take(&mut self.chain);
        let result = read(self);
        self.chain = self.chain.max(before);
        result
    }

    // --- definitions ---

    /// `def name(parameters): body;`, after which the name is known. `prefix` goes before the name for jaq.
    pub(super) fn def(&mut self, prefix: &str) -> Outcome<Def> {
        self.expect("def", &[])?;
        let name = self.def_name()?;
        let mut args = Vec::new();
        if self.eat("(") {
            loop {
                let dollar = self.eat("$");
                let parameter = self.name(if dollar { &["IDENT"] } else { &["IDENT", "'$'"] })?;
                args.push(if dollar { keep(format!("${parameter}")) } else { parameter });
                if !self.eat(";") {
                    break;
                }
            }
            self.expect(")", &["';'", "')'"])?;
            self.expect(":", &["':'"])?;
        } else {
            self.expect(":", &["'('", "':'"])?;
        }
        let arity = args.len();
        let called = if prefix.is_empty() { name } else { keep(format!("{prefix}{name}")) };
        let mark = self.scope.mark();
        // Parameters hide the definition itself, and `$name` is a filter, too.
        self.scope.add_filter(name, arity, called);
        for parameter in &args {
            match parameter.strip_prefix('$') {
                Some(bare) => {
                    self.scope.add_variable(parameter);
                    self.scope.add_filter(bare, 0, parameter);
                }
                None => self.scope.add_filter(parameter, 0, parameter),
            }
        }
        self.defining.push((called, arity, false));
        let body = self.pipe();
        let calls_itself = self.defining.pop().is_some_and(|(_, _, called)| called);
        self.scope.leave(mark);
        let body = body?;
        self.expect(";", &[])?;
        self.scope.add_filter(name, arity, called);
        Ok(self.definition(Def { name: called, args, body }, calls_itself))
    }

    fn def_name(&mut self) -> Outcome<&'static str> {
        if self.scope.trusting && self.peek().kind == Kind::Format {
            return Ok(self.next().text);
        }
        self.name(&["IDENT"])
    }

    // --- operators, the weakest first ---

    fn label(&mut self) -> Outcome<Term> {
        self.next();
        self.expect("$", &["'$'"])?;
        let name = keep(format!("*label-{}", self.name(&["IDENT"])?));
        self.expect("|", &["'|'"])?;
        let mark = self.scope.mark();
        self.scope.add_variable(name);
        let body = self.pipe();
        self.scope.leave(mark);
        Ok(Term::Label(name, Box::new(body?)))
    }

    /// `as pattern ?// pattern | body`
    fn binding(&mut self, value: Term) -> Outcome<Term> {
        let patterns = self.patterns()?;
        self.expect("|", &["'|'"])?;
        let mark = self.scope.mark();
        self.add_pattern_variables(&patterns);
        let start = self.at;
        let body = self.pipe();
        let end = self.at;
        self.at = start;
        let mut bodies = vec![body?];
        // Each alternative has a body of its own, which is read anew.
        for _ in 1..patterns.len() {
            self.at = start;
            bodies.push(self.pipe()?);
        }
        self.at = end;
        self.scope.leave(mark);
        Ok(self.destructure(value, patterns, bodies))
    }

    /// One pattern is jaq's own binding. Of several the first is taken with which the body does not fail.
    fn destructure(&mut self, value: Term, patterns: Vec<Pattern>, bodies: Vec<Term>) -> Term {
        let mut all = Vec::new();
        for pattern in &patterns {
            super::patterns::variables(pattern, &mut all);
        }
        all.sort_unstable();
        all.dedup();
        let count = patterns.len();
        let mut arms: Vec<(Pattern, Term)> = patterns.into_iter().zip(bodies).collect();
        if count == 1 {
            return match arms.pop() {
                Some((pattern, body)) => bind(value, pattern, body),
                None => value,
            };
        }
        let (input, held) = (self.fresh(), self.fresh());
        let mut result = None;
        while let Some((pattern, body)) = arms.pop() {
            let bound = bind(Term::Var(held), pattern, body);
            let nulls = all
                .iter()
                .fold(bound, |body, name| bind(super::lower::call("null", Vec::new()), Pattern::Var(name), body));
            let arm = bind_input(input, nulls);
            result = Some(match result {
                None => arm,
                Some(next) => Term::TryCatch(Box::new(arm), Some(Box::new(next))),
            });
        }
        let body = bind(value, Pattern::Var(held), result.unwrap_or_default());
        bind(Term::Id, Pattern::Var(input), body)
    }
}

fn bind_input(input: &'static str, term: Term) -> Term {
    Term::BinOp(Box::new(Term::Var(input)), BinaryOp::Pipe(None), Box::new(term))
}
