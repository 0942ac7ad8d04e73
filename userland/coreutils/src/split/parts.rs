//! Splitting of the input.

use tidebox_gnu::message::path_label;
use tidebox_gnu::stream::Input;
use tidebox_rt::Errno;

use super::options::Options;
use super::sink::{Part, Sink};
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

    /// Reads up to `max_bytes` bytes. The result is empty only at the end of the input.
    fn read(&mut self, max_bytes: u64) -> Result<Vec<u8>, Failure> {
        let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        let chunk = match self.input.chunk() {
            Ok(chunk) => chunk.get(..max_bytes.min(chunk.len())).unwrap_or_default().to_vec(),
            Err(errno) => return Err(self.failed(errno)),
        };
        self.input.consume(chunk.len());
        Ok(chunk)
    }

    /// Reads the next record with its end.
    fn record(&mut self, line: &mut Vec<u8>) -> Result<bool, Failure> {
        let end = self.options.separator;
        self.input.line(end, line).map_err(|errno| self.failed(errno))
    }

    /// Writes `count` records to each output file.
    pub(super) fn lines(&mut self, count: u64, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let (mut open, mut left, mut line): (Option<Part>, u64, Vec<u8>) = (None, 0, Vec::new());
        while self.record(&mut line)? {
            if left == 0 {
                if let Some(part) = open.take() {
                    sink.finish_part(part)?;
                }
                open = Some(sink.start_part()?);
                left = count;
            }
            if let Some(part) = &mut open {
                sink.write(part, &line)?;
            }
            left -= 1;
        }
        open.map_or(Ok(()), |part| sink.finish_part(part))
    }

    /// Writes `count` bytes to each output file.
    pub(super) fn bytes(&mut self, count: u64, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let (mut open, mut left): (Option<Part>, u64) = (None, 0);
        loop {
            let bytes = self.read(if left == 0 { count } else { left })?;
            if bytes.is_empty() {
                break;
            }
            if left == 0 {
                if let Some(part) = open.take() {
                    sink.finish_part(part)?;
                }
                open = Some(sink.start_part()?);
                left = count;
            }
            left = left.saturating_sub(bytes.len() as u64);
            if let Some(part) = &mut open {
                sink.write(part, &bytes)?;
            }
        }
        open.map_or(Ok(()), |part| sink.finish_part(part))
    }

    /// Writes whole records up to `count` bytes to each output file. Longer records are split.
    pub(super) fn line_bytes(&mut self, count: u64, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let (mut open, mut left, mut line): (Option<Part>, u64, Vec<u8>) = (None, 0, Vec::new());
        while self.record(&mut line)? {
            let mut rest = line.as_slice();
            while !rest.is_empty() {
                let full = rest.len() as u64 > left && (left < count || left == 0);
                if let Some(part) = open.take_if(|_| full) {
                    sink.finish_part(part)?;
                }
                if open.is_none() {
                    open = Some(sink.start_part()?);
                    left = count;
                }
                let (bytes, after) =
                    rest.split_at_checked(usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or((rest, b""));
                left -= bytes.len() as u64;
                rest = after;
                if let Some(part) = &mut open {
                    sink.write(part, bytes)?;
                }
            }
        }
        open.map_or(Ok(()), |part| sink.finish_part(part))
    }

    /// Returns the remaining bytes of the input. Fails for a pipe, whose size is unknown.
    fn length(&mut self) -> Result<u64, Failure> {
        let stat = tidebox_rt::fstat(self.input.fd()).map_err(|errno| self.failed(errno))?;
        if let (tidebox_rt::FileKind::File, Ok(at)) = (stat.kind(), tidebox_rt::seek(self.input.fd(), 0)) {
            return Ok(stat.size.saturating_sub(at));
        }
        // An empty device such as /dev/null has size 0.
        let is_device = stat.kind() == tidebox_rt::FileKind::CharDevice;
        let empty = self.input.chunk().map(<[u8]>::is_empty);
        if empty.map_err(|errno| self.failed(errno))? && is_device {
            return Ok(0);
        }
        let name = path_label(&self.options.input);
        Err(Failure::Unsupported(format!("{name}: cannot determine file size")))
    }

    /// Writes `number` parts of the same size. The last one also has the remainder. With `only`, prints that part to stdout.
    pub(super) fn chunks(&mut self, only: Option<u64>, number: u64, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let length = self.length()?;
        let size = (length / number).max(1);
        for at in 1..=number {
            let before = size.saturating_mul(at - 1);
            let rest = length.saturating_sub(before);
            let mut left = if at == number { rest } else { size.min(rest) };
            let is_selected = only.is_none_or(|only| only == at);
            let mut open = match only {
                None if left > 0 || !self.options.elide => Some(sink.start_part()?),
                _ => None,
            };
            while left > 0 {
                let bytes = self.read(left)?;
                if bytes.is_empty() {
                    break;
                }
                left -= bytes.len() as u64;
                match &mut open {
                    Some(part) => drop(sink.write(part, &bytes)?),
                    None if is_selected => tidebox_rt::write_all(1, &bytes).map_err(Failure::Write)?,
                    None => {}
                }
            }
            if let Some(part) = open {
                sink.finish_part(part)?;
            }
            if only == Some(at) {
                break;
            }
        }
        Ok(())
    }

    /// Like [`Self::chunks`], but with whole records. A record belongs to the part that it starts in.
    pub(super) fn line_chunks(&mut self, only: Option<u64>, number: u64, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let length = self.length()?;
        let size = (length / number).max(1);
        // Offset of the end of a part.
        let end_of = |at: u64| if at == number { length } else { size.saturating_mul(at) };
        let (mut line, mut done) = (Vec::new(), 0_u64);
        let mut pending: Option<Vec<u8>> = None;
        for at in 1..=number {
            let mut open: Option<Part> = None;
            if only.is_none() && !self.options.elide {
                open = Some(sink.start_part()?);
            }
            loop {
                if pending.is_none() && self.record(&mut line)? {
                    pending = Some(std::mem::take(&mut line));
                }
                // The last part has all remaining records.
                let Some(record) = pending.take_if(|_| at == number || done < end_of(at)) else {
                    break;
                };
                done += record.len() as u64;
                match only {
                    Some(only) if only == at => tidebox_rt::write_all(1, &record).map_err(Failure::Write)?,
                    Some(_) => {}
                    None => {
                        if open.is_none() {
                            open = Some(sink.start_part()?);
                        }
                        if let Some(part) = &mut open {
                            sink.write(part, &record)?;
                        }
                    }
                }
            }
            if let Some(part) = open {
                sink.finish_part(part)?;
            }
        }
        Ok(())
    }

    /// Distributes records round-robin.
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
        let mut parts: Vec<Part> = Vec::new();
        while (parts.len() as u64) < number && !self.options.elide {
            parts.push(sink.start_part()?);
        }
        while self.record(&mut line)? {
            if (parts.len() as u64) < number {
                parts.push(sink.start_part()?);
            }
            let index = usize::try_from(at % number).unwrap_or_default();
            if let Some(part) = parts.get_mut(index) {
                sink.write(part, &line)?;
            }
            at += 1;
        }
        parts.into_iter().try_for_each(|part| sink.finish_part(part))
    }
}
