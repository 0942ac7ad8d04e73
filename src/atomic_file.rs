//! Writing a file so that whoever reads it sees the old content or the new one, also after a crash.

use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// How the temporary files begin that a crash may leave behind.
pub(crate) const TEMPORARY: &str = ".tidebox-";

/// Replaces the file at `path`, which others may read as the process's mask says: a temporary file beside it is written and
/// reaches the disk, takes its name, and the directory reaches the disk. A crash before the last step leaves the old file,
/// whole.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A temporary file is its owner's alone by default.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    write(&mut builder, path, &[content])?.persist(path).map_err(|error| error.error)?;
    sync_folder(folder_of(path))
}

/// Writes a temporary file beside `path` that only its owner may read, and waits until it has reached the disk. Dropping
/// it removes it.
pub(crate) fn write_beside(path: &Path, content: &[&[u8]]) -> io::Result<NamedTempFile> {
    write(&mut tempfile::Builder::new(), path, content)
}

fn write(builder: &mut tempfile::Builder<'_, '_>, path: &Path, content: &[&[u8]]) -> io::Result<NamedTempFile> {
    let mut temporary = builder.prefix(TEMPORARY).tempfile_in(folder_of(path))?;
    for part in content {
        temporary.write_all(part)?;
    }
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
