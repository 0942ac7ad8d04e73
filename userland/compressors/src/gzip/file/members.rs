//! Members of a compressed file.

use tidebox_rt::Errno;

use super::super::Gzip;
use super::super::member::{self, CodecError, Start};
use super::{Passed, Stopped};
use crate::stream::{self, Sink, Source};
use crate::words::print_parts;

impl Gzip {
    /// True if uncompressed input is copied through.
    fn passes_on(&self) -> bool {
        self.force && self.to_stdout && !self.list
    }

    /// Reads the first header.
    pub(super) fn first(&mut self, name: &[u8], source: &mut Source) -> Result<Start, Stopped> {
        let passes_on = self.passes_on();
        let start = member::header(source).map_err(|broken| self.broken(name, b"stdout", &broken))?;
        if start == Start::Other && !passes_on {
            if source.peek(2).map_err(|errno| self.broken(name, b"", &CodecError::Read(errno)))?.len() < 2 {
                return Err(self.broken(name, b"", &CodecError::Ended));
            }
            self.error_apart(&[name, b": not in gzip format"]);
            return Err(Stopped::Told);
        }
        Ok(start)
    }

    /// Decompresses the members of a file, given the header of the first.
    pub(super) fn members(
        &mut self,
        name: &[u8],
        target: &[u8],
        source: &mut Source,
        sink: &mut Sink,
        start: Start,
    ) -> Result<Passed, Stopped> {
        let done = self.each_member(name, source, sink, start);
        let flushed = sink.finish().map_err(CodecError::Write);
        match done {
            Ok(passed) => flushed.map(|()| passed).map_err(|broken| self.broken(name, target, &broken)),
            Err(Some(broken)) => Err(self.broken(name, target, &broken)),
            Err(None) => Err(if self.test { Stopped::Told } else { Stopped::Abort }),
        }
    }

    pub(super) fn each_member(
        &mut self,
        name: &[u8],
        source: &mut Source,
        sink: &mut Sink,
        start: Start,
    ) -> Result<Passed, Option<CodecError>> {
        let Start::Member(header) = start else {
            stream::copy(source, sink).map_err(|errno| Some(copy_broken(sink, errno)))?;
            return Ok(Passed::default());
        };
        let mut passed = Passed { header, overhead: source.consumed() + 8, ..Passed::default() };
        loop {
            let checked = member::unpack(source, sink).map_err(Some)?;
            (passed.sum, passed.length) = (checked.sum, u64::from(checked.length));
            if !checked.sum_fits {
                self.error_apart(&[name, b": invalid compressed data--crc error"]);
            }
            if !checked.length_fits {
                self.error_apart(&[name, b": invalid compressed data--length error"]);
            }
            if !checked.sum_fits || !checked.length_fits {
                return Err(None);
            }
            if source.peek(1).map_err(|errno| Some(CodecError::Read(errno)))?.is_empty() {
                return Ok(passed);
            }
            if !self.another(name, source).map_err(Some)? {
                if self.passes_on() {
                    stream::copy(source, sink).map_err(|errno| Some(copy_broken(sink, errno)))?;
                }
                return Ok(passed);
            }
            passed.overhead = 0;
        }
    }

    /// Returns whether another member follows. Zeros are tape padding and ignored; other data is reported, unless it is copied
    /// through.
    pub(super) fn another(&mut self, name: &[u8], source: &mut Source) -> Result<bool, CodecError> {
        let passes_on = self.passes_on();
        // A single byte could be the start of a member.
        let is_cut = matches!(source.peek(2).map_err(CodecError::Read)?, [first] if *first != 0);
        if is_cut && !passes_on {
            return Err(CodecError::Ended);
        }
        if matches!(member::header(source)?, Start::Member(_)) {
            return Ok(true);
        }
        if passes_on {
            return Ok(false);
        }
        loop {
            match source.byte().map_err(CodecError::Read)? {
                Some(0) => {}
                None => return Ok(false),
                Some(_) => break,
            }
        }
        if !self.quiet {
            print_parts(&[b"\ngzip: ", name, b": decompression OK, trailing garbage ignored\n"]);
        }
        if self.code == 0 {
            self.code = 2;
        }
        Ok(false)
    }

    /// Prints the error.
    pub(super) fn broken(&mut self, name: &[u8], target: &[u8], broken: &CodecError) -> Stopped {
        match broken {
            CodecError::Read(errno) => self.error_apart(&[name, b": ", errno.text().as_bytes()]),
            // A closed pipe ends the program by a signal; a process that ignores the signal gets no message.
            CodecError::Write(errno) => self.error_apart(&[target, b": ", errno.text().as_bytes()]),
            CodecError::Ended => self.error_apart(&[name, b": unexpected end of file"]),
            CodecError::Format => self.error_apart(&[name, b": invalid compressed data--format violated"]),
            CodecError::Encrypted => {
                self.error(&[name, b" is encrypted -- not supported"]);
                return Stopped::Told;
            }
            CodecError::Flags(flags) => {
                self.error(&[name, format!(" has flags 0x{flags:x} -- not supported").as_bytes()]);
                return Stopped::Told;
            }
            CodecError::HeaderSum { stored, computed } => {
                let text = format!(": header checksum 0x{stored:04x} != computed checksum 0x{computed:04x}");
                self.error(&[name, text.as_bytes()]);
                return Stopped::Told;
            }
            CodecError::Method(method) => {
                self.error(&[name, format!(": unknown method {method} -- not supported").as_bytes()]);
                return Stopped::Told;
            }
        }
        Stopped::Abort
    }
}

pub(super) fn copy_broken(sink: &Sink, errno: Errno) -> CodecError {
    if sink.failure().is_some() { CodecError::Write(errno) } else { CodecError::Read(errno) }
}
