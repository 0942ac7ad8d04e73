//! Extracting files from an archive.

mod content;
mod link;
mod list;
mod obstacle;

use std::collections::HashSet;

use tidebox_rt::{Errno, FileKind};

pub(crate) use list::list;

use crate::child;
use crate::header::Member;
use crate::list::Lines;
use crate::message::{Fatal, error, fatal, warn};
use crate::names::{Naming, Selection, below, is_excluded, leads_up, transformed};
use crate::options::{Old, Options, Word};
use crate::quote::{escaped, quoted};
use crate::reader::{RECORD, ReadError, Reader};
use crate::scan;
use crate::transform::Of;

/// A symbolic link with an external target is created last, so that nothing is extracted through it. Until then a placeholder
/// file has its name.
struct Delayed {
    target: Vec<u8>,
    mtime: (i64, u32),
    /// The placeholder file, under all its names.
    identity: (u32, u64),
    places: Vec<Vec<u8>>,
}

/// Extracts files from an archive.
struct Extract<'a> {
    options: &'a Options,
    naming: Naming,
    lines: Lines,
    umask: u32,
    keeps_modes: bool,
    /// Directory of members that are not requested by name.
    base: Option<Vec<u8>>,
    /// Directories get their modes and times last: a path and its attributes.
    folders: Vec<(Vec<u8>, u32, (i64, u32))>,
    delayed: Vec<Delayed>,
    /// Directories known to exist.
    existing: HashSet<Vec<u8>>,
}

/// Runs `-x`.
pub(crate) fn extract(options: &Options) -> Result<(), Fatal> {
    let mut selection = Selection::new(options);
    let (archive, mut reader) = scan::open(options)?;
    let mut base: Option<Vec<u8>> = None;
    let empty = !archive.is_piped() && reader.peek().is_ok_and(|head| head.len() < 512);
    for word in &options.words {
        if let Word::Folder(next) = word
            && !empty
        {
            let path = below(base.as_deref(), next);
            match tidebox_rt::stat(&path, true) {
                Ok(stat) if stat.kind() == FileKind::Dir => base = Some(path),
                other => {
                    let errno = other.err().unwrap_or(Errno::NOTDIR);
                    return Err(fatal(&[&escaped(next, true), b": Cannot open: ", errno.text().as_bytes()]));
                }
            }
        }
    }
    let root = tidebox_rt::getids().is_ok_and(|ids| ids.uid == 0);
    let mut run = Extract {
        options,
        naming: Naming::default(),
        lines: Lines::new(options.to_stdout),
        umask: tidebox_rt::umask(None).unwrap_or(0o022),
        keeps_modes: options.keep_modes.unwrap_or(root),
        base,
        folders: Vec::new(),
        delayed: Vec::new(),
        existing: HashSet::new(),
    };
    let ended = scan::each(options, &mut reader, |reader, member| {
        if let Some(folder) = selection.select(&member.name)
            && !is_excluded(&member, options)
        {
            run.member(reader, &member, folder)?;
        }
        Ok(())
    });
    // Everything extracted before the end of a damaged archive is kept, with its directories and links.
    run.finish();
    run.lines.flush()?;
    ended?;
    selection.report();
    if options.totals {
        crate::totals(b"read", reader.total.next_multiple_of(RECORD as u64), options.began);
    }
    scan::close(archive, &mut reader)
}

