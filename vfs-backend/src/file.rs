//! Reading, listing and changing single files.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use tidebox_core::edit::{self, Edit};
use tidebox_core::page::{Page, PageReader};
use tidebox_core::{
    Dialect, EditRequest, EditResponse, FileError, FileErrorCode, FileInfo, FileKind, FileResult, LsResponse,
    ReadRequest, ReadResponse, SandboxPath, WriteRequest, WriteResponse, mime,
};
use tidebox_kernel::fs::{Contents, Fs, Ino, Kind, Stat, Target};
use tidebox_kernel::{Errno, Kernel};

use crate::USER;
use crate::refusal::{not_regular, refusal, root_refusal};
use crate::turn::yield_now;

/// Permission to read, as `access` counts.
pub(crate) const READ: u32 = 4;
/// Permission to write.
pub(crate) const WRITE: u32 = 2;
/// Permission to go through a directory.
pub(crate) const ENTER: u32 = 1;

/// Mode of new files and of new directories, as a process with umask 022 would make them.
pub(crate) const FILE_MODE: u32 = 0o644;
const DIRECTORY_MODE: u32 = 0o755;

/// How much of a file is looked at in one go, and after how many of those others have a turn.
const PIECE_BYTES: usize = 64 * 1024;
pub(crate) const PIECES_PER_TURN: u64 = 64;

/// The inode at a path. What the kernel makes up below `/proc` is no regular file.
pub(crate) fn locate(fs: &Fs, path: &[u8], follow: bool) -> Result<Ino, FileError> {
    match fs.walk(&USER, fs.root(), path, follow) {
        Ok(Target::Node(ino)) => Ok(ino),
        Ok(Target::Proc(_)) => Err(not_regular(path)),
        Err(errno) => Err(refusal(errno, path)),
    }
}

/// The regular file at a path, which the user may use in this way.
pub(crate) fn open(fs: &Fs, path: &[u8], want: u32) -> Result<(Ino, Stat), FileError> {
    let ino = locate(fs, path, true)?;
    let stat = fs.stat(ino).map_err(|errno| refusal(errno, path))?;
    match stat.kind {
        Kind::File => {}
        Kind::Dir => return Err(refusal(Errno::Isdir, path)),
        Kind::Symlink | Kind::Device(_) | Kind::Fifo => return Err(not_regular(path)),
    }
    fs.access(&USER, ino, want).map_err(|errno| refusal(errno, path))?;
    Ok((ino, stat))
}

pub(crate) fn modified(stat: &Stat) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(stat.mtime))
}

pub(crate) fn info(path: Vec<u8>, stat: &Stat) -> FileInfo {
    let kind = match stat.kind {
        Kind::File => FileKind::File,
        Kind::Dir => FileKind::Directory,
        Kind::Symlink => FileKind::Symlink,
        Kind::Device(_) | Kind::Fifo => FileKind::Other,
    };
    FileInfo { path, kind, size: (kind == FileKind::File).then_some(stat.size), modified: modified(stat) }
}

pub(crate) fn ls(fs: &Fs, path: &SandboxPath, dialect: Dialect) -> FileResult<LsResponse> {
    let bytes = path.as_bytes();
    let dir = match fs.walk(&USER, fs.root(), bytes, true) {
        Ok(Target::Node(ino)) => ino,
        Ok(Target::Proc(_)) => return Err(not_regular(bytes)),
        Err(Errno::Noent) if dialect.missing_directory_is_empty() => return Ok(LsResponse::default()),
        Err(errno) => return Err(root_refusal(errno, bytes)),
    };
    let is_dir = fs.stat(dir).map(|stat| matches!(stat.kind, Kind::Dir)).unwrap_or(false);
    if !is_dir {
        return Err(root_refusal(Errno::Notdir, bytes));
    }
    fs.access(&USER, dir, READ).and_then(|()| fs.check_dir(dir, None)).map_err(|errno| refusal(errno, bytes))?;
    let entries = fs.read_dir(dir, None).filter_map(|(name, ino, _)| Some(info(path.join(&name), &fs.stat(ino).ok()?)));
    Ok(LsResponse { entries: entries.collect() })
}

/// A file to read, taken out from under the kernel's lock: it stays as it was.
#[derive(Debug)]
pub(crate) struct Opened {
    contents: Contents,
    modified: Option<SystemTime>,
}

impl Opened {
    pub(crate) fn new(fs: &Fs, path: &SandboxPath) -> FileResult<Self> {
        let (ino, stat) = open(fs, path.as_bytes(), READ)?;
        let contents = fs.contents(ino).map_err(|errno| refusal(errno, path.as_bytes()))?;
        Ok(Self { contents, modified: modified(&stat) })
    }

    /// A copy of all bytes, unless there are more than `most`.
    pub(crate) fn whole(&self, most: u64) -> Option<Vec<u8>> {
        (self.contents.len() <= most).then(|| self.contents.to_vec())
    }

    pub(crate) async fn read(&self, request: &ReadRequest, dialect: Dialect) -> FileResult<ReadResponse> {
        let path = request.path.as_bytes();
        let limit = request.limit.unwrap_or(dialect.read_limit());
        // The tools take what has a binary extension for binary, so text under one must come as bytes. That a file is
        // empty comes before its type: there is nothing to show but the reminder.
        let empty = self.contents.is_empty();
        let by_name = !empty && mime::has_binary_extension(path);
        match if by_name { None } else { self.page(request.offset, limit).await? } {
            None => self.binary(request, dialect),
            Some(page) => Ok(ReadResponse::of_page(page, request, dialect, self.modified)),
        }
    }

