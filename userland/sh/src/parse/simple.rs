//! Simple commands, assignments, redirections.

use std::cell::OnceCell;
use std::rc::Rc;

use super::token::{is_meta, name_len};
use super::{Parse, Parser, Pending, Place, Problem, SyntaxError};
use crate::builtins;
use crate::ir::{
    Arg, Arith, Assign, AssignValue, Command, Element, HereDoc, Index, Name, Op, Param, Part, Redirect, RedirectFd,
    RedirectKind, Simple, Subscript, Test, Word,
};

/// Builtins whose arguments may be assignments.
const DECLARATIONS: &[&[u8]] = &[b"declare", b"typeset", b"local", b"export", b"readonly"];

/// Here-documents of one line; bash takes more for a mistake.
const MAX_DOCUMENTS: usize = 16;

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

    /// The assignment that comes next, if one does.
    pub(super) fn assignment(&mut self) -> Parse<Option<Assign>> {
        let len = name_len(self.rest());
        if len == 0 {
            return Ok(None);
        }
        let (start, mark) = (self.pos, self.mark());
        self.pos += len;
        let subscript = match self.peek() {
            Some(b'[') => self.subscript()?,
            _ => None,
        };
        let append = self.starts_with(b"+=");
        if !append && self.peek() != Some(b'=') {
            self.back(mark);
            return Ok(None);
        }
        let name: Name = self.slice(start, start + len).into();
        self.pos += if append { 2 } else { 1 };
        let value = if self.peek() == Some(b'(') {
            let (from, line) = (self.pos, self.line);
            let elements = self.elements().map_err(|error| match error.problem {
                // The line that the list starts in is the one that is named.
                Problem::End => SyntaxError::new(Problem::Unclosed(b')'), line).within(Place::Elements),
                Problem::Unclosed(_) if error.place != Place::Elements => {
                    SyntaxError { place: Place::OpenElement, ..error }
                }
                _ => error.within(Place::Elements),
            })?;
            if self.peek().is_none_or(is_meta) {
                AssignValue::Array(elements)
            } else {
                // With text behind it, the list is text too.
                self.word()?;
                AssignValue::Word(self.word_with_list(from))
            }
        } else {
            AssignValue::Word(self.assigned_word()?)
        };
        Ok(Some(Assign { name, subscript, append, value }))
    }

    /// The word from `start` on, in which a list in parentheses is text.
    fn word_with_list(&self, start: usize) -> Word {
        let raw = self.slice(start, self.pos);
        let mut parser = Parser::new(raw, self.line, Rc::clone(&self.source));
        let literal = || Word { parts: vec![Part::Quoted(raw.to_vec())], raw: raw.into(), braces: false };
        parser.whole_unquoted().unwrap_or_else(|_| literal())
    }

    /// `( .. )` of an array assignment.
    fn elements(&mut self) -> Parse<Vec<Element>> {
        self.deeper(|p| {
            p.pos += 1;
            let mut elements = Vec::new();
            loop {
                p.skip_lines()?;
                match p.peek() {
                    Some(b')') => {
                        p.pos += 1;
                        return Ok(elements);
                    }
                    None => return Err(SyntaxError::new(Problem::End, p.line)),
                    Some(_) => elements.push(p.element()?),
                }
            }
        })
    }

    fn element(&mut self) -> Parse<Element> {
        let mark = self.mark();
        if self.peek() == Some(b'[')
            && let Some(subscript) = self.subscript()?
        {
            let append = self.starts_with(b"+=");
            if append || self.peek() == Some(b'=') {
                self.pos += if append { 2 } else { 1 };
                let value = self.assigned_word()?;
                let braced = braced_element(&subscript, append, &value, self.slice(mark.pos, self.pos));
                return Ok(Element { subscript: Some(subscript), append, value, braced });
            }
        }
        self.back(mark);
        match self.word()? {
            Some(value) => Ok(Element { subscript: None, append: false, value, braced: None }),
            None => Err(self.unexpected()),
        }
    }

    /// All redirections that come next.
    pub(super) fn redirects(&mut self) -> Parse<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    /// The redirection that comes next, if one does; nothing is read otherwise.
    fn redirect(&mut self) -> Parse<Option<Redirect>> {
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
            self.refuse_descriptor()?;
        }
        let Some(mut word) = self.word()? else { return Err(self.unexpected()) };
        if operator == b"<<<" {
            super::word::tilde_after_colons(&mut word);
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

    /// What is written directly before an operator of redirection names its descriptor, so it is no word for the operator
    /// before; only duplications take a number there.
    fn refuse_descriptor(&mut self) -> Parse<()> {
        let Some((fd, len)) = self.redirect_prefix() else { return Ok(()) };
        let token = self.slice(self.pos, self.pos + len).to_vec();
        match fd {
            RedirectFd::Default => Ok(()),
            RedirectFd::Number(_) => Err(SyntaxError::new(Problem::Unexpected(token), self.line)),
            RedirectFd::Variable(_) => {
                let operator = self.rest().get(len..len + 1).unwrap_or_default();
                Err(SyntaxError::new(Problem::Near([&token, operator].concat()), self.line))
            }
        }
    }

    /// The descriptor written before an operator of redirection, and the length of its text.
    pub(super) fn redirect_prefix(&self) -> Option<(RedirectFd, usize)> {
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
        self.refuse_descriptor()?;
        let line = self.line;
        let start = self.pos;
        if self.word()?.is_none() {
            return Err(self.unexpected());
        }
        let raw = self.slice(start, self.pos);
        let quoted = raw.iter().any(|b| matches!(b, b'\'' | b'"' | b'\\'));
        let delimiter = super::quote::remove_quotes(raw);
        let document = Rc::new(HereDoc { delimiter, quoted, strip_tabs, body: OnceCell::new() });
        if self.pending.len() >= MAX_DOCUMENTS {
            return Err(SyntaxError::new(Problem::TooManyDocuments, line));
        }
        self.pending.push(Pending { document: Rc::clone(&document), line });
        Ok(RedirectKind::HereDoc(document))
    }

    /// The value of an assignment; a word that may be empty.
    fn assigned_word(&mut self) -> Parse<Word> {
        if self.peek().is_none_or(is_meta) && !self.starts_with(b"<(") && !self.starts_with(b">(") {
            return Ok(Word::default());
        }
        let mut word = self.word()?.unwrap_or_default();
        word.braces = false;
        super::word::tilde_after_colons(&mut word);
        Ok(word)
    }
}

