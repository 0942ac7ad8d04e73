//! The imported functions of `wasi_snapshot_preview1`, with one safe wrapper each.
//!
//! The probe calls them directly, because libc retries, checks and rewrites its calls, and an ABI test must see the raw results.

#![allow(unsafe_code, reason = "the imported functions take addresses; this module turns slices into them and back")]

pub(crate) mod fault;

/// Return value of a call: the number of the witx type `errno`.
pub(crate) type Errno = u16;

/// An address beyond the memory of this module: the last page of 4 GiB.
const NOWHERE: usize = 0xffff_f000;

/// A buffer as `iovec` and `ciovec` describe it.
#[repr(C)]
struct Vector {
    at: *mut u8,
    len: usize,
}

/// Buffer for a witx record, with the strictest alignment of all.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub(crate) struct Record<const N: usize>(pub(crate) [u8; N]);

impl<const N: usize> Record<N> {
    pub(crate) const fn new() -> Self {
        Self([0; N])
    }

    pub(crate) fn u8(&self, at: usize) -> u8 {
        self.0[at]
    }

    pub(crate) fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    pub(crate) fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at)) | u32::from(self.u16(at + 2)) << 16
    }

    pub(crate) fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }

    pub(crate) fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

mod import;

pub(crate) use import::{
    fd_advise, fd_allocate, fd_close, fd_datasync, fd_fdstat_set_flags, fd_fdstat_set_rights, fd_filestat_set_size,
    fd_filestat_set_times, fd_renumber, fd_sync, proc_exit, proc_raise, sched_yield, sock_shutdown,
};

fn vectors_mut(buffers: &mut [&mut [u8]]) -> Vec<Vector> {
    buffers.iter_mut().map(|buffer| Vector { at: buffer.as_mut_ptr(), len: buffer.len() }).collect()
}

fn vectors(buffers: &[&[u8]]) -> Vec<Vector> {
    // The address is mutable only in type: the host reads the buffers of `fd_write` and similar calls.
    buffers.iter().map(|buffer| Vector { at: buffer.as_ptr().cast_mut(), len: buffer.len() }).collect()
}

/// Result of `args_get` or `environ_get`: the strings, each without its NUL.
pub(crate) fn args_get() -> (Errno, Vec<Vec<u8>>) {
    // SAFETY: both functions get buffers for as many strings and bytes as the host reported.
    strings(
        |count, size| unsafe { import::args_sizes_get(count, size) },
        |list, bytes| unsafe { import::args_get(list, bytes) },
    )
}

/// Like [`args_get`], for the environment.
pub(crate) fn environ_get() -> (Errno, Vec<Vec<u8>>) {
    // SAFETY: both functions get buffers for as many strings and bytes as the host reported.
    strings(
        |count, size| unsafe { import::environ_sizes_get(count, size) },
        |list, bytes| unsafe { import::environ_get(list, bytes) },
    )
}

fn strings(
    sizes: impl Fn(*mut u32, *mut u32) -> Errno,
    get: impl Fn(*mut u32, *mut u8) -> Errno,
) -> (Errno, Vec<Vec<u8>>) {
    let (mut count, mut size) = (0, 0);
    let errno = sizes(&mut count, &mut size);
    if errno != 0 {
        return (errno, Vec::new());
    }
    let mut list = vec![0_u32; count as usize];
    let mut bytes = vec![0xff_u8; size as usize];
    let start = bytes.as_ptr().expose_provenance();
    let errno = get(list.as_mut_ptr(), bytes.as_mut_ptr());
    let string = |at: &u32| {
        let tail = bytes.get((*at as usize).wrapping_sub(start)..).unwrap_or_default();
        tail.split(|byte| *byte == 0).next().unwrap_or_default().to_vec()
    };
    (errno, list.iter().map(string).collect())
}

/// Count and bytes from `args_sizes_get`.
pub(crate) fn args_sizes_get() -> (Errno, u32, u32) {
    let (mut count, mut size) = (0, 0);
    // SAFETY: both pointers are live for the call.
    (unsafe { import::args_sizes_get(&mut count, &mut size) }, count, size)
}

/// Count and bytes from `environ_sizes_get`.
pub(crate) fn environ_sizes_get() -> (Errno, u32, u32) {
    let (mut count, mut size) = (0, 0);
    // SAFETY: both pointers are live for the call.
    (unsafe { import::environ_sizes_get(&mut count, &mut size) }, count, size)
}

