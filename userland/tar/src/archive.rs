//! The archive as a file or pipe, and its compression program.

use tidebox_gnu::command::Command;
use tidebox_rt::{Errno, ExitStatus, Fd, FileKind, Open};

use crate::message::{Fatal, error, fatal, warn};
use crate::options::Options;
use crate::quote::escaped;

/// An open archive.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(crate) fd: Fd,
    /// The program between the archive and the file.
    child: Option<u32>,
    reads: bool,
}

/// Identity of the archive file, so that it is not added to itself.
pub(crate) type Identity = Option<(u32, u64)>;

fn cannot_open(name: &[u8], errno: Errno) -> Fatal {
    fatal(&[&escaped(name, true), b": Cannot open: ", errno.text().as_bytes()])
}

impl Archive {
    /// Creates the archive of the options, or writes to standard output.
    pub(crate) fn create(options: &Options) -> Result<(Self, Identity), Fatal> {
        let name = options.archive.as_slice();
        let how = Open { write: true, create: true, truncate: true, ..Open::default() };
        let opened = if name == b"-" { Ok(1) } else { tidebox_rt::open(name, how) };
        let Some(program) = &options.compressor else {
            let fd = opened.map_err(|errno| cannot_open(name, errno))?;
            return Ok((Self { fd, child: None, reads: false }, identity(fd)));
        };
        let fd = opened.map_err(|errno| child_cannot(name, errno))?;
        let identity = identity(fd);
        let (read, write) = pipe()?;
        let child = start(program, false, &[(0, read), (1, fd), (2, 2)])?;
        let closed = tidebox_rt::close(read);
        if fd != 1 {
            closed.and_then(|()| tidebox_rt::close(fd)).map_err(|errno| cannot_open(name, errno))?;
        }
        Ok((Self { fd: write, child: Some(child), reads: false }, identity))
    }

    /// Opens the archive of the options for reading, with the decompressor that matches its first bytes.
    pub(crate) fn open(options: &Options) -> Result<Self, Fatal> {
        let name = options.archive.as_slice();
        let opened = if name == b"-" { Ok(0) } else { tidebox_rt::open(name, Open { read: true, ..Open::default() }) };
        if let Some(program) = &options.compressor {
            let fd = opened.map_err(|errno| child_cannot(name, errno))?;
            return Self::through(program, fd, name);
        }
        let fd = opened.map_err(|errno| cannot_open(name, errno))?;
        if tidebox_rt::fstat(fd).is_ok_and(|stat| stat.kind() == FileKind::Dir) {
            warn(&[&escaped(name, true), b": Cannot read: ", Errno::ISDIR.text().as_bytes()]);
            return Err(fatal(&[b"At beginning of tape, quitting now"]));
        }
        if name == b"-" {
            return Ok(Self { fd, child: None, reads: true });
        }
        match sniffed(fd) {
            Some(program) => Self::through(&[program.as_bytes().to_vec()], fd, name),
            None => Ok(Self { fd, child: None, reads: true }),
        }
    }

    fn through(program: &[Vec<u8>], fd: Fd, name: &[u8]) -> Result<Self, Fatal> {
        let (read, write) = pipe()?;
        let child = start(program, true, &[(0, fd), (1, write), (2, 2)])?;
        let closed = tidebox_rt::close(write);
        if fd != 0 {
            closed.and_then(|()| tidebox_rt::close(fd)).map_err(|errno| cannot_open(name, errno))?;
        }
        Ok(Self { fd: read, child: Some(child), reads: true })
    }

    /// Returns whether a program runs between the archive and its file.
    pub(crate) fn is_piped(&self) -> bool {
        self.child.is_some()
    }

    /// Closes the archive and waits for its program, whose exit status reports errors.
    pub(crate) fn close(self) -> Result<(), Fatal> {
        if self.fd > 2
            && let Err(errno) = tidebox_rt::close(self.fd)
        {
            error(&[b"Cannot close: ", errno.text().as_bytes()]);
        }
        let Some(child) = self.child else {
            return Ok(());
        };
        match tidebox_gnu::command::wait(child) {
            Ok(ExitStatus::Exited(0)) => Ok(()),
            // The reader has read enough; the rest is discarded.
            Ok(ExitStatus::Killed(13)) if self.reads => Ok(()),
            Ok(ExitStatus::Killed(signal)) => Err(fatal(&[format!("Child died with signal {signal}").as_bytes()])),
            Ok(ExitStatus::Exited(code)) => Err(fatal(&[format!("Child returned status {code}").as_bytes()])),
            Err(errno) => Err(fatal(&[b"Cannot wait for the child: ", errno.text().as_bytes()])),
        }
    }
}

fn pipe() -> Result<(Fd, Fd), Fatal> {
    tidebox_rt::pipe().map_err(|errno| fatal(&[b"Cannot open pipe: ", errno.text().as_bytes()]))
}

/// Returns the identity of a descriptor's file. Only a regular file can be added to itself.
fn identity(fd: Fd) -> Identity {
    let stat = tidebox_rt::fstat(fd).ok().filter(|stat| stat.kind() == FileKind::File)?;
    Some((stat.dev, stat.ino))
}

/// The message of the child process for a file that cannot be opened.
fn child_cannot(name: &[u8], errno: Errno) -> Fatal {
    child_says(&[&escaped(name, true), b": Cannot open: ", errno.text().as_bytes()])
}

fn child_says(parts: &[&[u8]]) -> Fatal {
    let text = [b"tar (child): ", parts.concat().as_slice(), b"\n"].concat();
    // A failure cannot be reported if standard error is closed.
    let _ = tidebox_rt::write_all(2, &text);
    let _ = tidebox_rt::write_all(2, b"tar (child): Error is not recoverable: exiting now\n");
    fatal(&[b"Child returned status 2"])
}

fn start(program: &[Vec<u8>], unpacks: bool, descriptors: &[(Fd, Fd)]) -> Result<u32, Fatal> {
    let mut arguments: Vec<&[u8]> = program.iter().map(Vec::as_slice).collect();
    if unpacks {
        arguments.push(b"-d");
    }
    let command = Command { descriptors, ..Command::new(&arguments) };
    let name = program.first().map(Vec::as_slice).unwrap_or_default();
    command.spawn().map_err(|errno| match errno {
        Errno::NOENT if unpacks => child_says(&[&escaped(name, true), b": Cannot exec: ", errno.text().as_bytes()]),
        // The message of the shell with which GNU tar starts programs.
        Errno::NOENT => {
            let _ = tidebox_rt::write_all(2, &[b"/bin/sh: 1: ", name, b": not found\n"].concat());
            fatal(&[b"Child returned status 127"])
        }
        errno => child_says(&[&escaped(name, true), b": Cannot exec: ", errno.text().as_bytes()]),
    })
}

/// Magic bytes of compressed files, and their decompressors.
const MAGICS: &[(&[u8], &str)] = &[
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\x5d\x00\x00", "lzma"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
];

/// Returns the decompressor for these first bytes.
pub(crate) fn by_magic(head: &[u8]) -> Option<&'static str> {
    MAGICS.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, program)| *program)
}

/// Returns the decompressor for a file by its first bytes, and seeks back. Pipes are not checked.
fn sniffed(fd: Fd) -> Option<&'static str> {
    tidebox_rt::seek(fd, 0).ok()?;
    let mut head = [0; 512];
    let got = tidebox_rt::read(fd, &mut head).ok()?;
    tidebox_rt::seek_to(fd, 0).ok()?;
    by_magic(head.get(..got)?)
}
