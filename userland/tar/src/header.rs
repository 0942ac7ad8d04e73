//! Header blocks.
//!
//! The crate `tar` formats checksums and numbers differently from GNU tar, so its archives are never byte-identical; therefore
//! this module has its own implementation.

/// Bytes of a block.
pub(crate) const BLOCK: usize = 512;

/// A raw block.
pub(crate) type Block = [u8; BLOCK];

/// Header format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Ustar,
    Gnu,
    Pax,
}

/// Header fields of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: Vec<u8>,
    /// Target of a link.
    pub(crate) link: Vec<u8>,
    /// Type flag; a plain file is `0`.
    pub(crate) kind: u8,
    /// Permissions.
    pub(crate) mode: u32,
    pub(crate) uid: u64,
    pub(crate) gid: u64,
    pub(crate) uname: Vec<u8>,
    pub(crate) gname: Vec<u8>,
    /// Bytes that follow in the archive.
    pub(crate) stored: u64,
    /// Size of the file; 0 in records before one.
    pub(crate) size: u64,
    /// Modification time: seconds and nanoseconds.
    pub(crate) mtime: (i64, u32),
    pub(crate) device: (u64, u64),
}

impl Member {
    pub(crate) fn is_dir(&self) -> bool {
        self.kind == b'5'
    }
}

/// Fields: offset and length.
const NAME: (usize, usize) = (0, 100);
const MODE: (usize, usize) = (100, 8);
const UID: (usize, usize) = (108, 8);
const GID: (usize, usize) = (116, 8);
const SIZE: (usize, usize) = (124, 12);
const MTIME: (usize, usize) = (136, 12);
const SUM: (usize, usize) = (148, 8);
const KIND: usize = 156;
const LINK: (usize, usize) = (157, 100);
const MAGIC: (usize, usize) = (257, 8);
const UNAME: (usize, usize) = (265, 32);
const GNAME: (usize, usize) = (297, 32);
const MAJOR: (usize, usize) = (329, 8);
const MINOR: (usize, usize) = (337, 8);
const PREFIX: (usize, usize) = (345, 155);
fn field(block: &Block, (at, length): (usize, usize)) -> &[u8] {
    block.get(at..at + length).unwrap_or_default()
}

fn text(block: &Block, place: (usize, usize)) -> Vec<u8> {
    let field = field(block, place);
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    field.get(..end).unwrap_or_default().to_vec()
}

/// Parses a number in octal digits, or in two's complement if the first bit is set. A field without digits is 0.
pub(crate) fn number(field: &[u8]) -> Option<i64> {
    if let Some(first @ (0x80 | 0xff)) = field.first() {
        let negative = *first == 0xff;
        let mut value: i64 = if negative { -1 } else { 0 };
        for byte in field.get(1..)? {
            let shifted = value.checked_mul(256)?;
            value = shifted | i64::from(*byte);
        }
        return Some(value);
    }
    let digits = field.trim_ascii_start();
    let mut value: i64 = 0;
    for byte in digits {
        match byte {
            b'0'..=b'7' => value = value.checked_mul(8)?.checked_add(i64::from(byte - b'0'))?,
            b' ' | 0 => break,
            _ => return None,
        }
    }
    Some(value)
}

fn unsigned(block: &Block, place: (usize, usize)) -> Option<u64> {
    u64::try_from(number(field(block, place))?).ok()
}

/// Kind of a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// All zeros: the end.
    Zero,
    /// Not a header.
    Bad,
    Header(Box<Member>),
}

/// Returns whether the checksum of a block is valid. Some old writers summed signed bytes.
fn sum_fits(block: &Block) -> bool {
    let Some(stored) = number(field(block, SUM)) else {
        return false;
    };
    let (mut plain, mut signed) = (0i64, 0i64);
    for (at, byte) in block.iter().enumerate() {
        let byte = if (SUM.0..SUM.0 + SUM.1).contains(&at) { b' ' } else { *byte };
        plain += i64::from(byte);
        signed += i64::from(byte.cast_signed());
    }
    stored == plain || stored == signed
}

