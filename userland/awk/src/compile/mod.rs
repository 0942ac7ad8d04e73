//! One-pass compiler: code is emitted while the source is parsed, so the stack use depends only on the deepest nesting.

mod call;
mod expression;
mod place;
mod print;
mod repeat;
mod rule;
mod special;
mod statement;
mod switch;
mod target;

use std::collections::HashMap;
use std::rc::Rc;

pub(crate) use special::{SPECIAL, WATCHED, slot};

use crate::code::{Function, Op, Origin, Program, Var};
use crate::lexer::{Lexer, Mistake};
use crate::pattern::Pattern;
use crate::token::{Sign, Token};
use crate::value::Value;

/// Maximum nesting. GNU awk fails at about 10,000 levels; this many fit into the stack of a guest.
const MAX_NESTING: u32 = 1_500;

/// Compile error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A syntax error at a position, which is shown.
    Syntax { source: Vec<u8>, line: u32, text: Vec<u8>, column: usize, what: String },
    /// A semantic error.
    Meaning { source: Vec<u8>, line: u32, what: String },
    /// Like [`Self::Meaning`], but found both during parsing and at the end.
    Twice { source: Vec<u8>, line: u32, what: String },
    /// A fatal error, reported like a runtime error.
    Fatal { source: Vec<u8>, line: u32, what: String },
    /// Like [`Self::Meaning`], but printed without `error`.
    Unlabelled { source: Vec<u8>, line: u32, what: String },
}

type Compiled<T> = Result<T, Failure>;

/// Context of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    Begin,
    End,
    BeginFile,
    EndFile,
    Rule,
    Function,
}

/// Jumps out of a loop or `switch` to be patched.
#[derive(Debug, Default)]
struct Escape {
    is_loop: bool,
    /// The interpreter drops values and iterators when `return`, `next` and similar statements leave a loop.
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

/// The compiler: parses sources and collects a program.
#[derive(Debug)]
pub(crate) struct Compiler {
    lexer: Lexer,
    token: Token,
    source: u32,
    program: Program,
    globals: HashMap<Vec<u8>, u32>,
    functions: HashMap<Vec<u8>, u32>,
    numbers: HashMap<u64, u32>,
    texts: HashMap<Vec<u8>, u32>,
    locals: Vec<Vec<u8>>,
    around: Around,
    escapes: Vec<Escape>,
    /// Instructions before this position may be jump targets and are not replaced.
    barrier: usize,
    depth: u32,
    /// Statements within statements.
    blocks: u32,
    /// True if a semicolon may follow because a rule precedes.
    after_rule: bool,
    /// True while a `print` list without parentheses is parsed, where `>` redirects.
    no_greater: bool,
    /// Regular expression escapes already warned about.
    reported_escapes: Vec<u8>,
    /// Start and end of the last concatenation.
    last_concat: (usize, usize),
    /// Calls of functions that are not defined yet.
    calls: Vec<(u32, Origin, u32)>,
    /// The rules, in their order.
    rules: Vec<(Vec<Op>, Vec<Origin>)>,
    /// Reader of `@include` files.
    reader: fn(&[u8]) -> Result<Vec<u8>, String>,
    included: Vec<Vec<u8>>,
    /// Prints a warning: source, line, text.
    warn: fn(&[u8], u32, &str),
}

/// A source text with its name.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) name: Vec<u8>,
    pub(crate) text: Vec<u8>,
}

/// Compiles the sources as one program.
pub(crate) fn compile(
    sources: &[Source],
    reader: fn(&[u8]) -> Result<Vec<u8>, String>,
    warn: fn(&[u8], u32, &str),
) -> Compiled<Program> {
    let mut compiler = Compiler {
        lexer: Lexer::new(b""),
        token: Token::End,
        source: 0,
        program: Program::default(),
        globals: HashMap::new(),
        functions: HashMap::new(),
        numbers: HashMap::new(),
        texts: HashMap::new(),
        locals: Vec::new(),
        around: Around::Rule,
        escapes: Vec::new(),
        barrier: 0,
        depth: 0,
        blocks: 0,
        after_rule: false,
        no_greater: false,
        reported_escapes: Vec::new(),
        last_concat: (usize::MAX, 0),
        calls: Vec::new(),
        rules: Vec::new(),
        reader,
        included: Vec::new(),
        warn,
    };
    for name in SPECIAL {
        compiler.global(name.as_bytes());
    }
    for source in sources {
        compiler.source(source)?;
    }
    compiler.finish()
}

