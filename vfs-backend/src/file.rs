//! Reading, listing and changing single files.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use tidebox_core::edit::{self, Edit};
use tidebox_core::page::{Page, PageReader};
use tidebox_core::{
    Dialect, EditRequest, EditResponse, FileError, FileErrorCode, FileInfo, FileKind, FileResult, LsResponse,
    ReadRequest, ReadResponse, SandboxPath, WriteRequest, WriteResponse, mime,
};
use tidebox_kernel::fs::{Contents, Fs, Ino, Kind, Resolved, Stat};
use tidebox_kernel::{Errno, Kernel};

use crate::USER;
use crate::file_error::{file_error, not_regular, search_error};
use crate::yield_now::yield_now;

/// Read permission, as in `access`.
pub(crate) const READ: u32 = 4;
/// Write permission.
pub(crate) const WRITE: u32 = 2;
/// Search permission of a directory.
pub(crate) const SEARCH: u32 = 1;

/// Permission to execute a file.
pub(crate) const EXECUTE: u32 = 1;

/// Mode of new files, as created by a process with umask 022.
pub(crate) const FILE_MODE: u32 = 0o644;
const DIRECTORY_MODE: u32 = 0o755;

/// Bytes of a file that are processed at a time, and the number of such chunks between two yields.
const CHUNK_BYTES: usize = 64 * 1024;
pub(crate) const CHUNKS_PER_YIELD: u64 = 64;

/// Returns the inode at a path. Generated files below `/proc` are not regular files.
pub(crate) fn locate(fs: &Fs, path: &[u8], follow: bool) -> Result<Ino, FileError> {
    match fs.walk(&USER, fs.root(), path, follow) {
        Ok(Resolved::Node(ino)) => Ok(ino),
        Ok(Resolved::Proc(_)) => Err(not_regular(path)),
        Err(errno) => Err(file_error(errno, path)),
    }
}

/// Opens the regular file at a path with the requested permission of the user.
pub(crate) fn open(fs: &Fs, path: &[u8], permission: u32) -> Result<(Ino, Stat), FileError> {
    let ino = locate(fs, path, true)?;
    let stat = fs.stat(ino).map_err(|errno| file_error(errno, path))?;
    match stat.kind {
        Kind::File => {}
        Kind::Dir => return Err(file_error(Errno::Isdir, path)),
        Kind::Symlink | Kind::Device(_) | Kind::Fifo => return Err(not_regular(path)),
    }
    fs.access(&USER, ino, permission).map_err(|errno| file_error(errno, path))?;
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
        Ok(Resolved::Node(ino)) => ino,
        Ok(Resolved::Proc(_)) => return Err(not_regular(bytes)),
        Err(Errno::Noent) if dialect.missing_directory_is_empty() => return Ok(LsResponse::default()),
        Err(errno) => return Err(search_error(errno, bytes)),
    };
    let is_dir = fs.stat(dir).map(|stat| matches!(stat.kind, Kind::Dir)).unwrap_or(false);
    if !is_dir {
        return Err(search_error(Errno::Notdir, bytes));
    }
    fs.access(&USER, dir, READ).and_then(|()| fs.check_dir(dir, None)).map_err(|errno| file_error(errno, bytes))?;
    let entries = fs.read_dir(dir, None).filter_map(|(name, ino, _)| Some(info(path.join(&name), &fs.stat(ino).ok()?)));
    Ok(LsResponse { entries: entries.collect() })
}

/// A file to read without the kernel's lock. Its content does not change.
#[derive(Debug)]
pub(crate) struct FileReader {
    contents: Contents,
    modified: Option<SystemTime>,
}

impl FileReader {
    pub(crate) fn new(fs: &Fs, path: &SandboxPath) -> FileResult<Self> {
        let (ino, stat) = open(fs, path.as_bytes(), READ)?;
        let contents = fs.contents(ino).map_err(|errno| file_error(errno, path.as_bytes()))?;
        Ok(Self { contents, modified: modified(&stat) })
    }

    /// Copies all bytes, unless there are more than `limit`.
    pub(crate) fn read_all(&self, limit: u64) -> Option<Vec<u8>> {
        (self.contents.len() <= limit).then(|| self.contents.to_vec())
    }

    pub(crate) async fn read(&self, request: &ReadRequest, dialect: Dialect) -> FileResult<ReadResponse> {
        let path = request.path.as_bytes();
        let limit = request.limit.unwrap_or(dialect.read_limit());
        // The tools treat a file with a binary extension as binary, so text under one must be returned as bytes. An
        // empty file is checked before its type, because only a reminder is shown for it.
        let empty = self.contents.is_empty();
        let by_name = !empty && mime::has_binary_extension(path);
        match if by_name { None } else { self.page(request.offset, limit).await? } {
            None => self.binary(request, dialect),
            Some(page) => Ok(ReadResponse::from_page(page, request, dialect, self.modified)),
        }
    }

    /// Returns the requested page; `None` if the file is not text.
    async fn page(&self, offset: u64, limit: u64) -> FileResult<Option<Page>> {
        let mut reader = PageReader::new(offset, limit);
        let mut chunks = ChunkReader::new(&self.contents);
        while let Some((number, chunk)) = chunks.next() {
            reader.push(chunk);
            if !reader.is_text() {
                return Ok(None);
            }
            if number % CHUNKS_PER_YIELD == 0 {
                yield_now().await;
            }
        }
        reader.finish()
    }

