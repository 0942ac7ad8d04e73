//! Simple commands.

mod assignment;
mod purity;
mod redirect;

use std::rc::Rc;

use super::attempts::Attempt;
use super::token::is_meta;
use super::{Parse, Parser};
use crate::builtins;
use crate::ir::{Arg, Assign, AssignValue, Command, Redirect, Simple, Word};
use purity::is_pure_assign;

pub(crate) use assignment::read_assignment;
pub(crate) use purity::{has_pure_body, is_pure, is_pure_redirect};

/// Builtins whose arguments may be assignments.
const DECLARATIONS: &[&[u8]] = &[b"declare", b"typeset", b"local", b"export", b"readonly"];

/// A simple command that is being read.
#[derive(Default)]
struct Reading {
    line: u32,
    assigns: Vec<Assign>,
    args: Vec<Arg>,
    redirects: Vec<Redirect>,
    /// The arguments to come may be assignments.
    declaration: bool,
    /// The words read are `command`, after which a declaration may follow.
    commands: bool,
    /// The builtin takes `name=(..)` as a word.
    reads_lists: bool,
    /// An assignment was read last.
    assigned: bool,
    /// Nothing was read but the first word.
    alone: bool,
}

impl Parser<'_> {
    /// A simple command.
    pub(super) fn simple(&mut self) -> Parse<Command> {
        let mut read = Reading { line: self.line, ..Reading::default() };
        loop {
            self.skip_blanks();
            if read.may_take_alias() {
                self.expand_alias();
            }
            read.assigned = false;
            let substitution = self.starts_with(b"<(") || self.starts_with(b">(");
            if read.alone && !substitution && self.peek().is_none_or(is_meta) {
                let cut = self.peek().is_none() && self.src.ends_with(b"\\");
                read.line = self.line.saturating_add(u32::from(cut));
                read.alone = false;
            }
            if let Some(redirect) = self.redirect()? {
                if read.is_empty() {
                    read.line = self.line;
                }
                read.redirects.push(redirect);
                continue;
            }
            let start = self.mark();
            if self.has_failed(start.pos, Attempt::BracelessAssignment) {
                read.args.extend(self.word()?.map(Arg::Word));
                continue;
            }
            if (read.args.is_empty() || read.declaration)
                && let Some(assign) = self.assignment()?
            {
                if let (false, AssignValue::Word(value)) = (read.args.is_empty(), &assign.value)
                    && super::word::may_brace(&value.parts)
                {
                    // Braces make several arguments of it, before it is an assignment.
                    self.record_failure(start.pos, Attempt::BracelessAssignment);
                    self.back(start);
                    read.args.extend(self.word()?.map(Arg::Word));
                    continue;
                }
                read.take_assign(assign, self.line);
                continue;
            }
            let Some(word) = self.word()? else { break };
            if let (true, b'(', true) = (read.reads_lists, self.peek().unwrap_or(0), word.raw.ends_with(b"=")) {
                // `eval name=(..)`: the list is part of the word, unexpanded.
                self.elements()?;
                self.word()?;
                read.args.push(Arg::Word(self.word_with_list(start.pos)));
                continue;
            }
            read.take_word(word, self.line, self.posix);
        }
        if read.is_empty() { Err(self.unexpected()) } else { Ok(Command::Simple(Rc::new(read.into_simple()))) }
    }
}

impl Reading {
    fn is_empty(&self) -> bool {
        self.args.is_empty() && self.assigns.is_empty() && self.redirects.is_empty()
    }

    /// Returns whether the next word may be an alias. The first word may also be an alias after other parts, except for a
    /// redirection between it and an assignment.
    fn may_take_alias(&self) -> bool {
        self.args.is_empty()
            && (!self.redirects.is_empty() || !self.assigns.is_empty())
            && (self.assigned || self.assigns.is_empty())
    }

    fn take_assign(&mut self, assign: Assign, line: u32) {
        if !self.args.is_empty() {
            self.args.push(Arg::Assign(assign));
            return;
        }
        if self.assigns.is_empty() {
            self.line = line;
        }
        self.assigns.push(assign);
        self.assigned = true;
    }

    fn take_word(&mut self, word: Word, line: u32, posix: bool) {
        let plain = self.args.is_empty() || posix;
        let word = if plain { word } else { super::word::tilde_after_equals(word) };
        let first = self.is_empty();
        if first || self.alone {
            // The line of a command is that of the token after its first word, because a function definition could start
            // there.
            self.line = line;
            self.alone = first;
        }
        if self.args.is_empty() {
            self.reads_lists = matches!(word.literal(), Some(b"eval" | b"let"));
            self.declaration = word.literal().is_some_and(|name| DECLARATIONS.contains(&name));
            self.commands = posix && word.literal() == Some(b"command");
        } else if self.commands {
            // In posix mode `command` does not change how the arguments of a declaration are parsed.
            self.declaration = word.literal().is_some_and(|name| DECLARATIONS.contains(&name));
            self.commands = word.literal() == Some(b"command");
        }
        self.args.push(Arg::Word(word));
    }

    fn into_simple(self) -> Simple {
        let Self { line, assigns, args, redirects, .. } = self;
        let builtin = match args.first() {
            Some(Arg::Word(word)) => word.literal().and_then(builtins::find),
            _ => None,
        };
        let purity = |commands: bool| {
            assigns.iter().all(|assign| is_pure_assign(assign, commands))
                && args.iter().all(|arg| match arg {
                    Arg::Word(word) => is_pure(&word.parts, commands),
                    Arg::Assign(assign) => is_pure_assign(assign, commands),
                })
                && redirects.iter().all(|redirect| is_pure_redirect(redirect, commands))
        };
        let (pure_words, quiet_words) = (purity(false), purity(true));
        let declares = args.iter().any(|arg| matches!(arg, Arg::Assign(_)));
        Simple { line, assigns, args, redirects, builtin, pure_words, quiet_words, declares }
    }
}
