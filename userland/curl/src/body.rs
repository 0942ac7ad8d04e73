//! Request bodies: a sequence of bytes, files and standard input.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};

use tidebox_gnu::message::bytes_path;

/// A part of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Bytes as they are.
    Bytes(Vec<u8>),
    /// A file from an offset.
    File(Vec<u8>, u64),
    /// Standard input.
    Stdin,
}

/// A whole body. It can be read again for another request unless it contains standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Body(pub(crate) Vec<Part>);

impl Body {
    /// A body of bytes.
    pub(crate) fn bytes(bytes: Vec<u8>) -> Self {
        Self(vec![Part::Bytes(bytes)])
    }

    /// The length; `None` if unknown.
    pub(crate) fn length(&self) -> io::Result<Option<u64>> {
        let mut length: u64 = 0;
        for part in &self.0 {
            length = length.saturating_add(match part {
                Part::Bytes(bytes) => bytes.len() as u64,
                Part::File(name, from) => {
                    let known = std::fs::metadata(bytes_path(name))?;
                    if !known.is_file() {
                        return Ok(None);
                    }
                    known.len().saturating_sub(*from)
                }
                Part::Stdin => return Ok(None),
            });
        }
        Ok(Some(length))
    }

    /// Opens it for reading.
    pub(crate) fn open(&self) -> Opened {
        Opened { rest: self.0.clone().into(), now: None }
    }
}

/// A body that is being read.
pub(crate) struct Opened {
    rest: VecDeque<Part>,
    now: Option<Box<dyn Read>>,
}

impl Read for Opened {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(now) = &mut self.now {
                let n = now.read(into)?;
                if n > 0 || into.is_empty() {
                    return Ok(n);
                }
            }
            self.now = Some(match self.rest.pop_front() {
                None => return Ok(0),
                Some(Part::Bytes(bytes)) => Box::new(io::Cursor::new(bytes)),
                Some(Part::Stdin) => Box::new(io::stdin()),
                Some(Part::File(name, from)) => {
                    let mut file = File::open(bytes_path(&name))?;
                    io::Seek::seek(&mut file, io::SeekFrom::Start(from))?;
                    Box::new(file)
                }
            });
        }
    }
}