/// Parses a block as a header.
pub(crate) fn parse(block: &Block) -> Parsed {
    if block.iter().all(|byte| *byte == 0) {
        return Parsed::Zero;
    }
    if !sum_fits(block) {
        return Parsed::Bad;
    }
    let magic = field(block, MAGIC);
    let posix = magic.starts_with(b"ustar\0");
    let gnu = magic.starts_with(b"ustar  ");
    let mut name = text(block, NAME);
    if posix && block.get(PREFIX.0).is_some_and(|byte| *byte != 0) {
        name = [text(block, PREFIX), name].join(&b'/');
    }
    let kind = match block.get(KIND) {
        // A plain file in the V7 format; with a trailing slash it is a directory.
        Some(0 | b'0') if name.ends_with(b"/") => b'5',
        Some(0) => b'0',
        Some(kind) => *kind,
        None => return Parsed::Bad,
    };
    let (Some(size), Some(mtime)) = (unsigned(block, SIZE), number(field(block, MTIME))) else {
        return Parsed::Bad;
    };
    let named = posix || gnu;
    Parsed::Header(Box::new(Member {
        name,
        link: text(block, LINK),
        kind,
        mode: unsigned(block, MODE).map_or(0, |mode| (mode & 0o7777) as u32),
        uid: unsigned(block, UID).unwrap_or(0),
        gid: unsigned(block, GID).unwrap_or(0),
        uname: if named { text(block, UNAME) } else { Vec::new() },
        gname: if named { text(block, GNAME) } else { Vec::new() },
        // A link has no content, regardless of its header.
        stored: if kind == b'1' { 0 } else { size },
        size: if kind == b'1' { 0 } else { size },
        mtime: (mtime, 0),
        device: (unsigned(block, MAJOR).unwrap_or(0), unsigned(block, MINOR).unwrap_or(0)),
    }))
}

fn put(block: &mut Block, (at, length): (usize, usize), bytes: &[u8]) {
    let length = length.min(bytes.len());
    if let (Some(to), Some(from)) = (block.get_mut(at..at + length), bytes.get(..length)) {
        to.copy_from_slice(from);
    }
}

/// Writes a number as octal digits and a NUL, or in two's complement if it has too many digits.
fn put_number(block: &mut Block, place: (usize, usize), value: i64) {
    let digits = place.1 - 1;
    let octal = format!("{value:0digits$o}");
    if value >= 0 && octal.len() <= digits {
        return put(block, place, octal.as_bytes());
    }
    let mut bytes = vec![if value < 0 { 0xff } else { 0 }; place.1];
    for (to, from) in bytes.iter_mut().rev().zip(value.to_be_bytes().iter().rev()) {
        *to = *from;
    }
    if value >= 0
        && let Some(first) = bytes.first_mut()
    {
        *first |= 0x80;
    }
    put(block, place, &bytes);
}

/// Writes a header. Truncates long names; the caller must have stored them in an extra header.
pub(crate) fn encode(member: &Member, format: Format) -> Block {
    let mut block = [0; BLOCK];
    let mut name = member.name.as_slice();
    if matches!(format, Format::Ustar)
        && let Some((prefix, rest)) = split(name)
    {
        put(&mut block, PREFIX, prefix);
        name = rest;
    }
    put(&mut block, NAME, name);
    put(&mut block, LINK, &member.link);
    put_number(&mut block, MODE, i64::from(member.mode));
    put_number(&mut block, UID, i64::try_from(member.uid).unwrap_or(0));
    put_number(&mut block, GID, i64::try_from(member.gid).unwrap_or(0));
    put_number(&mut block, SIZE, i64::try_from(member.stored).unwrap_or(i64::MAX));
    put_number(&mut block, MTIME, member.mtime.0);
    if let Some(kind) = block.get_mut(KIND) {
        *kind = member.kind;
    }
    match format {
        Format::Gnu => put(&mut block, MAGIC, b"ustar  \0"),
        Format::Ustar | Format::Pax => put(&mut block, MAGIC, b"ustar\x0000"),
    }
    put(&mut block, (UNAME.0, UNAME.1 - 1), &member.uname);
    put(&mut block, (GNAME.0, GNAME.1 - 1), &member.gname);
    let has_device = matches!(format, Format::Ustar | Format::Pax) && member.kind != b'x';
    if has_device || matches!(member.kind, b'3' | b'4') {
        put_number(&mut block, MAJOR, i64::try_from(member.device.0).unwrap_or(0));
        put_number(&mut block, MINOR, i64::try_from(member.device.1).unwrap_or(0));
    }
    seal(&mut block);
    block
}

/// Computes the checksum of a block.
fn seal(block: &mut Block) {
    put(block, SUM, b"        ");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    put(block, SUM, format!("{sum:06o}\0 ").as_bytes());
}

/// Splits a long name into the POSIX prefix and name fields. `None` if it fits into one field, or into neither.
pub(crate) fn split(name: &[u8]) -> Option<(&[u8], &[u8])> {
    if name.len() <= NAME.1 || name.len() > PREFIX.1 + NAME.1 + 1 {
        return None;
    }
    let last = (PREFIX.1 + 1).min(name.len() - 1);
    let at = name.get(..last)?.iter().rposition(|byte| *byte == b'/').filter(|at| *at > 0)?;
    let (prefix, rest) = (name.get(..at)?, name.get(at + 1..)?);
    (!rest.is_empty() && rest.len() <= NAME.1).then_some((prefix, rest))
}

/// Maximum length of a name or link target in its own field.
pub(crate) const MAX_NAME: usize = NAME.1;
