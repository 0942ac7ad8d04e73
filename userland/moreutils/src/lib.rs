//! Pipe tools of the package `moreutils`: `sponge` and `ts`.

mod sponge;
mod ts;

use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, Fd, Open};

pub use sponge::main as sponge;
pub use ts::main as ts;

/// Bytes kept in memory before a temporary file is used.
const IN_MEMORY: usize = 4 * 1024 * 1024;

/// The whole input, in memory or, if it is long, in a temporary file.
pub(crate) struct BufferedInput {
    bytes: Vec<u8>,
    file: Option<(Fd, Vec<u8>)>,
}

impl BufferedInput {
    /// Reads an input to its end.
    pub(crate) fn all_of(input: &mut Input) -> Result<Self, Errno> {
        let mut buffered = Self { bytes: Vec::new(), file: None };
        loop {
            let chunk = input.chunk()?;
            if chunk.is_empty() {
                return Ok(buffered);
            }
            let count = chunk.len();
            buffered.push(chunk)?;
            input.consume(count);
        }
    }

    fn push(&mut self, chunk: &[u8]) -> Result<(), Errno> {
        if self.file.is_none() && self.bytes.len() + chunk.len() > IN_MEMORY {
            let folder = std::env::var_os("TMPDIR").map_or(b"/tmp".to_vec(), std::ffi::OsString::into_encoded_bytes);
            let mut number = [0; 8];
            tidebox_rt::random(&mut number)?;
            let name = [folder, format!("/sponge.{:016x}", u64::from_le_bytes(number)).into_bytes()].concat();
            let how = Open { read: true, write: true, create: true, exclusive: true, ..Open::default() };
            let fd = tidebox_rt::open(&name, how)?;
            self.file = Some((fd, name));
            tidebox_rt::write_all(fd, &std::mem::take(&mut self.bytes))?;
        }
        match &self.file {
            Some((fd, _)) => tidebox_rt::write_all(*fd, chunk),
            None => {
                self.bytes.extend_from_slice(chunk);
                Ok(())
            }
        }
    }

    /// Writes everything to a descriptor.
    pub(crate) fn write_to(&self, to: Fd) -> Result<(), Errno> {
        let Some((fd, _)) = &self.file else {
            return tidebox_rt::write_all(to, &self.bytes);
        };
        tidebox_rt::seek_to(*fd, 0)?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match tidebox_rt::read(*fd, &mut buffer)? {
                0 => return Ok(()),
                got => tidebox_rt::write_all(to, buffer.get(..got).unwrap_or_default())?,
            }
        }
    }
}

impl Drop for BufferedInput {
    fn drop(&mut self) {
        if let Some((fd, name)) = &self.file {
            // The file may already be deleted.
            let _ = tidebox_rt::close(*fd);
            let _ = tidebox_rt::unlink(name);
        }
    }
}
