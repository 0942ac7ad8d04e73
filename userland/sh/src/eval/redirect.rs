//! Redirections.

use std::rc::Rc;

use tidebox_rt::{self as rt, Errno, Fd, FileKind, Open};

use crate::expand::lossy;
use crate::io::Table;
use crate::ir::{Bytes, Redirect, RedirectFd, RedirectKind, Word};
use crate::parse::plain_number;
use crate::state::{Run, Shell};
use crate::vars::Key;

/// Text that fits into any pipe, so that writing it cannot wait for a reader.
const PIPE_ROOM: usize = 4096;

/// How to take redirections back.
#[derive(Debug)]
pub(crate) struct Undo {
    table: Option<Table>,
    opened: Vec<Fd>,
}

impl Shell {
    /// Applies redirections; `None` after an error that was complained about, with everything taken back.
    #[inline(never)]
    pub(crate) fn redirect(&mut self, redirects: &[Redirect]) -> Run<Option<Undo>> {
        if redirects.is_empty() {
            return Ok(Some(Undo { table: None, opened: Vec::new() }));
        }
        let mut undo = Undo { table: Some(self.io.table().clone()), opened: Vec::new() };
        for redirect in redirects {
            match self.apply_redirect(redirect, &mut undo.opened) {
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

    /// Takes redirections back. A buffered write that fails now is the command's failure.
    #[inline(never)]
    pub(crate) fn undo(&mut self, undo: Undo) {
        let Some(mut table) = undo.table else { return };
        self.io.flush();
        let error = self.io.take_error();
        // `{name}>file` stays open after the command.
        let kept: Vec<(u32, Fd)> = self
            .io
            .table()
            .iter()
            .filter(|(n, _)| *n >= 10 && !table.iter().any(|(old, _)| old == n))
            .copied()
            .collect();
        table.extend(kept.iter().filter(|(_, fd)| !undo.opened.contains(fd)));
        self.io.set_table(table);
        for fd in undo.opened {
            self.io.close_unused(fd);
        }
        if let Some(errno) = error {
            self.complain(format!("write error: {errno}"));
            self.status = 1;
        }
    }

    /// Applies redirections that stay, as `exec` does; says whether all went well.
    pub(crate) fn redirect_for_good(&mut self, redirects: &[Redirect]) -> Run<bool> {
        if redirects.is_empty() {
            return Ok(true);
        }
        let before = self.io.table().clone();
        let Some(undo) = self.redirect(redirects)? else { return Ok(false) };
        self.io.flush();
        for (_, fd) in before {
            self.io.close_unused(fd);
        }
        for fd in undo.opened {
            self.io.close_unused(fd);
        }
        Ok(true)
    }

    /// Applies one redirection; says whether it went well.
    fn apply_redirect(&mut self, redirect: &Redirect, opened: &mut Vec<Fd>) -> Run<bool> {
        let default = match &redirect.kind {
            RedirectKind::Read(_) | RedirectKind::ReadWrite(_) | RedirectKind::HereDoc(_) => 0,
            RedirectKind::HereString(_) | RedirectKind::Duplicate { output: false, .. } => 0,
            _ => 1,
        };
        let number = match &redirect.fd {
            RedirectFd::Default => default,
            RedirectFd::Number(number) => *number,
            RedirectFd::Variable(name) => return self.apply_variable(&redirect.kind, name, opened),
        };
        self.apply_to(&redirect.kind, number, opened)
    }

    /// `{name}>file`: the shell chooses the number; `{name}>&-` closes the one in the variable.
    fn apply_variable(&mut self, kind: &RedirectKind, name: &Rc<[u8]>, opened: &mut Vec<Fd>) -> Run<bool> {
        if let RedirectKind::Duplicate { word, .. } = kind
            && word.literal() == Some(b"-")
        {
            let number = self.lookup(name).and_then(|text| plain_number(&text)).and_then(|n| u32::try_from(n).ok());
            if let Some(fd) = number.and_then(|n| self.io.fd(n)) {
                self.io.set(number.unwrap_or(0), None);
                self.io.close_unused(fd);
            }
            return Ok(true);
        }
        let number = self.io.free_number(10);
        let mut own = Vec::new();
        let applied = self.apply_to(kind, number, &mut own)?;
        if applied {
            self.assign(name, Key::Whole, false, number.to_string().into_bytes())?;
        } else {
            opened.append(&mut own);
        }
        Ok(applied)
    }

    fn apply_to(&mut self, kind: &RedirectKind, number: u32, opened: &mut Vec<Fd>) -> Run<bool> {
        let create = Open { write: true, create: true, ..Open::default() };
        let (word, how) = match kind {
            RedirectKind::Read(word) => (word, Open { read: true, ..Open::default() }),
            RedirectKind::ReadWrite(word) => (word, Open { read: true, ..create }),
            RedirectKind::Append(word) => (word, Open { append: true, ..create }),
            RedirectKind::Clobber(word) | RedirectKind::Write(word) => (word, Open { truncate: true, ..create }),
            RedirectKind::Both { word, append } => (word, Open { append: *append, truncate: !append, ..create }),
            RedirectKind::Duplicate { word, output } => return self.duplicate(word, *output, number, opened),
            RedirectKind::HereDoc(document) => {
                let text = match document.body.get() {
                    Some(word) => self.expand_text(word)?,
                    None => Bytes::new(),
                };
                return self.here_text(&text, number, opened);
            }
            RedirectKind::HereString(word) => {
                let mut text = self.expand_text(word)?;
                text.push(b'\n');
                return self.here_text(&text, number, opened);
            }
        };
        let Some(path) = self.redirect_path(word)? else { return Ok(false) };
        if self.options.noclobber
            && matches!(kind, RedirectKind::Write(_) | RedirectKind::Both { append: false, .. })
            && rt::stat(&path, true).is_ok_and(|stat| stat.kind() == FileKind::File)
        {
            self.complain([&path[..], b": cannot overwrite existing file"].concat());
            return Ok(false);
        }
        match self.open_path(&path, how) {
            Ok(fd) => {
                opened.push(fd);
                self.io.set(number, Some(fd));
                if matches!(kind, RedirectKind::Both { .. }) {
                    self.io.set(2, Some(fd));
                }
                Ok(true)
            }
            Err(errno) => {
                let text = if errno == Errno::ISDIR { "Is a directory" } else { errno.text() };
                self.complain([&path[..], b": ", text.as_bytes()].concat());
                Ok(false)
            }
        }
    }

    /// The one name that the word of a redirection means.
    fn redirect_path(&mut self, word: &Word) -> Run<Option<Bytes>> {
        let mut fields = Vec::new();
        self.expand_fields(word, &mut fields)?;
        match <[Bytes; 1]>::try_from(fields) {
            Ok([path]) => Ok(Some(path)),
            Err(_) => {
                self.complain([&word.raw[..], b": ambiguous redirect"].concat());
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
            _ => path.strip_prefix(b"/dev/fd/").and_then(plain_number).and_then(|n| u32::try_from(n).ok()),
        };
        self.io.flush();
        let fd = match number {
            Some(number) => rt::dup(self.io.fd(number).ok_or(Errno::NOENT)?, 5)?,
            None => rt::open(path, how)?,
        };
        Ok(self.io.own(fd))
    }

    /// `n>&m`, `n>&-`, `n>&m-`.
    fn duplicate(&mut self, word: &Word, output: bool, number: u32, opened: &mut Vec<Fd>) -> Run<bool> {
        let text = self.expand_text(word)?;
        if text == b"-" {
            self.io.flush();
            self.io.set(number, None);
            return Ok(true);
        }
        let (digits, moves) = match text.strip_suffix(b"-") {
            Some(digits) => (digits, true),
            None => (&text[..], false),
        };
        let Some(from) = plain_number(digits).and_then(|n| u32::try_from(n).ok()) else {
            if output && !text.is_empty() && number == 1 {
                // `>& file` whose word was not known to be a file when it was read.
                let how = Open { write: true, create: true, truncate: true, ..Open::default() };
                return match self.open_path(&text, how) {
                    Ok(fd) => {
                        opened.push(fd);
                        self.io.set(1, Some(fd));
                        self.io.set(2, Some(fd));
                        Ok(true)
                    }
                    Err(errno) => {
                        self.complain([&text[..], b": ", errno.text().as_bytes()].concat());
                        Ok(false)
                    }
                };
            }
            let raw = lossy(&word.raw).into_owned();
            self.complain(format!("{raw}: ambiguous redirect"));
            return Ok(false);
        };
        let Some(fd) = self.io.fd(from) else {
            self.complain(format!("{from}: Bad file descriptor"));
            return Ok(false);
        };
        self.io.set(number, Some(fd));
        if moves && from != number {
            self.io.set(from, None);
        }
        Ok(true)
    }

    /// Makes text readable at a descriptor: in a pipe when it fits, else in a file without a name.
    fn here_text(&mut self, text: &[u8], number: u32, opened: &mut Vec<Fd>) -> Run<bool> {
        let made = if text.len() <= PIPE_ROOM { self.text_in_pipe(text) } else { self.text_in_file(text) };
        match made {
            Ok(fd) => {
                opened.push(fd);
                self.io.set(number, Some(fd));
                Ok(true)
            }
            Err(errno) => {
                self.complain(format!("cannot create temp file for here-document: {errno}"));
                Ok(false)
            }
        }
    }

    fn text_in_pipe(&mut self, text: &[u8]) -> Result<Fd, Errno> {
        let (read, write) = self.io.pipe()?;
        let written = rt::write_all(write, text);
        self.io.close(write);
        match written {
            Ok(()) => Ok(read),
            Err(errno) => {
                self.io.close(read);
                Err(errno)
            }
        }
    }

    fn text_in_file(&mut self, text: &[u8]) -> Result<Fd, Errno> {
        let pid = rt::getids().map_or(0, |ids| ids.pid);
        let path = format!("/tmp/sh-here-{pid}-{}", rt::monotonic_ns()).into_bytes();
        let new = Open { write: true, create: true, exclusive: true, ..Open::default() };
        let write = rt::open(&path, new)?;
        let written = rt::write_all(write, text);
        // What matters was the writing.
        let _ = rt::close(write);
        let read = written.and_then(|()| rt::open(&path, Open { read: true, ..Open::default() }));
        rt::unlink(&path)?;
        Ok(self.io.own(read?))
    }
}
