//! Conversion of host errors to errnos, and mount errors.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

use tidebox_kernel::Errno;

/// The reason for which a host directory cannot be mounted.
#[derive(Debug)]
pub struct MountError {
    path: String,
    source: io::Error,
}

impl MountError {
    pub(crate) fn new(path: &Path, source: io::Error) -> Self {
        Self { path: path.display().to_string(), source }
    }
}

impl fmt::Display for MountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, source } = self;
        write!(f, "cannot mount the directory '{path}': {source}; use an existing directory that you can open")
    }
}

impl std::error::Error for MountError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Returns the errno of a host error. Errors without a counterpart are `IO`.
pub(crate) fn errno(error: &io::Error) -> Errno {
    match error.raw_os_error() {
        Some(libc::EPERM) => return Errno::Perm,
        Some(libc::ELOOP) => return Errno::Loop,
        Some(libc::EMFILE | libc::ENFILE) => return Errno::Nfile,
        Some(libc::ENXIO) => return Errno::Nxio,
        _ => {}
    }
    match error.kind() {
        ErrorKind::NotFound => Errno::Noent,
        // An error without a system error number is from cap-std: the path leads out.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Errno::Perm,
        ErrorKind::PermissionDenied => Errno::Acces,
        ErrorKind::AlreadyExists => Errno::Exist,
        ErrorKind::NotADirectory => Errno::Notdir,
        ErrorKind::IsADirectory => Errno::Isdir,
        ErrorKind::DirectoryNotEmpty => Errno::Notempty,
        ErrorKind::ReadOnlyFilesystem => Errno::Rofs,
        ErrorKind::StorageFull => Errno::Nospc,
        ErrorKind::QuotaExceeded => Errno::Dquot,
        ErrorKind::FileTooLarge => Errno::Fbig,
        ErrorKind::ResourceBusy => Errno::Busy,
        ErrorKind::ExecutableFileBusy => Errno::Txtbsy,
        ErrorKind::CrossesDevices => Errno::Xdev,
        ErrorKind::TooManyLinks => Errno::Mlink,
        ErrorKind::InvalidFilename => Errno::Nametoolong,
        ErrorKind::InvalidInput => Errno::Inval,
        ErrorKind::StaleNetworkFileHandle => Errno::Stale,
        ErrorKind::Unsupported => Errno::Notsup,
        ErrorKind::OutOfMemory => Errno::Nomem,
        ErrorKind::Interrupted => Errno::Intr,
        _ => Errno::Io,
    }
}
