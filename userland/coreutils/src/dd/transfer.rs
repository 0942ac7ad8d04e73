//! From block to block.

use tidebox_rt::{Errno, Fd, FileKind};

use super::conversion::Converter;
use super::operands::Operands;
use super::report::Records;
use super::{read_error, room, write_error};

/// Where the output goes.
#[derive(Debug)]
pub(super) struct Sink {
    pub(super) fd: Fd,
    /// Blocks of zeros become holes where the output can have some.
    pub(super) sparse: bool,
    /// Bytes of the hole that the output ends with so far.
    pub(super) holes: u64,
}

impl Sink {
    fn write(&mut self, piece: &[u8]) -> Result<(), Errno> {
        if self.sparse && !piece.is_empty() && piece.iter().all(|byte| *byte == 0) {
            let by = i64::try_from(piece.len()).map_err(|_| Errno::INVAL)?;
            if tidebox_rt::seek(self.fd, by).is_ok() {
                self.holes += piece.len() as u64;
                return Ok(());
            }
            self.sparse = false;
        }
        self.holes = 0;
        tidebox_rt::write_all(self.fd, piece)
    }

    /// A hole at the end belongs to the file only if its length says so.
    fn finish(&mut self) -> Result<(), Errno> {
        if self.holes == 0 {
            return Ok(());
        }
        let at = tidebox_rt::seek(self.fd, 0)?;
        let stat = tidebox_rt::fstat(self.fd)?;
        if stat.kind() == FileKind::File && stat.size < at {
            tidebox_rt::set_size(self.fd, at)?;
        }
        Ok(())
    }
}

/// A copy and how far it is.
pub(super) struct Transfer<'o> {
    operands: &'o Operands,
    input: Fd,
    sink: Sink,
    converter: Converter,
    pub(super) read: Records,
    pub(super) written: Records,
    /// Bytes that came over.
    pub(super) total: u64,
    block: Vec<u8>,
    /// What does not fill a block of output yet.
    waiting: Vec<u8>,
    output_block: usize,
}

impl<'o> Transfer<'o> {
    pub(super) fn new(operands: &'o Operands, input: Fd, sink: Sink, converter: Converter) -> Self {
        Self {
            operands,
            input,
            sink,
            converter,
            read: Records::default(),
            written: Records::default(),
            total: 0,
            block: Vec::new(),
            waiting: Vec::new(),
            output_block: usize::try_from(operands.output_block()).unwrap_or(usize::MAX),
        }
    }

    /// Finds room for the blocks. Who copies nothing needs none.
    pub(super) fn prepare(&mut self) -> Result<(), String> {
        if self.operands.count != Some(0) {
            self.block = room("input", self.operands.input_block())?;
            if self.operands.output_block() > self.operands.input_block() {
                self.waiting = room("output", self.operands.output_block())?;
                self.waiting.clear();
            }
        }
        Ok(())
    }

    /// Records that were cut.
    pub(super) fn truncated(&self) -> u64 {
        self.converter.truncated()
    }

    /// Copies everything.
    pub(super) fn all(&mut self) -> Result<(), String> {
        let size = self.operands.input_block();
        let by_bytes = self.operands.counts_bytes("count_bytes");
        let mut left = self.operands.count.map(|count| if by_bytes { count } else { count.saturating_mul(size) });
        let regroups = self.operands.regroups();
        while left != Some(0) {
            let mut block = std::mem::take(&mut self.block);
            let wanted = left.map_or(block.len(), |left| block.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
            let count = self.read_block(block.get_mut(..wanted).unwrap_or_default())?;
            if count == 0 {
                break;
            }
            self.read.note(count, size);
            // A part of a block counts as one, unless bytes are counted.
            left = left.map(|left| left.saturating_sub(if by_bytes { count as u64 } else { size }));
            let mut end = count;
            if self.operands.has("sync") {
                block.get_mut(count..).unwrap_or_default().fill(self.converter.filler());
                end = block.len();
            }
            self.converter.feed(block.get_mut(..end).unwrap_or_default(), &mut self.waiting);
            self.block = block;
            if regroups {
                self.pass_on()?;
            } else {
                self.write_rest()?;
            }
        }
        self.converter.finish(&mut self.waiting);
        self.pass_on()?;
        self.write_rest()?;
        self.sink.finish().map_err(|errno| write_error(self.operands, errno))
    }

    /// Writes the whole blocks that wait.
    fn pass_on(&mut self) -> Result<(), String> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let whole = waiting.len() - waiting.len() % self.output_block.max(1);
        for piece in waiting.get(..whole).unwrap_or_default().chunks(self.output_block.max(1)) {
            self.write_block(piece)?;
        }
        waiting.drain(..whole);
        self.waiting = waiting;
        Ok(())
    }

    /// Writes all that waits.
    fn write_rest(&mut self) -> Result<(), String> {
        let mut piece = std::mem::take(&mut self.waiting);
        if !piece.is_empty() {
            self.write_block(&piece)?;
        }
        piece.clear();
        self.waiting = piece;
        Ok(())
    }

    fn read_block(&self, room: &mut [u8]) -> Result<usize, String> {
        let mut filled = 0;
        loop {
            match tidebox_rt::read(self.input, room.get_mut(filled..).unwrap_or_default()) {
                Ok(0) => return Ok(filled),
                Ok(count) => {
                    filled += count;
                    if !self.operands.input_has("fullblock") || filled >= room.len() {
                        return Ok(filled);
                    }
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(read_error(self.operands, errno)),
            }
        }
    }

    fn write_block(&mut self, piece: &[u8]) -> Result<(), String> {
        self.sink.write(piece).map_err(|errno| write_error(self.operands, errno))?;
        self.written.note(piece.len(), self.operands.output_block());
        self.total = self.total.saturating_add(piece.len() as u64);
        Ok(())
    }
}
