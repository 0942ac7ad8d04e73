//! Redirections.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::ir::{HereDoc, Redirect, RedirectFd, RedirectKind};
use crate::parse::token::{is_meta, name_len};
use crate::parse::{Parse, Parser, Pending, SyntaxError, SyntaxErrorKind};

impl Parser<'_> {
    /// All redirections that come next.
    pub(in crate::parse) fn redirects(&mut self) -> Parse<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    /// Parses a redirection. Reads nothing if none follows.
    pub(super) fn redirect(&mut self) -> Parse<Option<Redirect>> {
        let Some((fd, prefix)) = self.redirect_prefix() else { return Ok(None) };
        let rest = self.rest().get(prefix..).unwrap_or_default();
        // `<(` and `>(` are words.
        if matches!(rest.get(1), Some(b'(')) && prefix == 0 {
            return Ok(None);
        }
        const KINDS: &[&[u8]] = &[b"<<<", b"<<-", b"&>>", b"<<", b">>", b"<&", b">&", b"<>", b">|", b"&>", b"<", b">"];
        let Some(operator) = KINDS.iter().find(|op| rest.starts_with(op)).copied() else { return Ok(None) };
        if operator.first() == Some(&b'&') && prefix > 0 {
            return Ok(None);
        }
        self.pos += prefix + operator.len();
        if matches!(operator, b"<<" | b"<<-") {
            let kind = self.here_doc(operator.len() == 3)?;
            return Ok(Some(Redirect { fd, kind }));
        }
        self.skip_blanks();
        if !matches!(operator, b"<&" | b">&") {
            self.reject_descriptor()?;
        }
        let Some(mut word) = self.word()? else { return Err(self.unexpected()) };
        if operator == b"<<<" {
            crate::parse::word::tilde_after_colons(&mut word);
        }
        let kind = match operator {
            b"<<<" => RedirectKind::HereString(word),
            b"&>>" => RedirectKind::Both { word, append: true },
            b"&>" => RedirectKind::Both { word, append: false },
            b">>" => RedirectKind::Append(word),
            b"<>" => RedirectKind::ReadWrite(word),
            b">|" => RedirectKind::Clobber(word),
            b">&" => RedirectKind::Duplicate { word, output: true },
            b"<&" => RedirectKind::Duplicate { word, output: false },
            b"<" => RedirectKind::Read(word),
            _ => RedirectKind::Write(word),
        };
        Ok(Some(Redirect { fd, kind }))
    }

    /// Rejects a number or name directly before a redirection operator, because it names the descriptor of that operator.
    /// Only duplications take a number there.
    fn reject_descriptor(&mut self) -> Parse<()> {
        let Some((fd, len)) = self.redirect_prefix() else { return Ok(()) };
        let token = self.slice(self.pos, self.pos + len).to_vec();
        match fd {
            RedirectFd::Default => Ok(()),
            _ => Err(SyntaxError::new(SyntaxErrorKind::Unexpected(token), self.line)),
        }
    }

    /// The descriptor written before an operator of redirection, and the length of its text.
    pub(in crate::parse) fn redirect_prefix(&self) -> Option<(RedirectFd, usize)> {
        let rest = self.rest();
        match *rest.first()? {
            b'<' | b'>' | b'&' => Some((RedirectFd::Default, 0)),
            b'0'..=b'9' => {
                let len = rest.iter().position(|b| !b.is_ascii_digit())?;
                let number = std::str::from_utf8(rest.get(..len)?).ok()?.parse().ok()?;
                // Before a process substitution it is a part of the word.
                let operator = matches!(rest.get(len), Some(b'<' | b'>')) && rest.get(len + 1) != Some(&b'(');
                operator.then_some((RedirectFd::Number(number), len))
            }
            b'{' => {
                let name = name_len(rest.get(1..)?);
                let len = match rest.get(name + 1) {
                    // An element of an array.
                    Some(b'[') => {
                        rest.iter().position(|&b| b == b']' || is_meta(b)).filter(|&at| rest.get(at) == Some(&b']'))?
                    }
                    _ => name,
                };
                let closed = name > 0 && rest.get(len + 1) == Some(&b'}');
                let followed = matches!(rest.get(len + 2), Some(b'<' | b'>')) && rest.get(len + 3) != Some(&b'(');
                let name = rest.get(1..len + 1)?;
                (closed && followed).then(|| (RedirectFd::Variable(name.into()), len + 2))
            }
            _ => None,
        }
    }

    fn here_doc(&mut self, strip_tabs: bool) -> Parse<RedirectKind> {
        self.skip_blanks();
        self.reject_descriptor()?;
        let line = self.line;
        let start = self.pos;
        if self.word()?.is_none() {
            return Err(self.unexpected());
        }
        let raw = self.slice(start, self.pos);
        let quoted = raw.iter().any(|b| matches!(b, b'\'' | b'"' | b'\\'));
        let delimiter = crate::parse::quote::remove_quotes(raw);
        let document = Rc::new(HereDoc { delimiter, quoted, strip_tabs, body: OnceCell::new() });
        self.pending.push(Pending { document: Rc::clone(&document), line });
        Ok(RedirectKind::HereDoc(document))
    }
}
