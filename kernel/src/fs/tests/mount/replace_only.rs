//! Mounts that only replace whole files.

use std::sync::Arc;

use tidebox_core::Limits;

use super::super::super::{FileUsage, MountMode, WriteSupport};
use super::super::{USER, with_limits};
use super::{Foreign, mounted, read};
use crate::errno::Errno;

#[test]
fn writes_are_visible_immediately_and_flushed_on_last_close() {
    let foreign = Foreign::that_writes(WriteSupport::ReplaceOnly);
    foreign.fill();
    let mut fs = mounted(&foreign, MountMode::ReadWrite);
    let file = fs.at("m/file").expect("it exists");
    fs.hold(file);
    fs.write_at(file, 5, b" world", 6).expect("it fits");
    assert_eq!(read(&fs, "m/file").as_deref(), Ok("hello world"));
    assert_eq!(fs.stat(file).map(|stat| stat.size), Ok(11));
    assert_eq!(fs.usage(), FileUsage { file_bytes: 11, inodes: 0 });
    let stored = |path: &str| {
        let fs = foreign.fs();
        read(&fs, path)
    };
    assert_eq!(stored("file").as_deref(), Ok("hello"));
    fs.sync(file).expect("it accepts bytes");
    assert_eq!(stored("file").as_deref(), Ok("hello world"));
    fs.truncate(file, 4, 6).expect("it fits");
    fs.release(file);
    assert_eq!(stored("file").as_deref(), Ok("hell"));
    assert_eq!(fs.usage(), FileUsage::default());
    assert_eq!(read(&fs, "m/file").as_deref(), Ok("hell"));
}

#[test]
fn a_write_without_a_hold_is_flushed_immediately() {
    let foreign = Foreign::that_writes(WriteSupport::ReplaceOnly);
    foreign.fill();
    let mut fs = mounted(&foreign, MountMode::ReadWrite);
    let (new, _) = fs.create(&USER, fs.root(), b"m/new", 0o644, true, 6).expect("free");
    fs.write_all(new, b"the whole content", 6).expect("it fits");
    assert_eq!(read(&foreign.fs(), "new").as_deref(), Ok("the whole content"));
    assert_eq!(fs.usage(), FileUsage::default());
}

#[test]
fn a_write_beyond_the_quota_flushes_nothing() {
    let foreign = Foreign::that_writes(WriteSupport::ReplaceOnly);
    foreign.fill();
    let mut limits = Limits::default();
    limits.file_bytes = 8;
    let mut fs = with_limits(&limits);
    fs.mount(b"/m", Arc::clone(&foreign) as _, MountMode::ReadWrite).expect("free");
    let file = fs.at("m/file").expect("it exists");
    assert_eq!(fs.write_all(file, b"far too much", 6), Err(Errno::Nospc));
    assert_eq!(fs.write_at(file, 100_000, b"far", 6), Err(Errno::Nospc));
    assert_eq!(read(&foreign.fs(), "file").as_deref(), Ok("hello"));
    assert_eq!(fs.write_at(file, 5, b" world", 6), Ok(3));
    assert_eq!(read(&foreign.fs(), "file").as_deref(), Ok("hello wo"));
}

#[test]
fn buffered_writes_follow_a_rename() {
    let foreign = Foreign::that_writes(WriteSupport::ReplaceOnly);
    foreign.fill();
    let mut fs = mounted(&foreign, MountMode::ReadWrite);
    let (root, file) = (fs.root(), fs.at("m/file").expect("it exists"));
    fs.hold(file);
    fs.write_all(file, b"new", 6).expect("it fits");
    fs.rename(&USER, root, b"m/file", root, b"m/moved", 6).expect("free");
    fs.write_at(file, 3, b"er", 6).expect("it fits");
    fs.release(file);
    assert_eq!(read(&foreign.fs(), "moved").as_deref(), Ok("newer"));
    assert_eq!(foreign.fs().at("file"), Err(Errno::Noent));
}

#[test]
fn an_unlinked_file_is_not_flushed_to_its_old_name() {
    let foreign = Foreign::that_writes(WriteSupport::ReplaceOnly);
    foreign.fill();
    let mut fs = mounted(&foreign, MountMode::ReadWrite);
    let (root, file) = (fs.root(), fs.at("m/file").expect("it exists"));
    fs.hold(file);
    fs.write_all(file, b"new", 6).expect("it fits");
    fs.unlink(&USER, root, b"m/file", 6).expect("it exists");
    assert_eq!(fs.read_all(file, 99).as_deref(), Ok(b"new".as_slice()));
    fs.release(file);
    assert_eq!(foreign.fs().at("file"), Err(Errno::Noent));
    assert_eq!(fs.usage(), FileUsage::default());
}
