//! Redirections.

use std::rc::Rc;

use tidebox_rt::{self as rt, Errno, Fd, FileKind, Open};

use crate::ir::{Bytes, Redirect, RedirectFd, RedirectKind, Word};
use crate::parse::plain_number;
use crate::state::{EvalResult, Shell};
use crate::vars::Key;

/// Undo log of redirections.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    /// Previous values of the descriptors, in the order of the changes.
    saved: Vec<(u32, Option<Fd>)>,
    opened: Vec<Fd>,
}

impl Shell {
    /// Applies redirections; `None` after an error message, with all of them undone.
    #[inline(never)]
    pub(crate) fn redirect(&mut self, redirects: &[Redirect]) -> EvalResult<Option<Undo>> {
        let mut undo = Undo::default();
        for redirect in redirects {
            match self.apply_redirect(redirect, &mut undo) {
                Ok(true) => {}
                Ok(false) => {
                    self.undo(undo);
                    return Ok(None);
                }
                Err(stop) => {
                    self.undo(undo);
                    return Err(stop);
                }
            }
        }
        Ok(Some(undo))
    }

    /// Undoes redirections. A failing buffered write fails the command.
    #[inline(never)]
    pub(crate) fn undo(&mut self, undo: Undo) {
        if undo.saved.is_empty() && undo.opened.is_empty() {
            return;
        }
        self.io.flush();
        let error = self.io.take_error();
        for (number, fd) in undo.saved.into_iter().rev() {
            self.io.set(number, fd);
            fd.into_iter().for_each(|fd| self.io.release(fd));
        }
        for fd in undo.opened {
            self.io.release(fd);
            self.io.close_unused(fd);
        }
        if let Some(errno) = error {
            self.report_error(format!("write error: {errno}"));
            self.status = 1;
        }
    }

    /// Applies permanent redirections, as for `exec`. Returns whether all succeeded.
    pub(crate) fn redirect_for_good(&mut self, redirects: &[Redirect]) -> EvalResult<bool> {
        if redirects.is_empty() {
            return Ok(true);
        }
        let Some(undo) = self.redirect(redirects)? else { return Ok(false) };
        self.io.flush();

        let removed = undo.saved.into_iter().filter_map(|(_, fd)| fd);
        for fd in removed.chain(undo.opened) {
            self.io.release(fd);
            self.io.close_unused(fd);
        }
        Ok(true)
    }

    /// Points a descriptor at another kernel descriptor, with an entry in the undo log.
    pub(super) fn point(&mut self, number: u32, fd: Option<Fd>, undo: &mut Undo) {
        let before = self.io.fd(number);
        undo.saved.push((number, before));
        // The previous file must stay open until the redirection is undone.
        before.into_iter().for_each(|fd| self.io.hold(fd));
        self.io.set(number, fd);
    }

    /// Registers a descriptor that was opened for a redirection.
    pub(super) fn opened(&mut self, fd: Fd, undo: &mut Undo) {
        self.io.hold(fd);
        undo.opened.push(fd);
    }

    /// Applies one redirection. Returns whether it succeeded.
    fn apply_redirect(&mut self, redirect: &Redirect, undo: &mut Undo) -> EvalResult<bool> {
        let default = match &redirect.kind {
            RedirectKind::Read(_) | RedirectKind::ReadWrite(_) | RedirectKind::HereDoc(_) => 0,
            RedirectKind::HereString(_) | RedirectKind::Duplicate { output: false, .. } => 0,
            _ => 1,
        };
        let number = match &redirect.fd {
            RedirectFd::Default => default,
            RedirectFd::Number(number) => *number,
            RedirectFd::Variable(name) => return self.apply_variable(&redirect.kind, name, undo),
        };
        let beyond = number > 255 && rt::limits().is_ok_and(|limits| number >= limits.descriptors);
        if beyond || !self.io.is_valid_fd(number) {
            self.report_error(format!("{number}: Bad file descriptor"));
            return Ok(false);
        }
        self.apply_to(&redirect.kind, number, None, undo)
    }

