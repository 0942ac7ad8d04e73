//! Streaming archive writer.

use tidebox_rt::{Errno, Fd};

use crate::header::{self, BLOCK, Format, Member};
use crate::options::Options;
use crate::pax;

/// An archive writer.
#[derive(Debug)]
pub(crate) struct Writer {
    fd: Fd,
    held: Vec<u8>,
    /// Record size in bytes; the archive is padded to a multiple of it.
    record: usize,
    /// Bytes written, from the start of the archive.
    offset: u64,
    /// Bytes written by this run.
    pub(crate) total: u64,
    pub(crate) format: Format,
    /// Name of pax headers.
    records_name: String,
}

/// Name of a long-name header.
const LONG: &[u8] = b"././@LongLink";

impl Writer {
    /// Writes to a descriptor that is at `offset` of the archive.
    pub(crate) fn new(fd: Fd, options: &Options, offset: u64) -> Self {
        Self {
            fd,
            held: Vec::new(),
            record: options.record,
            offset,
            total: 0,
            format: options.format,
            records_name: options.pax.name.clone(),
        }
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        self.offset += bytes.len() as u64;
        self.total += bytes.len() as u64;
        self.held.extend_from_slice(bytes);
        if self.held.len() >= self.record * 8 {
            return self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Errno> {
        let written = tidebox_rt::write_all(self.fd, &self.held);
        self.held.clear();
        written
    }

    /// Pads the last block of a file with zeros.
    pub(crate) fn pad(&mut self) -> Result<(), Errno> {
        let over = usize::try_from(self.offset % BLOCK as u64).unwrap_or(0);
        if over == 0 {
            return Ok(());
        }
        self.put(&[0; BLOCK].as_slice()[over..])
    }

    /// Writes the end of the archive: two blocks of zeros and the padding of the last record.
    pub(crate) fn finish(&mut self) -> Result<(), Errno> {
        self.put(&[0; 2 * BLOCK])?;
        let over = usize::try_from(self.offset % self.record as u64).unwrap_or(0);
        if over > 0 {
            let rest = vec![0; self.record - over];
            self.put(&rest)?;
        }
        self.flush()
    }

    /// Writes a header and, if its fields are too small, an extended header before it.
    pub(crate) fn header(&mut self, member: &Member, extra: &[(&str, Vec<u8>)]) -> Result<(), Errno> {
        match self.format {
            Format::Gnu => {
                if member.link.len() > header::MAX_NAME {
                    self.long(b'K', &member.link)?;
                }
                if member.name.len() > header::MAX_NAME {
                    self.long(b'L', &member.name)?;
                }
            }
            Format::Pax => self.records(member, extra)?,
            Format::Ustar => {}
        }
        self.put(&header::encode(member, self.format))
    }

    /// Returns whether the format can store the names of a member; if not, the one that is too long.
    pub(crate) fn unfit<'a>(&self, member: &'a Member) -> Option<&'a [u8]> {
        match self.format {
            Format::Ustar if member.link.len() > header::MAX_NAME => Some(&member.link),
            Format::Ustar if member.name.len() > header::MAX_NAME && header::split(&member.name).is_none() => {
                Some(&member.name)
            }
            _ => None,
        }
    }

    fn long(&mut self, kind: u8, text: &[u8]) -> Result<(), Errno> {
        let member = Member {
            name: LONG.to_vec(),
            kind,
            mode: 0o644,
            uname: b"root".to_vec(),
            gname: b"root".to_vec(),
            stored: text.len() as u64 + 1,
            ..Member::default()
        };
        self.put(&header::encode(&member, self.format))?;
        self.put(text)?;
        self.put(&[0])?;
        self.pad()
    }

    fn records(&mut self, member: &Member, extra: &[(&str, Vec<u8>)]) -> Result<(), Errno> {
        let mut text = Vec::new();
        let fits = |value: u64, digits: u32| value < 1 << (3 * digits);
        if member.name.len() > header::MAX_NAME || !member.name.is_ascii() {
            text.extend(pax::write("path", &member.name));
        }
        if member.link.len() > header::MAX_NAME || !member.link.is_ascii() {
            text.extend(pax::write("linkpath", &member.link));
        }
        if !fits(member.stored, 11) {
            text.extend(pax::write("size", member.stored.to_string().as_bytes()));
        }
        if !fits(member.uid, 7) {
            text.extend(pax::write("uid", member.uid.to_string().as_bytes()));
        }
        if !fits(member.gid, 7) {
            text.extend(pax::write("gid", member.gid.to_string().as_bytes()));
        }
        for (key, value) in extra {
            text.extend(pax::write(key, value));
        }
        if text.is_empty() {
            return Ok(());
        }
        let header = Member {
            name: self.records_name(&member.name),
            kind: b'x',
            mode: 0o644,
            stored: text.len() as u64,
            mtime: (member.mtime.0, 0),
            ..Member::default()
        };
        self.put(&header::encode(&header, self.format))?;
        self.put(&text)?;
        self.pad()
    }

    /// Writes a global record for all following members.
    pub(crate) fn global(&mut self, key: &str, value: &[u8], now: (i64, u32)) -> Result<(), Errno> {
        let text = pax::write(key, value);
        let name = b"/tmp/GlobalHead.1".to_vec();
        let stored = text.len() as u64;
        let header = Member { name, kind: b'g', mode: 0o644, stored, mtime: (now.0, 0), ..Member::default() };
        self.put(&header::encode(&header, self.format))?;
        self.put(&text)?;
        self.pad()
    }

    /// Name of a record header: usually that of the file, in a separate directory.
    fn records_name(&self, name: &[u8]) -> Vec<u8> {
        let trimmed = name.strip_suffix(b"/").unwrap_or(name);
        let (folder, last) = match trimmed.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (trimmed.get(..at).unwrap_or_default(), trimmed.get(at + 1..).unwrap_or_default()),
            None => (b".".as_slice(), trimmed),
        };
        let mut whole = Vec::new();
        let mut letters = self.records_name.bytes();
        while let Some(letter) = letters.next() {
            match (letter, if letter == b'%' { letters.next() } else { None }) {
                (b'%', Some(b'd')) => whole.extend_from_slice(folder),
                (b'%', Some(b'f')) => whole.extend_from_slice(last),
                (b'%', Some(b'p')) => whole.extend(tidebox_rt::getids().map_or(0, |ids| ids.pid).to_string().bytes()),
                (b'%', Some(other)) => whole.push(other),
                (letter, _) => whole.push(letter),
            }
        }
        whole.truncate(100);
        whole
    }
}
