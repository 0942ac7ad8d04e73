//! An open file of the host.

use std::fs::FileTimes;
use std::os::unix::fs::FileExt;
use std::time::{Duration, SystemTime};

use cap_std::fs::File;
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Metadata, MountFile};

use super::error::errno;

/// A regular file, read and written at offsets and never as a whole.
#[derive(Debug)]
pub(super) struct HostFile(std::fs::File);

impl HostFile {
    /// Wraps an opened file if it is a regular file.
    pub(super) fn new(file: File) -> Result<Self, Errno> {
        match file.metadata() {
            Ok(found) if found.is_file() => Ok(Self(file.into_std())),
            Ok(_) => Err(Errno::Inval),
            Err(error) => Err(errno(&error)),
        }
    }
}

impl MountFile for HostFile {
    fn metadata(&self) -> Result<Metadata, Errno> {
        let found = cap_std::fs::Metadata::from_file(&self.0).map_err(|error| errno(&error))?;
        super::metadata(&found)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<usize, Errno> {
        self.0.read_at(dst, offset).map_err(|error| errno(&error))
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> Result<usize, Errno> {
        self.0.write_at(src, offset).map_err(|error| errno(&error))
    }

    fn set_len(&self, len: u64) -> Result<(), Errno> {
        self.0.set_len(len).map_err(|error| errno(&error))
    }

    fn sync(&self) -> Result<(), Errno> {
        self.0.sync_all().map_err(|error| errno(&error))
    }
}

/// Sets the given times, in nanoseconds since the epoch.
pub(super) fn set_times(file: File, atime: Option<u64>, mtime: Option<u64>) -> Result<(), Errno> {
    let time =
        |nanoseconds: u64| SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(nanoseconds)).ok_or(Errno::Inval);
    let mut times = FileTimes::new();
    if let Some(atime) = atime {
        times = times.set_accessed(time(atime)?);
    }
    if let Some(mtime) = mtime {
        times = times.set_modified(time(mtime)?);
    }
    file.into_std().set_times(times).map_err(|error| errno(&error))
}
