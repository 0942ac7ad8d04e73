//! Reading the archives that wheels are.

use std::io::Read;

use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive};

use crate::error::PackError;

/// Hands out each file of an archive: its name and its content, whose length and checksum are looked at while it is read.
pub(crate) fn each(
    archive: &[u8],
    take: &mut dyn FnMut(&str, &mut dyn Read) -> Result<(), PackError>,
) -> Result<(), PackError> {
    let archive = ZipArchive::from_slice(archive).map_err(broken)?;
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(broken)? {
        if entry.is_dir() {
            continue;
        }
        let path = entry.file_path();
        let name = path.try_normalize().map_err(broken)?;
        let name: &str = name.as_ref();
        let found = archive.get_entry(entry.wayfinder()).map_err(broken)?;
        match entry.compression_method() {
            CompressionMethod::STORE => take(name, &mut found.verifying_reader(found.data()))?,
            CompressionMethod::DEFLATE => {
                take(name, &mut found.verifying_reader(DeflateDecoder::new(found.data())))?;
            }
            _ => return Err(PackError::new(format!("{name}: it is packed in a way that cannot be read"))),
        }
    }
    Ok(())
}

fn broken(error: rawzip::Error) -> PackError {
    PackError::new(format!("an archive is broken: {error}"))
}