impl Extract<'_> {
    fn member(&mut self, reader: &mut Reader, member: &Member, folder: Option<Vec<u8>>) -> Result<(), Fatal> {
        if member.kind == b'V' {
            return self.list(member, None);
        }
        let safe = self.naming.safe_name(&member.name, self.options, false).to_vec();
        let link = if member.kind == b'1' {
            self.naming.safe_name(&member.link, self.options, true).to_vec()
        } else {
            member.link.clone()
        };
        if !self.options.absolute && leads_up(&member.name) {
            error(&[&escaped(&member.name, true), b": Member name contains '..'"]);
            return Ok(());
        }
        let Some(name) = transformed(&safe, Of::Member, self.options) else {
            return Ok(());
        };
        self.list(member, Some(&name))?;
        let name = name.strip_suffix(b"/").filter(|rest| !rest.is_empty()).unwrap_or(&name);
        if let Some(command) = &self.options.command {
            return match member.kind {
                b'0' | b'7' => child::feed(command, self.options, reader, member, name),
                _ => Ok(()),
            };
        }
        if self.options.to_stdout {
            return match member.kind {
                b'1'..=b'6' => Ok(()),
                b'0' | b'7' => self.print(reader, member),
                kind => {
                    unknown(name, kind);
                    self.print(reader, member)
                }
            };
        }
        self.unpack(reader, member, name, link, folder.or_else(|| self.base.clone()))
    }

    /// Prints a member; with `--show-transformed-names` under its extracted name.
    fn list(&mut self, member: &Member, transformed: Option<&[u8]>) -> Result<(), Fatal> {
        if self.options.verbose == 0 {
            return Ok(());
        }
        let long = self.options.verbose > 1;
        match transformed.filter(|_| self.options.show_transformed) {
            Some(name) => {
                let shown = Member { name: name.to_vec(), ..member.clone() };
                self.lines.member(&shown, long, self.options)
            }
            None => self.lines.member(member, long, self.options),
        }
    }

    /// Creates a member below a directory.
    fn unpack(
        &mut self,
        reader: &mut Reader,
        member: &Member,
        name: &[u8],
        link: Vec<u8>,
        folder: Option<Vec<u8>>,
    ) -> Result<(), Fatal> {
        let path = below(folder.as_deref(), name);
        match member.kind {
            b'5' => self.folder(name, &path, member),
            b'2' => {
                let target = transformed(&link, Of::SymbolicLink, self.options).unwrap_or(link);
                self.symbolic_link(name, &path, &target, member);
            }
            b'1' => {
                let target = transformed(&link, Of::HardLink, self.options).unwrap_or(link);
                self.hard_link(name, &path, &target, folder.as_deref());
            }
            b'3' | b'4' => error(&[&escaped(name, true), b": Cannot mknod: ", Errno::PERM.text().as_bytes()]),
            b'6' => self.fifo(name, &path, member),
            b'0' | b'7' => return self.file(reader, name, &path, member),
            kind => {
                unknown(name, kind);
                return self.file(reader, name, &path, member);
            }
        }
        Ok(())
    }

    fn folder(&mut self, name: &[u8], path: &[u8], member: &Member) {
        let keeps_links = self.options.keep_dir_symlink;
        let keeps_attributes = self.options.keep_dirs || matches!(self.options.old, Old::Keep | Old::Skip);
        let mut existed = false;
        let created = {
            let mut attempt = || match tidebox_rt::make_dir(path) {
                Err(Errno::EXIST) => match tidebox_rt::stat(path, keeps_links) {
                    Ok(stat) if stat.kind() == FileKind::Dir => {
                        existed = true;
                        Ok(())
                    }
                    _ => Err(Errno::EXIST),
                },
                other => other,
            };
            if path == b"." || path == b"/" {
                Some(attempt().or(Ok(())))
            } else {
                self.make(name, path, Some(member), attempt)
            }
        };
        match created {
            None => {}
            Some(Err(errno)) => error(&[&escaped(name, true), b": Cannot mkdir: ", errno.text().as_bytes()]),
            Some(Ok(())) => {
                if existed && self.options.old == Old::Skip && self.options.verbose > 0 {
                    warn(&[&escaped(name, true), b": skipping existing file"]);
                }
                if !(existed && keeps_attributes) {
                    if !existed {
                        // Until the end its owner may create files in it.
                        let _ = tidebox_rt::chmod(path, 0o700 | self.mode(member));
                    }
                    self.folders.push((path.to_vec(), self.mode(member), member.mtime));
                }
            }
        }
    }

    fn fifo(&mut self, name: &[u8], path: &[u8], member: &Member) {
        let mode = self.mode(member);
        match self.make(name, path, Some(member), || tidebox_rt::make_fifo(path, mode & 0o777)) {
            None => {}
            Some(Err(errno)) => error(&[&escaped(name, true), b": Cannot mkfifo: ", errno.text().as_bytes()]),
            Some(Ok(())) => self.set_attributes(name, path, member),
        }
    }

    fn mode(&self, member: &Member) -> u32 {
        if self.keeps_modes { member.mode } else { member.mode & 0o777 & !self.umask }
    }

    /// Creates the deferred links, and sets modes and times of directories.
    fn finish(&mut self) {
        for delayed in std::mem::take(&mut self.delayed) {
            for place in &delayed.places {
                let is_placeholder =
                    tidebox_rt::stat(place, false).is_ok_and(|stat| (stat.dev, stat.ino) == delayed.identity);
                if !is_placeholder {
                    continue;
                }
                match tidebox_rt::unlink(place).and_then(|()| tidebox_rt::symlink(&delayed.target, place)) {
                    Ok(()) => self.times(place, place, delayed.mtime, false),
                    Err(errno) => error(&[
                        &escaped(place, true),
                        b": Cannot create symlink to ",
                        &quoted(&delayed.target),
                        b": ",
                        errno.text().as_bytes(),
                    ]),
                }
            }
        }
        for (path, mode, mtime) in std::mem::take(&mut self.folders).into_iter().rev() {
            // The last entry for a directory takes precedence, and a directory that was replaced by a link is skipped.
            if !tidebox_rt::stat(&path, self.options.keep_dir_symlink).is_ok_and(|stat| stat.kind() == FileKind::Dir) {
                continue;
            }
            self.times(&path, &path, mtime, true);
            if let Err(errno) = tidebox_gnu::mode::keep(&path, mode) {
                let text = format!(": Cannot change mode to {}: {}", tidebox_gnu::mode::letters(mode), errno.text());
                error(&[&escaped(&path, true), text.as_bytes()]);
            }
        }
    }
}

fn unknown(name: &[u8], kind: u8) {
    warn(&[&escaped(name, true), b": Unknown file type '", &[kind], b"', extracted as normal file"]);
}

/// Reports that an archive ends within a file: once for the file and once for the archive.
fn read_error_within(options: &Options, error: ReadError) -> Fatal {
    if error == ReadError::Ended {
        warn(&[b"Unexpected EOF in archive"]);
    }
    scan::read_error(options, error)
}

/// Error while extracting content.
enum ContentError {
    Write(Errno),
    Fatal(Fatal),
}
