//! Comparison of an archive with existing files.

use tidebox_gnu::stream::read_at;
use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::{Errno, FileKind, Open, Stat};

use crate::header::Member;
use crate::list::Lines;
use crate::message::{Fatal, error, note_difference, warn};
use crate::names::{Naming, Selection, below, is_excluded, time, transformed};
use crate::options::{Options, Word};
use crate::quote::escaped;
use crate::reader::{RECORD, Reader};
use crate::scan;
use crate::transform::Of;

struct Compare<'a> {
    options: &'a Options,
    naming: Naming,
    lines: Lines,
    base: Option<Vec<u8>>,
    ids: Option<(Names, Names)>,
}

/// Runs `-d`.
pub(crate) fn compare(options: &Options) -> Result<(), Fatal> {
    let mut selection = Selection::new(options);
    let (archive, mut reader) = scan::open(options)?;
    let base = options.words.iter().fold(None, |base: Option<Vec<u8>>, word| match word {
        Word::Folder(next) => Some(below(base.as_deref(), next)),
        _ => base,
    });
    let mut run = Compare { options, naming: Naming::default(), lines: Lines::new(false), base, ids: None };
    let ended = scan::each(options, &mut reader, |reader, member| {
        if let Some(folder) = selection.select(&member.name)
            && !is_excluded(&member, options)
        {
            run.member(reader, &member, folder)?;
        }
        Ok(())
    });
    run.lines.flush()?;
    ended?;
    selection.report();
    scan::close(archive, &mut reader)
}

impl Compare<'_> {
    fn differs(&mut self, name: &[u8], parts: &[&[u8]]) -> Result<(), Fatal> {
        note_difference();
        self.lines.text(&[&escaped(name, true), b": ", &parts.concat()])
    }

    fn member(&mut self, reader: &mut Reader, member: &Member, folder: Option<Vec<u8>>) -> Result<(), Fatal> {
        let safe = self.naming.safe_name(&member.name, self.options, false).to_vec();
        let Some(name) = transformed(&safe, Of::Member, self.options) else {
            return Ok(());
        };
        if self.options.verbose > 0 {
            let mut shown = member.clone();
            shown.name.clone_from(&name);
            self.lines.member(&shown, self.options.verbose > 1, self.options)?;
        }
        let name = name.strip_suffix(b"/").filter(|rest| !rest.is_empty()).unwrap_or(&name).to_vec();
        let folder = folder.or_else(|| self.base.clone());
        let path = below(folder.as_deref(), &name);
        let stat = match tidebox_rt::stat(&path, self.options.follow) {
            Ok(stat) => stat,
            Err(errno) => {
                note_difference();
                warn(&[&escaped(&name, true), b": Warning: Cannot stat: ", errno.text().as_bytes()]);
                return Ok(());
            }
        };
        match (member.kind, stat.kind()) {
            (b'5', FileKind::Dir) => {
                if member.mode != stat.mode & 0o7777 {
                    self.differs(&name, &[b"Mode differs"])?;
                }
                Ok(())
            }
            (b'2', _) => match tidebox_rt::read_link(&path) {
                Ok(text) if text == member.link => Ok(()),
                Ok(_) => self.differs(&name, &[b"Symlink differs"]),
                Err(errno) => {
                    error(&[&escaped(&name, true), b": Cannot readlink: ", errno.text().as_bytes()]);
                    Ok(())
                }
            },
            (b'1', _) => {
                let safe = self.naming.safe_name(&member.link, self.options, true).to_vec();
                let other = tidebox_rt::stat(&below(folder.as_deref(), &safe), false);
                if !other.is_ok_and(|other| (other.dev, other.ino) == (stat.dev, stat.ino)) {
                    self.differs(&name, &[b"Not linked to ", &escaped(&member.link, true)])?;
                }
                Ok(())
            }
            (b'0' | b'7', FileKind::File) => self.file(reader, &name, &path, member, &stat),
            (b'6', FileKind::Pipe) | (b'3', FileKind::CharDevice) | (b'4', FileKind::BlockDevice) => Ok(()),
            _ => self.differs(&name, &[b"File type differs"]),
        }
    }

    fn file(
        &mut self,
        reader: &mut Reader,
        name: &[u8],
        path: &[u8],
        member: &Member,
        stat: &Stat,
    ) -> Result<(), Fatal> {
        if member.mode != stat.mode & 0o7777 {
            self.differs(name, &[b"Mode differs"])?;
        }
        let (users, groups) = self.ids.get_or_insert_with(|| (Names::load(Kind::User), Names::load(Kind::Group)));
        let numeric = self.options.numeric;
        let id = |names: &Names, name: &[u8], id: u64| {
            let named = std::str::from_utf8(name).ok().filter(|name| !numeric && !name.is_empty());
            named.and_then(|name| names.id(name)).map_or(id, u64::from)
        };
        let (uid, gid) = (id(users, &member.uname, member.uid), id(groups, &member.gname, member.gid));
        if uid != u64::from(stat.uid) {
            self.differs(name, &[b"Uid differs"])?;
        }
        if gid != u64::from(stat.gid) {
            self.differs(name, &[b"Gid differs"])?;
        }
        let there = time(stat.mtime_ns);
        if there.0 != member.mtime.0 || (member.mtime.1 != 0 && there.1 != member.mtime.1) {
            self.differs(name, &[b"Mod time differs"])?;
        }
        if stat.size != member.size {
            return self.differs(name, &[b"Size differs"]);
        }
        match self.same_bytes(reader, path)? {
            Ok(true) => Ok(()),
            Ok(false) => self.differs(name, &[b"Contents differ"]),
            Err(errno) => {
                error(&[&escaped(name, true), b": Cannot open: ", errno.text().as_bytes()]);
                Ok(())
            }
        }
    }

    /// Returns whether a file has the content of a member.
    fn same_bytes(&self, reader: &mut Reader, path: &[u8]) -> Result<Result<bool, Errno>, Fatal> {
        let fd = match tidebox_rt::open(path, Open { read: true, ..Open::default() }) {
            Ok(fd) => fd,
            Err(errno) => return Ok(Err(errno)),
        };
        let mut same = true;
        let mut stored = vec![0; RECORD];
        let mut offset = 0;
        let read = loop {
            let got = reader.read(&mut stored).map_err(|error| scan::read_error(self.options, error))?;
            if got == 0 {
                break Ok(());
            }
            let bytes = stored.get(..got).unwrap_or_default();
            same &= matches!(read_at(fd, offset, got), Ok(there) if there == bytes);
            offset += got as u64;
        };
        // Nothing was written to it.
        let _ = tidebox_rt::close(fd);
        Ok(read.map(|()| same))
    }
}
