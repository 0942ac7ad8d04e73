//! Odd paths for every function that takes one.
//!
//! Each path gets a separate small tree, and each is resolved from that tree and from the root.

use crate::journal::{BOTH, CREAT, DIRECTORY, EXCL, FOLLOW, Fd, Journal, NOFOLLOW, READ};
use crate::sys;

/// Paths without odd bytes.
const PLAIN: &[&str] = &[
    "",
    ".",
    "./",
    "..",
    "../",
    "/",
    "//",
    "/file",
    "file",
    "./file",
    "file/",
    "file/.",
    "file/..",
    "file/x",
    "dir",
    "dir/",
    "dir//",
    "dir/.",
    "dir/./",
    "dir/..",
    "dir/../",
    "dir/inner",
    "dir//inner",
    "dir/./inner",
    "dir/../file",
    "dir/../dir",
    "dir/../../file",
    "../file",
    "dir/new",
    "dir/new/",
    "dir/new/x",
    "hollow",
    "hollow/",
    "hollow/.",
    "hollow/..",
    "link",
    "link/",
    "link/.",
    "link/x",
    "dirlink",
    "dirlink/",
    "dirlink/.",
    "dirlink/..",
    "dirlink/inner",
    "dirlink/../file",
    "hollowlink",
    "hollowlink/",
    "dangling",
    "dangling/",
    "dangling/x",
    "dangling/..",
    "loop",
    "loop/",
    "loop/x",
    "outlink",
    "outlink/",
    "missing",
    "missing/",
    "missing/.",
    "missing/..",
    "missing/x",
    "missing/../file",
    "nul\0",
    "file\0",
    "file\0x",
    " ",
    "...",
    "new\nline",
];

fn paths() -> Vec<Vec<u8>> {
    let mut paths: Vec<Vec<u8>> = PLAIN.iter().map(|path| path.as_bytes().to_vec()).collect();
    paths.push(b"n".repeat(255));
    paths.push(b"n".repeat(256));
    paths.push([&b"n".repeat(256)[..], b"/x"].concat());
    paths.push([&b"dir/../".repeat(580)[..], b"file"].concat());
    paths.push([&b"dir/../".repeat(600)[..], b"file"].concat());
    paths.push(b"not utf-8 \xff".to_vec());
    paths.push("Umlaut \u{fc} \u{6f22}".as_bytes().to_vec());
    paths
}

/// Creates a tree below `name` and opens it.
fn tree(journal: &Journal, root: &Fd, name: &str) -> Fd {
    let mut errors = u32::from(sys::path_create_directory(root.number, name.as_bytes()));
    let (errno, at) = sys::path_open(root.number, name.as_bytes(), READ.flags(DIRECTORY));
    errors += u32::from(errno);
    for dir in ["dir", "hollow"] {
        errors += u32::from(sys::path_create_directory(at, dir.as_bytes()));
    }
    for file in ["file", "dir/inner"] {
        let (errno, fd) = sys::path_open(at, file.as_bytes(), BOTH.flags(CREAT | EXCL));
        errors += u32::from(errno);
        errors += u32::from(sys::fd_write(fd, &[file.as_bytes()]).0);
        errors += u32::from(sys::fd_close(fd));
    }
    let links = [
        ("file", "link"),
        ("dir", "dirlink"),
        ("hollow", "hollowlink"),
        ("nowhere", "dangling"),
        ("loop", "loop"),
        ("../file", "outlink"),
    ];
    for (target, link) in links {
        errors += u32::from(sys::path_symlink(target.as_bytes(), at, link.as_bytes()));
    }
    if errors != 0 {
        journal.note(format_args!("laying out {name}"), "failed");
    }
    Fd::new(at, "tree")
}

/// Makes `call` for every odd path, first from the tree itself, then through its name from the root.
fn each(journal: &Journal, root: &Fd, call: impl Fn(&Journal, &Fd, &[u8], &Fd)) {
    for (number, path) in paths().iter().enumerate() {
        let (near, far) = (format!("near{number}"), format!("far{number}"));
        let at = tree(journal, root, &near);
        call(journal, &at, path, &at);
        sys::fd_close(at.number);
        if path.starts_with(b"/") || path.is_empty() || path.contains(&0) {
            continue;
        }
        let at = tree(journal, root, &far);
        call(journal, root, &[far.as_bytes(), b"/", path].concat(), &at);
        sys::fd_close(at.number);
    }
}

pub(crate) fn open(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, _| {
        let fd = journal.open(at, path, READ, "it");
        journal.fd_fdstat_get(&fd);
        journal.fd_close(&fd);
        let fd = journal.open(at, path, READ.nofollow(), "it");
        journal.fd_close(&fd);
    });
}

pub(crate) fn open_create(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, _| {
        let fd = journal.open(at, path, BOTH.flags(CREAT | EXCL), "it");
        journal.fd_close(&fd);
        let fd = journal.open(at, path, BOTH.flags(CREAT), "it");
        journal.fd_close(&fd);
    });
}

pub(crate) fn open_directory(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, _| {
        let fd = journal.open(at, path, READ.flags(DIRECTORY), "it");
        journal.fd_close(&fd);
        let fd = journal.open(at, path, READ.flags(DIRECTORY).nofollow(), "it");
        journal.fd_close(&fd);
    });
}

pub(crate) fn stat(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, _| {
        journal.stat(at, path, FOLLOW);
    });
}

pub(crate) fn stat_nofollow(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, _| {
        journal.stat(at, path, NOFOLLOW);
    });
}

/// A time in the distant past, in nanoseconds since the epoch.
const LONG_AGO: (u64, u64) = (1_000_000_000_000_000_000, 1_100_000_000_000_000_000);

pub(crate) fn set_times(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, _| journal.set_times(at, path, FOLLOW, LONG_AGO, 1 | 4));
}

pub(crate) fn set_times_nofollow(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, _| journal.set_times(at, path, NOFOLLOW, LONG_AGO, 1 | 4));
}

pub(crate) fn readlink(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, _| journal.readlink(at, path, 64));
}

pub(crate) fn mkdir(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, _| journal.mkdir(at, path));
}

pub(crate) fn rmdir(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, _| journal.rmdir(at, path));
}

pub(crate) fn unlink(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, _| journal.unlink(at, path));
}

pub(crate) fn symlink(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, _| journal.symlink("target", at, path));
}

/// Link targets, and results of following them.
pub(crate) fn symlink_target(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, tree| {
        if at.name == "root" {
            return;
        }
        journal.symlink(path, tree, "it");
        journal.readlink(tree, "it", 8192);
        journal.stat(tree, "it", FOLLOW);
        journal.stat(tree, "it", NOFOLLOW);
    });
}

pub(crate) fn link_from(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, tree| journal.link_with(at, path, NOFOLLOW, tree, "it"));
}

pub(crate) fn link_to(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, tree| journal.link_with(tree, "file", NOFOLLOW, at, path));
}

pub(crate) fn rename_from(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, tree| journal.rename_to(at, path, tree, "it"));
}

pub(crate) fn rename_file_to(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, tree| journal.rename_to(tree, "file", at, path));
}

pub(crate) fn rename_dir_to(journal: &mut Journal, root: &Fd) {
    each(journal, root, |journal, at, path, tree| journal.rename_to(tree, "dir", at, path));
}