    /// `{name}>file`: the shell chooses the number; `{name}>&-` closes the one in the variable.
    fn apply_variable(&mut self, kind: &RedirectKind, target: &[u8], undo: &mut Undo) -> EvalResult<bool> {
        let len = crate::parse::token::name_len(target);
        let (name, rest) = target.split_at(len);
        let name: Rc<[u8]> = name.into();
        let key = match rest {
            [b'[', subscript @ .., b']'] => self.key_of(&name, &crate::parse::subscript_from_text(subscript))?,
            _ => Key::Whole,
        };
        if let RedirectKind::Duplicate { word, .. } = kind
            && word.literal() == Some(b"-")
        {
            let value = if key == Key::Whole { self.lookup(&name) } else { self.element(&name, &key) };
            let number = value.and_then(|text| plain_number(&text)).and_then(|n| u32::try_from(n).ok());
            let Some(number) = number else {
                self.report_error([target, b": ambiguous redirect"].concat());
                return Ok(false);
            };
            self.io.flush();
            if let Some(fd) = self.io.fd(number) {
                self.io.set(number, None);
                self.io.close_unused(fd);
                self.forget_coprocess_end(number);
            }
            return Ok(true);
        }
        if let RedirectKind::Duplicate { word, .. } = kind
            && !word.literal().is_none_or(|text| text.iter().all(|b| b.is_ascii_digit() || *b == b'-'))
        {
            self.report_error([target, b": ambiguous redirect"].concat());
            return Ok(false);
        }
        let number = self.io.free_number(10);
        if !self.io.is_valid_fd(number) {
            self.report_error(format!("{number}: Bad file descriptor"));
            return Ok(false);
        }
        let mut own = Undo::default();
        let applied = self.apply_to(kind, number, Some(target), &mut own)?;
        if applied {
            if !self.assign(&name, key, false, number.to_string().into_bytes())? {
                self.report_error([target, b": cannot assign fd to variable"].concat());
                self.undo(own);
                return Ok(false);
            }
            if !self.options.varredir_close {
                // It stays open after the command.
                own.saved.retain(|(saved, _)| *saved != number);
                own.opened.drain(..).for_each(|fd| self.io.release(fd));
            }
        }
        undo.saved.append(&mut own.saved);
        undo.opened.append(&mut own.opened);
        Ok(applied)
    }

    fn apply_to(
        &mut self,
        kind: &RedirectKind,
        number: u32,
        named: Option<&[u8]>,
        undo: &mut Undo,
    ) -> EvalResult<bool> {
        match kind {
            RedirectKind::Duplicate { word, output } => return self.duplicate(word, *output, number, undo),
            RedirectKind::HereDoc(document) => {
                let text = match document.body.get() {
                    Some(word) => self.expand_text(word)?,
                    None => Bytes::new(),
                };
                return self.here_text(&text, number, undo);
            }
            RedirectKind::HereString(word) => {
                let mut text = self.expand_text(word)?;
                text.push(b'\n');
                return self.here_text(&text, number, undo);
            }
            _ => {}
        }
        let Some(word) = file_of(kind) else { return Ok(true) };
        match self.redirect_path(word)? {
            Some(path) => self.open_for(kind, path, number, named, undo),
            None => Ok(false),
        }
    }

    /// Opens the file of a redirection; `named` is the variable that gets the descriptor, which a refusal names.
    fn open_for(
        &mut self,
        kind: &RedirectKind,
        path: Bytes,
        number: u32,
        named: Option<&[u8]>,
        undo: &mut Undo,
    ) -> EvalResult<bool> {
        let create = Open { write: true, create: true, ..Open::default() };
        let how = match kind {
            RedirectKind::ReadWrite(_) => Open { read: true, ..create },
            RedirectKind::Append(_) => Open { append: true, ..create },
            RedirectKind::Clobber(_) | RedirectKind::Write(_) => Open { truncate: true, ..create },
            RedirectKind::Both { append, .. } => Open { append: *append, truncate: !append, ..create },
            _ => Open { read: true, ..Open::default() },
        };
        if path.starts_with(b"/dev/udp/") {
            self.report_error([&path[..], b": UDP does not exist in this sandbox"].concat());
            return Ok(false);
        }
        if self.options.noclobber
            && matches!(kind, RedirectKind::Write(_) | RedirectKind::Both { append: false, .. })
            && rt::stat(&path, true).is_ok_and(|stat| stat.kind() == FileKind::File)
        {
            let shown = named.unwrap_or(&path);
            self.report_error([shown, b": cannot overwrite existing file"].concat());
            return Ok(false);
        }
        let opened = match path.strip_prefix(b"/dev/tcp/") {
            Some(address) => self.connect(address),
            None => self.open_path(&path, how),
        };
        match opened {
            Ok(fd) => {
                self.opened(fd, undo);
                self.point(number, Some(fd), undo);
                if matches!(kind, RedirectKind::Both { .. }) {
                    self.point(2, Some(fd), undo);
                }
                Ok(true)
            }
            Err(errno) => {
                let text = if errno == Errno::ISDIR { "Is a directory" } else { errno.text() };
                self.report_error([&path[..], b": ", text.as_bytes()].concat());
                Ok(false)
            }
        }
    }

