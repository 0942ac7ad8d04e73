//! Tests of the visible and the hidden part of a host directory.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Access, Fs, Mount, MountMode};

use super::HostDir;
use crate::testing::{USER, Use, mounted};

/// Creates a directory with a secret outside the mounted part: `top/secret`, `top/in/f`, `top/in/d/g`.
fn temp_dir() -> TempDir {
    let top = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(top.path().join("in/d")).expect("free");
    for (path, text) in [("secret", "secret"), ("in/f", "hello"), ("in/d/g", "ggg")] {
        fs::write(top.path().join(path), text).expect("free");
    }
    top
}

fn mount(top: &TempDir, mode: MountMode) -> Fs {
    mounted(HostDir::open(top.path().join("in")).expect("it exists"), mode)
}

#[test]
fn files_have_their_modes_and_the_sandbox_user() {
    let top = temp_dir();
    let f = top.path().join("in/f");
    fs::set_permissions(&f, fs::Permissions::from_mode(0o4751)).expect("ours");
    symlink("d/g", top.path().join("in/link")).expect("free");
    let tree = mount(&top, MountMode::ReadOnly);
    assert_eq!(tree.names("m"), Ok(vec!["d".to_owned(), "f".to_owned(), "link".to_owned()]));
    let stat = tree.stat(tree.at("m/f").expect("it exists")).expect("it exists");
    assert_eq!((stat.mode, stat.uid, stat.gid, stat.size), (0o751, 1000, 1000, 5));
    let host = fs::metadata(&f).expect("it exists");
    let time = |seconds: i64, nanoseconds: i64| seconds as u64 * 1_000_000_000 + nanoseconds as u64;
    assert_eq!(stat.mtime, time(host.mtime(), host.mtime_nsec()));
    assert_eq!(tree.text("m/link").as_deref(), Ok("ggg"));
}

#[test]
fn each_mount_mode_writes_to_the_right_layer() {
    for mode in [MountMode::ReadWrite, MountMode::CopyOnWrite] {
        let top = temp_dir();
        let mut tree = mount(&top, mode);
        let root = tree.root();
        tree.put("m/d/new", "new").expect("free");
        tree.put("m/f", "changed").expect("it can be written");
        tree.unlink(&USER, root, b"m/d/g", 6).expect("it exists");
        tree.mkdir(&USER, root, b"m/e", 0o755, 6).expect("free");
        tree.rename(&USER, root, b"m/d", root, b"m/e/d", 6).expect("free");
        let file = tree.at("m/f").expect("it exists");
        tree.chmod(&USER, file, 0o6600, 6).expect("ours");
        tree.set_times(&USER, file, None, Some(9_000_000_000), 6).expect("ours");
        tree.symlink(&USER, b"../f", root, b"m/e/link", 6).expect("free");
        assert_eq!(tree.text("m/e/link").as_deref(), Ok("changed"));
        assert_eq!(tree.names("m/e/d"), Ok(vec!["new".to_owned()]));
        let host = top.path().join("in");
        if mode == MountMode::CopyOnWrite {
            assert_eq!(fs::read_to_string(host.join("f")).expect("it exists"), "hello");
            assert_eq!(fs::read_to_string(host.join("d/g")).expect("it exists"), "ggg");
            assert!(!host.join("e").exists() && !host.join("d/new").exists());
            continue;
        }
        assert_eq!(fs::read_to_string(host.join("f")).expect("it exists"), "changed");
        let found = fs::metadata(host.join("f")).expect("it exists");
        assert_eq!((found.mode() & 0o7777, found.mtime()), (0o600, 9), "set-user-ID is not shown");
        assert_eq!(fs::read_to_string(host.join("e/d/new")).expect("it exists"), "new");
        assert!(!host.join("d").exists() && !host.join("e/d/g").exists());
        assert_eq!(fs::read_link(host.join("e/link")).expect("it exists").to_str(), Some("../f"));
    }
}

