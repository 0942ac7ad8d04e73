//! `wasi:filesystem`: the kernel's files. A descriptor of a component is one of its process, so `/proc` shows it and the
//! limit on descriptors counts it.

use std::collections::VecDeque;

use tidebox_kernel::wasi::Halt;
use tidebox_kernel::{Kernel, Listed, Pid};
use wasmtime::component::{Resource, ResourceTableError};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream, ErrorCode,
    MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};

use super::failure::{self, flags as mode_flags, follow, identity, kind, opening, stamp, stat};
use super::handle::Handle;
use super::host::Host;
use super::input::{Input, MOST_READ, Source};
use super::output::{Output, Sink};

/// The resource type of the generated interface. What it says of the content is not used: the table holds an [`Open`] at
/// its number.
pub(super) type Descriptor = Resource<types::Descriptor>;

/// Names that are fetched from the kernel at a time.
const NAMES: usize = 64;

/// A descriptor of the process.
pub(super) struct Open {
    handle: Handle,
    fd: u32,
    /// One of those that every process begins with, which stay open.
    preopened: bool,
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.preopened {
            // A process that is about to end has its descriptors closed by the kernel.
            let _ = self.handle.ask(|kernel, pid| kernel.close(pid, self.fd));
        }
    }
}

/// A listing under way.
pub(super) struct Listing {
    open: Open,
    names: VecDeque<Listed>,
    /// The last name fetched; `None` before the first.
    after: Option<Vec<u8>>,
    ended: bool,
}

impl Listing {
    /// Begins with the names of a descriptor of the process.
    pub(super) fn new(handle: &Handle, fd: u32) -> Result<Self, Halt> {
        let fd = handle.ask(|kernel, pid| {
            // A listing that cannot be made fails here, as it does where it is made at once.
            kernel.list(pid, fd, None, 0)?;
            kernel.duplicate(pid, fd)
        })?;
        let open = Open { handle: handle.clone(), fd, preopened: false };
        Ok(Self { open, names: VecDeque::new(), after: None, ended: false })
    }

    pub(super) fn next(&mut self) -> Result<Option<Listed>, Halt> {
        if self.names.is_empty() && !self.ended {
            let after = self.after.as_deref();
            let names = self.open.handle.ask(|kernel, pid| kernel.list(pid, self.open.fd, after, NAMES))?;
            self.ended = names.len() < NAMES;
            self.after = names.last().map(|last| last.name.clone()).or(self.after.take());
            self.names = names.into();
        }
        Ok(self.names.pop_front())
    }
}

impl Host {
    /// The process's descriptor behind a component's.
    pub(super) fn fd(&self, descriptor: &Descriptor) -> Result<u32, ResourceTableError> {
        Ok(self.table.get(&Resource::<Open>::new_borrow(descriptor.rep()))?.fd)
    }

    /// Asks the kernel about a descriptor.
    fn on<T>(
        &self,
        descriptor: &Descriptor,
        call: impl FnOnce(&mut Kernel, Pid, u32) -> Result<T, Halt>,
    ) -> FsResult<T> {
        let fd = self.fd(descriptor)?;
        self.handle.ask(|kernel, pid| call(kernel, pid, fd)).map_err(failure::file)
    }

    pub(super) fn push(&mut self, fd: u32, preopened: bool) -> Result<Descriptor, ResourceTableError> {
        let open = self.table.push(Open { handle: self.handle.clone(), fd, preopened })?;
        Ok(Resource::new_own(open.rep()))
    }
}

impl Host {
    pub(super) fn close(&mut self, descriptor: &Descriptor) -> Result<(), ResourceTableError> {
        self.table.delete(Resource::<Open>::new_own(descriptor.rep())).map(|_| ())
    }

    /// The preopened directories as descriptors of the component.
    pub(super) fn directories(&mut self) -> wasmtime::Result<Vec<(Descriptor, String)>> {
        let directories = self.handle.ask(|kernel, pid| kernel.preopens(pid)).map_err(failure::trap)?;
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
        Ok(self.table.get(&error)?.downcast_ref().copied().map(failure::code))
    }
}

