//! `wasi:filesystem` of WASI 0.3: the calls of 0.2, with 0.3 streams and futures.

use tidebox_kernel::{Kernel, Pid, SyscallError};
use wasmtime::component::{Access, Accessor, FutureReader, Resource, StreamReader};
use wasmtime_wasi::p3::bindings::filesystem::preopens;
use wasmtime_wasi::p3::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, MetadataHashValue,
    NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p3::filesystem::{FilesystemError, FilesystemResult};

use super::super::descriptor::{Descriptor, DirListing};
use super::super::errors;
use super::super::host::Host;
use super::super::input::Source;
use super::super::output::Sink;
use super::stream::{DescriptorConsumer, DescriptorProducer, DirEntryProducer, ResultSender, future};
use super::{
    HasHost, bad_descriptor, code, failed, flags as mode_flags, follows_links, identity, kind, open_options, stat,
    time_change,
};

type ResultFuture = FutureReader<Result<(), ErrorCode>>;

/// Runs a kernel call on a descriptor.
fn with_fd<U, T>(
    store: &Accessor<U, HasHost>,
    descriptor: &Descriptor,
    call: impl FnOnce(&mut Kernel, Pid, u32) -> Result<T, SyscallError>,
) -> FilesystemResult<T> {
    store.with(|mut access| {
        let host = access.get();
        let fd = host.fd(descriptor).map_err(bad_descriptor)?;
        host.handle.call(|kernel, pid| call(kernel, pid, fd)).map_err(failed)
    })
}

/// Runs a kernel call on two descriptors.
fn with_two_fds<U, T>(
    store: &Accessor<U, HasHost>,
    one: &Descriptor,
    other: &Descriptor,
    call: impl FnOnce(&mut Kernel, Pid, u32, u32) -> Result<T, SyscallError>,
) -> FilesystemResult<T> {
    let other = store.with(|mut access| access.get().fd(other).map_err(bad_descriptor))?;
    with_fd(store, one, |kernel, pid, fd| call(kernel, pid, fd, other))
}

/// An empty stream, and a future with the error.
fn failed_stream<U, T>(
    mut store: Access<'_, U, HasHost>,
    halt: SyscallError,
) -> wasmtime::Result<(StreamReader<T>, ResultFuture)>
where
    T: wasmtime::component::Lower + wasmtime::component::Lift + Send + Sync + 'static,
{
    let SyscallError::Errno(errno) = halt else { return Err(errors::trap(halt)) };
    let (mut result_sender, receiver) = ResultSender::new(code);
    result_sender.send(Err(errno));
    Ok((StreamReader::new(&mut store, std::iter::empty())?, future(&mut store, receiver)?))
}

fn write<U>(
    mut store: Access<'_, U, HasHost>,
    descriptor: &Descriptor,
    mut data: StreamReader<u8>,
    offset: Option<u64>,
) -> wasmtime::Result<ResultFuture> {
    let host = store.get();
    let fd = host.fd(descriptor)?;
    let (mut result_sender, receiver) = ResultSender::new(code);
    match Sink::of_file(&host.handle, fd, offset) {
        Ok(sink) => data.pipe(&mut store, DescriptorConsumer::new(sink, result_sender))?,
        Err(SyscallError::Errno(errno)) => {
            data.close(&mut store)?;
            result_sender.send(Err(errno));
        }
        Err(halt) => return Err(errors::trap(halt)),
    }
    future(&mut store, receiver)
}

impl types::Host for Host {
    fn convert_error_code(&mut self, error: FilesystemError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }
}

impl types::HostDescriptor for Host {
    fn drop(&mut self, descriptor: Descriptor) -> wasmtime::Result<()> {
        Ok(self.close(&descriptor)?)
    }
}

impl preopens::Host for Host {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Descriptor, String)>> {
        self.directories()
    }
}

