//! Simple commands: assignments, words, redirections.

use super::Printer;
use crate::ir::{Arg, Assign, AssignValue, Bytes, Redirect, RedirectFd, RedirectKind, Simple, Word};

impl Printer {
    pub(super) fn simple(&mut self, simple: &Simple) {
        let mut first = true;
        for assign in &simple.assigns {
            self.space(&mut first);
            self.assign(assign);
        }
        for arg in &simple.args {
            self.space(&mut first);
            match arg {
                Arg::Word(word) => self.put(&word.raw),
                Arg::Assign(assign) => self.assign(assign),
            }
        }
        self.printed_bodies &= simple.redirects.is_empty();
        for redirect in &simple.redirects {
            self.space(&mut first);
            self.redirect(redirect);
        }
    }

    fn space(&mut self, first: &mut bool) {
        if !std::mem::replace(first, false) {
            self.put(" ");
        }
    }

    fn assign(&mut self, assign: &Assign) {
        self.put(&assign.name);
        if let Some(subscript) = &assign.subscript {
            self.put("[");
            self.put(&subscript.key.raw);
            self.put("]");
        }
        self.put(if assign.append { "+=" } else { "=" });
        match &assign.value {
            AssignValue::Word(word) => self.put(&word.raw),
            AssignValue::Array(elements) => {
                self.put("(");
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        self.put(" ");
                    }
                    if let Some(subscript) = &element.subscript {
                        self.put("[");
                        self.put(&subscript.key.raw);
                        self.put(if element.append { "]+=" } else { "]=" });
                    }
                    self.put(&element.value.raw);
                }
                self.put(")");
            }
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        // If the word must be expanded first, the default number is omitted.
        let (input, output) = match &redirect.kind {
            RedirectKind::Duplicate { word, output } => {
                let plain = word.literal().is_some_and(|text| text.iter().all(|b| b.is_ascii_digit() || *b == b'-'));
                let named = !plain && !word.raw.ends_with(b"-");
                (named && !output, named && *output)
            }
            RedirectKind::Read(_) => (true, false),
            RedirectKind::Write(_) | RedirectKind::Append(_) => (false, true),
            _ => (false, false),
        };
        match &redirect.fd {
            RedirectFd::Default | RedirectFd::Number(0) if input => {}
            RedirectFd::Default | RedirectFd::Number(1) if output => {}
            RedirectFd::Default => match &redirect.kind {
                RedirectKind::ReadWrite(_) | RedirectKind::Duplicate { output: false, .. } => self.put("0"),
                RedirectKind::Duplicate { output: true, .. } => self.put("1"),
                _ => {}
            },
            RedirectFd::Number(number) => self.put(number.to_string()),
            RedirectFd::Variable(name) => {
                self.put("{");
                self.put(name);
                self.put("}");
            }
        }
        let (operator, word): (&str, &Word) = match &redirect.kind {
            RedirectKind::Read(word) => ("< ", word),
            RedirectKind::Write(word) => ("> ", word),
            RedirectKind::Clobber(word) => (">| ", word),
            RedirectKind::Append(word) => (">> ", word),
            RedirectKind::ReadWrite(word) => ("<> ", word),
            RedirectKind::Both { word, append } => (if *append { "&>> " } else { "&> " }, word),
            RedirectKind::Duplicate { word, output } => (if *output || &*word.raw == b"-" { ">&" } else { "<&" }, word),
            RedirectKind::HereString(word) => ("<<< ", word),
            RedirectKind::HereDoc(document) => {
                self.put(if document.strip_tabs { "<<-" } else { "<<" });
                if document.quoted {
                    self.put([b"'", &document.delimiter[..], b"'"].concat());
                } else {
                    self.put(&document.delimiter);
                }
                let mut text = document.body.get().map_or_else(Bytes::new, |word| word.raw.to_vec());
                text.extend_from_slice(&document.delimiter);
                text.push(b'\n');
                self.bodies.push(text);
                return;
            }
        };
        self.put(operator);
        self.put(&word.raw);
    }

    pub(super) fn words(&mut self, words: Option<&[Word]>) {
        let Some(words) = words else { return self.put(" in \"$@\"") };
        self.put(" in ");
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                self.put(" ");
            }
            self.put(&word.raw);
        }
    }

    /// With them bash forgets that it has printed bodies.
    pub(super) fn redirects(&mut self, redirects: &[Redirect]) {
        self.printed_bodies &= redirects.is_empty();
        for redirect in redirects {
            self.put(" ");
            self.redirect(redirect);
        }
    }
}