/// An element with a subscript as one word with braces to expand, if there are any. Its brackets make no pattern.
fn braced_element(subscript: &Subscript, append: bool, value: &Word, raw: &[u8]) -> Option<Box<Word>> {
    let unquoted = |word: &Word| super::word::has_braces(&word.parts);
    if !unquoted(value) && !unquoted(&subscript.key) {
        return None;
    }
    let mut parts = vec![Part::Quoted(b"[".to_vec())];
    parts.extend(subscript.key.parts.iter().cloned());
    parts.push(Part::Quoted(if append { b"]+=".to_vec() } else { b"]=".to_vec() }));
    parts.extend(value.parts.iter().cloned());
    super::word::may_brace(&parts).then(|| Box::new(Word { parts, raw: raw.into(), braces: true }))
}

/// The assignment that a text is, when it is one and nothing else.
pub(crate) fn read_assignment(text: &[u8], line: u32) -> Option<Assign> {
    let mut parser = Parser::new(text, line, Rc::from(&b""[..]));
    let assign = parser.assignment().ok()??;
    parser.peek().is_none().then_some(assign)
}

/// Whether expanding these pieces leaves the shell as it was. Substitutions do, but they may read what the command's
/// standard input is, so they count only where `commands` says so.
pub(crate) fn is_pure(parts: &[Part], commands: bool) -> bool {
    parts.iter().all(|part| match part {
        Part::Lit(_) | Part::Quoted(_) | Part::Tilde(_) => true,
        Part::Double(inner) => is_pure(inner, commands),
        Part::Param(param) => is_pure_param(param, commands),
        Part::Arith(arith) => is_pure_arith(arith, commands),
        Part::Command(_) => commands,
        Part::Process { .. } => false,
    })
}

fn is_pure_arith(arith: &Arith, commands: bool) -> bool {
    // A variable's value may itself be an assignment, so only texts without names are safe.
    is_pure(&arith.expansions, commands) && !arith.text.raw.iter().any(|b| b.is_ascii_alphabetic() || *b == b'=')
}

fn is_pure_param(param: &Param, commands: bool) -> bool {
    let index = match &param.index {
        Index::One(Subscript { key, .. }) => key.literal().is_some_and(|k| k.iter().all(u8::is_ascii_digit)),
        _ => true,
    };
    let op = match &param.op {
        Op::None | Op::Length | Op::Transform(_) | Op::Names { .. } | Op::Keys { .. } => true,
        Op::Test { kind, word, .. } => {
            matches!(kind, Test::Default | Test::Alternative) && is_pure(&word.parts, commands)
        }
        Op::Strip { pattern, .. } => is_pure(&pattern.parts, commands),
        Op::Replace { pattern, with, .. } => is_pure(&pattern.parts, commands) && is_pure(&with.parts, commands),
        Op::Case { pattern, .. } => pattern.as_ref().is_none_or(|p| is_pure(&p.parts, commands)),
        Op::Substring { offset, length } => {
            is_pure_arith(offset, commands) && length.as_ref().is_none_or(|length| is_pure_arith(length, commands))
        }
        Op::Bad | Op::Unclosed(_) | Op::Broken(_) => false,
    };
    index && op
}

/// Whether expanding the body of a here-document leaves the shell as it was. It is known only when the command runs.
pub(crate) fn has_pure_body(redirect: &Redirect, commands: bool) -> bool {
    match &redirect.kind {
        RedirectKind::HereDoc(document) => document.body.get().is_none_or(|word| is_pure(&word.parts, commands)),
        _ => true,
    }
}

fn is_pure_assign(assign: &Assign, commands: bool) -> bool {
    match &assign.value {
        AssignValue::Word(word) => assign.subscript.is_none() && is_pure(&word.parts, commands),
        AssignValue::Array(_) => false,
    }
}

pub(crate) fn is_pure_redirect(redirect: &Redirect, commands: bool) -> bool {
    if matches!(redirect.fd, RedirectFd::Variable(_)) {
        return false;
    }
    match &redirect.kind {
        RedirectKind::Read(word)
        | RedirectKind::Write(word)
        | RedirectKind::Clobber(word)
        | RedirectKind::Append(word)
        | RedirectKind::ReadWrite(word)
        | RedirectKind::Both { word, .. }
        | RedirectKind::Duplicate { word, .. }
        | RedirectKind::HereString(word) => is_pure(&word.parts, commands),
        // The body is read after the command; who relies on this asks it too.
        RedirectKind::HereDoc(_) => true,
    }
}
