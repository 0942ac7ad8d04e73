//! The memory of an initialised program, as a file.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use tidebox_pack_module::{PAGE, Parts};

/// What is written at a time; what is all zeros is left out, so the file has holes there.
const BLOCK: usize = 4096;

/// A memory that processes begin with. It is mapped copy-on-write: processes share what none of them changes.
#[derive(Debug)]
pub(super) struct MemoryImage {
    pub(super) file: File,
    /// A multiple of [`PAGE`].
    pub(super) bytes: usize,
}

impl MemoryImage {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        match usize::try_from(bytes) {
            Ok(bytes) if bytes > 0 && bytes % PAGE as usize == 0 => Ok(Self { file, bytes }),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{}: this is no image of a memory, or it was cut; add the pack again", path.display()),
            )),
        }
    }
}

/// Writes the memory that a module begins with.
///
/// # Errors
/// Those of the file.
pub fn write_first_image(path: &Path, parts: &Parts<'_>) -> io::Result<()> {
    replace(path, |file| {
        file.set_len(parts.memory_bytes)?;
        for (at, bytes) in &parts.data {
            file.seek(SeekFrom::Start(*at))?;
            file.write_all(bytes)?;
        }
        Ok(())
    })
}

/// Writes the memory of a program as it is.
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

/// The file is there whole or not at all, and who has mapped an older one keeps it.
fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "an image needs a folder"))?;
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
    write(file.as_file_mut())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
