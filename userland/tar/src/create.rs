//! Adding files to an archive.

mod content;
mod member;

use std::collections::HashMap;

use tidebox_gnu::user::Names;
use tidebox_rt::{Errno, FileKind, Stat};

use crate::archive::{Archive, Identity};
use crate::header::{Format, Member};
use crate::list::Lines;
use crate::message::{Fatal, error, fatal, warn};
use crate::names::{self, Naming, below, time};
use crate::options::{How, Mode, Options, Word};
use crate::quote::escaped;
use crate::transform::Of;
use crate::writer::Writer;

/// Maximum depth of nested directories; deeper ones are reported.
const MAX_DEPTH: usize = 4096;

/// Adds files to an archive, one after the other.
pub(crate) struct Dump<'a> {
    options: &'a Options,
    writer: Writer,
    lines: Lines,
    naming: Naming,
    archive: Identity,
    users: Option<Names>,
    groups: Option<Names>,
    /// Files with several hard links, and the first name that was added.
    links: HashMap<(u32, u64), Vec<u8>>,
    /// With this link count a file has no further names.
    trivial_links: u64,
    /// File system of the directory given on the command line.
    device: Option<u32>,
    /// Index of the command-line argument being added, and its matching options.
    at: usize,
    how: How,
    /// Paths to remove at the end, because directories must be empty by then.
    folders: Vec<Vec<u8>>,
    /// Current content of the archive: for `u`, names and times.
    pub(crate) present: HashMap<Vec<u8>, (i64, u32)>,
}

/// A file that cannot be added is reported; only errors of the archive end the run.
type DumpResult = Result<(), Fatal>;

fn broken_archive(options: &Options, errno: Errno) -> Fatal {
    fatal(&[&escaped(&options.archive, true), b": Cannot write: ", errno.text().as_bytes()])
}

/// Creates a new archive.
pub(crate) fn create(options: &Options) -> DumpResult {
    let (archive, identity) = Archive::create(options)?;
    let writer = Writer::new(archive.fd, options, 0);
    let to_stderr = options.archive == b"-";
    let mut dump = Dump::new(options, writer, identity, to_stderr);
    dump.label()?;
    dump.words(&options.words)?;
    dump.finish()?;
    archive.close()
}

impl<'a> Dump<'a> {
    pub(crate) fn new(options: &'a Options, writer: Writer, archive: Identity, to_stderr: bool) -> Self {
        Self {
            options,
            writer,
            lines: Lines::new(to_stderr),
            naming: Naming::default(),
            archive,
            users: None,
            groups: None,
            links: HashMap::new(),
            at: 0,
            how: How::default(),
            device: None,
            // A single name cannot repeat; with several, one file may be given twice.
            trivial_links: u64::from(
                options.words.iter().filter(|word| !matches!(word, Word::Folder(_))).count() <= 1 && !options.follow,
            ),
            folders: Vec::new(),
            present: HashMap::new(),
        }
    }