#[test]
fn links_that_lead_out_resolve_inside_the_sandbox() {
    let top = temp_dir();
    let host = top.path().join("in");
    symlink("../secret", host.join("relative")).expect("free");
    symlink(top.path().join("secret"), host.join("absolute")).expect("free");
    symlink("..", host.join("up")).expect("free");
    symlink("/etc", host.join("etc")).expect("free");
    for mode in [MountMode::ReadOnly, MountMode::ReadWrite, MountMode::CopyOnWrite] {
        let mut tree = mount(&top, mode);
        for path in ["m/relative", "m/absolute", "m/up/secret", "m/etc/passwd", "m/d/../../secret"] {
            assert_eq!(tree.text(path), Err(Errno::Noent), "{path}");
        }
        tree.put("m/relative", "overwritten").expect("the sandbox's own root is above the mount");
        assert_eq!(tree.text("secret").as_deref(), Ok("overwritten"));
        assert_eq!(fs::read_to_string(top.path().join("secret")).expect("it exists"), "secret");
    }
    // Called directly, without the kernel, the mount enforces the boundary itself.
    let port = HostDir::open(&host).expect("it exists");
    for path in ["up/secret", "etc/passwd", "../secret", "d/../../secret"] {
        assert!(port.open(path.as_bytes(), Access::Read).is_err(), "{path}");
        assert!(port.open(path.as_bytes(), Access::Write).is_err(), "{path}");
        assert!(port.create(format!("{path}x").as_bytes(), 0o644).is_err(), "{path}");
        assert!(port.remove_file(path.as_bytes()).is_err(), "{path}");
        assert!(port.rename(b"f", path.as_bytes()).is_err(), "{path}");
    }
    for path in ["relative", "absolute"] {
        assert!(port.open(path.as_bytes(), Access::Read).is_err(), "{path}");
    }
}

#[test]
fn a_guest_cannot_create_a_link_that_leads_out() {
    let top = temp_dir();
    let mut tree = mount(&top, MountMode::ReadWrite);
    let root = tree.root();
    for (target, path) in [
        ("../secret", "m/l"),
        ("/etc/passwd", "m/l"),
        ("d/../../secret", "m/l"),
        ("d/..", "m/l"),
        ("./../secret", "m/l"),
        ("../../secret", "m/d/l"),
        (".././../secret", "m/d/l"),
        ("..//../secret", "m/d/l"),
    ] {
        let made = tree.symlink(&USER, target.as_bytes(), root, path.as_bytes(), 6).map(drop);
        assert_eq!(made, Err(Errno::Perm), "{target}");
    }
    tree.symlink(&USER, b"../f", root, b"m/d/good", 6).expect("it stays inside");
    tree.mkdir(&USER, root, b"m/d/deep", 0o755, 6).expect("free");
    tree.symlink(&USER, b"../../f", root, b"m/d/deep/good", 6).expect("it stays inside");
    assert_eq!(tree.text("m/d/deep/good").as_deref(), Ok("hello"));
    assert_eq!(
        tree.rename(&USER, root, b"m/d/good", root, b"m/bad", 6),
        Err(Errno::Perm),
        "it would lead out after the move"
    );
    assert_eq!(tree.rename(&USER, root, b"m/d/deep", root, b"m/bad", 6), Err(Errno::Perm));
    tree.rename(&USER, root, b"m/d/deep", root, b"m/d/deeper", 6).expect("as deep as before");
    let good = tree.walk(&USER, root, b"m/d/good", false).expect("it exists");
    let tidebox_kernel::fs::Resolved::Node(good) = good else { panic!("a link") };
    assert_eq!(tree.link(&USER, good, root, b"m/bad", 6), Err(Errno::Notsup));
}

#[test]
fn pipes_sockets_and_devices_are_hidden_and_never_block() {
    let top = temp_dir();
    let host = top.path().join("in");
    let made = Command::new("mkfifo").arg(host.join("fifo")).status().expect("mkfifo runs");
    assert!(made.success());
    let _socket = UnixListener::bind(host.join("socket")).expect("free");
    let started = Instant::now();
    for mode in [MountMode::ReadOnly, MountMode::ReadWrite, MountMode::CopyOnWrite] {
        let mut tree = mount(&top, mode);
        assert_eq!(tree.names("m"), Ok(vec!["d".to_owned(), "f".to_owned()]));
        for path in ["m/fifo", "m/socket"] {
            assert_eq!(tree.at(path), Err(Errno::Noent), "{path}");
        }
        let root = tree.root();
        assert_ne!(tree.rename(&USER, root, b"m/f", root, b"m/fifo", 6), Ok(()), "a hidden file is not replaced");
        drop(tree);
        // A copy-on-write mount allows it in the upper layer, which only the guest sees.
        assert!(host.join("f").exists());
        let port = HostDir::open(&host).expect("it exists");
        for access in [Access::Read, Access::Write] {
            assert_eq!(port.open(b"fifo", access).map(drop), Err(Errno::Noent));
            assert!(port.open(b"socket", access).is_err());
        }
        if mode == MountMode::ReadWrite {
            break;
        }
    }
    assert!(started.elapsed() < Duration::from_secs(5), "no operation blocked");
}

