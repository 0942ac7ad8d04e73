//! `wasi:filesystem` on the kernel's files. A component's descriptor is a descriptor of its process, so `/proc` shows
//! it and the descriptor limit counts it.

use std::collections::VecDeque;

use tidebox_kernel::{DirEntry, Kernel, Pid, SyscallError};
use wasmtime::component::{Resource, ResourceTableError};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream, ErrorCode,
    MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};

use super::errors::{self, flags as mode_flags, follows_links, identity, kind, open_options, stat, time_change};
use super::handle::ProcessHandle;
use super::host::Host;
use super::input::{Input, MAX_READ, Source};
use super::output::{Output, Sink};

/// The resource type of the generated interface. Only its table index is used: the table holds an [`OpenDescriptor`] at
/// that index.
pub(super) type Descriptor = Resource<types::Descriptor>;

/// Number of directory entries fetched from the kernel at a time.
const NAMES: usize = 64;

/// A descriptor of the process.
pub(super) struct OpenDescriptor {
    handle: ProcessHandle,
    fd: u32,
    /// True for a preopened directory, which stays open.
    preopened: bool,
}

impl Drop for OpenDescriptor {
    fn drop(&mut self) {
        if !self.preopened {
            // If the process is exiting, the kernel closes its descriptors.
            let _ = self.handle.call(|kernel, pid| kernel.close(pid, self.fd));
        }
    }
}

/// A directory listing in progress.
pub(super) struct DirListing {
    open: OpenDescriptor,
    names: VecDeque<DirEntry>,
    /// The last name fetched; `None` before the first.
    after: Option<Vec<u8>>,
    ended: bool,
}

impl DirListing {
    /// Starts a listing of a directory descriptor of the process.
    pub(super) fn new(handle: &ProcessHandle, fd: u32) -> Result<Self, SyscallError> {
        let fd = handle.call(|kernel, pid| {
            // Report an unreadable directory here, before the first entry is requested.
            kernel.read_dir(pid, fd, None, 0)?;
            kernel.duplicate(pid, fd)
        })?;
        let open = OpenDescriptor { handle: handle.clone(), fd, preopened: false };
        Ok(Self { open, names: VecDeque::new(), after: None, ended: false })
    }

    pub(super) fn next(&mut self) -> Result<Option<DirEntry>, SyscallError> {
        if self.names.is_empty() && !self.ended {
            let after = self.after.as_deref();
            let names = self.open.handle.call(|kernel, pid| kernel.read_dir(pid, self.open.fd, after, NAMES))?;
            self.ended = names.len() < NAMES;
            self.after = names.last().map(|last| last.name.clone()).or(self.after.take());
            self.names = names.into();
        }
        Ok(self.names.pop_front())
    }
}

impl Host {
    /// Returns the process's descriptor for a component's descriptor.
    pub(super) fn fd(&self, descriptor: &Descriptor) -> Result<u32, ResourceTableError> {
        Ok(self.table.get(&Resource::<OpenDescriptor>::new_borrow(descriptor.rep()))?.fd)
    }

    /// Runs a kernel call on a descriptor.
    fn with_fd<T>(
        &self,
        descriptor: &Descriptor,
        call: impl FnOnce(&mut Kernel, Pid, u32) -> Result<T, SyscallError>,
    ) -> FsResult<T> {
        let fd = self.fd(descriptor)?;
        self.handle.call(|kernel, pid| call(kernel, pid, fd)).map_err(errors::fs_error)
    }

    pub(super) fn push(&mut self, fd: u32, preopened: bool) -> Result<Descriptor, ResourceTableError> {
        let open = self.table.push(OpenDescriptor { handle: self.handle.clone(), fd, preopened })?;
        Ok(Resource::new_own(open.rep()))
    }
}

impl Host {
    pub(super) fn close(&mut self, descriptor: &Descriptor) -> Result<(), ResourceTableError> {
        self.table.delete(Resource::<OpenDescriptor>::new_own(descriptor.rep())).map(|_| ())
    }

    /// Opens the preopened directories as descriptors of the component.
    pub(super) fn directories(&mut self) -> wasmtime::Result<Vec<(Descriptor, String)>> {
        let directories = self.handle.call(|kernel, pid| kernel.preopens(pid)).map_err(errors::trap)?;
        directories.into_iter().map(|(fd, name)| Ok((self.push(fd, true)?, name.to_owned()))).collect()
    }
}

impl preopens::Host for Host {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Descriptor, String)>> {
        self.directories()
    }
}

impl types::Host for Host {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    fn filesystem_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(self.table.get(&error)?.downcast_ref().copied().map(errors::code))
    }
}

