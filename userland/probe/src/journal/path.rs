//! Calls on paths.

use super::{FOLLOW, Fd, Journal, NOFOLLOW, Stat, TIME_FLAGS};
use crate::sys::{self, Open};
use crate::text;

impl Journal {
    pub(crate) fn mkdir(&self, at: &Fd, path: impl AsRef<[u8]>) {
        let path = path.as_ref();
        let errno = sys::path_create_directory(at.number, path);
        self.done(format_args!("path_create_directory({}, {})", at.name, text::bytes(path)), errno);
    }

    pub(crate) fn stat(&self, at: &Fd, path: impl AsRef<[u8]>, follow: u32) -> Option<Stat> {
        let path = path.as_ref();
        let (errno, stat) = sys::path_filestat_get(at.number, follow, path);
        let flag = if follow == FOLLOW { " follow" } else { "" };
        self.line(
            format_args!("path_filestat_get({}, {}{flag})", at.name, text::bytes(path)),
            errno,
            Stat(stat).text(),
        );
        (errno == 0).then_some(Stat(stat))
    }

    pub(crate) fn set_times(&self, at: &Fd, path: impl AsRef<[u8]>, follow: u32, times: (u64, u64), which: u32) {
        let path = path.as_ref();
        let errno = sys::path_filestat_set_times(at.number, follow, path, times.0, times.1, which);
        let (path, which) = (text::bytes(path), text::flags(which, &TIME_FLAGS));
        let flag = if follow == FOLLOW { " follow" } else { "" };
        self.done(format_args!("path_filestat_set_times({}, {path}{flag}, {times:?}, {which})", at.name), errno);
    }

    pub(crate) fn link_with(&self, at: &Fd, old: impl AsRef<[u8]>, follow: u32, to: &Fd, new: impl AsRef<[u8]>) {
        let (old, new) = (old.as_ref(), new.as_ref());
        let errno = sys::path_link(at.number, follow, old, to.number, new);
        let flag = if follow == FOLLOW { " follow" } else { "" };
        let (old, new) = (text::bytes(old), text::bytes(new));
        self.done(format_args!("path_link({}, {old}{flag}, {}, {new})", at.name, to.name), errno);
    }

    pub(crate) fn link(&self, at: &Fd, old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) {
        self.link_with(at, old, NOFOLLOW, at, new);
    }

    pub(crate) fn open(&self, at: &Fd, path: impl AsRef<[u8]>, how: Open, name: impl Into<String>) -> Fd {
        let (path, name) = (path.as_ref(), name.into());
        let (errno, number) = sys::path_open(at.number, path, how);
        let call = format!("path_open({}, {}, {})", at.name, text::bytes(path), how.text());
        self.line(call, errno, &name);
        if errno == 0 { Fd::new(number, name) } else { Fd::none(name) }
    }

    pub(crate) fn readlink(&self, at: &Fd, path: impl AsRef<[u8]>, room: usize) {
        let path = path.as_ref();
        let mut buffer = vec![0; room];
        let (errno, used) = sys::path_readlink(at.number, path, &mut buffer);
        buffer.truncate(used as usize);
        self.line(
            format_args!("path_readlink({}, {}, {room})", at.name, text::bytes(path)),
            errno,
            format_args!("{used} {}", text::bytes(&buffer)),
        );
    }

    pub(crate) fn rmdir(&self, at: &Fd, path: impl AsRef<[u8]>) {
        let path = path.as_ref();
        let errno = sys::path_remove_directory(at.number, path);
        self.done(format_args!("path_remove_directory({}, {})", at.name, text::bytes(path)), errno);
    }

    pub(crate) fn rename_to(&self, at: &Fd, old: impl AsRef<[u8]>, to: &Fd, new: impl AsRef<[u8]>) {
        let (old, new) = (old.as_ref(), new.as_ref());
        let errno = sys::path_rename(at.number, old, to.number, new);
        let (old, new) = (text::bytes(old), text::bytes(new));
        self.done(format_args!("path_rename({}, {old}, {}, {new})", at.name, to.name), errno);
    }

    pub(crate) fn rename(&self, at: &Fd, old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) {
        self.rename_to(at, old, at, new);
    }

    pub(crate) fn symlink(&self, target: impl AsRef<[u8]>, at: &Fd, new: impl AsRef<[u8]>) {
        let (target, new) = (target.as_ref(), new.as_ref());
        let errno = sys::path_symlink(target, at.number, new);
        let (target, new) = (text::bytes(target), text::bytes(new));
        self.done(format_args!("path_symlink({target}, {}, {new})", at.name), errno);
    }

    pub(crate) fn unlink(&self, at: &Fd, path: impl AsRef<[u8]>) {
        let path = path.as_ref();
        let errno = sys::path_unlink_file(at.number, path);
        self.done(format_args!("path_unlink_file({}, {})", at.name, text::bytes(path)), errno);
    }
}
