//! Atomic replacement of files: readers see the old content or the new one, even after a crash.

use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Prefix of temporary files, which may remain after a crash.
pub(crate) const TEMP_PREFIX: &str = ".tidebox-";

/// Replaces the file at `path`, with a mode according to the umask: writes a temporary file in the same directory, syncs it,
/// renames it, and syncs the directory. A crash before the rename leaves the old file intact.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Temporary files have mode 0600 by default.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    write(&mut builder, path, &[content])?.persist(path).map_err(|error| error.error)?;
    sync_dir(parent_dir(path))
}

/// Writes and syncs a temporary file next to `path` that only its owner may read. Dropping it removes it.
pub(crate) fn write_temp_sibling(path: &Path, content: &[&[u8]]) -> io::Result<NamedTempFile> {
    write(&mut tempfile::Builder::new(), path, content)
}

fn write(builder: &mut tempfile::Builder<'_, '_>, path: &Path, content: &[&[u8]]) -> io::Result<NamedTempFile> {
    let mut temporary = builder.prefix(TEMP_PREFIX).tempfile_in(parent_dir(path))?;
    for part in content {
        temporary.write_all(part)?;
    }
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

fn parent_dir(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Syncs added, renamed and removed names of a directory.
#[cfg(unix)]
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    std::fs::File::open(dir)?.sync_all()
}

/// Other systems cannot sync directories; the journal of the file system keeps names.
#[cfg(not(unix))]
pub(crate) fn sync_dir(_: &Path) -> io::Result<()> {
    Ok(())
}
