//! Reading an untrusted tar.

use std::io::{self, Read};

use tar::{Archive, Entry, EntryType};
use tidebox_core::{Error, ErrorKind, Result};

use super::pax;
use crate::seed::{FileAttributes, SeedWriter};

/// Maximum bytes of an extended header, long name or long link. Paths in a sandbox are far shorter.
const EXTENDED_BYTES: u64 = 1 << 20;

/// Writes the entries below `prefix`.
pub(super) fn read_tar(writer: &mut SeedWriter<'_>, prefix: &[u8], from: impl Read) -> Result<()> {
    let mut archive = Archive::new(from);
    // Raw: the crate would read extended headers of any length into memory.
    let entries = archive.entries().map_err(|error| read_error(&error))?.raw(true);
    let mut extended = PaxOverrides::default();
    for entry in entries {
        let mut entry = entry.map_err(|error| read_error(&error))?;
        match entry.header().entry_type() {
            EntryType::XHeader => extended.records(&read_extension(&mut entry)?)?,
            EntryType::GNULongName => extended.path = Some(trim_nul(read_extension(&mut entry)?)),
            EntryType::GNULongLink => extended.link = Some(trim_nul(read_extension(&mut entry)?)),
            // A comment, as `git archive` writes one, or defaults that the supported entries do not need.
            EntryType::XGlobalHeader => {}
            kind => read_entry(writer, prefix, &mut entry, kind, std::mem::take(&mut extended))?,
        }
    }
    Ok(())
}

/// Values of extended headers for the next entry.
#[derive(Debug, Default)]
struct PaxOverrides {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    modified: Option<u64>,
    size: Option<u64>,
    sparse: bool,
}

impl PaxOverrides {
    fn records(&mut self, bytes: &[u8]) -> Result<()> {
        let records = pax::parse(bytes).ok_or_else(|| invalid_entry(b"", "an extended header is malformed"))?;
        for (key, value) in records {
            match key {
                b"path" => self.path = Some(value.to_vec()),
                b"linkpath" => self.link = Some(value.to_vec()),
                b"mtime" => {
                    let time =
                        pax::time(value).ok_or_else(|| invalid_entry(b"", "an extended header has an invalid time"));
                    self.modified = Some(time?);
                }
                b"size" => {
                    let size = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                    self.size = Some(size.ok_or_else(|| invalid_entry(b"", "an extended header has an invalid size"))?);
                }
                _ => self.sparse |= key.starts_with(b"GNU.sparse."),
            }
        }
        Ok(())
    }
}

fn read_entry<R: Read>(
    writer: &mut SeedWriter<'_>,
    prefix: &[u8],
    entry: &mut Entry<'_, R>,
    kind: EntryType,
    extended: PaxOverrides,
) -> Result<()> {
    let header = entry.header();
    let path = extended.path.unwrap_or_else(|| header.path_bytes().into_owned());
    let link = extended.link.unwrap_or_else(|| header.link_name_bytes().unwrap_or_default().into_owned());
    let field =
        |what: io::Result<u64>| what.map_err(|error| read_error(&error).with_context("path", display_path(&path)));
    let mode = u32::try_from(field(header.mode().map(u64::from))? & 0o7777).unwrap_or_default();
    let seconds = field(header.mtime())?;
    let modified = extended.modified.unwrap_or_else(|| seconds.saturating_mul(1_000_000_000));
    if extended.size.is_some_and(|size| header.entry_size().ok() != Some(size)) {
        return Err(invalid_entry(&path, "the file is too long for a tar header; omit it"));
    }
    if extended.sparse || kind == EntryType::GNUSparse {
        return Err(invalid_entry(&path, "sparse files are not supported; pack the tar without --sparse"));
    }
    let attributes = FileAttributes { mode, modified: Some(modified) };
    let destination = join_prefix(prefix, &path);
    match kind {
        EntryType::Directory => writer.dir(&destination, attributes),
        // Before POSIX, a trailing slash marked a directory.
        EntryType::Regular | EntryType::Continuous if path.ends_with(b"/") => writer.dir(&destination, attributes),
        EntryType::Regular | EntryType::Continuous => writer.file(&destination, attributes, entry),
        EntryType::Symlink => writer.symlink(&destination, &link, attributes),
        EntryType::Link => writer.hard_link(&destination, &join_prefix(prefix, &link)),
        EntryType::Char | EntryType::Block => {
            Err(invalid_entry(&path, "devices are not supported in a sandbox; omit it"))
        }
        EntryType::Fifo => writer.fifo(&destination, attributes),
        other => {
            let message = format!("entries of kind '{}' are not known", char::from(other.as_byte()).escape_default());
            Err(invalid_entry(&path, &message))
        }
    }
}

fn join_prefix(prefix: &[u8], path: &[u8]) -> Vec<u8> {
    [prefix, b"/", path].concat()
}

/// Reads the content of an entry that belongs to the next one.
fn read_extension<R: Read>(entry: &mut Entry<'_, R>) -> Result<Vec<u8>> {
    if entry.size() > EXTENDED_BYTES {
        return Err(invalid_entry(b"", "an extended header is longer than 1 MiB"));
    }
    let mut bytes = Vec::new();
    entry.take(EXTENDED_BYTES).read_to_end(&mut bytes).map_err(|error| read_error(&error))?;
    Ok(bytes)
}

/// Strips the NUL byte that ends GNU's long names.
fn trim_nul(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    bytes
}

fn display_path(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

fn invalid_entry(path: &[u8], message: &str) -> Error {
    let error = Error::new(ErrorKind::InvalidRequest, "read tar", message.to_owned());
    if path.is_empty() { error } else { error.with_context("entry", display_path(path)) }
}

fn read_error(error: &io::Error) -> Error {
    invalid_entry(b"", &format!("the stream is not a tar or is truncated: {error}"))
}