    fn binary(&self, request: &ReadRequest, dialect: Dialect) -> FileResult<ReadResponse> {
        if self.contents.len() > dialect.binary_bytes() {
            return Err(ReadResponse::too_large(request, dialect));
        }
        let bytes = self.contents.load().map_err(|errno| file_error(errno, request.path.as_bytes()))?.into_owned();
        Ok(ReadResponse::from_bytes(bytes, request, self.modified))
    }
}

/// Reads a file in chunks, so that a large one is never in memory twice.
#[derive(Debug)]
pub(crate) struct ChunkReader<'a> {
    contents: &'a Contents,
    offset: u64,
    buffer: Vec<u8>,
    taken: u64,
}

impl<'a> ChunkReader<'a> {
    pub(crate) fn new(contents: &'a Contents) -> Self {
        Self { contents, offset: 0, buffer: Vec::new(), taken: 0 }
    }

    /// Returns the next chunk and its number, from 1.
    pub(crate) fn next(&mut self) -> Option<(u64, &[u8])> {
        let left = self.contents.len().saturating_sub(self.offset);
        let requested = usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK_BYTES);
        self.buffer.resize(requested, 0);
        let got = self.contents.read_at(self.offset, &mut self.buffer);
        self.offset = self.offset.saturating_add(got as u64);
        self.taken = self.taken.saturating_add(1);
        self.buffer.get(..got).filter(|chunk| !chunk.is_empty()).map(|chunk| (self.taken, chunk))
    }
}

pub(crate) fn write(kernel: &mut Kernel, request: &WriteRequest, dialect: Dialect) -> FileResult<WriteResponse> {
    let created = write_file(kernel, &request.path, &request.content, dialect.write_replaces())?;
    Ok(WriteResponse { path: request.path.clone(), created: created.new })
}

/// A file that was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenFile {
    pub(crate) ino: Ino,
    /// True if the file was created, not replaced.
    pub(crate) new: bool,
}

/// Creates a file or replaces its content. If the content does not fit, everything stays unchanged except for created
/// parent directories.
pub(crate) fn write_file(
    kernel: &mut Kernel,
    path: &SandboxPath,
    content: &[u8],
    replace: bool,
) -> FileResult<WrittenFile> {
    let now = kernel.now();
    let single = kernel.limits().single_file_bytes;
    let fs = kernel.fs_mut();
    let bytes = path.as_bytes();
    let to_error = |errno| file_error(errno, bytes);
    if content.len() as u64 > single {
        return Err(to_error(Errno::Fbig));
    }
    if let Some(parent) = path.parent() {
        create_dir_all(fs, &parent, now)?;
    }
    let (ino, new) = match open(fs, bytes, WRITE) {
        Ok(_) if !replace => return Err(to_error(Errno::Exist)),
        Ok((ino, _)) => (ino, false),
        Err(error) if error.code == FileErrorCode::FileNotFound => {
            fs.create(&USER, fs.root(), bytes, FILE_MODE, false, now).map_err(to_error)?
        }
        Err(error) => return Err(error),
    };
    if let Err(errno) = fs.write_all(ino, content, now) {
        if new {
            // It was just created by this user; if it cannot be removed, an empty file stays.
            let _ = fs.unlink(&USER, fs.root(), bytes, now);
        }
        return Err(to_error(errno));
    }
    Ok(WrittenFile { ino, new })
}

/// Creates a directory and its missing parents.
pub(crate) fn create_dir_all(fs: &mut Fs, path: &SandboxPath, now: u64) -> FileResult<()> {
    let to_error = |errno| file_error(errno, path.as_bytes());
    match fs.walk(&USER, fs.root(), path.as_bytes(), true) {
        Err(Errno::Noent) => {}
        Err(errno) => return Err(to_error(errno)),
        Ok(_) => return Ok(()),
    }
    let mut at = fs.root();
    for name in path.as_bytes().split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
        let target = match fs.walk(&USER, at, name, true) {
            Err(Errno::Noent) => {
                fs.mkdir(&USER, at, name, DIRECTORY_MODE, now).map_err(to_error)?;
                fs.walk(&USER, at, name, true)
            }
            found => found,
        };
        match target.map_err(to_error)? {
            Resolved::Node(ino) => at = ino,
            Resolved::Proc(_) => return Err(to_error(Errno::Acces)),
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
    let contents = fs.contents(ino).map_err(|errno| file_error(errno, path))?;
    let bytes: Cow<'_, [u8]> = contents.load().map_err(|errno| file_error(errno, path))?;
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Err(FileError::with_code(FileErrorCode::NotText, path));
    };
    let requested = Edit { old: &request.old, new: &request.new, replace_all: request.replace_all, dialect, max_bytes };
    let replaced = edit::replace(text, &requested)?;
    fs.write_all(ino, replaced.text.as_bytes(), now).map_err(|errno| file_error(errno, path))?;
    Ok(EditResponse { path: request.path.clone(), occurrences: replaced.occurrences })
}