#[test]
fn a_file_replaced_by_a_pipe_before_open_never_blocks() {
    let top = temp_dir();
    let host = top.path().join("in");
    let port = HostDir::open(&host).expect("it exists");
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (stop, host) = (Arc::clone(&stop), host.clone());
        std::thread::spawn(move || {
            Command::new("mkfifo").arg(host.join("fifo")).status().expect("mkfifo runs");
            while !stop.load(Ordering::Relaxed) {
                fs::rename(host.join("f"), host.join("kept")).expect("ours");
                fs::rename(host.join("fifo"), host.join("f")).expect("ours");
                fs::rename(host.join("f"), host.join("fifo")).expect("ours");
                fs::rename(host.join("kept"), host.join("f")).expect("ours");
            }
        })
    };
    let (started, mut opened) = (Instant::now(), 0);
    while started.elapsed() < Duration::from_millis(300) {
        if let Ok(file) = port.open(b"f", Access::Read) {
            opened += 1;
            assert_eq!(file.metadata().map(|found| found.size), Ok(5), "only the file is ever opened");
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().expect("it ends");
    assert!(opened > 0);
}

#[test]
fn a_directory_replaced_by_a_link_does_not_lead_out() {
    let top = temp_dir();
    let (host, outside) = (top.path().join("in"), top.path().join("outside"));
    fs::create_dir(&outside).expect("free");
    fs::write(outside.join("g"), "secret").expect("free");
    symlink(&outside, host.join("link")).expect("free");
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (stop, host) = (Arc::clone(&stop), host.clone());
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                for (from, to) in [("d", "kept"), ("link", "d"), ("d", "link"), ("kept", "d")] {
                    fs::rename(host.join(from), host.join(to)).expect("ours");
                }
            }
        })
    };
    let mut tree = mount(&top, MountMode::ReadWrite);
    let (started, mut seen, mut written) = (Instant::now(), 0, 0);
    while started.elapsed() < Duration::from_millis(500) {
        if let Ok(text) = tree.text("m/d/g") {
            assert_ne!(text, "secret");
            seen += 1;
        }
        written += usize::from(tree.put("m/d/new", "new").is_ok());
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().expect("it ends");
    assert!(!outside.join("new").exists(), "no file was created outside");
    assert!(seen > 0 && written > 0);
}

#[test]
fn names_that_are_not_utf8_work() {
    let top = temp_dir();
    let name = OsStr::from_bytes(b"caf\xe9 \xff\n");
    fs::write(top.path().join("in").join(name), "odd").expect("free");
    let mut tree = mount(&top, MountMode::ReadWrite);
    let root = tree.root();
    let path = [b"m/".as_slice(), name.as_bytes()].concat();
    let found = tree.walk(&USER, root, &path, true);
    assert!(
        matches!(found, Ok(tidebox_kernel::fs::Resolved::Node(ino)) if tree.read_all(ino, 9).as_deref() == Ok(b"odd"))
    );
    tree.rename(&USER, root, &path, root, b"m/\xfe", 6).expect("free");
    assert!(top.path().join("in").join(OsStr::from_bytes(b"\xfe")).exists());
}

#[test]
fn large_files_are_read_and_written_in_chunks() {
    let top = temp_dir();
    let file = fs::File::create(top.path().join("in/big")).expect("free");
    file.set_len(3 << 30).expect("sparse");
    let mut tree = mount(&top, MountMode::ReadWrite);
    let big = tree.at("m/big").expect("it exists");
    assert_eq!(tree.len(big), Ok(3 << 30));
    let mut end = [1; 16];
    assert_eq!(tree.read_at(big, (3 << 30) - 8, &mut end), Ok(8));
    assert_eq!(end[..8], [0; 8]);
    assert_eq!(tree.write_at(big, 100 << 20, b"x", 6), Ok(1));
    assert_eq!(tree.read_all(big, 1 << 20), Err(Errno::Fbig));
    tree.truncate(big, 10, 6).expect("ours");
    tree.sync(big).expect("it can be synced");
    assert_eq!(fs::metadata(top.path().join("in/big")).expect("it exists").len(), 10);
}

