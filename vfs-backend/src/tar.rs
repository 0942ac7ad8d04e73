//! Snapshots as tar streams.

mod header;
mod pax;
mod read;
mod write;

use std::io::{self, Read, Write};
use std::sync::Arc;

use tidebox_core::{Limits, Result, SandboxPath};
use tidebox_kernel::fs::Fs;

use crate::seed::SeedWriter;
use crate::{BaseImage, SandboxBuilder, Snapshot};

impl Snapshot {
    /// Writes everything that the sandbox has created or changed as a tar stream, with paths relative to `/`; the base
    /// image is not included. Modes, modification times to the nanosecond, symbolic links, hard links and names of any
    /// bytes are preserved. A hole of a sparse file is written as zeros. The format is POSIX (`pax`), which GNU tar,
    /// bsdtar and libraries read. Equal snapshots give equal bytes.
    ///
    /// # Errors
    ///
    /// Errors of `out`; [`io::ErrorKind::InvalidData`] when directories nest so deeply that a path is longer than 64
    /// KiB.
    pub fn to_tar(&self, out: impl Write) -> io::Result<()> {
        write::write_tar(&Fs::from_snapshot(&self.files, &Limits::default()), out)
    }

    /// Reads a tar stream into a base image: the inverse of [`to_tar`](Self::to_tar), for tars of other programs too.
    ///
    /// The stream is untrusted. Absolute names are read as relative to `/`. A name with `..`, a name that traverses a
    /// link, a device, a sparse file and a file that would replace one of the base image are rejected. Owners and
    /// extended attributes are ignored: everything belongs to the sandbox's user. Everything is charged to `limits`
    /// before it is stored.
    ///
    /// # Errors
    ///
    /// [`tidebox_core::ErrorKind::InvalidRequest`] for a stream that is not a tar or has such an entry, which the error
    /// names; [`tidebox_core::ErrorKind::FileOperationFailed`] when the limits are reached.
    pub fn from_tar(from: impl Read, base: &BaseImage, limits: &Limits) -> Result<Self> {
        let mut fs = Fs::from_snapshot(&base.files, limits);
        let root = SandboxPath::root();
        let mut writer = SeedWriter::new(&mut fs, &root, 0);
        read::read_tar(&mut writer, b"", from)?;
        writer.finish();
        Ok(Self { files: fs.snapshot(), base: base.files.clone(), shell_state: Arc::from(&b""[..]) })
    }
}

impl SandboxBuilder {
    /// Starts with the files of a tar, whose names are relative to `/`, as written by [`Snapshot::to_tar`]. The entries
    /// that [`Snapshot::from_tar`] rejects are rejected by [`build`](Self::build).
    #[must_use]
    pub fn tar(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.tar_into(SandboxPath::root(), bytes)
    }

    /// Starts with the files of a tar below a directory, which is created if missing: for example a project's tar in
    /// the working directory.
    #[must_use]
    pub fn tar_into(self, directory: SandboxPath, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        self.seed_with(move |writer| read::read_tar(writer, directory.as_bytes(), bytes.as_slice()))
    }
}
