//! Reading of wheel archives.

use std::io::Read;

use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive};

use crate::error::PackError;

/// Passes each file of an archive to the callback: its name and its content, whose length and checksum are verified while it is
/// read.
pub(crate) fn for_each_file(
    archive: &[u8],
    take: &mut dyn FnMut(&str, &mut dyn Read) -> Result<(), PackError>,
) -> Result<(), PackError> {
    let archive = ZipArchive::from_slice(archive).map_err(archive_error)?;
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(archive_error)? {
        if entry.is_dir() {
            continue;
        }
        let path = entry.file_path();
        let name = path.try_normalize().map_err(archive_error)?;
        let name: &str = name.as_ref();
        let found = archive.get_entry(entry.wayfinder()).map_err(archive_error)?;
        match entry.compression_method() {
            CompressionMethod::STORE => take(name, &mut found.verifying_reader(found.data()))?,
            CompressionMethod::DEFLATE => {
                take(name, &mut found.verifying_reader(DeflateDecoder::new(found.data())))?;
            }
            _ => return Err(PackError::new(format!("{name}: unsupported compression method"))),
        }
    }
    Ok(())
}

fn archive_error(error: rawzip::Error) -> PackError {
    PackError::new(format!("invalid archive: {error}"))
}