#[test]
fn a_removed_directory_returns_errors() {
    let top = temp_dir();
    let mut tree = mount(&top, MountMode::CopyOnWrite);
    let file = tree.at("m/f").expect("it exists");
    tree.hold(file);
    tree.read_at(file, 0, &mut [0; 1]).expect("it exists");
    fs::remove_dir_all(top.path().join("in")).expect("ours");
    assert_eq!(tree.names("m"), Err(Errno::Stale));
    assert_eq!(tree.at("m/d"), Err(Errno::Noent));
    assert_eq!(tree.text("m/f"), Err(Errno::Noent));
    assert_eq!(tree.read_all(file, 9).as_deref(), Ok(b"hello".as_slice()), "an open file stays readable");
    assert!(tree.stat(tree.at("m").expect("the mount point")).is_ok());
    tree.release(file);
    let _ = tree.put("m/new", "upper");
}

#[test]
fn host_permissions_are_enforced() {
    let top = temp_dir();
    // Root can read every file, so the test is not possible.
    let locked = top.path().join("in/d");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o0)).expect("ours");
    if fs::read_dir(&locked).is_err() {
        let tree = mount(&top, MountMode::ReadOnly);
        assert_eq!(tree.text("m/d/g"), Err(Errno::Acces));
        assert_eq!(tree.names("m/d"), Err(Errno::Acces));
    }
    let tree = mount(&top, MountMode::ReadOnly);
    let dir = tree.at("m/d").expect("it exists");
    assert_eq!(
        tree.access(&USER, dir, 4),
        Err(Errno::Acces),
        "the host's mode applies to the guest, even if this process is root"
    );
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).expect("ours");
}

#[test]
fn pseudo_file_systems_cannot_be_mounted() {
    for path in ["/proc", "/proc/self", "/sys"] {
        if std::path::Path::new(path).exists() {
            let error = HostDir::open(path).expect_err(path).to_string();
            assert!(error.contains(path) && error.contains("no sandbox may access"), "{error}");
        }
    }
    let root = HostDir::open("/").expect("it exists");
    assert_eq!(root.metadata(b"proc/self/environ"), Err(Errno::Acces));
    assert_eq!(root.read_dir(b"proc").map(drop), Err(Errno::Acces));
    assert_eq!(root.open(b"proc/self/environ", Access::Read).map(drop), Err(Errno::Acces));
    let missing = HostDir::open("/no/such/folder").expect_err("missing").to_string();
    assert!(missing.contains("/no/such/folder") && missing.contains("use an existing directory"), "{missing}");
}

#[test]
fn hard_links_are_one_file_except_on_copy_on_write() {
    let top = temp_dir();
    let mut tree = mount(&top, MountMode::ReadWrite);
    let (root, file) = (tree.root(), tree.at("m/f").expect("it exists"));
    tree.link(&USER, file, root, b"m/d/same", 6).expect("free");
    tree.put("m/d/same", "both").expect("ours");
    assert_eq!(tree.text("m/f").as_deref(), Ok("both"));
    assert_eq!(tree.stat(file).map(|stat| stat.nlink), Ok(2));
    let mut copy = mount(&top, MountMode::CopyOnWrite);
    copy.put("m/d/same", "mine").expect("it fits");
    assert_eq!(copy.text("m/f").as_deref(), Ok("both"));
}

#[test]
fn many_open_files_do_not_exhaust_host_descriptors() {
    let top = temp_dir();
    let host = top.path().join("in");
    for number in 0..600 {
        fs::write(host.join(format!("{number}")), "x").expect("free");
    }
    let mut tree = mount(&top, MountMode::ReadWrite);
    let open = || fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let before = open();
    let held: Vec<_> = (0..600).map(|number| tree.at(&format!("m/{number}")).expect("it exists")).collect();
    for &file in &held {
        tree.hold(file);
        tree.read_at(file, 0, &mut [0; 1]).expect("it exists");
        tree.write_at(file, 0, b"y", 6).expect("ours");
    }
    assert!(open() < before + 200, "{} descriptors", open() - before);
    held.into_iter().for_each(|file| tree.release(file));
}