    /// The page asked for; `None` when the file is not text.
    async fn page(&self, offset: u64, limit: u64) -> FileResult<Option<Page>> {
        let mut reader = PageReader::new(offset, limit);
        let mut pieces = Pieces::new(&self.contents);
        while let Some((number, piece)) = pieces.next() {
            reader.push(piece);
            if !reader.is_text() {
                return Ok(None);
            }
            if number % PIECES_PER_TURN == 0 {
                yield_now().await;
            }
        }
        reader.finish()
    }

    fn binary(&self, request: &ReadRequest, dialect: Dialect) -> FileResult<ReadResponse> {
        if self.contents.len() > dialect.binary_bytes() {
            return Err(ReadResponse::too_large(request, dialect));
        }
        let bytes = self.contents.load().map_err(|errno| refusal(errno, request.path.as_bytes()))?.into_owned();
        Ok(ReadResponse::of_bytes(bytes, request, self.modified))
    }
}

/// A file's bytes piece by piece, so that a large one never lies in memory twice.
#[derive(Debug)]
pub(crate) struct Pieces<'a> {
    contents: &'a Contents,
    offset: u64,
    buffer: Vec<u8>,
    taken: u64,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(contents: &'a Contents) -> Self {
        Self { contents, offset: 0, buffer: Vec::new(), taken: 0 }
    }

    /// The next piece and its number, from 1.
    pub(crate) fn next(&mut self) -> Option<(u64, &[u8])> {
        let left = self.contents.len().saturating_sub(self.offset);
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
        self.buffer.resize(wanted, 0);
        let got = self.contents.read_at(self.offset, &mut self.buffer);
        self.offset = self.offset.saturating_add(got as u64);
        self.taken = self.taken.saturating_add(1);
        self.buffer.get(..got).filter(|piece| !piece.is_empty()).map(|piece| (self.taken, piece))
    }
}

pub(crate) fn write(kernel: &mut Kernel, request: &WriteRequest, dialect: Dialect) -> FileResult<WriteResponse> {
    let created = put(kernel, &request.path, &request.content, dialect.write_replaces())?;
    Ok(WriteResponse { path: request.path.clone(), created: created.new })
}

/// A file that was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Put {
    pub(crate) ino: Ino,
    /// Whether it was not there before.
    pub(crate) new: bool,
}

/// Creates a file or replaces its content. When the content does not fit, everything is as it was, except for directories
/// made on the way.
pub(crate) fn put(kernel: &mut Kernel, path: &SandboxPath, content: &[u8], replace: bool) -> FileResult<Put> {
    let now = kernel.now();
    let single = kernel.limits().single_file_bytes;
    let fs = kernel.fs_mut();
    let bytes = path.as_bytes();
    let refuse = |errno| refusal(errno, bytes);
    if content.len() as u64 > single {
        return Err(refuse(Errno::Fbig));
    }
    if let Some(parent) = path.parent() {
        make_directory(fs, &parent, now)?;
    }
    let (ino, new) = match open(fs, bytes, WRITE) {
        Ok(_) if !replace => return Err(refuse(Errno::Exist)),
        Ok((ino, _)) => (ino, false),
        Err(error) if error.code == FileErrorCode::FileNotFound => {
            fs.create(&USER, fs.root(), bytes, FILE_MODE, false, now).map_err(refuse)?
        }
        Err(error) => return Err(error),
    };
    if let Err(errno) = fs.write_all(ino, content, now) {
        if new {
            // It was made a moment ago by the same user; if it cannot be removed, an empty file stays.
            let _ = fs.unlink(&USER, fs.root(), bytes, now);
        }
        return Err(refuse(errno));
    }
    Ok(Put { ino, new })
}

/// Makes a directory, and those above it, where they are not there.
pub(crate) fn make_directory(fs: &mut Fs, path: &SandboxPath, now: u64) -> FileResult<()> {
    let refuse = |errno| refusal(errno, path.as_bytes());
    match fs.walk(&USER, fs.root(), path.as_bytes(), true) {
        Err(Errno::Noent) => {}
        Err(errno) => return Err(refuse(errno)),
        Ok(_) => return Ok(()),
    }
    let mut at = fs.root();
    for name in path.as_bytes().split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
        let target = match fs.walk(&USER, at, name, true) {
            Err(Errno::Noent) => {
                fs.mkdir(&USER, at, name, DIRECTORY_MODE, now).map_err(refuse)?;
                fs.walk(&USER, at, name, true)
            }
            found => found,
        };
        match target.map_err(refuse)? {
            Target::Node(ino) => at = ino,
            Target::Proc(_) => return Err(refuse(Errno::Acces)),
        }
    }
    Ok(())
}

pub(crate) fn edit(kernel: &mut Kernel, request: &EditRequest, dialect: Dialect) -> FileResult<EditResponse> {
    let now = kernel.now();
    let max_bytes = kernel.limits().single_file_bytes;
    let fs = kernel.fs_mut();
    let path = request.path.as_bytes();
    let (ino, _) = open(fs, path, READ | WRITE)?;
    let contents = fs.contents(ino).map_err(|errno| refusal(errno, path))?;
    let bytes: Cow<'_, [u8]> = contents.load().map_err(|errno| refusal(errno, path))?;
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Err(FileError::refused(FileErrorCode::NotText, path));
    };
    let wanted = Edit { old: &request.old, new: &request.new, replace_all: request.replace_all, dialect, max_bytes };
    let replaced = edit::replace(text, &wanted)?;
    fs.write_all(ino, replaced.text.as_bytes(), now).map_err(|errno| refusal(errno, path))?;
    Ok(EditResponse { path: request.path.clone(), occurrences: replaced.occurrences })
}