    /// Adds everything that the arguments name.
    pub(crate) fn words(&mut self, words: &[Word]) -> DumpResult {
        let mut folder: Option<Vec<u8>> = None;
        for (at, word) in words.iter().enumerate() {
            self.at = at;
            match word {
                Word::Folder(next) => {
                    let path = below(folder.as_deref(), next);
                    match tidebox_rt::stat(&path, true) {
                        Ok(stat) if stat.kind() == FileKind::Dir => folder = Some(path),
                        other => {
                            let errno = other.err().unwrap_or(Errno::NOTDIR);
                            return Err(fatal(&[&escaped(next, true), b": Cannot open: ", errno.text().as_bytes()]));
                        }
                    }
                }
                Word::Name(name, how) => {
                    self.how = *how;
                    let name = trimmed(name);
                    if !self.is_excluded(name) {
                        self.file(folder.as_deref(), name, 0)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the label of the archive.
    fn label(&mut self) -> DumpResult {
        let now = time(tidebox_rt::realtime_ns());
        let Some(label) = &self.options.label else {
            return Ok(());
        };
        let header = Member { name: label.clone(), kind: b'V', mtime: now, ..Member::default() };
        if self.options.verbose > 0 {
            self.lines.member(&header, self.options.verbose > 1, self.options)?;
        }
        if self.options.format != Format::Pax {
            return self.put_in(|writer| writer.header(&header, &[]));
        }
        self.put_in(|writer| writer.global(crate::label::KEY, label, now))
    }

    /// Ends the archive, and removes the files to be removed.
    pub(crate) fn finish(&mut self) -> DumpResult {
        self.put_in(|writer| writer.finish())?;
        self.flush()?;
        for folder in self.folders.iter().rev() {
            if let Err(errno) = tidebox_rt::remove_dir(folder) {
                error(&[&escaped(folder, true), b": Cannot rmdir: ", errno.text().as_bytes()]);
            }
        }
        if self.options.totals {
            crate::totals(b"written", self.writer.total, self.options.began);
        }
        if !self.options.idle_excludes.is_empty() {
            warn(&[b"The following options were used after any non-optional arguments in archive create or update mode.  \
                     These options are positional and affect only arguments that follow them.  Please, rearrange them properly."]);
        }
        for (option, value) in &self.options.idle_excludes {
            let value = value.as_ref().map(|value| [b" ".as_slice(), &crate::quote::quoted(value)].concat());
            error(&[option.as_bytes(), &value.unwrap_or_default(), b" has no effect"]);
        }
        Ok(())
    }

    fn put_in(&mut self, put: impl FnOnce(&mut Writer) -> Result<(), Errno>) -> DumpResult {
        put(&mut self.writer).map_err(|errno| broken_archive(self.options, errno))
    }

    fn flush(&mut self) -> DumpResult {
        self.lines.flush()
    }

    fn is_excluded(&self, name: &[u8]) -> bool {
        self.options.excludes.matches(name, self.at)
    }

    /// Reports an error of a file.
    fn cannot(&self, what: &str, name: &[u8], errno: Errno) {
        let parts: &[&[u8]] = &[&escaped(name, true), b": Cannot ", what.as_bytes(), b": ", errno.text().as_bytes()];
        if self.options.ignore_failed_read {
            let text = parts.concat();
            let at = escaped(name, true).len();
            let (name, rest) = text.split_at_checked(at).unwrap_or((&text, b""));
            warn(&[name, b": Warning", rest]);
        } else {
            error(parts);
        }
    }

    /// Adds one file, and everything below it.
    fn file(&mut self, folder: Option<&[u8]>, name: &[u8], depth: usize) -> DumpResult {
        let path = below(folder, name);
        let stat = match tidebox_rt::stat(&path, self.options.follow) {
            Ok(stat) => stat,
            Err(errno) => {
                self.cannot("stat", name, errno);
                return Ok(());
            }
        };
        if self.archive.is_some_and(|archive| archive == (stat.dev, stat.ino)) {
            warn(&[&escaped(name, true), b": file is the archive; not dumped"]);
            return Ok(());
        }
        if stat.kind() == FileKind::Dir {
            return self.folder(folder, name, &path, &stat, depth);
        }
        let older =
            |newer: ((i64, u32), bool)| time(stat.mtime_ns) < newer.0 && (!newer.1 || time(stat.ctime_ns) < newer.0);
        if self.options.newer.is_some_and(older) {
            return Ok(());
        }
        let Some(mut member) = self.member(name, &stat) else {
            return Ok(());
        };
        if self.options.mode == Mode::Update && self.is_present(&member, &stat) {
            return Ok(());
        }
        if stat.nlink > self.trivial_links && !self.options.hard_follow && self.is_link(name, &mut member, &stat)? {
            return self.removed(&path);
        }
        match stat.kind() {
            FileKind::File => return self.regular(&path, name, member, &stat),
            FileKind::Symlink => {
                let text = match tidebox_rt::read_link(&path) {
                    Ok(text) => text,
                    Err(errno) => {
                        self.cannot("readlink", name, errno);
                        return Ok(());
                    }
                };
                member.kind = b'2';
                member.link = names::transformed(&text, Of::SymbolicLink, self.options).unwrap_or(text);
                (member.stored, member.size) = (0, 0);
                self.remember(name, &stat);
            }
            FileKind::Pipe => (member.kind, member.stored, member.size) = (b'6', 0, 0),
            FileKind::CharDevice => (member.kind, member.stored, member.size) = (b'3', 0, 0),
            FileKind::BlockDevice => (member.kind, member.stored, member.size) = (b'4', 0, 0),
            FileKind::Socket => {
                warn(&[&escaped(name, true), b": socket ignored"]);
                return Ok(());
            }
            _ => {
                warn(&[&escaped(name, true), b": Unknown file type; file ignored"]);
                return Ok(());
            }
        }
        if self.header(name, &member, &stat)? { self.removed(&path) } else { Ok(()) }
    }

    fn removed(&mut self, path: &[u8]) -> DumpResult {
        if self.options.remove_files
            && let Err(errno) = tidebox_rt::unlink(path)
        {
            error(&[&escaped(path, true), b": Cannot unlink: ", errno.text().as_bytes()]);
        }
        Ok(())
    }

    /// Adds a directory and its content.
    fn folder(&mut self, folder: Option<&[u8]>, name: &[u8], path: &[u8], stat: &Stat, depth: usize) -> DumpResult {
        if depth > MAX_DEPTH {
            error(&[&escaped(name, true), b": folders are nested too deep; not dumped"]);
            return Ok(());
        }
        let device = if depth == 0 { *self.device.insert(stat.dev) } else { self.device.unwrap_or(stat.dev) };
        if self.options.one_file_system && device != stat.dev {
            if self.options.verbose > 0 {
                warn(&[&escaped(&[name, b"/"].concat(), true), b": file is on a different filesystem; not dumped"]);
            }
            return Ok(());
        }
        let present = self.options.mode == Mode::Update;
        if let Some(member) = self.member(name, stat)
            && !(present && self.is_present(&member, stat))
            // Do not descend into directories whose names the format cannot store.
            && !self.header(name, &member, stat)?
        {
            return Ok(());
        }
        if !self.how.recursive {
            return Ok(());
        }
        let mut entries = match tidebox_rt::read_dir(path) {
            Ok(entries) => entries,
            Err(errno) => {
                self.cannot("open", name, errno);
                return Ok(());
            }
        };
        if self.options.sorted {
            entries.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let slash: &[u8] = if name.ends_with(b"/") { b"" } else { b"/" };
        for entry in entries {
            let inner = [name, slash, &entry.name].concat();
            if !self.is_excluded(&inner) {
                self.file(folder, &inner, depth + 1)?;
            }
        }
        if self.options.remove_files && name != b"." {
            self.folders.push(path.to_vec());
        }
        Ok(())
    }
}

/// Strips trailing slashes from a name.
fn trimmed(name: &[u8]) -> &[u8] {
    let mut rest = name;
    while let Some(shorter) = rest.strip_suffix(b"/").filter(|shorter| !shorter.is_empty()) {
        rest = shorter;
    }
    rest
}
