//! `wasi:filesystem` of WASI 0.3: the calls of 0.2, with streams and futures of its own.

use tidebox_kernel::wasi::Halt;
use tidebox_kernel::{Kernel, Pid};
use wasmtime::component::{Access, Accessor, FutureReader, Resource, StreamReader};
use wasmtime_wasi::p3::bindings::filesystem::preopens;
use wasmtime_wasi::p3::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, MetadataHashValue,
    NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p3::filesystem::{FilesystemError, FilesystemResult};

use super::super::descriptor::{Descriptor, Listing};
use super::super::failure;
use super::super::host::Host;
use super::super::input::Source;
use super::super::output::Sink;
use super::stream::{Names, Reading, Verdict, Writing, future};
use super::{Own, code, failed, flags as mode_flags, follow, identity, kind, opening, stamp, stat, unknown};

type Told = FutureReader<Result<(), ErrorCode>>;

/// Asks the kernel about a descriptor.
fn on<U, T>(
    store: &Accessor<U, Own>,
    descriptor: &Descriptor,
    call: impl FnOnce(&mut Kernel, Pid, u32) -> Result<T, Halt>,
) -> FilesystemResult<T> {
    store.with(|mut access| {
        let host = access.get();
        let fd = host.fd(descriptor).map_err(unknown)?;
        host.handle.ask(|kernel, pid| call(kernel, pid, fd)).map_err(failed)
    })
}

/// As [`on`], for calls about two.
fn on_both<U, T>(
    store: &Accessor<U, Own>,
    one: &Descriptor,
    other: &Descriptor,
    call: impl FnOnce(&mut Kernel, Pid, u32, u32) -> Result<T, Halt>,
) -> FilesystemResult<T> {
    let other = store.with(|mut access| access.get().fd(other).map_err(unknown))?;
    on(store, one, |kernel, pid, fd| call(kernel, pid, fd, other))
}

