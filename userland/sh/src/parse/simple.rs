//! Simple commands.

mod assignment;
mod purity;
mod redirect;

use std::rc::Rc;

use super::token::is_meta;
use super::{Parse, Parser};
use crate::builtins;
use crate::ir::{Arg, AssignValue, Command, Simple};
use purity::is_pure_assign;

pub(crate) use assignment::read_assignment;
pub(crate) use purity::{has_pure_body, is_pure, is_pure_redirect};

/// Builtins whose arguments may be assignments.
const DECLARATIONS: &[&[u8]] = &[b"declare", b"typeset", b"local", b"export", b"readonly"];

impl Parser<'_> {
    pub(super) fn simple(&mut self) -> Parse<Command> {
        let mut line = self.line;
        let (mut assigns, mut args, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        let (mut declaration, mut commands, mut reads_lists) = (false, false, false);
        // Whether an assignment was read last.
        let mut assigned = false;
        // Whether nothing was read but the first word.
        let mut alone = false;
        loop {
            self.skip_blanks();
            // The first word may be an alias too, but for a redirection between it and an assignment.
            if args.is_empty() && (!redirects.is_empty() || !assigns.is_empty()) && (assigned || assigns.is_empty()) {
                self.expand_alias();
            }
            assigned = false;
            let substitution = self.starts_with(b"<(") || self.starts_with(b">(");
            if alone && !substitution && self.peek().is_none_or(is_meta) {
                let cut = self.peek().is_none() && self.src.ends_with(b"\\");
                line = self.line.saturating_add(u32::from(cut));
                alone = false;
            }
            if let Some(redirect) = self.redirect()? {
                if args.is_empty() && assigns.is_empty() && redirects.is_empty() {
                    line = self.line;
                }
                redirects.push(redirect);
                continue;
            }
            let start = self.mark();
            if (args.is_empty() || declaration)
                && let Some(assign) = self.assignment()?
            {
                if let (false, AssignValue::Word(value)) = (args.is_empty(), &assign.value)
                    && super::word::may_brace(&value.parts)
                {
                    // Braces make several arguments of it, before it is an assignment.
                    self.back(start);
                    args.extend(self.word()?.map(Arg::Word));
                    continue;
                }
                if args.is_empty() {
                    if assigns.is_empty() {
                        line = self.line;
                    }
                    assigns.push(assign);
                    assigned = true;
                } else {
                    args.push(Arg::Assign(assign));
                }
                continue;
            }
            let Some(word) = self.word()? else { break };
            if let (true, b'(', true) = (reads_lists, self.peek().unwrap_or(0), word.raw.ends_with(b"=")) {
                // `eval name=(..)`: the list is part of the word as it stands.
                self.elements()?;
                self.word()?;
                args.push(Arg::Word(self.word_with_list(start.pos)));
                continue;
            }
            let plain = args.is_empty() || self.posix;
            let word = if plain { word } else { super::word::tilde_after_equals(word) };
            let first = args.is_empty() && assigns.is_empty() && redirects.is_empty();
            if first || alone {
                // A command is where the token after its first word ends, because a function could begin there.
                line = self.line;
                alone = first;
            }
            if args.is_empty() {
                reads_lists = matches!(word.literal(), Some(b"eval" | b"let"));
                declaration = word.literal().is_some_and(|name| DECLARATIONS.contains(&name));
                commands = self.posix && word.literal() == Some(b"command");
            } else if commands {
                // There `command` leaves a declaration what it is.
                declaration = word.literal().is_some_and(|name| DECLARATIONS.contains(&name));
                commands = word.literal() == Some(b"command");
            }
            args.push(Arg::Word(word));
        }
        if args.is_empty() && assigns.is_empty() && redirects.is_empty() {
            return Err(self.unexpected());
        }
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
        Ok(Command::Simple(Rc::new(Simple {
            line,
            assigns,
            args,
            redirects,
            builtin,
            pure_words,
            quiet_words,
            declares,
        })))
    }
}
