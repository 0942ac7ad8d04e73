//! Splitting of the input.

use tidebox_gnu::message::path_label;
use tidebox_gnu::stream::Input;
use tidebox_rt::Errno;

use super::options::Options;
use super::sink::{Piece, Sink};
use crate::common::Failure;

pub(super) struct Reader<'o> {
    pub(super) input: Input,
    pub(super) options: &'o Options,
}

impl Reader<'_> {
    fn failed(&self, errno: Errno) -> Failure {
        let name = if self.options.input == b"-" { b"-".as_slice() } else { &self.options.input };
        Failure::Unsupported(format!("{}: {}", path_label(name), errno.text()))
    }

    /// What is read and not yet taken, at most so much of it; empty at the end only.
    fn some(&mut self, most: u64) -> Result<Vec<u8>, Failure> {
        let piece = match self.input.chunk() {
            Ok(piece) => piece.to_vec(),
            Err(errno) => return Err(self.failed(errno)),
        };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let part = piece.get(..most.min(piece.len())).unwrap_or_default().to_vec();
        self.input.consume(part.len());
        Ok(part)
    }

    /// Reads the next record with its end.
    fn record(&mut self, line: &mut Vec<u8>) -> Result<bool, Failure> {
        let end = self.options.separator;
        self.input.line(end, line).map_err(|errno| self.failed(errno))
    }

    /// Writes `count` records to each output file.
    pub(super) fn lines(&mut self, count: u64, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let (mut open, mut left, mut line): (Option<Piece>, u64, Vec<u8>) = (None, 0, Vec::new());
        while self.record(&mut line)? {
            if left == 0 {
                if let Some(piece) = open.take() {
                    sink.end(piece)?;
                }
                open = Some(sink.begin()?);
                left = count;
            }
            if let Some(piece) = &mut open {
                sink.write(piece, &line)?;
            }
            left -= 1;
        }
        open.map_or(Ok(()), |piece| sink.end(piece))
    }

    /// Writes `count` bytes to each output file.
    pub(super) fn bytes(&mut self, count: u64, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let (mut open, mut left): (Option<Piece>, u64) = (None, 0);
        loop {
            let part = self.some(if left == 0 { count } else { left })?;
            if part.is_empty() {
                break;
            }
            if left == 0 {
                if let Some(piece) = open.take() {
                    sink.end(piece)?;
                }
                open = Some(sink.begin()?);
                left = count;
            }
            left = left.saturating_sub(part.len() as u64);
            if let Some(piece) = &mut open {
                sink.write(piece, &part)?;
            }
        }
        open.map_or(Ok(()), |piece| sink.end(piece))
    }

    /// As many whole records as fit into so many bytes; longer records are cut.
    pub(super) fn line_bytes(&mut self, count: u64, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let (mut open, mut left, mut line): (Option<Piece>, u64, Vec<u8>) = (None, 0, Vec::new());
        while self.record(&mut line)? {
            let mut rest = line.as_slice();
            while !rest.is_empty() {
                let full = rest.len() as u64 > left && (left < count || left == 0);
                if let Some(piece) = open.take_if(|_| full) {
                    sink.end(piece)?;
                }
                if open.is_none() {
                    open = Some(sink.begin()?);
                    left = count;
                }
                let (part, behind) =
                    rest.split_at_checked(usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or((rest, b""));
                left -= part.len() as u64;
                rest = behind;
                if let Some(piece) = &mut open {
                    sink.write(piece, part)?;
                }
            }
        }
        open.map_or(Ok(()), |piece| sink.end(piece))
    }

    /// How many bytes are left in the input, which pipes do not tell.
    fn length(&mut self) -> Result<u64, Failure> {
        let stat = tidebox_rt::fstat(self.input.fd()).map_err(|errno| self.failed(errno))?;
        if let (tidebox_rt::FileKind::File, Ok(at)) = (stat.kind(), tidebox_rt::seek(self.input.fd(), 0)) {
            return Ok(stat.size.saturating_sub(at));
        }
        // Of a pipe the size is unknown, of a device too unless it holds nothing.
        let is_device = stat.kind() == tidebox_rt::FileKind::CharDevice;
        let empty = self.input.chunk().map(<[u8]>::is_empty);
        if empty.map_err(|errno| self.failed(errno))? && is_device {
            return Ok(0);
        }
        let name = path_label(&self.options.input);
        Err(Failure::Unsupported(format!("{name}: cannot determine file size")))
    }

    /// So many pieces of the same size, of which the last takes what is over.
    pub(super) fn chunks(&mut self, only: Option<u64>, number: u64, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let length = self.length()?;
        let size = (length / number).max(1);
        for at in 1..=number {
            // Nothing of a piece that is not wanted is written, and nothing is left for an empty one.
            let before = size.saturating_mul(at - 1);
            let rest = length.saturating_sub(before);
            let mut left = if at == number { rest } else { size.min(rest) };
            let wanted = only.is_none_or(|only| only == at);
            let mut open = match only {
                None if left > 0 || !self.options.elide => Some(sink.begin()?),
                _ => None,
            };
            while left > 0 {
                let part = self.some(left)?;
                if part.is_empty() {
                    break;
                }
                left -= part.len() as u64;
                match &mut open {
                    Some(piece) => drop(sink.write(piece, &part)?),
                    None if wanted => tidebox_rt::write_all(1, &part).map_err(Failure::Write)?,
                    None => {}
                }
            }
            if let Some(piece) = open {
                sink.end(piece)?;
            }
            if only == Some(at) {
                break;
            }
        }
        Ok(())
    }

    /// The same without cutting records: one belongs to the piece that it begins in.
    pub(super) fn line_chunks(&mut self, only: Option<u64>, number: u64, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let length = self.length()?;
        let size = (length / number).max(1);
        // Where a piece ends, counted from the beginning.
        let end_of = |at: u64| if at == number { length } else { size.saturating_mul(at) };
        let (mut line, mut done) = (Vec::new(), 0_u64);
        let mut waiting: Option<Vec<u8>> = None;
        for at in 1..=number {
            let mut open: Option<Piece> = None;
            if only.is_none() && !self.options.elide {
                open = Some(sink.begin()?);
            }
            loop {
                if waiting.is_none() && self.record(&mut line)? {
                    waiting = Some(std::mem::take(&mut line));
                }
                // The last piece takes everything; others what begins before their end.
                let Some(record) = waiting.take_if(|_| at == number || done < end_of(at)) else {
                    break;
                };
                done += record.len() as u64;
                match only {
                    Some(only) if only == at => tidebox_rt::write_all(1, &record).map_err(Failure::Write)?,
                    Some(_) => {}
                    None => {
                        if open.is_none() {
                            open = Some(sink.begin()?);
                        }
                        if let Some(piece) = &mut open {
                            sink.write(piece, &record)?;
                        }
                    }
                }
            }
            if let Some(piece) = open {
                sink.end(piece)?;
            }
        }
        Ok(())
    }

    /// Records in turn, one to each piece.
    pub(super) fn robin(&mut self, only: Option<u64>, number: u64, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let mut line = Vec::new();
        let mut at: u64 = 0;
        if let Some(only) = only {
            while self.record(&mut line)? {
                at = at % number + 1;
                if at == only {
                    tidebox_rt::write_all(1, &line).map_err(Failure::Write)?;
                }
            }
            return Ok(());
        }
        let mut pieces: Vec<Piece> = Vec::new();
        let mut begun = 0;
        while begun < number && !self.options.elide {
            pieces.push(sink.begin()?);
            begun += 1;
        }
        while self.record(&mut line)? {
            if (pieces.len() as u64) < number {
                pieces.push(sink.begin()?);
            }
            let place = usize::try_from(at % number).unwrap_or_default();
            if let Some(piece) = pieces.get_mut(place) {
                sink.write(piece, &line)?;
            }
            at += 1;
        }
        pieces.into_iter().try_for_each(|piece| sink.end(piece))
    }
}
