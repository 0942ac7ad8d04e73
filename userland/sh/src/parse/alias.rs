//! Aliases: the text of a command's first word is replaced before it is read.

use std::cell::OnceCell;
use std::rc::Rc;

use super::token::is_meta;
use super::{Parse, Parser};
use crate::ir::Bytes;
use crate::vars::Map;

/// Texts that expansions made, kept as long as the parser that reads them.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    next: OnceCell<(Box<[u8]>, Box<Self>)>,
}

impl Texts {
    /// Stores a text after all others. Returns it and the slot of the next one.
    pub(super) fn keep(&self, text: Vec<u8>) -> (&[u8], &Self) {
        let mut at = self;
        while let Some((_, next)) = at.next.get() {
            at = next;
        }
        let (text, next) = at.next.get_or_init(|| (text.into(), Box::default()));
        (text, next)
    }
}

impl Drop for Texts {
    /// Iterative, because recursion over many texts could overflow the stack.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some((_, mut texts)) = next {
            next = texts.next.take();
        }
    }
}

/// State of alias expansion. Positions count the bytes up to the end of the text, so replacing earlier text does not change
/// them.
#[derive(Default)]
pub(super) struct Expansion {
    /// The aliases; `None` where none is expanded.
    with: Option<Rc<Map<Bytes, Bytes>>>,
    /// Aliases whose text is being read, the outermost first: within it the same alias is not expanded again.
    within: Vec<Use>,
    /// End of the text of an alias that ended with a blank: the next word may be an alias too.
    after_blank: Option<usize>,
}

struct Use {
    name: Bytes,
    /// End of the text.
    end: usize,
    blank: bool,
}

impl Expansion {
    /// Expansion state with the same aliases, for a text within this one.
    pub(super) fn for_inner(&self) -> Self {
        Self { with: self.with.clone(), within: Vec::new(), after_blank: None }
    }

    /// Removes the aliases whose texts have ended when `left` bytes are unread.
    fn leave(&mut self, left: usize) {
        while let Some(last) = self.within.pop_if(|last| left <= last.end) {
            self.after_blank = last.blank.then_some(last.end);
        }
    }

    /// Updates the positions after `was` bytes were replaced by `is` bytes, `after` bytes before the end of the text.
    pub(super) fn moved(&mut self, was: usize, is: usize, after: usize) {
        for end in self.within.iter_mut().map(|used| &mut used.end).chain(&mut self.after_blank) {
            if *end >= after.saturating_add(was) {
                *end = end.saturating_sub(was).saturating_add(is);
            } else if *end > after {
                *end = after;
            }
        }
    }
}

impl<'a> Parser<'a> {
    /// Sets the storage of replaced texts.
    pub(crate) fn set_texts(&mut self, texts: &'a Texts) {
        self.texts = Some(texts);
    }

    /// Sets the aliases to expand; `None` for no expansion.
    pub(crate) fn set_aliases(&mut self, aliases: Option<Rc<Map<Bytes, Bytes>>>) {
        self.aliases.with = aliases.filter(|aliases| !aliases.is_empty());
    }

    /// Returns whether the parser reads the text of an alias, whose lines do not count.
    pub(super) fn in_alias(&self) -> bool {
        self.aliases.within.first().is_some_and(|used| used.end < self.left())
    }

    /// Skips blanks, and replaces the next word by its text while it is an alias. A command may start there.
    pub(super) fn expand_alias(&mut self) {
        self.skip_blanks();
        while self.aliases.with.is_some() && self.replace_alias() {
            self.skip_blanks();
        }
    }

    /// Skips blanks and newlines up to a command. Aliases may contain newlines.
    pub(super) fn skip_to_command(&mut self) -> Parse<()> {
        loop {
            self.expand_alias();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Replaces the next word by its text if it is an alias and follows an alias that ended with a blank. Returns whether it
    /// did.
    pub(super) fn alias_after_blank(&mut self) -> bool {
        if self.aliases.with.is_none() {
            return false;
        }
        self.aliases.leave(self.left());
        // Text that is read a second time does not follow the alias.
        if self.aliases.after_blank.is_none_or(|end| self.left() > end) {
            return false;
        }
        if matches!(self.peek(), None | Some(b'\n' | b'<' | b'>')) {
            self.aliases.after_blank = None;
        }
        let word = self.bare_word();
        if word.is_empty() || self.before_redirect() {
            return false;
        }
        let quoted = word.iter().any(|b| matches!(b, b'\'' | b'"' | b'\\'));
        let replaced = self.replace_alias();
        // The first word of the alias's own text is looked up too.
        if !replaced && !quoted {
            self.aliases.after_blank = None;
        }
        replaced
    }

    /// Returns whether the next word belongs to a redirection operator.
    fn before_redirect(&self) -> bool {
        self.redirect_prefix().is_some_and(|(_, len)| len > 0)
    }

    /// Bytes that are not read yet.
    fn left(&self) -> usize {
        self.src.len().saturating_sub(self.pos)
    }

    /// Replaces the next word by its text if it is an alias. Returns whether it did.
    fn replace_alias(&mut self) -> bool {
        let (Some(aliases), Some(texts)) = (&self.aliases.with, self.texts) else { return false };
        let word = self.bare_word();
        let Some(value) = aliases.get(word).filter(|_| !self.before_redirect()).cloned() else { return false };
        let name = word.to_vec();
        self.aliases.leave(self.left());
        let in_use = self.aliases.within.iter().any(|used| used.name == name);
        if in_use {
            return false;
        }
        let last = value.last().copied();
        // A blank separates the alias's last word from the following text; an operator may continue.
        let apart = last.is_some_and(|b| !is_meta(b) && b != b'\\');
        let text = if apart { [&value[..], b" "].concat() } else { value };
        let end = self.left().saturating_sub(name.len());
        self.joins |= text.contains(&b'\\');
        self.splice(self.pos, self.pos.saturating_add(name.len()), &text, texts);
        let blank = last.is_some_and(|b| matches!(b, b' ' | b'\t'));
        self.aliases.within.push(Use { name, end, blank });
        true
    }
}
