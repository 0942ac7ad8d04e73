//! Calls with one invalid argument: an address outside the module's memory, or a value not defined by the witx.

use core::ptr;

use super::{Errno, NOWHERE, Record, Vector, import};

/// One faulty call, given a directory and an open file.
pub(crate) type Fault = fn(dir: u32, file: u32) -> Errno;

fn bad<T>() -> *mut T {
    ptr::without_provenance_mut(NOWHERE)
}

/// A list of one buffer outside the memory.
fn bad_list() -> [Vector; 1] {
    [Vector { at: bad(), len: 16 }]
}

/// One subscription to a clock that expires immediately.
fn alarm() -> Record<48> {
    Record::new()
}

macro_rules! faults {
    ($($name:literal => |$dir:ident, $file:ident| $call:expr;)*) => {
        &[$(($name, |$dir, $file| {
            let _ = ($dir, $file);
            // SAFETY: every address is either outside the memory, where the host can only reject it, or that of a variable that
            // is live for the call and large enough.
            unsafe { $call }
        }),)*]
    };
}

const PATH: &[u8] = b"file";

/// Every pointer argument of every function and every enum argument, each invalid separately.
const WITH_ADDRESSES: &[(&str, Fault)] = faults! {
    "args_get list" => |dir, file| import::args_get(bad(), [0; 64].as_mut_ptr());
    "args_get bytes" => |dir, file| import::args_get([0; 16].as_mut_ptr(), bad());
    "args_sizes_get count" => |dir, file| import::args_sizes_get(bad(), &mut 0);
    "args_sizes_get size" => |dir, file| import::args_sizes_get(&mut 0, bad());
    "environ_get list" => |dir, file| import::environ_get(bad(), [0; 64].as_mut_ptr());
    "environ_get bytes" => |dir, file| import::environ_get([0; 16].as_mut_ptr(), bad());
    "environ_sizes_get count" => |dir, file| import::environ_sizes_get(bad(), &mut 0);
    "environ_sizes_get size" => |dir, file| import::environ_sizes_get(&mut 0, bad());
    "clock_res_get" => |dir, file| import::clock_res_get(0, bad());
    "clock_time_get" => |dir, file| import::clock_time_get(0, 1, bad());
    "fd_fdstat_get" => |dir, file| import::fd_fdstat_get(file, bad());
    "fd_filestat_get" => |dir, file| import::fd_filestat_get(file, bad());
    "fd_pread list" => |dir, file| import::fd_pread(file, bad(), 1, 0, &mut 0);
    "fd_pread buffer" => |dir, file| import::fd_pread(file, bad_list().as_ptr(), 1, 0, &mut 0);
    "fd_prestat_get" => |dir, file| import::fd_prestat_get(dir, bad());
    "fd_prestat_dir_name" => |dir, file| import::fd_prestat_dir_name(dir, bad(), 16);
    "fd_pwrite list" => |dir, file| import::fd_pwrite(file, bad(), 1, 0, &mut 0);
    "fd_pwrite buffer" => |dir, file| import::fd_pwrite(file, bad_list().as_ptr(), 1, 0, &mut 0);
    "fd_read list" => |dir, file| import::fd_read(file, bad(), 1, &mut 0);
    "fd_read buffer" => |dir, file| import::fd_read(file, bad_list().as_ptr(), 1, &mut 0);
    "fd_readdir buffer" => |dir, file| import::fd_readdir(dir, bad(), 64, 0, &mut 0);
    "fd_readdir used" => |dir, file| import::fd_readdir(dir, [0; 64].as_mut_ptr(), 64, 0, bad());
    "fd_seek" => |dir, file| import::fd_seek(file, 0, 0, bad());
    "fd_tell" => |dir, file| import::fd_tell(file, bad());
    "fd_write list" => |dir, file| import::fd_write(file, bad(), 1, &mut 0);
    "fd_write buffer" => |dir, file| import::fd_write(file, bad_list().as_ptr(), 1, &mut 0);
    "path_create_directory" => |dir, file| import::path_create_directory(dir, bad(), 4);
    "path_filestat_get path" => |dir, file| import::path_filestat_get(dir, 0, bad(), 4, &mut Record::new());
    "path_filestat_get out" => |dir, file| import::path_filestat_get(dir, 0, PATH.as_ptr(), PATH.len(), bad());
    "path_filestat_set_times" => |dir, file| import::path_filestat_set_times(dir, 0, bad(), 4, 0, 0, 0);
    "path_link old" => |dir, file| import::path_link(dir, 0, bad(), 4, dir, PATH.as_ptr(), PATH.len());
    "path_link new" => |dir, file| import::path_link(dir, 0, PATH.as_ptr(), PATH.len(), dir, bad(), 4);
    "path_open path" => |dir, file| import::path_open(dir, 0, bad(), 4, 0, 2, 2, 0, &mut 0);
    "path_readlink path" => |dir, file| import::path_readlink(dir, bad(), 4, [0; 8].as_mut_ptr(), 8, &mut 0);
    "path_readlink buffer" => |dir, file| import::path_readlink(dir, b"link".as_ptr(), 4, bad(), 8, &mut 0);
    "path_remove_directory" => |dir, file| import::path_remove_directory(dir, bad(), 4);
    "path_rename old" => |dir, file| import::path_rename(dir, bad(), 4, dir, PATH.as_ptr(), PATH.len());
    "path_rename new" => |dir, file| import::path_rename(dir, PATH.as_ptr(), PATH.len(), dir, bad(), 4);
    "path_symlink target" => |dir, file| import::path_symlink(bad(), 4, dir, PATH.as_ptr(), PATH.len());
    "path_symlink new" => |dir, file| import::path_symlink(PATH.as_ptr(), PATH.len(), dir, bad(), 4);
    "path_unlink_file" => |dir, file| import::path_unlink_file(dir, bad(), 4);
    "poll_oneoff subscriptions" => |dir, file| import::poll_oneoff(bad(), &mut Record::new(), 1, &mut 0);
    "poll_oneoff events" => |dir, file| import::poll_oneoff(&alarm(), bad(), 1, &mut 0);
    "random_get" => |dir, file| import::random_get(bad(), 16);
    "clock_res_get id" => |dir, file| import::clock_res_get(4, &mut 0);
    "clock_time_get id" => |dir, file| import::clock_time_get(u32::MAX, 1, &mut 0);
    "fd_seek whence" => |dir, file| import::fd_seek(file, 0, 3, &mut 0);
    "path_filestat_get flags" => |dir, file| {
        import::path_filestat_get(dir, 2, PATH.as_ptr(), PATH.len(), &mut Record::new())
    };
    "path_open dirflags" => |dir, file| import::path_open(dir, 2, PATH.as_ptr(), PATH.len(), 0, 2, 2, 0, &mut 0);
    "path_open oflags" => |dir, file| import::path_open(dir, 0, PATH.as_ptr(), PATH.len(), 16, 2, 2, 0, &mut 0);
    "path_open rights" => |dir, file| import::path_open(dir, 0, PATH.as_ptr(), PATH.len(), 0, 1 << 40, 2, 0, &mut 0);
    "path_open fdflags" => |dir, file| import::path_open(dir, 0, PATH.as_ptr(), PATH.len(), 0, 2, 2, 32, &mut 0);
    "misaligned fd_filestat_get" => |dir, file| {
        let mut room = [Record::<64>::new(); 2];
        import::fd_filestat_get(file, room.as_mut_ptr().byte_add(1))
    };
};

/// Like [`WITH_ADDRESSES`], for functions without pointers.
const NUMBERS_ONLY: &[(&str, Fault)] = &[
    ("fd_advise advice", |_, file| import::fd_advise(file, 0, 1, 6)),
    ("fd_fdstat_set_flags flags", |_, file| import::fd_fdstat_set_flags(file, 32)),
    ("fd_fdstat_set_flags high flags", |_, file| import::fd_fdstat_set_flags(file, 0x1_0000)),
    ("fd_fdstat_set_rights rights", |_, file| import::fd_fdstat_set_rights(file, u64::MAX, 0)),
    ("fd_filestat_set_times flags", |_, file| import::fd_filestat_set_times(file, 0, 0, 16)),
    ("proc_raise signal", |_, _| import::proc_raise(255)),
    ("sock_shutdown how", |_, file| import::sock_shutdown(file, 4)),
];

/// All faulty calls, in the order of their numbers.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, Fault)> {
    WITH_ADDRESSES.iter().chain(NUMBERS_ONLY).copied()
}