pub(crate) fn clock_res_get(id: u32) -> (Errno, u64) {
    let mut out = 0;
    // SAFETY: the pointer is live for the call.
    (unsafe { import::clock_res_get(id, &mut out) }, out)
}

pub(crate) fn clock_time_get(id: u32) -> (Errno, u64) {
    let mut out = 0;
    // SAFETY: the pointer is live for the call.
    (unsafe { import::clock_time_get(id, 1, &mut out) }, out)
}

pub(crate) fn fd_fdstat_get(fd: u32) -> (Errno, Record<24>) {
    let mut out = Record::new();
    // SAFETY: the pointer is live for the call and as large as the record.
    (unsafe { import::fd_fdstat_get(fd, &mut out) }, out)
}

pub(crate) fn fd_filestat_get(fd: u32) -> (Errno, Record<64>) {
    let mut out = Record::new();
    // SAFETY: the pointer is live for the call and as large as the record.
    (unsafe { import::fd_filestat_get(fd, &mut out) }, out)
}

pub(crate) fn fd_pread(fd: u32, buffers: &mut [&mut [u8]], offset: u64) -> (Errno, u32) {
    let (list, mut out) = (vectors_mut(buffers), 0);
    // SAFETY: the list names buffers that are borrowed mutably for the call.
    (unsafe { import::fd_pread(fd, list.as_ptr(), list.len(), offset, &mut out) }, out)
}

pub(crate) fn fd_prestat_get(fd: u32) -> (Errno, Record<8>) {
    let mut out = Record::new();
    // SAFETY: the pointer is live for the call and as large as the record.
    (unsafe { import::fd_prestat_get(fd, &mut out) }, out)
}

pub(crate) fn fd_prestat_dir_name(fd: u32, path: &mut [u8]) -> Errno {
    // SAFETY: the buffer is borrowed mutably for the call.
    unsafe { import::fd_prestat_dir_name(fd, path.as_mut_ptr(), path.len()) }
}

pub(crate) fn fd_pwrite(fd: u32, buffers: &[&[u8]], offset: u64) -> (Errno, u32) {
    let (list, mut out) = (vectors(buffers), 0);
    // SAFETY: the list names buffers that are borrowed for the call, and the host only reads them.
    (unsafe { import::fd_pwrite(fd, list.as_ptr(), list.len(), offset, &mut out) }, out)
}

pub(crate) fn fd_read(fd: u32, buffers: &mut [&mut [u8]]) -> (Errno, u32) {
    let (list, mut out) = (vectors_mut(buffers), 0);
    // SAFETY: the list names buffers that are borrowed mutably for the call.
    (unsafe { import::fd_read(fd, list.as_ptr(), list.len(), &mut out) }, out)
}

pub(crate) fn fd_readdir(fd: u32, buffer: &mut [u8], cookie: u64) -> (Errno, u32) {
    let mut out = 0;
    // SAFETY: the buffer is borrowed mutably for the call.
    (unsafe { import::fd_readdir(fd, buffer.as_mut_ptr(), buffer.len(), cookie, &mut out) }, out)
}

pub(crate) fn fd_seek(fd: u32, offset: i64, whence: u32) -> (Errno, u64) {
    let mut out = 0;
    // SAFETY: the pointer is live for the call.
    (unsafe { import::fd_seek(fd, offset, whence, &mut out) }, out)
}

pub(crate) fn fd_tell(fd: u32) -> (Errno, u64) {
    let mut out = 0;
    // SAFETY: the pointer is live for the call.
    (unsafe { import::fd_tell(fd, &mut out) }, out)
}

pub(crate) fn fd_write(fd: u32, buffers: &[&[u8]]) -> (Errno, u32) {
    let (list, mut out) = (vectors(buffers), 0);
    // SAFETY: the list names buffers that are borrowed for the call, and the host only reads them.
    (unsafe { import::fd_write(fd, list.as_ptr(), list.len(), &mut out) }, out)
}

pub(crate) fn path_create_directory(fd: u32, path: &[u8]) -> Errno {
    // SAFETY: the path is borrowed for the call.
    unsafe { import::path_create_directory(fd, path.as_ptr(), path.len()) }
}

pub(crate) fn path_filestat_get(fd: u32, flags: u32, path: &[u8]) -> (Errno, Record<64>) {
    let mut out = Record::new();
    // SAFETY: the path is borrowed for the call, and the pointer is as large as the record.
    (unsafe { import::path_filestat_get(fd, flags, path.as_ptr(), path.len(), &mut out) }, out)
}