impl<U> types::HostDescriptorWithStore<U> for HasHost {
    fn read_via_stream(
        mut store: Access<'_, U, Self>,
        fd: Descriptor,
        offset: u64,
    ) -> wasmtime::Result<(StreamReader<u8>, ResultFuture)> {
        let host = store.get();
        let fd = host.fd(&fd)?;
        match Source::of_file(&host.handle, fd, offset) {
            Ok(source) => {
                let (result_sender, receiver) = ResultSender::new(code);
                let stream = StreamReader::new(&mut store, DescriptorProducer::new(source, result_sender))?;
                Ok((stream, future(&mut store, receiver)?))
            }
            Err(halt) => failed_stream(store, halt),
        }
    }

    fn write_via_stream(
        store: Access<'_, U, Self>,
        fd: Descriptor,
        data: StreamReader<u8>,
        offset: u64,
    ) -> wasmtime::Result<ResultFuture> {
        write(store, &fd, data, Some(offset))
    }

    fn append_via_stream(
        store: Access<'_, U, Self>,
        fd: Descriptor,
        data: StreamReader<u8>,
    ) -> wasmtime::Result<ResultFuture> {
        write(store, &fd, data, None)
    }

    fn read_directory(
        mut store: Access<'_, U, Self>,
        fd: Descriptor,
    ) -> wasmtime::Result<(StreamReader<DirectoryEntry>, ResultFuture)> {
        let host = store.get();
        let fd = host.fd(&fd)?;
        match DirListing::new(&host.handle, fd) {
            Ok(listing) => {
                let (result_sender, receiver) = ResultSender::new(code);
                let stream = StreamReader::new(&mut store, DirEntryProducer::new(listing, result_sender))?;
                Ok((stream, future(&mut store, receiver)?))
            }
            Err(halt) => failed_stream(store, halt),
        }
    }

    async fn advise(store: &Accessor<U, Self>, fd: Descriptor, offset: u64, _: u64, _: Advice) -> FilesystemResult<()> {
        with_fd(store, &fd, |kernel, pid, fd| kernel.advise(pid, fd, offset))
    }

    async fn sync_data(store: &Accessor<U, Self>, fd: Descriptor) -> FilesystemResult<()> {
        with_fd(store, &fd, Kernel::sync)
    }

    async fn sync(store: &Accessor<U, Self>, fd: Descriptor) -> FilesystemResult<()> {
        with_fd(store, &fd, Kernel::sync)
    }

    async fn get_flags(store: &Accessor<U, Self>, fd: Descriptor) -> FilesystemResult<DescriptorFlags> {
        with_fd(store, &fd, |kernel, pid, fd| Ok(mode_flags(kernel.mode(pid, fd)?, kernel.stat(pid, fd)?.filetype)))
    }

    async fn get_type(store: &Accessor<U, Self>, fd: Descriptor) -> FilesystemResult<DescriptorType> {
        with_fd(store, &fd, |kernel, pid, fd| Ok(kind(kernel.stat(pid, fd)?.filetype)))
    }

    async fn set_size(store: &Accessor<U, Self>, fd: Descriptor, size: u64) -> FilesystemResult<()> {
        with_fd(store, &fd, |kernel, pid, fd| kernel.resize(pid, fd, size))
    }

    async fn set_times(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        atime: NewTimestamp,
        mtime: NewTimestamp,
    ) -> FilesystemResult<()> {
        with_fd(store, &fd, |kernel, pid, fd| kernel.set_times(pid, fd, time_change(atime), time_change(mtime)))
    }

    async fn create_directory_at(store: &Accessor<U, Self>, fd: Descriptor, path: String) -> FilesystemResult<()> {
        with_fd(store, &fd, |kernel, pid, fd| kernel.make_dir_at(pid, fd, path.as_bytes()))
    }

    async fn stat(store: &Accessor<U, Self>, fd: Descriptor) -> FilesystemResult<DescriptorStat> {
        with_fd(store, &fd, |kernel, pid, fd| Ok(stat(&kernel.stat(pid, fd)?)))
    }

