//! Aliases: the text of a command's first word is replaced before it is read.

use std::cell::OnceCell;
use std::rc::Rc;

use super::Parser;
use crate::ir::Bytes;
use crate::vars::Map;

/// Texts that expansions made, kept as long as the parser that reads them.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    next: OnceCell<(Box<[u8]>, Box<Self>)>,
}

impl Texts {
    /// Keeps a text behind all others; answers it and where the next one goes.
    fn keep(&self, text: Vec<u8>) -> (&[u8], &Self) {
        let mut at = self;
        while let Some((_, next)) = at.next.get() {
            at = next;
        }
        let (text, next) = at.next.get_or_init(|| (text.into(), Box::default()));
        (text, next)
    }
}

impl Drop for Texts {
    /// One after the other, because there may be more of them than a stack is deep.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some((_, mut texts)) = next {
            next = texts.next.take();
        }
    }
}

/// What the parser knows of aliases. Places are counted in bytes before the end of the text, which stay what they are
/// when text before them is replaced.
#[derive(Default)]
pub(super) struct Expansion<'a> {
    /// The aliases and where new texts go; `None` where none is expanded.
    with: Option<(Rc<Map<Bytes, Bytes>>, &'a Texts)>,
    /// Aliases whose text is being read, and where it ends: within it the same alias is not expanded again.
    within: Vec<(Bytes, usize)>,
    /// The end of the newest text that ended with a blank: the word after it may be an alias too.
    blank_end: Option<usize>,
}

impl<'a> Expansion<'a> {
    /// The same aliases for a text within the one that is read.
    pub(super) fn for_inner(&self) -> Self {
        Self { with: self.with.clone(), within: Vec::new(), blank_end: None }
    }
}

impl<'a> Parser<'a> {
    /// Which aliases are expanded from here on; `None` for none.
    pub(crate) fn set_aliases(&mut self, aliases: Option<Rc<Map<Bytes, Bytes>>>, texts: &'a Texts) {
        self.aliases.with = aliases.filter(|aliases| !aliases.is_empty()).map(|aliases| (aliases, texts));
    }

    /// Goes past blanks; while the word that comes next is an alias, puts its text in its place.
    pub(super) fn expand_alias(&mut self) {
        self.skip_blanks();
        while let Some((len, value, texts)) = self.alias_here() {
            self.replace_word(len, &value, texts);
            self.skip_blanks();
        }
    }

    /// Goes past blanks and expands the word that comes next, if it is the first one after an alias that ended with a blank.
    pub(super) fn alias_after_blank(&mut self) {
        self.skip_blanks();
        if self.follows_blank_alias() {
            self.expand_alias();
        }
    }

    /// Whether the word that comes next is the first one after an alias whose text ended with a blank. True once.
    pub(super) fn follows_blank_alias(&mut self) -> bool {
        match self.aliases.blank_end {
            Some(end) if self.left() <= end => {
                self.aliases.blank_end = None;
                true
            }
            _ => false,
        }
    }

    /// Bytes that are not read yet.
    fn left(&self) -> usize {
        self.src.len().saturating_sub(self.pos)
    }

    /// The length of the word that comes next, when it is an alias, and the alias's text.
    fn alias_here(&mut self) -> Option<(usize, Bytes, &'a Texts)> {
        let (aliases, texts) = self.aliases.with.as_ref()?;
        let (word, left) = (self.bare_word(), self.left());
        let value = aliases.get(word)?.clone();
        let (len, texts) = (word.len(), *texts);
        self.aliases.within.retain(|(_, end)| left > *end);
        let word = self.slice(self.pos, self.pos + len);
        if self.aliases.within.iter().any(|(name, _)| name == word) {
            return None;
        }
        Some((len, value, texts))
    }

    fn replace_word(&mut self, len: usize, value: &[u8], texts: &'a Texts) {
        let name = self.slice(self.pos, self.pos + len).to_vec();
        let (before, after) = (self.slice(0, self.pos), self.rest().get(len..).unwrap_or_default());
        // A blank keeps the alias's last word apart from what follows.
        let text = [before, value, b" ", after].concat();
        // Its own blank ends before the one that was added.
        if value.last().is_some_and(|b| matches!(b, b' ' | b'\t')) {
            self.aliases.blank_end = Some(after.len());
        }
        self.aliases.within.push((name, after.len()));
        // What was found out about the text behind has moved.
        self.not_arith.retain(|at| *at < self.pos);
        let (text, next) = texts.keep(text);
        self.src = text;
        if let Some((_, texts)) = &mut self.aliases.with {
            *texts = next;
        }
    }
}
