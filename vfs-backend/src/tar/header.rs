//! Headers of tar entries.

use tar::{EntryType, Header};
use tidebox_kernel::fs::{Kind, Stat};

use super::pax::Records;

/// Maximum bytes of a name or of a link's target in a header.
const NAME: usize = 100;

/// Maximum time in a header: eleven octal digits.
const LATEST: u64 = 0o777_7777_7777;

const SECOND: u64 = 1_000_000_000;

/// Builds an entry's header and the pax records for values that do not fit into it.
pub(super) fn header(path: &[u8], stat: &Stat, kind: EntryType, link: &[u8]) -> (Header, Records) {
    let mut header = Header::new_ustar();
    let mut records = Records::default();
    header.set_entry_type(kind);
    header.set_mode(stat.mode);
    header.set_uid(u64::from(stat.uid));
    header.set_gid(u64::from(stat.gid));
    header.set_size(if kind == EntryType::Regular { stat.size } else { 0 });
    let seconds = stat.mtime / SECOND;
    header.set_mtime(seconds.min(LATEST));
    if !stat.mtime.is_multiple_of(SECOND) || seconds > LATEST {
        records.add(b"mtime", format!("{seconds}.{:09}", stat.mtime % SECOND).as_bytes());
    }
    if let Some(ustar) = header.as_ustar_mut() {
        put(&mut ustar.name, path);
        put(&mut ustar.linkname, link);
    }
    if path.len() > NAME {
        records.add(b"path", path);
    }
    if link.len() > NAME {
        records.add(b"linkpath", link);
    }
    header.set_cksum();
    (header, records)
}

fn put(field: &mut [u8; NAME], bytes: &[u8]) {
    for (to, from) in field.iter_mut().zip(bytes) {
        *to = *from;
    }
}

/// Builds the header of an entry that holds records for the next one.
pub(super) fn of_records(length: usize) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::XHeader);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(length as u64);
    if let Some(ustar) = header.as_ustar_mut() {
        put(&mut ustar.name, b"././@PaxHeader");
    }
    header.set_cksum();
    header
}

/// Returns the type letter; `None` for kinds that only the sandbox has.
pub(super) fn letter(kind: Kind) -> Option<EntryType> {
    match kind {
        Kind::File => Some(EntryType::Regular),
        Kind::Dir => Some(EntryType::Directory),
        Kind::Symlink => Some(EntryType::Symlink),
        Kind::Fifo => Some(EntryType::Fifo),
        Kind::Device(_) => None,
    }
}