    async fn stat_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        flags: PathFlags,
        path: String,
    ) -> FilesystemResult<DescriptorStat> {
        with_fd(store, &fd, |kernel, pid, fd| {
            Ok(stat(&kernel.stat_at(pid, fd, path.as_bytes(), follows_links(flags))?))
        })
    }

    async fn set_times_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        flags: PathFlags,
        path: String,
        atime: NewTimestamp,
        mtime: NewTimestamp,
    ) -> FilesystemResult<()> {
        let (atime, mtime) = (time_change(atime), time_change(mtime));
        with_fd(store, &fd, |kernel, pid, fd| {
            kernel.set_times_at(pid, fd, path.as_bytes(), follows_links(flags), atime, mtime)
        })
    }

    async fn link_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        flags: PathFlags,
        old: String,
        new_fd: Descriptor,
        new: String,
    ) -> FilesystemResult<()> {
        with_two_fds(store, &fd, &new_fd, |kernel, pid, fd, new_fd| {
            kernel.link_at(pid, fd, old.as_bytes(), follows_links(flags), new_fd, new.as_bytes())
        })
    }

    async fn open_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FilesystemResult<Resource<types::Descriptor>> {
        let how = open_options(path_flags, open_flags, flags);
        let (handle, directory) = store.with(|mut access| {
            let host = access.get();
            host.fd(&fd).map(|fd| (host.handle.clone(), fd)).map_err(bad_descriptor)
        })?;
        // Opening a FIFO waits for the other end.
        let opened = handle.wait(|kernel, pid| kernel.open_at(pid, directory, path.as_bytes(), how)).await;
        let fd = opened.map_err(failed)?;
        store.with(|mut access| access.get().push(fd, false).map_err(bad_descriptor))
    }

    async fn readlink_at(store: &Accessor<U, Self>, fd: Descriptor, path: String) -> FilesystemResult<String> {
        let target = with_fd(store, &fd, |kernel, pid, fd| kernel.read_link_at(pid, fd, path.as_bytes()))?;
        String::from_utf8(target).map_err(|_| ErrorCode::IllegalByteSequence.into())
    }

    async fn remove_directory_at(store: &Accessor<U, Self>, fd: Descriptor, path: String) -> FilesystemResult<()> {
        with_fd(store, &fd, |kernel, pid, fd| kernel.remove_dir_at(pid, fd, path.as_bytes()))
    }

    async fn rename_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        old: String,
        new_fd: Descriptor,
        new: String,
    ) -> FilesystemResult<()> {
        with_two_fds(store, &fd, &new_fd, |kernel, pid, fd, new_fd| {
            kernel.rename_at(pid, fd, old.as_bytes(), new_fd, new.as_bytes())
        })
    }

    async fn symlink_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        target: String,
        path: String,
    ) -> FilesystemResult<()> {
        with_fd(store, &fd, |kernel, pid, fd| kernel.symlink_at(pid, target.as_bytes(), fd, path.as_bytes()))
    }

    async fn unlink_file_at(store: &Accessor<U, Self>, fd: Descriptor, path: String) -> FilesystemResult<()> {
        with_fd(store, &fd, |kernel, pid, fd| kernel.unlink_at(pid, fd, path.as_bytes()))
    }

    async fn is_same_object(store: &Accessor<U, Self>, fd: Descriptor, other: Descriptor) -> wasmtime::Result<bool> {
        let same = with_two_fds(store, &fd, &other, |kernel, pid, fd, other| {
            let (one, two) = (kernel.stat(pid, fd)?, kernel.stat(pid, other)?);
            Ok((one.dev, one.ino) == (two.dev, two.ino))
        });
        // A failed lookup makes them differ; only the exit of the process is an error here.
        same.or_else(|error| error.downcast().map(|_| false))
    }

    async fn metadata_hash(store: &Accessor<U, Self>, fd: Descriptor) -> FilesystemResult<MetadataHashValue> {
        with_fd(store, &fd, |kernel, pid, fd| Ok(identity(&kernel.stat(pid, fd)?)))
    }

    async fn metadata_hash_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        flags: PathFlags,
        path: String,
    ) -> FilesystemResult<MetadataHashValue> {
        with_fd(store, &fd, |kernel, pid, fd| {
            Ok(identity(&kernel.stat_at(pid, fd, path.as_bytes(), follows_links(flags))?))
        })
    }
}
