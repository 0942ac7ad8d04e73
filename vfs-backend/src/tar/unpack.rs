//! Reading a tar of which nothing is trusted.

use std::io::{self, Read};

use tar::{Archive, Entry, EntryType};
use tidebox_core::{Error, ErrorKind, Result};

use super::pax;
use crate::plant::{Look, Planter};

/// Longest extended header, long name or long link. Paths in a sandbox are far shorter.
const EXTENDED_BYTES: u64 = 1 << 20;

/// Puts the entries below `prefix`.
pub(super) fn unpack(planter: &mut Planter<'_>, prefix: &[u8], from: impl Read) -> Result<()> {
    let mut archive = Archive::new(from);
    // Raw: the crate would read extended headers of any length into memory.
    let entries = archive.entries().map_err(|error| unreadable(&error))?.raw(true);
    let mut extended = Extended::default();
    for entry in entries {
        let mut entry = entry.map_err(|error| unreadable(&error))?;
        match entry.header().entry_type() {
            EntryType::XHeader => extended.records(&long(&mut entry)?)?,
            EntryType::GNULongName => extended.path = Some(text(long(&mut entry)?)),
            EntryType::GNULongLink => extended.link = Some(text(long(&mut entry)?)),
            // A comment, as `git archive` writes one, or defaults that no entry of ours needs.
            EntryType::XGlobalHeader => {}
            kind => put(planter, prefix, &mut entry, kind, std::mem::take(&mut extended))?,
        }
    }
    Ok(())
}

/// What extended headers said of the next entry.
#[derive(Debug, Default)]
struct Extended {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    modified: Option<u64>,
    size: Option<u64>,
    sparse: bool,
}

impl Extended {
    fn records(&mut self, bytes: &[u8]) -> Result<()> {
        let records = pax::parse(bytes).ok_or_else(|| bad(b"", "an extended header is malformed"))?;
        for (key, value) in records {
            match key {
                b"path" => self.path = Some(value.to_vec()),
                b"linkpath" => self.link = Some(value.to_vec()),
                b"mtime" => {
                    let time = pax::time(value).ok_or_else(|| bad(b"", "an extended header has a time that is none"));
                    self.modified = Some(time?);
                }
                b"size" => {
                    let size = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                    self.size = Some(size.ok_or_else(|| bad(b"", "an extended header has a size that is none"))?);
                }
                _ => self.sparse |= key.starts_with(b"GNU.sparse."),
            }
        }
        Ok(())
    }
}

fn put<R: Read>(
    planter: &mut Planter<'_>,
    prefix: &[u8],
    entry: &mut Entry<'_, R>,
    kind: EntryType,
    extended: Extended,
) -> Result<()> {
    let header = entry.header();
    let path = extended.path.unwrap_or_else(|| header.path_bytes().into_owned());
    let link = extended.link.unwrap_or_else(|| header.link_name_bytes().unwrap_or_default().into_owned());
    let field = |what: io::Result<u64>| what.map_err(|error| unreadable(&error).with_context("path", shown(&path)));
    let mode = u32::try_from(field(header.mode().map(u64::from))? & 0o7777).unwrap_or_default();
    let seconds = field(header.mtime())?;
    let modified = extended.modified.unwrap_or_else(|| seconds.saturating_mul(1_000_000_000));
    if extended.size.is_some_and(|size| header.entry_size().ok() != Some(size)) {
        return Err(bad(&path, "the file is longer than a tar header can say; leave it out"));
    }
    if extended.sparse || kind == EntryType::GNUSparse {
        return Err(bad(&path, "sparse files cannot be read; pack the tar without --sparse"));
    }
    let look = Look { mode, modified: Some(modified) };
    let place = below(prefix, &path);
    match kind {
        EntryType::Directory => planter.dir(&place, look),
        // Before POSIX, a slash at the end was what made a directory.
        EntryType::Regular | EntryType::Continuous if path.ends_with(b"/") => planter.dir(&place, look),
        EntryType::Regular | EntryType::Continuous => planter.file(&place, look, entry),
        EntryType::Symlink => planter.symlink(&place, &link, look),
        EntryType::Link => planter.hard_link(&place, &below(prefix, &link)),
        EntryType::Char | EntryType::Block => Err(bad(&path, "a device cannot be put into a sandbox; leave it out")),
        EntryType::Fifo => planter.fifo(&place, look),
        other => {
            let message = format!("entries of kind '{}' are not known", char::from(other.as_byte()).escape_default());
            Err(bad(&path, &message))
        }
    }
}

fn below(prefix: &[u8], path: &[u8]) -> Vec<u8> {
    [prefix, b"/", path].concat()
}

/// The bytes of an entry that belongs to the next one.
fn long<R: Read>(entry: &mut Entry<'_, R>) -> Result<Vec<u8>> {
    if entry.size() > EXTENDED_BYTES {
        return Err(bad(b"", "an extended header is longer than 1 MiB"));
    }
    let mut bytes = Vec::new();
    entry.take(EXTENDED_BYTES).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    Ok(bytes)
}

/// GNU's long names end with a NUL byte.
fn text(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    bytes
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

fn bad(path: &[u8], message: &str) -> Error {
    let error = Error::new(ErrorKind::InvalidRequest, "read tar", message.to_owned());
    if path.is_empty() { error } else { error.with_context("entry", shown(path)) }
}

fn unreadable(error: &io::Error) -> Error {
    bad(b"", &format!("the stream is no tar or ends too early: {error}"))
}