impl Compiler {
    fn source(&mut self, source: &Source) -> Compiled<()> {
        let number = self.program.sources.len() as u32;
        self.program.sources.push(source.name.clone());
        self.included.push(source.name.clone());
        // The including file continues after the included one.
        let outer = (
            std::mem::replace(&mut self.source, number),
            std::mem::replace(&mut self.lexer, Lexer::new(&source.text)),
            std::mem::replace(&mut self.token, Token::End),
        );
        self.after_rule = false;
        self.rules()?;
        (self.source, self.lexer, self.token) = outer;
        Ok(())
    }

    fn finish(mut self) -> Compiled<Program> {
        for (function, origin, arguments) in &self.calls {
            let function = &self.program.functions[*function as usize];
            if function.entry.is_none() {
                let name = String::from_utf8_lossy(&function.name);
                let source = self.program.sources.get(origin.source as usize).cloned().unwrap_or_default();
                if self.globals.contains_key(&function.name) {
                    let what = format!("attempt to use non-function `{name}' in function call");
                    return Err(Failure::Meaning { source, line: origin.line, what });
                }
                let what = format!("function `{name}' not defined");
                return Err(Failure::Fatal { source, line: origin.line, what });
            }
            if *arguments as usize > function.parameters.len() {
                let source = self.program.sources.get(origin.source as usize).map_or(&b""[..], Vec::as_slice);
                let name = String::from_utf8_lossy(&function.name);
                let what = format!("function `{name}' called with more arguments than declared");
                (self.warn)(source, origin.line, &what);
            }
        }
        if !self.rules.is_empty() {
            self.program.rules = Some(self.program.ops.len());
            for (ops, origins) in std::mem::take(&mut self.rules) {
                self.program.ops.extend(ops);
                self.program.origins.extend(origins);
            }
            self.emit(Op::End);
        }
        Ok(self.program)
    }

    // Tokens.

    fn advance(&mut self) -> Compiled<Token> {
        let next = self.lexer.next().map_err(|mistake| self.mistake(mistake));
        self.print_warnings();
        Ok(std::mem::replace(&mut self.token, next?))
    }

    fn print_warnings(&mut self) {
        let name = self.program.sources.get(self.source as usize).cloned().unwrap_or_default();
        for (line, warning) in std::mem::take(&mut self.lexer.warnings) {
            (self.warn)(&name, line, &warning);
        }
    }

    fn warning(&self, what: &str) {
        let name = self.program.sources.get(self.source as usize).map_or(&b""[..], Vec::as_slice);
        (self.warn)(name, self.lexer.start().1, what);
    }

    fn is(&self, sign: Sign) -> bool {
        self.token == Token::Sign(sign)
    }