impl types::HostDescriptor for Host {
    fn read_via_stream(&mut self, fd: Descriptor, offset: u64) -> FsResult<Resource<DynInputStream>> {
        let fd = self.fd(&fd)?;
        let source = Source::of_file(&self.handle, fd, offset).map_err(errors::fs_error)?;
        Ok(self.table.push(Box::new(Input::from(source)) as DynInputStream)?)
    }

    fn write_via_stream(&mut self, fd: Descriptor, offset: u64) -> FsResult<Resource<DynOutputStream>> {
        let fd = self.fd(&fd)?;
        let sink = Sink::of_file(&self.handle, fd, Some(offset)).map_err(errors::fs_error)?;
        Ok(self.table.push(Box::new(Output::from(sink)) as DynOutputStream)?)
    }

    fn append_via_stream(&mut self, fd: Descriptor) -> FsResult<Resource<DynOutputStream>> {
        let fd = self.fd(&fd)?;
        let sink = Sink::of_file(&self.handle, fd, None).map_err(errors::fs_error)?;
        Ok(self.table.push(Box::new(Output::from(sink)) as DynOutputStream)?)
    }

    async fn advise(&mut self, fd: Descriptor, offset: u64, _: u64, _: Advice) -> FsResult<()> {
        self.with_fd(&fd, |kernel, pid, fd| kernel.advise(pid, fd, offset))
    }

    async fn sync_data(&mut self, fd: Descriptor) -> FsResult<()> {
        self.with_fd(&fd, Kernel::sync)
    }

    async fn sync(&mut self, fd: Descriptor) -> FsResult<()> {
        self.with_fd(&fd, Kernel::sync)
    }

    async fn get_flags(&mut self, fd: Descriptor) -> FsResult<DescriptorFlags> {
        self.with_fd(&fd, |kernel, pid, fd| Ok(mode_flags(kernel.mode(pid, fd)?, kernel.stat(pid, fd)?.filetype)))
    }

    async fn get_type(&mut self, fd: Descriptor) -> FsResult<DescriptorType> {
        self.with_fd(&fd, |kernel, pid, fd| Ok(kind(kernel.stat(pid, fd)?.filetype)))
    }

    async fn set_size(&mut self, fd: Descriptor, size: u64) -> FsResult<()> {
        self.with_fd(&fd, |kernel, pid, fd| kernel.resize(pid, fd, size))
    }

    async fn set_times(&mut self, fd: Descriptor, atime: NewTimestamp, mtime: NewTimestamp) -> FsResult<()> {
        self.with_fd(&fd, |kernel, pid, fd| kernel.set_times(pid, fd, time_change(atime), time_change(mtime)))
    }

    async fn read(&mut self, fd: Descriptor, len: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        let mut buffer = vec![0; usize::try_from(len).unwrap_or(usize::MAX).min(MAX_READ)];
        let n = self.with_fd(&fd, |kernel, pid, fd| kernel.read_at(pid, fd, &mut buffer, offset))?;
        buffer.truncate(n);
        Ok((buffer, n == 0))
    }

    async fn write(&mut self, fd: Descriptor, bytes: Vec<u8>, offset: u64) -> FsResult<u64> {
        self.with_fd(&fd, |kernel, pid, fd| kernel.write_at(pid, fd, &bytes, offset)).map(|n| n as u64)
    }

    async fn read_directory(&mut self, fd: Descriptor) -> FsResult<Resource<DirectoryEntryStream>> {
        let fd = self.fd(&fd)?;
        let listing = DirListing::new(&self.handle, fd).map_err(errors::fs_error)?;
        Ok(Resource::new_own(self.table.push(listing)?.rep()))
    }

    async fn create_directory_at(&mut self, fd: Descriptor, path: String) -> FsResult<()> {
        self.with_fd(&fd, |kernel, pid, fd| kernel.make_dir_at(pid, fd, path.as_bytes()))
    }

    async fn stat(&mut self, fd: Descriptor) -> FsResult<DescriptorStat> {
        self.with_fd(&fd, |kernel, pid, fd| Ok(stat(&kernel.stat(pid, fd)?)))
    }

    async fn stat_at(&mut self, fd: Descriptor, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        self.with_fd(&fd, |kernel, pid, fd| {
            Ok(stat(&kernel.stat_at(pid, fd, path.as_bytes(), follows_links(flags))?))
        })
    }