/// A stream that has nothing, and the future that says why.
fn nothing<U, T>(mut store: Access<'_, U, Own>, halt: Halt) -> wasmtime::Result<(StreamReader<T>, Told)>
where
    T: wasmtime::component::Lower + wasmtime::component::Lift + Send + Sync + 'static,
{
    let Halt::Errno(errno) = halt else { return Err(failure::trap(halt)) };
    let (mut verdict, told) = Verdict::new(code);
    verdict.tell(Err(errno));
    Ok((StreamReader::new(&mut store, std::iter::empty())?, future(&mut store, told)?))
}

fn write<U>(
    mut store: Access<'_, U, Own>,
    descriptor: &Descriptor,
    mut data: StreamReader<u8>,
    offset: Option<u64>,
) -> wasmtime::Result<Told> {
    let host = store.get();
    let fd = host.fd(descriptor)?;
    let (mut verdict, told) = Verdict::new(code);
    match Sink::of_file(&host.handle, fd, offset) {
        Ok(sink) => data.pipe(&mut store, Writing::new(sink, verdict))?,
        Err(Halt::Errno(errno)) => {
            data.close(&mut store)?;
            verdict.tell(Err(errno));
        }
        Err(halt) => return Err(failure::trap(halt)),
    }
    future(&mut store, told)
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

impl<U> types::HostDescriptorWithStore<U> for Own {
    fn read_via_stream(
        mut store: Access<'_, U, Self>,
        fd: Descriptor,
        offset: u64,
    ) -> wasmtime::Result<(StreamReader<u8>, Told)> {
        let host = store.get();
        let fd = host.fd(&fd)?;
        match Source::of_file(&host.handle, fd, offset) {
            Ok(source) => {
                let (verdict, told) = Verdict::new(code);
                let stream = StreamReader::new(&mut store, Reading::new(source, verdict))?;
                Ok((stream, future(&mut store, told)?))
            }
            Err(halt) => nothing(store, halt),
        }
    }

    fn write_via_stream(
        store: Access<'_, U, Self>,
        fd: Descriptor,
        data: StreamReader<u8>,
        offset: u64,
    ) -> wasmtime::Result<Told> {
        write(store, &fd, data, Some(offset))
    }

    fn append_via_stream(store: Access<'_, U, Self>, fd: Descriptor, data: StreamReader<u8>) -> wasmtime::Result<Told> {
        write(store, &fd, data, None)
    }

    fn read_directory(
        mut store: Access<'_, U, Self>,
        fd: Descriptor,
    ) -> wasmtime::Result<(StreamReader<DirectoryEntry>, Told)> {
        let host = store.get();
        let fd = host.fd(&fd)?;
        match Listing::new(&host.handle, fd) {
            Ok(listing) => {
                let (verdict, told) = Verdict::new(code);
                let stream = StreamReader::new(&mut store, Names::new(listing, verdict))?;
                Ok((stream, future(&mut store, told)?))
            }
            Err(halt) => nothing(store, halt),
        }
    }

    async fn advise(store: &Accessor<U, Self>, fd: Descriptor, offset: u64, _: u64, _: Advice) -> FilesystemResult<()> {
        on(store, &fd, |kernel, pid, fd| kernel.advise(pid, fd, offset))
    }

    async fn sync_data(store: &Accessor<U, Self>, fd: Descriptor) -> FilesystemResult<()> {
        on(store, &fd, Kernel::sync)
    }

    async fn sync(store: &Accessor<U, Self>, fd: Descriptor) -> FilesystemResult<()> {
        on(store, &fd, Kernel::sync)
    }

    async fn get_flags(store: &Accessor<U, Self>, fd: Descriptor) -> FilesystemResult<DescriptorFlags> {
        on(store, &fd, |kernel, pid, fd| Ok(mode_flags(kernel.mode(pid, fd)?, kernel.stat(pid, fd)?.filetype)))
    }

    async fn get_type(store: &Accessor<U, Self>, fd: Descriptor) -> FilesystemResult<DescriptorType> {
        on(store, &fd, |kernel, pid, fd| Ok(kind(kernel.stat(pid, fd)?.filetype)))
    }

    async fn set_size(store: &Accessor<U, Self>, fd: Descriptor, size: u64) -> FilesystemResult<()> {
        on(store, &fd, |kernel, pid, fd| kernel.resize(pid, fd, size))
    }

    async fn set_times(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        atime: NewTimestamp,
        mtime: NewTimestamp,
    ) -> FilesystemResult<()> {
        on(store, &fd, |kernel, pid, fd| kernel.set_times(pid, fd, stamp(atime), stamp(mtime)))
    }

    async fn create_directory_at(store: &Accessor<U, Self>, fd: Descriptor, path: String) -> FilesystemResult<()> {
        on(store, &fd, |kernel, pid, fd| kernel.make_dir_at(pid, fd, path.as_bytes()))
    }

    async fn stat(store: &Accessor<U, Self>, fd: Descriptor) -> FilesystemResult<DescriptorStat> {
        on(store, &fd, |kernel, pid, fd| Ok(stat(&kernel.stat(pid, fd)?)))
    }

    async fn stat_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        flags: PathFlags,
        path: String,
    ) -> FilesystemResult<DescriptorStat> {
        on(store, &fd, |kernel, pid, fd| Ok(stat(&kernel.stat_at(pid, fd, path.as_bytes(), follow(flags))?)))
    }

    async fn set_times_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        flags: PathFlags,
        path: String,
        atime: NewTimestamp,
        mtime: NewTimestamp,
    ) -> FilesystemResult<()> {
        let (atime, mtime) = (stamp(atime), stamp(mtime));
        on(store, &fd, |kernel, pid, fd| kernel.set_times_at(pid, fd, path.as_bytes(), follow(flags), atime, mtime))
    }

    async fn link_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        flags: PathFlags,
        old: String,
        new_fd: Descriptor,
        new: String,
    ) -> FilesystemResult<()> {
        on_both(store, &fd, &new_fd, |kernel, pid, fd, new_fd| {
            kernel.link_at(pid, fd, old.as_bytes(), follow(flags), new_fd, new.as_bytes())
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
        let how = opening(path_flags, open_flags, flags);
        let (handle, directory) = store.with(|mut access| {
            let host = access.get();
            host.fd(&fd).map(|fd| (host.handle.clone(), fd)).map_err(unknown)
        })?;
        // The end of a named pipe waits for the other one.
        let opened = handle.wait(|kernel, pid| kernel.open_at(pid, directory, path.as_bytes(), how)).await;
        let fd = opened.map_err(failed)?;
        store.with(|mut access| access.get().push(fd, false).map_err(unknown))
    }

    async fn readlink_at(store: &Accessor<U, Self>, fd: Descriptor, path: String) -> FilesystemResult<String> {
        let target = on(store, &fd, |kernel, pid, fd| kernel.read_link_at(pid, fd, path.as_bytes()))?;
        String::from_utf8(target).map_err(|_| ErrorCode::IllegalByteSequence.into())
    }

    async fn remove_directory_at(store: &Accessor<U, Self>, fd: Descriptor, path: String) -> FilesystemResult<()> {
        on(store, &fd, |kernel, pid, fd| kernel.remove_dir_at(pid, fd, path.as_bytes()))
    }

    async fn rename_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        old: String,
        new_fd: Descriptor,
        new: String,
    ) -> FilesystemResult<()> {
        on_both(store, &fd, &new_fd, |kernel, pid, fd, new_fd| {
            kernel.rename_at(pid, fd, old.as_bytes(), new_fd, new.as_bytes())
        })
    }

    async fn symlink_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        target: String,
        path: String,
    ) -> FilesystemResult<()> {
        on(store, &fd, |kernel, pid, fd| kernel.symlink_at(pid, target.as_bytes(), fd, path.as_bytes()))
    }

    async fn unlink_file_at(store: &Accessor<U, Self>, fd: Descriptor, path: String) -> FilesystemResult<()> {
        on(store, &fd, |kernel, pid, fd| kernel.unlink_at(pid, fd, path.as_bytes()))
    }

    async fn is_same_object(store: &Accessor<U, Self>, fd: Descriptor, other: Descriptor) -> wasmtime::Result<bool> {
        let same = on_both(store, &fd, &other, |kernel, pid, fd, other| {
            let (one, two) = (kernel.stat(pid, fd)?, kernel.stat(pid, other)?);
            Ok((one.dev, one.ino) == (two.dev, two.ino))
        });
        // What is wrong with one of them makes them differ; only the end of the process is an error here.
        same.or_else(|error| error.downcast().map(|_| false))
    }

    async fn metadata_hash(store: &Accessor<U, Self>, fd: Descriptor) -> FilesystemResult<MetadataHashValue> {
        on(store, &fd, |kernel, pid, fd| Ok(identity(&kernel.stat(pid, fd)?)))
    }

    async fn metadata_hash_at(
        store: &Accessor<U, Self>,
        fd: Descriptor,
        flags: PathFlags,
        path: String,
    ) -> FilesystemResult<MetadataHashValue> {
        on(store, &fd, |kernel, pid, fd| Ok(identity(&kernel.stat_at(pid, fd, path.as_bytes(), follow(flags))?)))
    }
}
