use super::super::{Device, FileBytes, FileUsage, Kind};
use super::{USER, fresh};
use crate::errno::Errno;

#[test]
fn installed_files_are_shared_and_cost_nothing() {
    let mut fs = fresh();
    let bytes = FileBytes::from(vec![7; 200_000]);
    let ino = fs.install(b"/usr/bin/tool", bytes.clone(), 0o755, 0).expect("free");
    assert_eq!(fs.usage(), FileUsage::default());
    let contents = fs.contents(ino).expect("a file");
    assert!(core::ptr::eq(contents.as_bytes().as_ref(), &*bytes));
    let stat = fs.stat(ino).expect("alive");
    assert_eq!((stat.mode, stat.uid, stat.size, stat.nlink), (0o755, 0, 200_000, 1));
    let bin = fs.stat(fs.at("/usr/bin").expect("created")).expect("alive");
    assert_eq!((bin.mode, bin.uid, bin.kind), (0o755, 0, Kind::Dir));
    fs.check();
}

#[test]
fn growing_an_installed_file_is_charged_and_refunded() {
    let mut fs = fresh();
    let root = fs.root();
    let ino = fs.install(b"/tool", vec![7; 100_000].into(), 0o755, 1000).expect("free");
    fs.link(&USER, ino, root, b"again", 6).expect("free");
    assert_eq!(fs.usage(), FileUsage { file_bytes: 0, inodes: 1 });
    let before = fs.contents(ino).expect("a file");
    fs.write_at(ino, 99_999, b"ab", 6).expect("room");
    assert_eq!(fs.usage(), FileUsage { file_bytes: 100_001, inodes: 1 });
    assert_eq!((before.len(), before.to_vec()), (100_000, vec![7; 100_000]));
    fs.check();
    fs.unlink(&USER, root, b"tool", 6).expect("it exists");
    fs.unlink(&USER, root, b"again", 6).expect("it exists");
    assert_eq!(fs.usage(), FileUsage::default());
    fs.check();
}

#[test]
fn a_truncated_installed_file_charges_the_remaining_bytes() {
    let mut fs = fresh();
    let ino = fs.install(b"/tool", vec![7; 100_000].into(), 0o755, 0).expect("free");
    fs.truncate(ino, 100_000, 6).expect("nothing to do");
    assert_eq!(fs.usage().file_bytes, 0);
    fs.truncate(ino, 10, 6).expect("room");
    assert_eq!((fs.usage().file_bytes, fs.read_all(ino, 10)), (10, Ok(vec![7; 10])));
    fs.check();
}

#[test]
fn installing_replaces_files_and_keeps_directories() {
    let mut fs = fresh();
    let old = fs.put("f", b"charged");
    let new = fs.install(b"f", vec![1].into(), 0o444, 5).expect("a file is replaced");
    assert_ne!(old, new);
    assert_eq!(fs.usage(), FileUsage::default());
    let d = fs.dir("d");
    fs.install(b"f", vec![2].into(), 0o444, 5).expect("an installed file is replaced too");
    assert_eq!(fs.usage(), FileUsage { file_bytes: 0, inodes: 1 });
    assert_eq!(fs.install_dir(b"/d/", 0o1777, 3), Ok(d));
    assert_eq!(fs.stat(d).map(|stat| (stat.mode, stat.uid, stat.gid)), Ok((0o1777, 3, 3)));
    assert_eq!(fs.install(b"/d", vec![1].into(), 0o444, 5), Err(Errno::Isdir));
    assert_eq!(fs.install_dir(b"/f", 0o755, 0), Err(Errno::Exist));
    assert_eq!(fs.install(b"/f/x", vec![1].into(), 0o444, 5), Err(Errno::Exist));
    assert_eq!(fs.install(b"/", vec![1].into(), 0o444, 5), Err(Errno::Isdir));
    fs.check();
}

#[test]
fn devices_and_links_can_be_installed() {
    let mut fs = fresh();
    let null = fs.install_device(b"/dev/null", Device::Null, 0o666).expect("free");
    fs.install_symlink(b"/dev/nothing", b"null").expect("free");
    assert_eq!(fs.at("/dev/nothing"), Ok(null));
    assert_eq!(fs.stat(null).map(|stat| stat.kind), Ok(Kind::Device(Device::Null)));
    assert_eq!(fs.read_at(null, 0, &mut [0]), Err(Errno::Inval));
    assert_eq!(fs.write_at(null, 0, b"x", 5), Err(Errno::Inval));
    assert_eq!(fs.usage(), FileUsage::default());
    fs.check();
}