    /// Consumes an operator if it is the next token.
    fn accept(&mut self, sign: Sign) -> Compiled<bool> {
        let here = self.is(sign);
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    fn expect(&mut self, sign: Sign) -> Compiled<()> {
        if self.accept(sign)? { Ok(()) } else { Err(self.unexpected()) }
    }

    fn skip_newlines(&mut self) -> Compiled<()> {
        while self.token == Token::Newline {
            self.advance()?;
        }
        Ok(())
    }

    // Errors.

    fn source_name(&self) -> Vec<u8> {
        self.program.sources.get(self.source as usize).cloned().unwrap_or_default()
    }

    fn mistake(&self, mistake: Mistake) -> Failure {
        let (text, column) = self.lexer.line_around(mistake.at);
        let (source, line) = (self.source_name(), mistake.line);
        Failure::Syntax { source, line, text, column, what: mistake.what }
    }

    /// Reports an unexpected token.
    fn unexpected(&self) -> Failure {
        let (at, line) = self.lexer.start();
        let (line, what) = match self.token {
            Token::Newline => (line + 1, "unexpected newline or end of string"),
            Token::End => (line + u32::from(self.depth_of_parentheses()), "unexpected newline or end of string"),
            _ => (line, "syntax error"),
        };
        self.mistake(Mistake { at, line, what: what.to_owned() })
    }

    /// Returns whether the text ends at a position that does not allow a newline either.
    fn depth_of_parentheses(&self) -> bool {
        self.depth > 0
    }

    fn here(&self, what: impl Into<String>) -> Failure {
        let (at, line) = self.lexer.start();
        self.mistake(Mistake { at, line, what: what.into() })
    }

    fn meaning(&self, what: impl Into<String>) -> Failure {
        Failure::Meaning { source: self.source_name(), line: self.lexer.start().1, what: what.into() }
    }

    fn fatal(&self, what: impl Into<String>) -> Failure {
        Failure::Fatal { source: self.source_name(), line: self.lexer.start().1, what: what.into() }
    }

    /// Increases the nesting depth. The caller must undo it with `self.depth -= 1`.
    fn deeper(&mut self) -> Compiled<()> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(self.here("memory exhausted"));
        }
        Ok(())
    }

    // Code.

    fn number(&mut self, value: f64) -> usize {
        let constants = &mut self.program.constants;
        let at = *self.numbers.entry(value.to_bits()).or_insert_with(|| {
            constants.push(Value::Number(value));
            (constants.len() - 1) as u32
        });
        self.emit(Op::Const(at))
    }

    fn text(&mut self, text: &[u8]) -> usize {
        let constants = &mut self.program.constants;
        let at = *self.texts.entry(text.to_vec()).or_insert_with(|| {
            constants.push(Value::text(text));
            (constants.len() - 1) as u32
        });
        self.emit(Op::Const(at))
    }

    fn pattern(&mut self, source: Vec<u8>) -> Compiled<u32> {
        if let Err(error) = Pattern::check(&source) {
            return Err(self.meaning(format!("{error}: /{}/", String::from_utf8_lossy(&source))));
        }
        for escape in Pattern::unknown_escapes(&source) {
            let letter = char::from(escape);
            if self.reported_escapes.contains(&escape) {
                continue;
            }
            self.reported_escapes.push(escape);
            self.warning(&match letter {
                '8' | '9' => format!("regexp escape sequence `\\{letter}' treated as plain `{letter}'"),
                _ => format!("regexp escape sequence `\\{letter}' is not a known regexp operator"),
            });
        }
        self.program.patterns.push(Rc::new(Pattern::new(source, false)));
        Ok((self.program.patterns.len() - 1) as u32)
    }

    // Names.

    fn global(&mut self, name: &[u8]) -> u32 {
        if let Some(slot) = self.globals.get(name) {
            return *slot;
        }
        let slot = self.program.globals.len() as u32;
        self.program.globals.push(name.to_vec());
        self.globals.insert(name.to_vec(), slot);
        slot
    }

    fn variable(&mut self, name: &[u8]) -> Compiled<Var> {
        if let Some(at) = self.locals.iter().position(|local| local == name) {
            return Ok(Var::Local(at as u32));
        }
        if matches!(name, b"SYMTAB" | b"FUNCTAB") {
            return Err(self.fatal(format!("{} is not supported", String::from_utf8_lossy(name))));
        }
        if self.functions.get(name).is_some_and(|at| self.program.functions[*at as usize].entry.is_some()) {
            let name = String::from_utf8_lossy(name);
            return Err(self.meaning(format!(
                "function `{name}' called with space between name and `(',\nor used as a variable or an array"
            )));
        }
        let slot = self.global(name);
        Ok(if slot < WATCHED { Var::Special(slot) } else { Var::Global(slot) })
    }

    fn function(&mut self, name: &[u8]) -> u32 {
        if let Some(at) = self.functions.get(name) {
            return *at;
        }
        let at = self.program.functions.len() as u32;
        self.program.functions.push(Function { name: name.to_vec(), ..Function::default() });
        self.functions.insert(name.to_vec(), at);
        at
    }
}
