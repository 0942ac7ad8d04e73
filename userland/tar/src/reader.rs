//! Streaming archive reader: headers, extended headers and content.

use tidebox_rt::{Errno, Fd};

use crate::header::{self, BLOCK, Block, Member, Parsed};
use crate::label;
use crate::message::warn;
use crate::pax::{self, Records};

/// Default number of blocks per read, as in GNU tar.
pub(crate) const RECORD: usize = 20 * BLOCK;

/// Maximum size of long names and records before a header, in bytes; they are held in memory.
const MAX_LENGTH: u64 = 16 << 20;

/// Fatal read error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    Read(Errno),
    /// The archive ends within a file.
    Ended,
    /// An extended header exceeds the limit.
    TooLong,
    /// A member is stored without its zeros.
    Sparse,
}

/// Next block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Member(Box<Member>),
    /// A block of zeros.
    Zero,
    /// A block that is not a header.
    Bad,
    End,
}

/// An archive reader.
#[derive(Debug)]
pub(crate) struct Reader {
    fd: Fd,
    buffer: Vec<u8>,
    at: usize,
    ended: bool,
    /// Bytes returned.
    pub(crate) offset: u64,
    /// Start of the last member, including its extended headers.
    pub(crate) began: u64,
    /// Remaining bytes of the last member, and the padding of its last block.
    left: u64,
    pad: u64,
    global: Records,
    /// Bytes read.
    pub(crate) total: u64,
    /// A program decompresses the archive and reports errors of an empty one itself.
    pub(crate) is_piped: bool,
}

impl Reader {
    pub(crate) fn new(fd: Fd) -> Self {
        Self {
            fd,
            buffer: Vec::new(),
            at: 0,
            ended: false,
            offset: 0,
            began: 0,
            left: 0,
            pad: 0,
            global: Records::default(),
            total: 0,
            is_piped: false,
        }
    }

    fn held(&self) -> &[u8] {
        self.buffer.get(self.at..).unwrap_or_default()
    }

    /// Reads until a block is buffered. A partial block at the end is ignored.
    fn fill(&mut self) -> Result<bool, ReadError> {
        while self.held().len() < BLOCK {
            if self.ended {
                return Ok(false);
            }
            self.buffer.drain(..self.at);
            self.at = 0;
            let used = self.buffer.len();
            self.buffer.resize(used + RECORD * 8, 0);
            let got = match tidebox_rt::read(self.fd, self.buffer.get_mut(used..).unwrap_or_default()) {
                Ok(got) => got,
                Err(Errno::INTR) => {
                    self.buffer.truncate(used);
                    continue;
                }
                Err(errno) => return Err(ReadError::Read(errno)),
            };
            self.buffer.truncate(used + got);
            self.total += got as u64;
            self.ended = got == 0;
        }
        Ok(true)
    }

    /// Returns the first bytes of the archive.
    pub(crate) fn peek(&mut self) -> Result<&[u8], ReadError> {
        self.fill()?;
        Ok(self.held())
    }

    fn block(&mut self) -> Result<Option<Block>, ReadError> {
        if !self.fill()? {
            return Ok(None);
        }
        let mut block = [0; BLOCK];
        if let Some(from) = self.held().get(..BLOCK) {
            block.copy_from_slice(from);
        }
        self.at += BLOCK;
        self.offset += BLOCK as u64;
        Ok(Some(block))
    }

    /// Skips the rest of the last member and reads the next header.
    pub(crate) fn next(&mut self) -> Result<Step, ReadError> {
        self.pass()?;
        self.began = self.offset;
        let mut long_name = None;
        let mut long_link = None;
        let mut records = Records::default();
        loop {
            let Some(block) = self.block()? else {
                return Ok(Step::End);
            };
            let mut member = match header::parse(&block) {
                Parsed::Zero => return Ok(Step::Zero),
                Parsed::Bad => return Ok(Step::Bad),
                Parsed::Header(member) => member,
            };
            match member.kind {
                b'L' => long_name = Some(self.text(&member)?),
                b'K' => long_link = Some(self.text(&member)?),
                b'x' | b'X' => {
                    let text = self.bytes(member.stored)?;
                    for key in pax::unknown(&text) {
                        warn(&[b"Ignoring unknown extended header keyword '", &key, b"'"]);
                    }
                    records = pax::parse(&text);
                }
                b'g' => {
                    let more = pax::parse(&self.bytes(member.stored)?);
                    let label = more.get(label::KEY.as_bytes()).cloned();
                    self.global.extend(more);
                    if let Some(name) = label {
                        let header = Member { name, kind: b'V', mtime: member.mtime, ..Member::default() };
                        return Ok(Step::Member(Box::new(header)));
                    }
                }
                _ => {
                    if let Some(name) = long_name {
                        member.name = name;
                    }
                    if let Some(link) = long_link {
                        member.link = link;
                    }
                    let mut all = self.global.clone();
                    all.extend(records);
                    pax::apply(&all, &mut member);
                    if member.kind == b'S' || all.keys().any(|key| key.starts_with(b"GNU.sparse.")) {
                        return Err(ReadError::Sparse);
                    }
                    self.left = member.stored;
                    self.pad = member.stored.next_multiple_of(BLOCK as u64) - member.stored;
                    return Ok(Step::Member(member));
                }
            }
        }
    }

