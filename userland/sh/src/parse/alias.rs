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
    /// Keeps a text behind all others; answers it and where the next one goes.
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
pub(super) struct Expansion {
    /// The aliases; `None` where none is expanded.
    with: Option<Rc<Map<Bytes, Bytes>>>,
    /// Aliases whose text is being read, the outermost first: within it the same alias is not expanded again.
    within: Vec<Use>,
    /// Where the text of an alias that ended with a blank has just ended: the word after it may be an alias too.
    after_blank: Option<usize>,
}

struct Use {
    name: Bytes,
    /// Where the text ends.
    end: usize,
    blank: bool,
}

impl Expansion {
    /// The same aliases for a text within the one that is read.
    pub(super) fn for_inner(&self) -> Self {
        Self { with: self.with.clone(), within: Vec::new(), after_blank: None }
    }

    /// Takes the aliases away for a while.
    pub(super) fn take(&mut self) -> Option<Rc<Map<Bytes, Bytes>>> {
        self.with.take()
    }

    /// Puts them back.
    pub(super) fn put_back(&mut self, aliases: Option<Rc<Map<Bytes, Bytes>>>) {
        self.with = aliases;
    }

    /// Forgets the aliases whose texts have ended when so many bytes are left.
    fn leave(&mut self, left: usize) {
        while let Some(last) = self.within.pop_if(|last| left <= last.end) {
            self.after_blank = last.blank.then_some(last.end);
        }
    }

    /// Bytes were replaced by others, before so many at the end of the text.
    pub(super) fn moved(&mut self, was: usize, is: usize, behind: usize) {
        for end in self.within.iter_mut().map(|used| &mut used.end).chain(&mut self.after_blank) {
            if *end >= behind.saturating_add(was) {
                *end = end.saturating_sub(was).saturating_add(is);
            } else if *end > behind {
                *end = behind;
            }
        }
    }
}

/// Words that are no aliases in posix mode where they are reserved.
const RESERVED: &[&[u8]] = &[
    b"if",
    b"then",
    b"else",
    b"elif",
    b"fi",
    b"case",
    b"esac",
    b"for",
    b"select",
    b"while",
    b"until",
    b"do",
    b"done",
    b"in",
    b"function",
    b"time",
    b"{",
    b"}",
    b"!",
    b"[[",
    b"]]",
    b"coproc",
];

impl<'a> Parser<'a> {
    /// Where texts go that take the place of others.
    pub(crate) fn set_texts(&mut self, texts: &'a Texts) {
        self.texts = Some(texts);
    }

    /// Which aliases are expanded from here on; `None` for none.
    pub(crate) fn set_aliases(&mut self, aliases: Option<Rc<Map<Bytes, Bytes>>>) {
        self.aliases.with = aliases.filter(|aliases| !aliases.is_empty());
    }

    /// Whether the text of an alias is being read, whose lines do not count.
    pub(super) fn in_alias(&self) -> bool {
        self.aliases.within.first().is_some_and(|used| used.end < self.left())
    }

    /// Goes past blanks; while the word that comes next, where a command may start, is an alias, puts its text in its place.
    pub(super) fn expand_alias(&mut self) {
        let spared = if self.posix { RESERVED } else { &[] };
        self.skip_blanks_but(spared);
        while self.aliases.with.is_some() && !self.is_reserved() && self.replace_alias() {
            self.skip_blanks_but(spared);
        }
        if self.is_reserved() {
            self.aliases.after_blank = None;
        }
    }

    /// Goes past blanks and newlines up to where a command starts, which aliases may bring along.
    pub(super) fn skip_to_command(&mut self) -> Parse<()> {
        loop {
            self.expand_alias();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Puts the text of the word that comes next in its place, if it is an alias and the first word after an alias that
    /// ended with a blank; says whether it did.
    pub(super) fn alias_after_blank(&mut self, spared: &[&[u8]]) -> bool {
        if self.aliases.with.is_none() {
            return false;
        }
        self.aliases.leave(self.left());
        // What is read once more is not what follows the alias.
        if self.aliases.after_blank.is_none_or(|end| self.left() > end) {
            return false;
        }
        if matches!(self.peek(), None | Some(b'\n' | b'<' | b'>')) {
            self.aliases.after_blank = None;
        }
        let word = self.bare_word();
        if word.is_empty() || spared.contains(&word) || self.before_redirect() {
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

    fn is_reserved(&self) -> bool {
        self.posix && RESERVED.contains(&self.bare_word())
    }

    /// Whether the word that comes next belongs to the redirection after it.
    fn before_redirect(&self) -> bool {
        self.redirect_prefix().is_some_and(|(_, len)| len > 0)
    }

    /// Bytes that are not read yet.
    fn left(&self) -> usize {
        self.src.len().saturating_sub(self.pos)
    }

    /// Puts the text of the word that comes next in its place, if it is an alias; says whether it did.
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
        // A blank keeps the alias's last word apart from what follows; an operator may go on there.
        let apart = last.is_some_and(|b| !is_meta(b) && b != b'\\') && !ends_open(&value);
        let text = if apart { [&value[..], b" "].concat() } else { value };
        let end = self.left().saturating_sub(name.len());
        self.joins |= text.contains(&b'\\');
        self.splice(self.pos, self.pos.saturating_add(name.len()), &text, texts);
        let blank = last.is_some_and(|b| matches!(b, b' ' | b'\t'));
        self.aliases.within.push(Use { name, end, blank });
        true
    }
}

/// Whether the text ends within a comment or a quotation, which then goes on behind it.
fn ends_open(text: &[u8]) -> bool {
    let (mut quote, mut at) = (None, 0);
    while let Some(&byte) = text.get(at) {
        let starts_word = at == 0 || text.get(at - 1).copied().is_some_and(is_meta);
        match (quote, byte) {
            (None | Some(b'"' | b'`'), b'\\') => at += 1,
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'#') if starts_word => {
                let rest = text.get(at..).unwrap_or_default();
                let Some(end) = rest.iter().position(|&b| b == b'\n') else { return true };
                at += end;
            }
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        at += 1;
    }
    quote.is_some()
}
