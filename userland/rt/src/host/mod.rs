//! The ABI implemented on the operating system, so that programs built on this crate can be tested on the host. This is not a
//! sandbox: a program that runs here has all rights of its user.
#![allow(unsafe_code, reason = "system calls are unsafe; every pointer passed here comes from a live value")]

mod descriptor;
mod errno;
mod path;
mod process;
mod socket;
mod surroundings;
mod terminal;

pub(crate) use descriptor::{
    FD_SHIFT, close, dup, dup_to, inherit, is_terminal, open, pipe, poll_both, poll_read, poll_reads, read, seek,
    seek_to, set_nonblocking, set_size, write,
};
pub(crate) use path::{
    access, chdir, chmod, fstat, getcwd, link, make_dir, make_fifo, read_dir, read_link, remove_dir, rename, set_times,
    stat, symlink, umask, unlink,
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
