//! Iteration over the members of an archive.

use crate::archive::{Archive, by_magic};
use crate::header::Member;
use crate::label;
use crate::message::{Fatal, error, fatal, warn};
use crate::options::Options;
use crate::quote::escaped;
use crate::reader::{ReadError, Reader, Step};

/// Previous block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    Member,
    Bad,
}

/// Reports a fatal read error.
pub(crate) fn read_error(options: &Options, error: ReadError) -> Fatal {
    match error {
        ReadError::Read(errno) => {
            fatal(&[&escaped(&options.archive, true), b": Cannot read: ", errno.text().as_bytes()])
        }
        ReadError::Ended => fatal(&[b"Unexpected EOF in archive"]),
        ReadError::Sparse => fatal(&[b"archives with sparse files are not supported"]),
        ReadError::TooLong => fatal(&[b"cannot read header: the extended header is larger than 16 MiB"]),
    }
}

/// Calls a function for each member, which may read its content. Returns the end offset of the archive.
pub(crate) fn each(
    options: &Options,
    reader: &mut Reader,
    mut member_of: impl FnMut(&mut Reader, Member) -> Result<(), Fatal>,
) -> Result<u64, Fatal> {
    let mut before = Before::Nothing;
    loop {
        match reader.next().map_err(|error| read_error(options, error))? {
            Step::Member(member) => {
                if before == Before::Nothing {
                    label::check(options, (member.kind == b'V').then_some(member.name.as_slice()))?;
                }
                before = Before::Member;
                member_of(reader, *member)?;
            }
            Step::Zero => {
                let end = reader.began;
                if options.ignore_zeros {
                    continue;
                }
                if let Ok(Step::Member(_) | Step::Bad | Step::End) = reader.next()
                    && options.warnings
                {
                    warn(&[format!("A lone zero block at {}", end / 512 + 1).as_bytes()]);
                }
                return Ok(end);
            }
            Step::End => {
                if before == Before::Nothing && reader.offset == 0 && !reader.is_piped {
                    error(&[b"This does not look like a tar archive"]);
                }
                return Ok(reader.began);
            }
            Step::Bad => {
                if before == Before::Nothing {
                    error(&[b"This does not look like a tar archive"]);
                }
                if before != Before::Bad {
                    error(&[b"Skipping to next header"]);
                }
                before = Before::Bad;
            }
        }
    }
}

/// Opens the archive of the options; reports an error for a compressed one that cannot be read twice.
pub(crate) fn open(options: &Options) -> Result<(Archive, Reader), Fatal> {
    let archive = Archive::open(options)?;
    let mut reader = Reader::new(archive.fd);
    reader.is_piped = archive.is_piped();
    if !archive.is_piped()
        && let Some(program) = reader.peek().ok().and_then(by_magic)
    {
        let option = match program {
            "gzip" => "-z",
            "bzip2" => "-j",
            "xz" => "-J",
            "lzma" => "--lzma",
            _ => "--zstd",
        };
        return Err(fatal(&[format!("Archive is compressed. Use {option} option").as_bytes()]));
    }
    Ok((archive, reader))
}

/// Closes the archive. Drains the pipe of its program.
pub(crate) fn close(archive: Archive, reader: &mut Reader) -> Result<(), Fatal> {
    if archive.is_piped() {
        reader.drain();
    }
    archive.close()
}
