//! Lists, chains, pipelines.

use std::rc::Rc;

use super::{Parse, Parser};
use crate::ir::{
    Chain, Command, Item, Join, List, Part, Pipeline, Redirect, RedirectFd, RedirectKind, TimeFormat, Word,
};

/// Reserved words that end a list inside a compound command.
pub(super) const CLOSERS: &[&[u8]] = &[b"then", b"else", b"elif", b"fi", b"do", b"done", b"esac", b"}"];

impl Parser<'_> {
    /// Commands up to a newline or the end, which is not read.
    pub(super) fn line_of_items(&mut self) -> Parse<List> {
        let mut list = List::default();
        loop {
            let separated = self.item(&mut list)?;
            self.skip_blanks();
            if !separated || matches!(self.peek(), None | Some(b'\n')) || self.operator() == Some(b")") {
                return Ok(list);
            }
        }
    }

    /// Commands up to something that closes them, which is not read. At least one is required.
    pub(super) fn compound_list(&mut self) -> Parse<List> {
        let list = self.optional_list()?;
        if list.items.is_empty() {
            return Err(self.unexpected());
        }
        Ok(list)
    }

    /// Like [`Self::compound_list`], but accepts an empty list.
    pub(super) fn optional_list(&mut self) -> Parse<List> {
        self.deeper(|p| {
            let mut list = List::default();
            loop {
                p.skip_to_command()?;
                if p.at_closer() {
                    return Ok(list);
                }
                let separated = p.item(&mut list)?;
                p.skip_blanks();
                if p.at_closer() {
                    return Ok(list);
                }
                if !separated && p.peek() != Some(b'\n') {
                    return Err(p.unexpected());
                }
            }
        })
    }

    fn at_closer(&self) -> bool {
        match self.operator() {
            Some(operator) => matches!(operator, b")" | b";;" | b";&" | b";;&"),
            None => self.peek().is_none() || CLOSERS.contains(&self.bare_word()),
        }
    }

    /// Reads one chain and its separator. Returns whether there was a separator.
    fn item(&mut self, list: &mut List) -> Parse<bool> {
        let chain = self.chain()?;
        let background = self.accept(b"&");
        let separated = background || self.accept(b";");
        list.items.push(Item { chain: Rc::new(chain), background });
        Ok(separated)
    }

    fn chain(&mut self) -> Parse<Chain> {
        self.skip_blanks();
        let start = self.pos;
        let first = self.pipeline()?;
        let mut end = self.pos;
        let mut rest = Vec::new();
        loop {
            let join = if self.accept(b"&&") {
                Join::And
            } else if self.accept(b"||") {
                Join::Or
            } else {
                let text = self.slice(start, end).trim_ascii_end().into();
                return Ok(Chain { first, rest, text });
            };
            self.skip_to_command()?;
            rest.push((join, self.pipeline()?));
            end = self.pos;
        }
    }

    fn pipeline(&mut self) -> Parse<Pipeline> {
        let (mut bang, mut banged) = (false, false);
        let mut timed = None;
        loop {
            self.expand_alias();
            if self.at_keyword(b"!") || (self.starts_with(b"!(") && !self.extglob) {
                self.pos += 1;
                banged = true;
                bang = !bang;
            } else if self.at_keyword(b"time") {
                self.pos += 4;
                // Repeated `time` measures once, in the POSIX format if any of them requests it.
                let posix = self.keyword(b"-p") || matches!(timed, Some(TimeFormat::Posix));
                let posix = self.keyword(b"--") || posix;
                timed = Some(if posix { TimeFormat::Posix } else { TimeFormat::Bash });
            } else {
                break;
            }
        }
        if (banged || timed.is_some()) && (matches!(self.peek(), None | Some(b'\n')) || self.operator() == Some(b";")) {
            return Ok(Pipeline { bang, timed, stages: Vec::new() });
        }
        let mut stages = vec![self.command()?];
        loop {
            if self.accept(b"|&") {
                if let Some(last) = stages.last_mut() {
                    add_stderr(last);
                }
            } else if !self.accept(b"|") {
                return Ok(Pipeline { bang, timed, stages });
            }
            self.skip_to_command()?;
            stages.push(self.command()?);
        }
    }
}

/// `|&` means `2>&1 |`.
fn add_stderr(command: &mut Command) {
    let one = Word { parts: vec![Part::Lit(b"1".to_vec())], raw: b"1"[..].into(), braces: false };
    let redirect = Redirect { fd: RedirectFd::Number(2), kind: RedirectKind::Duplicate { word: one, output: true } };
    // The command was just parsed and is not shared yet, so it can be changed.
    match command {
        Command::Simple(simple) => {
            if let Some(simple) = Rc::get_mut(simple) {
                simple.redirects.push(redirect);
            }
        }
        Command::Compound(compound) => {
            if let Some(compound) = Rc::get_mut(compound) {
                compound.redirects.push(redirect);
            }
        }
        Command::Function(_) => {}
    }
}
