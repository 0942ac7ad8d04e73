//! Entries of a zip archive, and their encoding.
//!
//! The crate `zip` handles the same format, but its errors cannot be mapped to Info-ZIP's messages, and it does not write
//! Info-ZIP's extra fields.

use tidebox_gnu::calendar::days_to;
use tidebox_gnu::zone::Zone;

/// One file of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) made_by: u16,
    pub(crate) needs: u16,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    /// Date and time in DOS format.
    pub(crate) dos: u32,
    pub(crate) sum: u32,
    pub(crate) packed: u64,
    pub(crate) size: u64,
    pub(crate) internal: u16,
    pub(crate) external: u32,
    /// Offset of its local header.
    pub(crate) offset: u64,
    /// Extra field of the directory, kept unchanged.
    pub(crate) extra: Vec<u8>,
    pub(crate) comment: Vec<u8>,
}

pub(crate) const ENCRYPTED: u16 = 1;
pub(crate) const STREAMED: u16 = 8;
pub(crate) const UTF8: u16 = 0x800;
pub(crate) const STORED: u16 = 0;
pub(crate) const DEFLATED: u16 = 8;

const CENTRAL: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";
const END: &[u8] = b"PK\x05\x06";
const DESCRIPTOR: &[u8] = b"PK\x07\x08";
const END64: &[u8] = b"PK\x06\x06";
const LOCATOR64: &[u8] = b"PK\x06\x07";

/// Size of a local header before its name, in bytes.
pub(crate) const LOCAL_SIZE: usize = 30;
/// Size of the end record before its comment, in bytes.
const END_SIZE: usize = 22;

/// Parses a little-endian number of any length.
pub(crate) fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    Some(little(bytes.get(at..at + length)?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    u16::try_from(number(bytes, at, 2)?).ok()
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    u32::try_from(number(bytes, at, 4)?).ok()
}

/// Iterates over extra fields: id and data.
pub(crate) fn fields(extra: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = extra;
    std::iter::from_fn(move || {
        let (kind, length) = (short(rest, 0)?, usize::from(short(rest, 2)?));
        let body = rest.get(4..4 + length)?;
        rest = rest.get(4 + length..)?;
        Some((kind, body))
    })
}

impl Entry {
    pub(crate) fn is_dir(&self) -> bool {
        self.name.ends_with(b"/")
    }

    /// Returns the Unix mode, if stored.
    pub(crate) fn mode(&self) -> Option<u32> {
        let mode = self.external >> 16;
        (self.made_by >> 8 == 3 && mode != 0).then_some(mode)
    }

    pub(crate) fn is_link(&self) -> bool {
        self.mode().is_some_and(|mode| mode & 0o170_000 == 0o120_000)
    }

    /// Returns the modification time in seconds since 1970; an exact time takes precedence over that of DOS.
    pub(crate) fn seconds(&self) -> i64 {
        let exact = fields(&self.extra)
            .find(|(kind, _)| *kind == 0x5455)
            .and_then(|(_, body)| (body.first()? & 1 == 1).then(|| long(body, 1)).flatten());
        exact.map_or_else(|| seconds_of(self.dos), |seconds| i64::from(seconds.cast_signed()))
    }

    /// Parses an entry of the directory; returns it and the rest.
    pub(crate) fn central(bytes: &[u8]) -> Option<(Self, &[u8])> {
        if !bytes.starts_with(CENTRAL) {
            return None;
        }
        let lengths = [short(bytes, 28)?, short(bytes, 30)?, short(bytes, 32)?].map(usize::from);
        let [name_length, extra_length, comment_length] = lengths;
        let (_, rest) = bytes.split_at_checked(46)?;
        let (name, rest) = rest.split_at_checked(name_length)?;
        let (extra, rest) = rest.split_at_checked(extra_length)?;
        let (comment, rest) = rest.split_at_checked(comment_length)?;
        let mut entry = Self {
            name: name.to_vec(),
            made_by: short(bytes, 4)?,
            needs: short(bytes, 6)?,
            flags: short(bytes, 8)?,
            method: short(bytes, 10)?,
            dos: long(bytes, 12)?,
            sum: long(bytes, 16)?,
            packed: number(bytes, 20, 4)?,
            size: number(bytes, 24, 4)?,
            internal: short(bytes, 36)?,
            external: long(bytes, 38)?,
            offset: number(bytes, 42, 4)?,
            extra: extra.to_vec(),
            comment: comment.to_vec(),
        };
        entry.widen();
        Some((entry, rest))
    }

    /// Numbers that do not fit into 32 bits are in a zip64 field.
    fn widen(&mut self) {
        let extra = std::mem::take(&mut self.extra);
        if let Some((_, body)) = fields(&extra).find(|(kind, _)| *kind == 1) {
            let mut at = 0;
            for value in [&mut self.size, &mut self.packed, &mut self.offset] {
                if *value == u64::from(u32::MAX)
                    && let Some(wide) = number(body, at, 8)
                {
                    *value = wide;
                    at += 8;
                }
            }
        }
        self.extra = extra;
    }

    /// Formats the local header with its name and extra field.
    pub(crate) fn write_local(&self, extra: &[u8]) -> Vec<u8> {
        let mut out = LOCAL.to_vec();
        out.extend_from_slice(&self.needs.to_le_bytes());
        self.write_common(&mut out);
        out.extend_from_slice(&(self.name.len() as u16).to_le_bytes());
        out.extend_from_slice(&(extra.len() as u16).to_le_bytes());
        out.extend_from_slice(&self.name);
        out.extend_from_slice(extra);
        out
    }

    fn write_common(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.extend_from_slice(&self.method.to_le_bytes());
        out.extend_from_slice(&self.dos.to_le_bytes());
        out.extend_from_slice(&self.sum.to_le_bytes());
        out.extend_from_slice(&(self.packed as u32).to_le_bytes());
        out.extend_from_slice(&(self.size as u32).to_le_bytes());
    }

    /// Formats the data descriptor of a file that was written before its size was known.
    pub(crate) fn write_descriptor(&self) -> Vec<u8> {
        let numbers = [self.sum, self.packed as u32, self.size as u32];
        numbers.iter().fold(DESCRIPTOR.to_vec(), |mut out, number| {
            out.extend_from_slice(&number.to_le_bytes());
            out
        })
    }

    /// Formats the entry of the directory.
    pub(crate) fn write_central(&self) -> Vec<u8> {
        let mut out = CENTRAL.to_vec();
        out.extend_from_slice(&self.made_by.to_le_bytes());
        out.extend_from_slice(&self.needs.to_le_bytes());
        self.write_common(&mut out);
        for length in [self.name.len(), self.extra.len(), self.comment.len(), 0] {
            out.extend_from_slice(&(length as u16).to_le_bytes());
        }
        out.extend_from_slice(&self.internal.to_le_bytes());
        out.extend_from_slice(&self.external.to_le_bytes());
        out.extend_from_slice(&(self.offset as u32).to_le_bytes());
        out.extend_from_slice(&self.name);
        out.extend_from_slice(&self.extra);
        out.extend_from_slice(&self.comment);
        out
    }
}

/// Fields of the end record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) entries: u64,
    pub(crate) size: u64,
    pub(crate) offset: u64,
    pub(crate) comment: Vec<u8>,
    /// Offset of the record itself.
    pub(crate) at: u64,
}

