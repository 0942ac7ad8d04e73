//! Copying block by block.

use tidebox_rt::{Errno, Fd, FileKind};

use super::conversion::Converter;
use super::operands::Operands;
use super::report::Records;
use super::{allocate, read_error, write_error};

/// Output descriptor and pending hole.
#[derive(Debug)]
pub(super) struct Sink {
    pub(super) fd: Fd,
    /// Write blocks of zeros as holes, if the output is seekable.
    pub(super) sparse: bool,
    /// Bytes of the hole at the end of the output.
    pub(super) holes: u64,
}

impl Sink {
    fn write(&mut self, chunk: &[u8]) -> Result<(), Errno> {
        if self.sparse && !chunk.is_empty() && chunk.iter().all(|byte| *byte == 0) {
            let by = i64::try_from(chunk.len()).map_err(|_| Errno::INVAL)?;
            if tidebox_rt::seek(self.fd, by).is_ok() {
                self.holes += chunk.len() as u64;
                return Ok(());
            }
            self.sparse = false;
        }
        self.holes = 0;
        tidebox_rt::write_all(self.fd, chunk)
    }

    /// Extends the file over a hole at its end.
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

/// State of a copy.
pub(super) struct Transfer<'o> {
    operands: &'o Operands,
    input: Fd,
    sink: Sink,
    converter: Converter,
    pub(super) read: Records,
    pub(super) written: Records,
    /// Number of bytes written.
    pub(super) total: u64,
    block: Vec<u8>,
    /// Bytes that do not fill an output block yet.
    pending: Vec<u8>,
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
            pending: Vec::new(),
            output_block: usize::try_from(operands.output_block()).unwrap_or(usize::MAX),
        }
    }

    /// Allocates the buffers, unless nothing is copied.
    pub(super) fn prepare(&mut self) -> Result<(), String> {
        if self.operands.count != Some(0) {
            self.block = allocate("input", self.operands.input_block())?;
            if self.operands.output_block() > self.operands.input_block() {
                self.pending = allocate("output", self.operands.output_block())?;
                self.pending.clear();
            }
        }
        Ok(())
    }

    /// Copies everything.
    pub(super) fn run(&mut self) -> Result<(), String> {
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
            self.read.count(count, size);
            // A partial block counts as a block, unless bytes are counted.
            left = left.map(|left| left.saturating_sub(if by_bytes { count as u64 } else { size }));
            let mut end = count;
            if self.operands.has("sync") {
                block.get_mut(count..).unwrap_or_default().fill(0);
                end = block.len();
            }
            self.converter.feed(block.get_mut(..end).unwrap_or_default(), &mut self.pending);
            self.block = block;
            if regroups {
                self.write_complete()?;
            } else {
                self.write_rest()?;
            }
        }
        self.converter.finish(&mut self.pending);
        self.write_complete()?;
        self.write_rest()?;
        self.sink.finish().map_err(|errno| write_error(self.operands, errno))
    }

    /// Writes the complete blocks in the buffer.
    fn write_complete(&mut self) -> Result<(), String> {
        let mut pending = std::mem::take(&mut self.pending);
        let whole = pending.len() - pending.len() % self.output_block.max(1);
        for chunk in pending.get(..whole).unwrap_or_default().chunks(self.output_block.max(1)) {
            self.write_block(chunk)?;
        }
        pending.drain(..whole);
        self.pending = pending;
        Ok(())
    }

    /// Writes the rest of the buffer as one block.
    fn write_rest(&mut self) -> Result<(), String> {
        let mut chunk = std::mem::take(&mut self.pending);
        if !chunk.is_empty() {
            self.write_block(&chunk)?;
        }
        chunk.clear();
        self.pending = chunk;
        Ok(())
    }

    fn read_block(&self, buffer: &mut [u8]) -> Result<usize, String> {
        let mut filled = 0;
        loop {
            match tidebox_rt::read(self.input, buffer.get_mut(filled..).unwrap_or_default()) {
                Ok(0) => return Ok(filled),
                Ok(count) => {
                    filled += count;
                    if !self.operands.input_has("fullblock") || filled >= buffer.len() {
                        return Ok(filled);
                    }
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(read_error(self.operands, errno)),
            }
        }
    }

    fn write_block(&mut self, chunk: &[u8]) -> Result<(), String> {
        self.sink.write(chunk).map_err(|errno| write_error(self.operands, errno))?;
        self.written.count(chunk.len(), self.operands.output_block());
        self.total = self.total.saturating_add(chunk.len() as u64);
        Ok(())
    }
}
