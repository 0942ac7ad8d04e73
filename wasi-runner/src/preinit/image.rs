//! Memory image of a pre-initialized program, as a file.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use tidebox_pack_split::{PAGE, SplitModule};

/// Write granularity in bytes. Blocks of zeros are skipped, so the file is sparse.
const BLOCK: usize = 4096;

/// Initial memory of processes, mapped copy-on-write: processes share every page that none of them changes.
#[derive(Debug)]
pub(super) struct MemoryImage {
    pub(super) file: File,
    /// Size in bytes, a multiple of [`PAGE`].
    pub(super) bytes: usize,
    /// SHA-256 of its content, which identifies it in saved processes.
    pub(super) digest: [u8; 32],
}

impl MemoryImage {
    pub(super) fn open(path: &Path, digest: [u8; 32]) -> io::Result<Self> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        match usize::try_from(bytes) {
            Ok(bytes) if bytes > 0 && bytes % PAGE as usize == 0 => Ok(Self { file, bytes, digest }),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{}: not a memory image, or truncated; add the pack again", path.display()),
            )),
        }
    }

    /// Reads a part of the image.
    #[cfg(unix)]
    pub(super) fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, at)
    }

    #[cfg(not(unix))]
    pub(super) fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Writes the initial memory of a module.
///
/// # Errors
///
/// I/O errors of the file.
pub fn write_first_image(path: &Path, parts: &SplitModule<'_>) -> io::Result<()> {
    replace(path, |file| {
        file.set_len(parts.memory_bytes)?;
        for (at, bytes) in &parts.data {
            file.seek(SeekFrom::Start(*at))?;
            file.write_all(bytes)?;
        }
        Ok(())
    })
}

/// Writes the current memory of a program.
pub(super) fn write_image(path: &Path, memory: &[u8]) -> io::Result<()> {
    replace(path, |file| {
        file.set_len(memory.len() as u64)?;
        let mut at = 0;
        for block in memory.chunks(BLOCK) {
            if block.iter().any(|byte| *byte != 0) {
                file.seek(SeekFrom::Start(at))?;
                file.write_all(block)?;
            }
            at += block.len() as u64;
        }
        Ok(())
    })
}

/// Replaces the file atomically. A process that has mapped the old file keeps it.
fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let dir =
        path.parent().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "an image path needs a directory"))?;
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(dir)?;
    write(file.as_file_mut())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