    fn text(&mut self, member: &Member) -> Result<Vec<u8>, ReadError> {
        let mut text = self.bytes(member.stored)?;
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        text.truncate(end);
        Ok(text)
    }

    /// Reads all bytes of an extended header.
    fn bytes(&mut self, count: u64) -> Result<Vec<u8>, ReadError> {
        if count > MAX_LENGTH {
            return Err(ReadError::TooLong);
        }
        self.left = count;
        self.pad = count.next_multiple_of(BLOCK as u64) - count;
        let mut bytes = Vec::new();
        let mut chunk = vec![0; RECORD];
        loop {
            match self.read(&mut chunk)? {
                0 => break,
                got => bytes.extend_from_slice(chunk.get(..got).unwrap_or_default()),
            }
        }
        self.pass()?;
        Ok(bytes)
    }

    /// Reads content of the last member; 0 at its end.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Result<usize, ReadError> {
        if self.left == 0 {
            return Ok(0);
        }
        if !self.fill()? {
            return Err(ReadError::Ended);
        }
        let held = self.held();
        let whole = held.len() - held.len() % BLOCK;
        let count = into.len().min(usize::try_from(self.left).unwrap_or(usize::MAX)).min(whole);
        if let (Some(to), Some(from)) = (into.get_mut(..count), held.get(..count)) {
            to.copy_from_slice(from);
        }
        self.at += count;
        self.offset += count as u64;
        self.left -= count as u64;
        if self.left == 0 {
            self.padding();
        }
        Ok(count)
    }

    /// The padding after the last byte is buffered together with it, because blocks are read whole.
    fn padding(&mut self) {
        let pad = usize::try_from(std::mem::take(&mut self.pad)).unwrap_or(0).min(self.held().len());
        self.at += pad;
        self.offset += pad as u64;
    }

    /// Skips the rest of the last member.
    pub(crate) fn pass(&mut self) -> Result<(), ReadError> {
        while self.left > 0 {
            let held = self.held().len() as u64;
            if held <= self.left && held > 0 {
                self.take(held);
                continue;
            }
            // A seekable file is skipped without reading, up to its last block, which shows whether it is complete.
            let far = self.left.saturating_sub(self.left % BLOCK as u64).saturating_sub(BLOCK as u64);
            if held == 0 && far > (RECORD * 16) as u64 {
                let by = i64::try_from(far).unwrap_or(i64::MAX);
                if tidebox_rt::seek(self.fd, by).is_ok() {
                    self.offset += far;
                    self.left -= far;
                    self.total += far;
                    continue;
                }
            }
            if !self.fill()? {
                return Err(ReadError::Ended);
            }
            let step = (self.held().len() as u64).min(self.left);
            self.take(step);
        }
        if self.pad > 0 {
            if (self.held().len() as u64) < self.pad {
                // Only whole blocks are returned, so the rest of one is available unless the archive ends.
                self.fill()?;
            }
            self.padding();
        }
        Ok(())
    }

    fn take(&mut self, count: u64) {
        self.at += usize::try_from(count).unwrap_or(0);
        self.offset += count;
        self.left -= count;
        if self.left == 0 {
            self.padding();
        }
    }

    /// Drains a pipe so that its writer can finish.
    pub(crate) fn drain(&mut self) {
        let mut room = vec![0; RECORD];
        while matches!(tidebox_rt::read(self.fd, &mut room), Ok(1..) | Err(Errno::INTR)) {}
    }
}
