//! Writing a file so that whoever reads it sees the old content or the new one, also after a crash.

use std::io::{self, Write};
use std::path::Path;

/// How the temporary files begin that a crash may leave behind.
pub(crate) const TEMPORARY: &str = ".tidebox-";

/// Replaces the file at `path`: a temporary file beside it is written and reaches the disk, takes its name, and the
/// directory reaches the disk. A crash before the last step leaves the old file, whole.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A temporary file is its owner's alone by default; this one is to be as usual, so the process's mask decides.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut temporary = builder.tempfile_in(folder)?;
    temporary.write_all(content)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Makes names that were added, changed or removed last.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

/// Elsewhere a directory cannot be opened for this; the file system's journal keeps names.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