    /// The one name that the word of a redirection means.
    pub(crate) fn redirect_path(&mut self, word: &Word) -> EvalResult<Option<Bytes>> {
        let mut fields = Vec::new();
        let noglob = self.options.noglob;
        self.options.noglob |= self.options.posix && !self.options.interactive;
        // It may be that of `$(<file)` among the words of a command, whose patterns wait.
        let globs = self.expansion.pending_globs.take();
        let expanded = self.expand_fields(word, &mut fields);
        self.expansion.pending_globs = globs;
        self.options.noglob = noglob;
        expanded?;
        match <[Bytes; 1]>::try_from(fields) {
            Ok([path]) => Ok(Some(path)),
            Err(_) => {
                self.report_error([&word.raw[..], b": ambiguous redirect"].concat());
                Ok(None)
            }
        }
    }

    /// Opens a file for the script. Names of descriptors mean the script's own.
    pub(crate) fn open_path(&mut self, path: &[u8], how: Open) -> Result<Fd, Errno> {
        let number = match path {
            b"/dev/stdin" => Some(0),
            b"/dev/stdout" => Some(1),
            b"/dev/stderr" => Some(2),
            _ => self.descriptor_path(path).and_then(plain_number).and_then(|n| u32::try_from(n).ok()),
        };
        self.io.flush();
        self.io.has_room()?;
        let fd = match number {
            Some(number) => rt::dup(self.io.fd(number).ok_or(Errno::NOENT)?, 5)?,
            None => rt::open(path, how)?,
        };
        Ok(self.io.track_fd(fd))
    }

    /// Opens the connection of `/dev/tcp/HOST/PORT`. Only servers of this sandbox can be reached.
    fn connect(&mut self, address: &[u8]) -> Result<Fd, Errno> {
        let text = String::from_utf8_lossy(address);
        let (host, port) = text.split_once('/').ok_or(Errno::NOENT)?;
        let port = port.parse().map_err(|_| Errno::INVAL)?;
        let Some(to) = rt::local_address(host, port) else {
            self.report_error(format!(
                "{host}: in this sandbox only localhost can be reached; curl and wget send HTTP requests to allowed hosts"
            ));
            return Err(Errno::INVAL);
        };
        self.io.flush();
        self.io.has_room()?;
        let fd = rt::connect(to).inspect_err(|errno| self.report_error(format!("connect: {}", errno.text())))?;
        Ok(self.io.track_fd(fd))
    }

    /// The number in a path that names a descriptor of the shell.
    fn descriptor_path<'a>(&mut self, path: &'a [u8]) -> Option<&'a [u8]> {
        let rest = path.strip_prefix(b"/proc/");
        let of_process = || {
            let rest = rest?;
            let own = self.own_pid().to_string();
            let rest = rest.strip_prefix(b"self").or_else(|| rest.strip_prefix(own.as_bytes()))?;
            rest.strip_prefix(b"/fd/")
        };
        path.strip_prefix(b"/dev/fd/").or_else(of_process)
    }

    /// `n>&m`, `n>&-`, `n>&m-`, and `>& file`, which depend on the expanded word.
    fn duplicate(&mut self, word: &Word, output: bool, number: u32, undo: &mut Undo) -> EvalResult<bool> {
        let mut fields = Vec::new();
        self.expand_fields(word, &mut fields)?;
        let Ok([text]) = <[Bytes; 1]>::try_from(fields) else {
            self.report_error([&word.raw[..], b": ambiguous redirect"].concat());
            return Ok(false);
        };
        if text == b"-" {
            self.io.flush();
            self.point(number, None, undo);
            self.forget_coprocess_end(number);
            return Ok(true);
        }
        let (digits, moves) = match text.strip_suffix(b"-") {
            Some(digits) if word.raw.ends_with(b"-") => (digits, true),
            _ => (&text[..], false),
        };
        if !digits.iter().all(u8::is_ascii_digit) {
            if output && number == 1 && !moves {
                let kind = RedirectKind::Both { word: Word::default(), append: false };
                return self.open_for(&kind, text, number, None, undo);
            }
            self.report_error([&text[..], b": ambiguous redirect"].concat());
            return Ok(false);
        }
        let from = plain_number(digits).and_then(|n| u32::try_from(n).ok());
        if from == Some(number) {
            // The descriptor does not change, even if it is closed.
            return Ok(true);
        }
        let Some((from, fd)) = from.and_then(|from| Some((from, self.io.fd(from)?))) else {
            let named = if word.literal().is_some() { digits } else { &word.raw };
            self.report_error([named, b": Bad file descriptor"].concat());
            return Ok(false);
        };
        self.point(number, Some(fd), undo);
        if moves {
            self.point(from, None, undo);
            self.forget_coprocess_end(from);
        }
        Ok(true)
    }
}

/// The file that a redirection opens.
fn file_of(kind: &RedirectKind) -> Option<&Word> {
    match kind {
        RedirectKind::Read(word)
        | RedirectKind::ReadWrite(word)
        | RedirectKind::Append(word)
        | RedirectKind::Clobber(word)
        | RedirectKind::Write(word)
        | RedirectKind::Both { word, .. } => Some(word),
        _ => None,
    }
}
