//! Command and process substitution.

use std::rc::Rc;

use super::{Parse, Parser, SyntaxErrorKind};
use crate::ir::{Bytes, Command, List, RedirectFd, RedirectKind, Substitution};

impl Parser<'_> {
    /// The commands of `$(`, `<(`, `>(` and the closing parenthesis.
    pub(super) fn substitution_body(&mut self) -> Parse<Rc<Substitution>> {
        let in_document = std::mem::take(&mut self.in_document);
        self.substitutions += 1;
        // Bodies of earlier here-documents follow the line in which the substitution ends.
        let waiting = std::mem::take(&mut self.pending);
        let body = self.optional_list();
        self.in_document = in_document;
        let own = std::mem::replace(&mut self.pending, waiting);
        self.pending.extend(own);
        self.substitutions -= 1;
        let body = match body {
            Ok(body) if self.accept(b")") => body,
            Ok(_) if self.peek().is_some() => return Err(self.unexpected()),
            Err(error) if !matches!(error.kind, SyntaxErrorKind::End) => return Err(error),
            _ => return Err(self.unclosed(b')', self.end_line())),
        };
        Ok(Rc::new(substitution(body)))
    }

    /// `` `..` ``: the text is unescaped first and then parsed as a program.
    pub(super) fn backquoted(&mut self, quoted: bool) -> Parse<Rc<Substitution>> {
        let line = self.line;
        self.pos += 1;
        let mut text = Bytes::new();
        loop {
            match self.peek() {
                None => return Err(self.unclosed(b'`', line)),
                Some(b'`') => break,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => {
                    self.bump();
                    self.bump();
                }
                Some(b'\\') => {
                    let escapes = matches!(self.peek_at(1), Some(b'`' | b'\\' | b'$'))
                        || (quoted && !self.in_document && self.peek_at(1) == Some(b'"'));
                    if !escapes {
                        text.push(b'\\');
                    }
                    self.bump();
                    if let Some(byte) = self.peek() {
                        text.push(byte);
                        self.bump();
                    }
                }
                Some(byte) => {
                    text.push(byte);
                    self.bump();
                }
            }
        }
        self.pos += 1;
        if !matches!(text.last(), Some(b'\n' | b'\\')) {
            text.push(b'\n');
        }
        self.kept_substitution(&text, line)
    }

    /// A substitution whose text is read alone. What is wrong with it shows when it runs.
    fn kept_substitution(&mut self, text: &[u8], line: u32) -> Parse<Rc<Substitution>> {
        let mut inner = self.inner(text, line);
        let mut body = List::default();
        let read = self.deeper(|_| {
            inner.depth += 1;
            while let Some(list) = inner.next_list()? {
                body.items.extend(list.items);
            }
            Ok(())
        });
        match read {
            Ok(()) => Ok(Rc::new(substitution(body))),
            Err(error) if matches!(error.kind, SyntaxErrorKind::TooDeep) => Err(error),
            // The text is parsed when it runs, so the commands around it run in any case.
            Err(error) => {
                let shown = inner.text_of_line(line, error.line).to_vec();
                let invalid = Some(Box::new((error, shown)));
                Ok(Rc::new(Substitution { body: Rc::new(body), file: None, invalid }))
            }
        }
    }
}

/// Recognises `$(<file)`.
fn substitution(body: List) -> Substitution {
    let file = match body.items.as_slice() {
        [item] if !item.background && item.chain.rest.is_empty() => match item.chain.first.stages.as_slice() {
            [Command::Simple(simple)] if simple.args.is_empty() && simple.assigns.is_empty() => {
                match simple.redirects.as_slice() {
                    [redirect] => match (&redirect.kind, &redirect.fd) {
                        (RedirectKind::Read(word), RedirectFd::Default | RedirectFd::Number(0)) => Some(word.clone()),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        },
        _ => None,
    };
    Substitution { body: Rc::new(body), file, invalid: None }
}
