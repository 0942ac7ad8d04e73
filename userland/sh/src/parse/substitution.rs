//! Command and process substitution.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Parse, Parser, Place, Problem};
use crate::ir::{Bytes, Command, Kind, Layout, List, Pipeline, RedirectFd, RedirectKind, Substitution};

impl Parser<'_> {
    /// The commands of `$(`, `<(`, `>(` and the closing parenthesis.
    pub(super) fn substitution_body(&mut self) -> Parse<Rc<Substitution>> {
        let (start, unfinished, printed) = (self.pos, self.unfinished.len(), self.printed);
        self.substitutions += 1;
        // Here-documents from before have their bodies behind the line that the substitution ends in.
        let waiting = std::mem::take(&mut self.pending);
        let quoted = std::mem::take(&mut self.between_quotes);
        let outer = std::mem::replace(&mut self.quoted_substitution, quoted);
        // bash looks them up when it runs the commands, and POSIX wants them known before.
        let aliases = if self.posix { None } else { Some(self.aliases.take()) };
        let body = self.optional_list();
        if let Some(aliases) = aliases {
            self.aliases.put_back(aliases);
        }
        (self.between_quotes, self.quoted_substitution) = (quoted, outer);
        let own = std::mem::replace(&mut self.pending, waiting);
        if !own.is_empty() && self.peek() == Some(b')') {
            self.unfinished.push((self.line.saturating_add(self.recounted), 0, own.len().to_string().into_bytes()));
        }
        self.pending.extend(own);
        self.substitutions -= 1;
        let body = match body {
            Ok(body) if self.accept(b")") => Ok(body),
            Ok(_) if self.peek().is_none() => Err(self.unclosed(b')', self.end_line())),
            Ok(_) => Err(self.unexpected()),
            Err(error) if matches!(error.problem, Problem::End) => Err(self.unclosed(b')', self.end_line())),
            Err(error) => Err(error),
        };
        let body = body.map_err(|error| {
            self.broken_from = Some(start);
            error.within(Place::Substitution)
        })?;
        let unquoted: Bytes;
        let mut text = self.slice(start, self.pos - 1);
        if quoted && !self.reprinted.is_empty() {
            // Read again it stands alone, and what quoted nothing between double quotes would quote then.
            unquoted = self.reprinted(start);
            text = unquoted.get(..unquoted.len() - 1).unwrap_or_default();
        }
        if self.unfinished.iter().skip(unfinished).any(|(_, start, _)| *start > 0) {
            // The delimiter that the parenthesis follows shall end the document also where the text is read alone.
            text = text.trim_ascii_end();
        }
        // Commands that are printed on several lines stand so in the text of those around them, too.
        let breaks = self.printed > printed
            || self.reprinted.iter().any(|(from, _, form)| *from >= start && form.contains(&b'\n'));
        let one_line = !breaks && !text.contains(&b'\n') && prints_on_one_line(&body);
        self.printed += u32::from(!one_line && !self.in_document);
        let layout = match one_line {
            true => Layout::OneLine,
            // In a document bash has not read the commands before it runs them.
            false if self.in_document => Layout::Text([text, b"\n"].concat().into()),
            false => Layout::Printed(text.into()),
        };
        Ok(Rc::new(substitution(body, self.line, layout)))
    }

    /// `` `..` ``: the text is unescaped first and is then a program of its own.
    pub(super) fn backquoted(&mut self, quoted: bool) -> Parse<Rc<Substitution>> {
        let line = self.line;
        self.pos += 1;
        let mut text = Bytes::new();
        loop {
            match self.peek() {
                None => return Err(self.unclosed(b'`', line)),
                Some(b'`') => break,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => {
                    self.leave_out_continuation();
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

    /// What stands between `$((` and the parenthesis that closes it and cannot be read as commands now: bash has matched
    /// parentheses alone and reads it when it runs it. `None`, with nothing read, where they do not match.
    pub(super) fn matched_substitution(&mut self, broken_from: Option<usize>) -> Option<Rc<Substitution>> {
        let (mark, start, line) = (self.mark(), self.pos, self.line);
        self.pos += 1;
        let inner = self.arith_until(b")");
        self.pos += 1;
        if inner.is_err() || self.arith_until(b")").is_err() {
            self.back(mark);
            return None;
        }
        let text = [self.slice(start, self.pos), b"\n"].concat();
        self.pos += 1;
        self.broken_from = broken_from;
        self.kept_substitution(&text, line).ok()
    }

    /// A substitution whose text is read alone. What is wrong with it shows when it runs.
    fn kept_substitution(&mut self, text: &[u8], line: u32) -> Parse<Rc<Substitution>> {
        let newlines = text.iter().filter(|&&b| b == b'\n').count();
        let layout = if newlines < 2 { Layout::OneLine } else { Layout::Text(text.into()) };
        let mut inner = self.inner(text, line);
        // They are looked up when the text runs.
        inner.set_aliases(None);
        let mut body = List::default();
        let read = self.deeper(|_| {
            inner.depth += 1;
            while let Some(list) = inner.next_list()? {
                body.items.extend(list.items);
            }
            Ok(())
        });
        match read {
            Ok(()) => Ok(Rc::new(substitution(body, line, layout))),
            Err(error) if matches!(error.problem, Problem::TooDeep) => Err(error),
            // bash reads such a text when it runs it, so what stands around it runs in any case.
            Err(error) => {
                let shown = inner.text_of_line(line, error.line).to_vec();
                let broken = Some(Box::new((error, shown)));
                Ok(Rc::new(Substitution { broken, file: None, ..substitution(body, line, layout) }))
            }
        }
    }
}

/// Recognises `$(<file)`.
fn substitution(body: List, line: u32, layout: Layout) -> Substitution {
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
    Substitution { body: Rc::new(body), line, layout, read_again: RefCell::default(), file, broken: None }
}

/// Whether bash prints these commands on one line, when they are read from one.
fn prints_on_one_line(list: &List) -> bool {
    let stages = |pipeline: &Pipeline| {
        pipeline.stages.iter().all(|stage| match stage {
            Command::Simple(_) => true,
            Command::Function(_) => false,
            Command::Compound(compound) => match &compound.kind {
                Kind::Group(list) | Kind::Subshell(list) => prints_on_one_line(list),
                Kind::Arith(_) | Kind::Cond(_) => true,
                _ => false,
            },
        })
    };
    list.items
        .iter()
        .all(|item| stages(&item.chain.first) && item.chain.rest.iter().all(|(_, pipeline)| stages(pipeline)))
}