impl types::HostDescriptor for Host {
    fn read_via_stream(&mut self, fd: Descriptor, offset: u64) -> FsResult<Resource<DynInputStream>> {
        let fd = self.fd(&fd)?;
        let source = Source::of_file(&self.handle, fd, offset).map_err(failure::file)?;
        Ok(self.table.push(Box::new(Input::from(source)) as DynInputStream)?)
    }

    fn write_via_stream(&mut self, fd: Descriptor, offset: u64) -> FsResult<Resource<DynOutputStream>> {
        let fd = self.fd(&fd)?;
        let sink = Sink::of_file(&self.handle, fd, Some(offset)).map_err(failure::file)?;
        Ok(self.table.push(Box::new(Output::from(sink)) as DynOutputStream)?)
    }

    fn append_via_stream(&mut self, fd: Descriptor) -> FsResult<Resource<DynOutputStream>> {
        let fd = self.fd(&fd)?;
        let sink = Sink::of_file(&self.handle, fd, None).map_err(failure::file)?;
        Ok(self.table.push(Box::new(Output::from(sink)) as DynOutputStream)?)
    }

    async fn advise(&mut self, fd: Descriptor, offset: u64, _: u64, _: Advice) -> FsResult<()> {
        self.on(&fd, |kernel, pid, fd| kernel.advise(pid, fd, offset))
    }

    async fn sync_data(&mut self, fd: Descriptor) -> FsResult<()> {
        self.on(&fd, Kernel::sync)
    }

    async fn sync(&mut self, fd: Descriptor) -> FsResult<()> {
        self.on(&fd, Kernel::sync)
    }

    async fn get_flags(&mut self, fd: Descriptor) -> FsResult<DescriptorFlags> {
        self.on(&fd, |kernel, pid, fd| Ok(mode_flags(kernel.mode(pid, fd)?, kernel.stat(pid, fd)?.filetype)))
    }

    async fn get_type(&mut self, fd: Descriptor) -> FsResult<DescriptorType> {
        self.on(&fd, |kernel, pid, fd| Ok(kind(kernel.stat(pid, fd)?.filetype)))
    }

    async fn set_size(&mut self, fd: Descriptor, size: u64) -> FsResult<()> {
        self.on(&fd, |kernel, pid, fd| kernel.resize(pid, fd, size))
    }

    async fn set_times(&mut self, fd: Descriptor, atime: NewTimestamp, mtime: NewTimestamp) -> FsResult<()> {
        self.on(&fd, |kernel, pid, fd| kernel.set_times(pid, fd, stamp(atime), stamp(mtime)))
    }

    async fn read(&mut self, fd: Descriptor, len: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        let mut buffer = vec![0; usize::try_from(len).unwrap_or(usize::MAX).min(MOST_READ)];
        let n = self.on(&fd, |kernel, pid, fd| kernel.read_at(pid, fd, &mut buffer, offset))?;
        buffer.truncate(n);
        Ok((buffer, n == 0))
    }

    async fn write(&mut self, fd: Descriptor, bytes: Vec<u8>, offset: u64) -> FsResult<u64> {
        self.on(&fd, |kernel, pid, fd| kernel.write_at(pid, fd, &bytes, offset)).map(|n| n as u64)
    }

    async fn read_directory(&mut self, fd: Descriptor) -> FsResult<Resource<DirectoryEntryStream>> {
        let fd = self.fd(&fd)?;
        let listing = Listing::new(&self.handle, fd).map_err(failure::file)?;
        Ok(Resource::new_own(self.table.push(listing)?.rep()))
    }

    async fn create_directory_at(&mut self, fd: Descriptor, path: String) -> FsResult<()> {
        self.on(&fd, |kernel, pid, fd| kernel.make_dir_at(pid, fd, path.as_bytes()))
    }

    async fn stat(&mut self, fd: Descriptor) -> FsResult<DescriptorStat> {
        self.on(&fd, |kernel, pid, fd| Ok(stat(&kernel.stat(pid, fd)?)))
    }

    async fn stat_at(&mut self, fd: Descriptor, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        self.on(&fd, |kernel, pid, fd| Ok(stat(&kernel.stat_at(pid, fd, path.as_bytes(), follow(flags))?)))
    }

