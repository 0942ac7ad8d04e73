//! Snapshots as tar streams.

mod header;
mod pack;
mod pax;
mod unpack;

use std::io::{self, Read, Write};
use std::sync::Arc;

use tidebox_core::{Limits, Result, SandboxPath};
use tidebox_kernel::fs::Fs;

use crate::plant::Planter;
use crate::{BaseImage, SandboxBuilder, Snapshot};

impl Snapshot {
    /// Writes all that the sandbox has made or changed as a tar stream, with paths relative to `/`; the base image is not
    /// in it. Modes, times of change to the nanosecond, symbolic and hard links are kept, and names of any bytes. A hole
    /// of a sparse file is written as zeros. The format is POSIX (`pax`), which GNU tar, bsdtar and libraries read.
    /// Equal snapshots give equal bytes.
    ///
    /// # Errors
    /// What `out` answers; [`io::ErrorKind::InvalidData`] when directories nest so deep that a path is longer than
    /// 64 KiB.
    pub fn to_tar(&self, out: impl Write) -> io::Result<()> {
        pack::pack(&Fs::from_snapshot(&self.files, &Limits::default()), out)
    }

    /// Reads a tar stream into a base image: the inverse of [`to_tar`](Self::to_tar), for tars of other programs too.
    ///
    /// The stream is not trusted. Absolute names are read as relative to `/`; a name with `..`, a name that a link would
    /// lead elsewhere, a device, a sparse file and a file in place of the base image's are refused. Owners and
    /// extended attributes are ignored: all belongs to the sandbox's user. What is made is charged to `limits` before it
    /// is held.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::InvalidRequest`] for a stream that is no tar or has such an entry, which is named;
    /// [`tidebox_core::ErrorKind::FileOperationFailed`] when the limits are reached.
    pub fn from_tar(from: impl Read, base: &BaseImage, limits: &Limits) -> Result<Self> {
        let mut fs = Fs::from_snapshot(&base.files, limits);
        let root = SandboxPath::root();
        let mut planter = Planter::new(&mut fs, &root, 0);
        unpack::unpack(&mut planter, b"", from)?;
        planter.finish();
        Ok(Self { files: fs.snapshot(), base: base.files.clone(), shell_state: Arc::from(&b""[..]) })
    }
}

impl SandboxBuilder {
    /// Begins with the files of a tar, whose names are relative to `/`, as [`Snapshot::to_tar`] writes them. What is
    /// refused there is refused here, by [`build`](Self::build).
    #[must_use]
    pub fn tar(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.tar_into(SandboxPath::root(), bytes)
    }

    /// Begins with the files of a tar below a directory, which is made if need be: a project's tar in the working
    /// directory, for example.
    #[must_use]
    pub fn tar_into(self, directory: SandboxPath, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        self.plant(move |planter| unpack::unpack(planter, directory.as_bytes(), bytes.as_slice()))
    }
}