pub(crate) fn path_filestat_set_times(fd: u32, flags: u32, path: &[u8], atime: u64, mtime: u64, which: u32) -> Errno {
    // SAFETY: the path is borrowed for the call.
    unsafe { import::path_filestat_set_times(fd, flags, path.as_ptr(), path.len(), atime, mtime, which) }
}

pub(crate) fn path_link(fd: u32, flags: u32, path: &[u8], to: u32, new: &[u8]) -> Errno {
    // SAFETY: both paths are borrowed for the call.
    unsafe { import::path_link(fd, flags, path.as_ptr(), path.len(), to, new.as_ptr(), new.len()) }
}

/// Arguments of `path_open` other than the directory and the path.
#[derive(Clone, Copy)]
pub(crate) struct Open {
    pub(crate) dirflags: u32,
    pub(crate) oflags: u32,
    pub(crate) rights: u64,
    pub(crate) fdflags: u32,
}

pub(crate) fn path_open(fd: u32, path: &[u8], how: Open) -> (Errno, u32) {
    let mut out = 0;
    let Open { dirflags, oflags, rights, fdflags } = how;
    // SAFETY: the path is borrowed for the call, and the pointer is live for it.
    let errno = unsafe {
        import::path_open(fd, dirflags, path.as_ptr(), path.len(), oflags, rights, rights, fdflags, &mut out)
    };
    (errno, out)
}

pub(crate) fn path_readlink(fd: u32, path: &[u8], buffer: &mut [u8]) -> (Errno, u32) {
    let mut out = 0;
    // SAFETY: the path is borrowed for the call and the buffer mutably.
    let errno =
        unsafe { import::path_readlink(fd, path.as_ptr(), path.len(), buffer.as_mut_ptr(), buffer.len(), &mut out) };
    (errno, out)
}

pub(crate) fn path_remove_directory(fd: u32, path: &[u8]) -> Errno {
    // SAFETY: the path is borrowed for the call.
    unsafe { import::path_remove_directory(fd, path.as_ptr(), path.len()) }
}

pub(crate) fn path_rename(fd: u32, path: &[u8], to: u32, new: &[u8]) -> Errno {
    // SAFETY: both paths are borrowed for the call.
    unsafe { import::path_rename(fd, path.as_ptr(), path.len(), to, new.as_ptr(), new.len()) }
}

pub(crate) fn path_symlink(target: &[u8], fd: u32, new: &[u8]) -> Errno {
    // SAFETY: target and path are borrowed for the call.
    unsafe { import::path_symlink(target.as_ptr(), target.len(), fd, new.as_ptr(), new.len()) }
}

pub(crate) fn path_unlink_file(fd: u32, path: &[u8]) -> Errno {
    // SAFETY: the path is borrowed for the call.
    unsafe { import::path_unlink_file(fd, path.as_ptr(), path.len()) }
}

pub(crate) fn poll_oneoff(subscriptions: &[Record<48>]) -> (Errno, Vec<Record<32>>) {
    let mut events = vec![Record::new(); subscriptions.len()];
    let mut out = 0;
    // SAFETY: the buffer has space for as many events as there are subscriptions.
    let errno =
        unsafe { import::poll_oneoff(subscriptions.as_ptr(), events.as_mut_ptr(), subscriptions.len(), &mut out) };
    events.truncate(out as usize);
    (errno, events)
}

pub(crate) fn random_get(buffer: &mut [u8]) -> Errno {
    // SAFETY: the buffer is borrowed mutably for the call.
    unsafe { import::random_get(buffer.as_mut_ptr(), buffer.len()) }
}

pub(crate) fn sock_accept(fd: u32) -> Errno {
    let mut out = 0;
    // SAFETY: the pointer is live for the call.
    unsafe { import::sock_accept(fd, 0, &mut out) }
}

pub(crate) fn sock_recv(fd: u32, buffer: &mut [u8]) -> Errno {
    let (list, mut size, mut flags) = (vectors_mut(&mut [buffer]), 0, 0);
    // SAFETY: the list names one buffer that is borrowed mutably for the call.
    unsafe { import::sock_recv(fd, list.as_ptr(), list.len(), 0, &mut size, &mut flags) }
}

pub(crate) fn sock_send(fd: u32, buffer: &[u8]) -> Errno {
    let (list, mut size) = (vectors(&[buffer]), 0);
    // SAFETY: the list names one buffer that is borrowed for the call, and the host only reads it.
    unsafe { import::sock_send(fd, list.as_ptr(), list.len(), 0, &mut size) }
}
