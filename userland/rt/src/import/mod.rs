//! The ABI: the imported functions, each wrapped once. The only module of the userland's own crates that uses `unsafe`, because
//! calling an import is unsafe.
#![allow(
    unsafe_code,
    reason = "calling an imported function is unsafe; every pointer passed here comes from a live slice or local"
)]

mod allocator;
mod descriptor;
mod listing;
mod path;
mod process;
mod raw;
mod socket;
mod surroundings;
mod terminal;

pub use allocator::EndingAllocator;
pub(crate) use descriptor::{
    FD_SHIFT, close, dup, dup_to, inherit, is_terminal, open, pipe, poll_both, poll_read, poll_reads, read, seek,
    seek_to, set_nonblocking, set_size, write,
};
pub(crate) use listing::read_dir;
pub(crate) use path::{
    access, chdir, chmod, fstat, getcwd, link, make_dir, make_fifo, read_link, remove_dir, rename, set_times, stat,
    symlink, umask, unlink,
};
pub(crate) use process::{
    cpu_times, exit, fork, getids, kill, limits, nesting_reached, nice, setpgid, sig_set, sig_take, spawn, wait,
    wait_change,
};
pub(crate) use socket::{
    accept, connect, finish_connect, listen, own_address, peer_address, shut_down_write, socket_pair, start_connect,
};
pub(crate) use surroundings::{args, clock, environ, random, shell_state_read, shell_state_write, startup_info};
pub(crate) use terminal::{terminal_group, tty_get, tty_set};