    async fn set_times_at(
        &mut self,
        fd: Descriptor,
        flags: PathFlags,
        path: String,
        atime: NewTimestamp,
        mtime: NewTimestamp,
    ) -> FsResult<()> {
        let (atime, mtime) = (time_change(atime), time_change(mtime));
        self.with_fd(&fd, |kernel, pid, fd| {
            kernel.set_times_at(pid, fd, path.as_bytes(), follows_links(flags), atime, mtime)
        })
    }

    async fn link_at(
        &mut self,
        fd: Descriptor,
        flags: PathFlags,
        old: String,
        new_fd: Descriptor,
        new: String,
    ) -> FsResult<()> {
        let new_fd = self.fd(&new_fd)?;
        self.with_fd(&fd, |kernel, pid, fd| {
            kernel.link_at(pid, fd, old.as_bytes(), follows_links(flags), new_fd, new.as_bytes())
        })
    }

    async fn open_at(
        &mut self,
        fd: Descriptor,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Descriptor> {
        let how = open_options(path_flags, open_flags, flags);
        let directory = self.fd(&fd)?;
        // Opening a FIFO waits for the other end.
        let opened = self.handle.wait(|kernel, pid| kernel.open_at(pid, directory, path.as_bytes(), how)).await;
        let fd = opened.map_err(errors::fs_error)?;
        Ok(self.push(fd, false)?)
    }

    fn drop(&mut self, descriptor: Descriptor) -> wasmtime::Result<()> {
        Ok(self.close(&descriptor)?)
    }

    async fn readlink_at(&mut self, fd: Descriptor, path: String) -> FsResult<String> {
        let target = self.with_fd(&fd, |kernel, pid, fd| kernel.read_link_at(pid, fd, path.as_bytes()))?;
        // preview1 in `wasmtime-wasi` hides targets with a leading slash because they leave every preopened directory.
        // The sandbox has nothing to hide.
        String::from_utf8(target).map_err(|_| ErrorCode::IllegalByteSequence.into())
    }

    async fn remove_directory_at(&mut self, fd: Descriptor, path: String) -> FsResult<()> {
        self.with_fd(&fd, |kernel, pid, fd| kernel.remove_dir_at(pid, fd, path.as_bytes()))
    }

    async fn rename_at(&mut self, fd: Descriptor, old: String, new_fd: Descriptor, new: String) -> FsResult<()> {
        let new_fd = self.fd(&new_fd)?;
        self.with_fd(&fd, |kernel, pid, fd| kernel.rename_at(pid, fd, old.as_bytes(), new_fd, new.as_bytes()))
    }

    async fn symlink_at(&mut self, fd: Descriptor, target: String, path: String) -> FsResult<()> {
        self.with_fd(&fd, |kernel, pid, fd| kernel.symlink_at(pid, target.as_bytes(), fd, path.as_bytes()))
    }

    async fn unlink_file_at(&mut self, fd: Descriptor, path: String) -> FsResult<()> {
        self.with_fd(&fd, |kernel, pid, fd| kernel.unlink_at(pid, fd, path.as_bytes()))
    }

    async fn is_same_object(&mut self, fd: Descriptor, other: Descriptor) -> wasmtime::Result<bool> {
        let describe = |fd: &Descriptor| self.with_fd(fd, Kernel::stat);
        // A failed lookup makes them differ; only the exit of the process is an error here.
        match (describe(&fd), describe(&other)) {
            (Ok(one), Ok(two)) => Ok((one.dev, one.ino) == (two.dev, two.ino)),
            (Err(error), _) | (_, Err(error)) => match error.downcast() {
                Ok(_) => Ok(false),
                Err(trap) => Err(trap),
            },
        }
    }

    async fn metadata_hash(&mut self, fd: Descriptor) -> FsResult<MetadataHashValue> {
        self.with_fd(&fd, |kernel, pid, fd| Ok(identity(&kernel.stat(pid, fd)?)))
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Descriptor,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        self.with_fd(&fd, |kernel, pid, fd| {
            Ok(identity(&kernel.stat_at(pid, fd, path.as_bytes(), follows_links(flags))?))
        })
    }
}

impl types::HostDirectoryEntryStream for Host {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let listing = self.table.get_mut(&Resource::<DirListing>::new_borrow(stream.rep()))?;
        match listing.next().map_err(errors::fs_error)? {
            None => Ok(None),
            Some(entry) => match String::from_utf8(entry.name) {
                Ok(name) => Ok(Some(DirectoryEntry { type_: kind(entry.filetype), name })),
                // The next call continues after this entry.
                Err(_) => Err(ErrorCode::IllegalByteSequence.into()),
            },
        }
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.table.delete(Resource::<DirListing>::new_own(stream.rep()))?;
        Ok(())
    }
}
