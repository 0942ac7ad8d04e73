//! Definitions of functions.

use std::rc::Rc;

use super::{Parse, Parser};
use crate::function::Function;
use crate::ir::{Arg, Command, Compound, List, Name, Simple};

/// A function whose text is not complete before the bodies of its here-documents.
pub(super) struct LazyFunctionBody {
    function: Rc<Function>,
    text: Vec<u8>,
    /// Number of waiting bodies that belong to it.
    bodies: usize,
}

/// Start of a definition.
struct Start {
    mark: super::Mark,
    pos: usize,
    line: u32,
    /// Here-documents of commands before it on the same line.
    waiting: usize,
}

impl Parser<'_> {
    pub(super) fn function_or_simple(&mut self) -> Parse<Command> {
        let start = Start { mark: self.mark(), pos: self.pos, line: self.line, waiting: self.pending.len() };
        if self.at_keyword(b"function") {
            self.pos += 8;
            self.skip_blanks();
            let name: Name = self.bare_word().into();
            if name.is_empty() {
                return Err(self.unexpected());
            }
            self.pos += name.len();
            // Parentheses with something in them are the body.
            let before = self.mark();
            if self.accept(b"(") && !self.accept(b")") {
                self.back(before);
            }
            return self.function_body(name, &start);
        }
        let name_len = self.function_name().len();
        if name_len > 0 {
            let name: Name = self.slice(start.pos, start.pos + name_len).into();
            self.pos += name_len;
            if self.accept(b"(") {
                if !self.accept(b")") {
                    return Err(self.unexpected());
                }
                return self.function_body(name, &start);
            }
            self.back(start.mark);
        }
        let command = self.simple()?;
        match &command {
            Command::Simple(simple) if self.peek() == Some(b'(') && is_one_word(simple) => {
                self.named_by(simple, &start)
            }
            _ => Ok(command),
        }
    }

    /// A definition whose name is a word that has to be expanded, which the shell refuses when it runs.
    fn named_by(&mut self, simple: &Simple, start: &Start) -> Parse<Command> {
        let name: Name = match simple.args.first() {
            Some(Arg::Word(word)) => word.raw.clone().into(),
            _ => return Err(self.unexpected()),
        };
        if !self.accept(b"(") || !self.accept(b")") {
            return Err(self.unexpected());
        }
        self.function_body(name, start)
    }

    /// A possible function name: a word that is not an assignment and whose expansions and quotes contain no blanks and
    /// parentheses. A quoted or expanding name is rejected when the definition runs.
    fn function_name(&self) -> &[u8] {
        let word = self.bare_word();
        let other = word.iter().any(|b| matches!(b, b'\\' | b'`')) || word.ends_with(b"$");
        let name = super::token::name_len(word);
        let assigns = name > 0 && matches!(word.get(name..), Some([b'=' | b'[', ..] | [b'+', b'=', ..]));
        let open = |quote: u8| word.iter().filter(|&&b| b == quote).count() % 2 == 1;
        let pattern = self.extglob && word.last().is_some_and(|b| b"?*+@!".contains(b));
        let directly = pattern && self.peek_at(word.len()) == Some(b'(') && self.peek_at(word.len() + 1) != Some(b')');
        if other || assigns || open(b'\'') || open(b'"') || directly { b"" } else { word }
    }

    fn function_body(&mut self, name: Name, start: &Start) -> Parse<Command> {
        self.skip_to_command()?;
        let line = self.line;
        let Some(kind) = self.compound_kind()? else { return Err(self.unexpected()) };
        let redirects = self.compound_redirects()?;
        let body = Rc::new(Compound { line, kind, redirects });
        let function = Rc::new(Function::read(name, body, Rc::clone(&self.source), start.line, self.extglob));
        // A here-document of another command may have its body in the middle; then the text is printed when needed.
        if start.waiting == 0 {
            let text = self.slice(start.pos, self.pos);
            if self.pending.is_empty() {
                function.set_text(text.into());
            } else {
                let bodies = self.pending.len();
                self.unread.push(LazyFunctionBody { function: Rc::clone(&function), text: text.to_vec(), bodies });
            }
        }
        Ok(Command::Function(function))
    }

    /// Completes the texts of functions whose here-documents were just read: from `start` up to each of `ends`.
    pub(super) fn finish_functions(&mut self, start: usize, ends: &[usize]) {
        for LazyFunctionBody { function, mut text, bodies } in std::mem::take(&mut self.unread) {
            let end = ends.get(bodies.wrapping_sub(1)).copied().unwrap_or(start);
            text.push(b'\n');
            text.extend_from_slice(self.slice(start, end));
            function.set_text(text.into());
        }
    }
}

/// Returns whether a command is a single word, which parentheses would make a function definition.
fn is_one_word(simple: &Simple) -> bool {
    matches!(simple.args.as_slice(), [Arg::Word(_)]) && simple.assigns.is_empty() && simple.redirects.is_empty()
}

/// The body of the one function that `text` defines; `None` when it does anything else.
pub(crate) fn read_function(text: &[u8], line: u32, source: Rc<[u8]>, extglob: bool) -> Option<Rc<Compound>> {
    let mut parser = Parser::new(text, line, source);
    parser.set_extglob(extglob);
    only_body(parser)
}

/// The commands of a text; `None` if it has a syntax error.
pub(crate) fn read_list(text: &[u8], extglob: bool) -> Option<List> {
    let mut parser = Parser::new(text, 1, Rc::from(&b""[..]));
    parser.set_extglob(extglob);
    let mut commands = List::default();
    while let Some(list) = parser.next_list().ok()? {
        commands.items.extend(list.items);
    }
    Some(commands)
}

fn only_body(mut parser: Parser<'_>) -> Option<Rc<Compound>> {
    let list = parser.next_list().ok().flatten()?;
    if parser.next_list().ok()?.is_some() {
        return None;
    }
    let [item] = list.items.as_slice() else { return None };
    let chain = &item.chain;
    let alone = !item.background && chain.rest.is_empty() && !chain.first.bang && chain.first.timed.is_none();
    match chain.first.stages.as_slice() {
        [Command::Function(function)] if alone => function.body().map(Rc::clone),
        _ => None,
    }
}
