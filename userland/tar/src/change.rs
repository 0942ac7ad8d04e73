//! Changes of archives in the same file: appending and deleting members.

use tidebox_rt::{Errno, Fd, Open};

use crate::create::Dump;
use crate::header::BLOCK;
use crate::message::{Fatal, fatal};
use crate::names::Selection;
use crate::options::{Mode, Options, Word};
use crate::quote::escaped;
use crate::reader::{RECORD, Reader};
use crate::scan;
use crate::writer::Writer;

fn cannot(options: &Options, what: &str, errno: Errno) -> Fatal {
    fatal(&[&escaped(&options.archive, true), b": Cannot ", what.as_bytes(), b": ", errno.text().as_bytes()])
}

fn open(options: &Options, create: bool) -> Result<Fd, Fatal> {
    if options.archive == b"-" {
        return Err(fatal(&[b"an archive in a pipe cannot be changed: name a file with -f"]));
    }
    let how = Open { read: true, write: true, create, ..Open::default() };
    tidebox_rt::open(&options.archive, how).map_err(|errno| cannot(options, "open", errno))
}

/// Runs `-r` and `-u`.
pub(crate) fn append(options: &Options) -> Result<(), Fatal> {
    let fd = open(options, true)?;
    let stat = tidebox_rt::fstat(fd).map_err(|errno| cannot(options, "stat", errno))?;
    let mut reader = Reader::new(fd);
    let mut present = std::collections::HashMap::new();
    let end = if stat.size < BLOCK as u64 {
        0
    } else {
        scan::each(options, &mut reader, |_, member| {
            if options.mode == Mode::Update {
                present.insert(member.name, member.mtime);
            }
            Ok(())
        })?
    };
    if crate::message::status() == 2 {
        return Err(fatal(&[]));
    }
    tidebox_rt::seek_to(fd, end).map_err(|errno| cannot(options, "seek", errno))?;
    let writer = Writer::new(fd, options, end);
    let mut dump = Dump::new(options, writer, Some((stat.dev, stat.ino)), false);
    dump.present = present;
    dump.words(&options.words)?;
    dump.finish()?;
    tidebox_rt::close(fd).map_err(|errno| cannot(options, "close", errno))
}

/// Runs `--delete`.
pub(crate) fn delete(options: &Options) -> Result<(), Fatal> {
    let mut selection = Selection::new(options);
    let fd = open(options, false)?;
    let mut reader = Reader::new(fd);
    let any = options.words.iter().any(|word| matches!(word, Word::Name(..)));
    // Start of each member, and whether it is deleted.
    let mut starts: Vec<(u64, bool)> = Vec::new();
    let end = scan::each(options, &mut reader, |reader, member| {
        starts.push((reader.began, any && selection.select(&member.name).is_some()));
        Ok(())
    })?;
    selection.report();
    let mut to = 0;
    for (at, (from, goes)) in starts.iter().enumerate() {
        let next = starts.get(at + 1).map_or(end, |(next, _)| *next);
        if *goes {
            continue;
        }
        let length = next.saturating_sub(*from);
        if to != *from {
            copy(options, fd, *from, to, length)?;
        }
        to += length;
    }
    seal(options, fd, to)
}

/// Copies bytes of a file to an earlier offset.
fn copy(options: &Options, fd: Fd, from_at: u64, to_at: u64, length: u64) -> Result<(), Fatal> {
    let mut buffer = vec![0; RECORD * 8];
    let mut done = 0;
    while done < length {
        let room = buffer.len().min(usize::try_from(length - done).unwrap_or(usize::MAX));
        let got = tidebox_rt::seek_to(fd, from_at + done)
            .and_then(|_| tidebox_rt::read(fd, buffer.get_mut(..room).unwrap_or_default()))
            .map_err(|errno| cannot(options, "read", errno))?;
        if got == 0 {
            return Err(fatal(&[b"Unexpected EOF in archive"]));
        }
        tidebox_rt::seek_to(fd, to_at + done)
            .and_then(|_| tidebox_rt::write_all(fd, buffer.get(..got).unwrap_or_default()))
            .map_err(|errno| cannot(options, "write", errno))?;
        done += got as u64;
    }
    Ok(())
}

/// Ends an archive at an offset.
fn seal(options: &Options, fd: Fd, end: u64) -> Result<(), Fatal> {
    let whole = (end + 2 * BLOCK as u64).next_multiple_of(options.record as u64);
    let zeros = vec![0; usize::try_from(whole - end).unwrap_or(0)];
    tidebox_rt::seek_to(fd, end)
        .and_then(|_| tidebox_rt::write_all(fd, &zeros))
        .and_then(|()| tidebox_rt::set_size(fd, whole))
        .and_then(|()| tidebox_rt::close(fd))
        .map_err(|errno| cannot(options, "write", errno))
}