    async fn set_times_at(
        &mut self,
        fd: Descriptor,
        flags: PathFlags,
        path: String,
        atime: NewTimestamp,
        mtime: NewTimestamp,
    ) -> FsResult<()> {
        let (atime, mtime) = (stamp(atime), stamp(mtime));
        self.on(&fd, |kernel, pid, fd| kernel.set_times_at(pid, fd, path.as_bytes(), follow(flags), atime, mtime))
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
        self.on(&fd, |kernel, pid, fd| kernel.link_at(pid, fd, old.as_bytes(), follow(flags), new_fd, new.as_bytes()))
    }

    async fn open_at(
        &mut self,
        fd: Descriptor,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Descriptor> {
        let how = opening(path_flags, open_flags, flags);
        let directory = self.fd(&fd)?;
        // The end of a named pipe waits for the other one.
        let opened = self.handle.wait(|kernel, pid| kernel.open_at(pid, directory, path.as_bytes(), how)).await;
        let fd = opened.map_err(failure::file)?;
        Ok(self.push(fd, false)?)
    }

    fn drop(&mut self, descriptor: Descriptor) -> wasmtime::Result<()> {
        Ok(self.close(&descriptor)?)
    }

    async fn readlink_at(&mut self, fd: Descriptor, path: String) -> FsResult<String> {
        let target = self.on(&fd, |kernel, pid, fd| kernel.read_link_at(pid, fd, path.as_bytes()))?;
        // A leading slash would lead out of every directory, and preview1 in `wasmtime-wasi` hides such targets, too; the
        // sandbox has nothing to hide.
        String::from_utf8(target).map_err(|_| ErrorCode::IllegalByteSequence.into())
    }

    async fn remove_directory_at(&mut self, fd: Descriptor, path: String) -> FsResult<()> {
        self.on(&fd, |kernel, pid, fd| kernel.remove_dir_at(pid, fd, path.as_bytes()))
    }

    async fn rename_at(&mut self, fd: Descriptor, old: String, new_fd: Descriptor, new: String) -> FsResult<()> {
        let new_fd = self.fd(&new_fd)?;
        self.on(&fd, |kernel, pid, fd| kernel.rename_at(pid, fd, old.as_bytes(), new_fd, new.as_bytes()))
    }

    async fn symlink_at(&mut self, fd: Descriptor, target: String, path: String) -> FsResult<()> {
        self.on(&fd, |kernel, pid, fd| kernel.symlink_at(pid, target.as_bytes(), fd, path.as_bytes()))
    }

    async fn unlink_file_at(&mut self, fd: Descriptor, path: String) -> FsResult<()> {
        self.on(&fd, |kernel, pid, fd| kernel.unlink_at(pid, fd, path.as_bytes()))
    }

    async fn is_same_object(&mut self, fd: Descriptor, other: Descriptor) -> wasmtime::Result<bool> {
        let describe = |fd: &Descriptor| self.on(fd, Kernel::stat);
        // What is wrong with one of them makes them differ; only the end of the process is an error here.
        match (describe(&fd), describe(&other)) {
            (Ok(one), Ok(two)) => Ok((one.dev, one.ino) == (two.dev, two.ino)),
            (Err(error), _) | (_, Err(error)) => match error.downcast() {
                Ok(_) => Ok(false),
                Err(trap) => Err(trap),
            },
        }
    }

    async fn metadata_hash(&mut self, fd: Descriptor) -> FsResult<MetadataHashValue> {
        self.on(&fd, |kernel, pid, fd| Ok(identity(&kernel.stat(pid, fd)?)))
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Descriptor,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        self.on(&fd, |kernel, pid, fd| Ok(identity(&kernel.stat_at(pid, fd, path.as_bytes(), follow(flags))?)))
    }
}

impl types::HostDirectoryEntryStream for Host {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let listing = self.table.get_mut(&Resource::<Listing>::new_borrow(stream.rep()))?;
        match listing.next().map_err(failure::file)? {
            None => Ok(None),
            Some(entry) => match String::from_utf8(entry.name) {
                Ok(name) => Ok(Some(DirectoryEntry { type_: kind(entry.filetype), name })),
                // The next call goes on behind it.
                Err(_) => Err(ErrorCode::IllegalByteSequence.into()),
            },
        }
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.table.delete(Resource::<Listing>::new_own(stream.rep()))?;
        Ok(())
    }
}