impl End {
    /// Finds the end record in the last bytes of an archive, which start at offset `from`.
    pub(crate) fn find(tail: &[u8], from: u64) -> Option<Self> {
        let at = (0..=tail.len().checked_sub(END_SIZE)?).rev().find(|at| {
            let rest = tail.get(*at..).unwrap_or_default();
            rest.starts_with(END)
        })?;
        let record = tail.get(at..)?;
        let length = usize::from(short(record, 20)?);
        let mut end = Self {
            entries: number(record, 10, 2)?,
            size: number(record, 12, 4)?,
            offset: number(record, 16, 4)?,
            comment: record.get(END_SIZE..(END_SIZE + length).min(record.len()))?.to_vec(),
            at: from + at as u64,
        };
        end.widen(tail.get(..at).unwrap_or_default());
        Some(end)
    }

    /// Larger numbers are in a zip64 record before it.
    fn widen(&mut self, before: &[u8]) {
        let Some(locator) = before.len().checked_sub(20).and_then(|at| before.get(at..)) else {
            return;
        };
        if !locator.starts_with(LOCATOR64) {
            return;
        }
        let record = before.len().checked_sub(20 + 56).and_then(|at| before.get(at..)).filter(|r| r.starts_with(END64));
        if let Some(record) = record
            && let (Some(entries), Some(size), Some(offset)) =
                (number(record, 32, 8), number(record, 40, 8), number(record, 48, 8))
        {
            (self.entries, self.size, self.offset) = (entries, size, offset);
            self.at = self.at.saturating_sub(76);
        }
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = END.to_vec();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&(self.entries as u16).to_le_bytes());
        out.extend_from_slice(&(self.entries as u16).to_le_bytes());
        out.extend_from_slice(&(self.size as u32).to_le_bytes());
        out.extend_from_slice(&(self.offset as u32).to_le_bytes());
        out.extend_from_slice(&(self.comment.len() as u16).to_le_bytes());
        out.extend_from_slice(&self.comment);
        out
    }
}

/// Returns the size of a local header with its name and extra field; `None` if it is not a header.
pub(crate) fn local_length(head: &[u8]) -> Option<u64> {
    if !head.starts_with(LOCAL) {
        return None;
    }
    Some(LOCAL_SIZE as u64 + number(head, 26, 2)? + number(head, 28, 2)?)
}

/// DOS time: years since 1980, and two-second resolution.
pub(crate) fn dos_of(seconds: i64) -> u32 {
    // Odd seconds are rounded up.
    let at = Zone::local().moment(seconds + seconds.rem_euclid(2), 0);
    let Some(year) = u32::try_from(at.year - 1980).ok().filter(|year| *year < 128) else {
        // The first day of the DOS epoch.
        return 1 << 21 | 1 << 16;
    };
    year << 25 | at.month << 21 | at.day << 16 | at.hour << 11 | at.minute << 5 | (at.second / 2)
}

/// Converts a DOS time, which is local time.
pub(crate) fn seconds_of(dos: u32) -> i64 {
    let days = days_to(i64::from(dos >> 25) + 1980, (dos >> 21 & 15).clamp(1, 12), dos >> 16 & 31);
    let local =
        days * 86_400 + i64::from(dos >> 11 & 31) * 3600 + i64::from(dos >> 5 & 63) * 60 + i64::from(dos & 31) * 2;
    local - Zone::local().offset_of_local(local)
}
