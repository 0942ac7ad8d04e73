//! Tests of known defects of `vfs` file systems and their effects on a guest, one per defect.

use std::io::Write;
use std::sync::Arc;

use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Fs, Kind, Mount, MountMode};
use vfs::{
    AltrootFS, FileSystem, MemoryFS, OverlayFS, PhysicalFS, SeekAndRead, SeekAndWrite, VfsMetadata, VfsPath, VfsResult,
};

use super::VfsMount;
use crate::testing::{USER, Use, mounted};

/// A file system in memory with a file `f`, a directory `d` and a file in it.
fn memory() -> MemoryFS {
    let fs = MemoryFS::new();
    fs.create_dir("/d").expect("free");
    for path in ["/f", "/d/inner"] {
        fs.create_file(path).expect("free").write_all(b"text").expect("memory");
    }
    fs
}

fn mount(fs: impl FileSystem, mode: MountMode) -> Fs {
    mounted(VfsMount::new(Arc::new(fs)), mode)
}

#[test]
fn memory_reading_past_the_end_does_not_panic() {
    let fs = mount(memory(), MountMode::ReadOnly);
    let file = fs.at("m/f").expect("it exists");
    for offset in [4, 5, 100, u64::MAX] {
        assert_eq!(fs.read_at(file, offset, &mut [0; 8]), Ok(0), "{offset}");
    }
    let mut bytes = [0; 8];
    assert_eq!(fs.read_at(file, 2, &mut bytes), Ok(2));
    assert_eq!(&bytes[..2], b"xt");
}

#[test]
fn memory_writes_are_visible_before_a_flush() {
    let mut fs = mount(memory(), MountMode::ReadWrite);
    let file = fs.at("m/f").expect("it exists");
    fs.hold(file);
    fs.write_at(file, 4, b" and more", 6).expect("it fits");
    assert_eq!(fs.stat(file).map(|stat| stat.size), Ok(13));
    assert_eq!(fs.text("m/f").as_deref(), Ok("text and more"));
    fs.release(file);
    assert_eq!(fs.text("m/f").as_deref(), Ok("text and more"));
}

#[test]
fn memory_closing_a_removed_file_does_not_restore_it() {
    let mut fs = mount(memory(), MountMode::ReadWrite);
    let (root, file) = (fs.root(), fs.at("m/f").expect("it exists"));
    fs.hold(file);
    fs.write_at(file, 0, b"T", 6).expect("it fits");
    fs.unlink(&USER, root, b"m/f", 6).expect("it exists");
    assert_eq!(fs.write_at(file, 0, b"TE", 6), Ok(2), "the open file stays usable");
    fs.release(file);
    assert_eq!(fs.at("m/f"), Err(Errno::Noent));
}

#[test]
fn memory_two_writers_lose_no_data() {
    let mut fs = mount(memory(), MountMode::ReadWrite);
    let file = fs.at("m/f").expect("it exists");
    fs.hold(file);
    fs.hold(file);
    fs.write_at(file, 0, b"ab", 6).expect("it fits");
    fs.release(file);
    fs.write_at(file, 2, b"cd", 6).expect("it fits");
    fs.release(file);
    assert_eq!(fs.text("m/f").as_deref(), Ok("abcd"));
}

#[test]
fn memory_a_non_empty_directory_is_not_replaced() {
    let mut fs = mount(memory(), MountMode::ReadWrite);
    let root = fs.root();
    assert_eq!(fs.create(&USER, root, b"m/d", 0o644, false, 6).map(drop), Err(Errno::Isdir));
    assert_eq!(fs.unlink(&USER, root, b"m/d", 6), Err(Errno::Isdir));
    assert_eq!(fs.rmdir(&USER, root, b"m/d", 6), Err(Errno::Notempty));
    let port = VfsMount::new(Arc::new(memory()));
    assert_eq!(port.create(b"d", 0o644), Err(Errno::Exist));
    assert_eq!(port.remove_file(b"d"), Err(Errno::Isdir));
    assert_eq!(port.remove_dir(b"d"), Err(Errno::Notempty));
    assert_eq!(port.create(b"f/below a file", 0o644), Err(Errno::Notdir));
    assert_eq!(fs.text("m/d/inner").as_deref(), Ok("text"));
}

#[test]
fn memory_many_small_appends_are_stored_once() {
    let mut fs = mount(memory(), MountMode::ReadWrite);
    let file = fs.at("m/f").expect("it exists");
    fs.hold(file);
    // Writing a megabyte byte by byte would copy half a terabyte if each write were passed on.
    for offset in 4..1_000_000 {
        fs.write_at(file, offset, b"x", 6).expect("it fits");
    }
    fs.release(file);
    assert_eq!(fs.stat(file).map(|stat| stat.size), Ok(1_000_000));
}

#[test]
fn memory_files_are_renamed_by_copying_and_directories_are_not() {
    let mut fs = mount(memory(), MountMode::ReadWrite);
    let root = fs.root();
    let file = fs.at("m/f").expect("it exists");
    fs.hold(file);
    fs.write_at(file, 0, b"T", 6).expect("it fits");
    fs.release(file);
    fs.rename(&USER, root, b"m/f", root, b"m/g", 6).expect("free");
    assert_eq!((fs.text("m/g").as_deref(), fs.names("m")), (Ok("Text"), Ok(vec!["d".to_owned(), "g".to_owned()])));
    fs.rename(&USER, root, b"m/g", root, b"m/d/inner", 6).expect("it is replaced");
    assert_eq!((fs.text("m/d/inner").as_deref(), fs.names("m")), (Ok("Text"), Ok(vec!["d".to_owned()])));
    assert_eq!(fs.rename(&USER, root, b"m/d", root, b"m/e", 6), Err(Errno::Xdev), "mv copies then");
    assert_eq!(fs.text("m/d/inner").as_deref(), Ok("Text"));
}

#[test]
fn physical_files_move_over_another() {
    let host = tempfile::tempdir().expect("a directory");
    std::fs::write(host.path().join("one"), "1").expect("free");
    std::fs::write(host.path().join("two"), "2").expect("free");
    let mut fs = mount(PhysicalFS::new(host.path()), MountMode::ReadWrite);
    let root = fs.root();
    fs.rename(&USER, root, b"m/one", root, b"m/two", 6).expect("it is replaced");
    assert_eq!((fs.text("m/two").as_deref(), fs.names("m")), (Ok("1"), Ok(vec!["two".to_owned()])));
    fs.rename(&USER, root, b"m/two", root, b"m/three", 6).expect("free");
    assert_eq!(fs.names("m"), Ok(vec!["three".to_owned()]));
}

#[test]
#[cfg(unix)]
fn physical_links_are_followed_out_of_the_directory() {
    let host = tempfile::tempdir().expect("a directory");
    let inside = host.path().join("inside");
    std::fs::create_dir(&inside).expect("free");
    std::fs::write(host.path().join("secret"), "outside").expect("free");
    std::os::unix::fs::symlink("../secret", inside.join("link")).expect("free");
    let fs = mount(PhysicalFS::new(&inside), MountMode::ReadOnly);
    // The crate follows the link, as documented; host directories are mounted as `HostDir`.
    assert_eq!(fs.text("m/link").as_deref(), Ok("outside"));
    let fs = mounted(crate::HostDir::open(&inside).expect("it exists"), MountMode::ReadOnly);
    assert_eq!(fs.text("m/link"), Err(Errno::Noent));
}

#[test]
fn physical_and_altroot_receive_no_path_that_leads_out() {
    let host = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(host.path().join("inside")).expect("free");
    std::fs::write(host.path().join("secret"), "outside").expect("free");
    let physical = PhysicalFS::new(host.path().join("inside"));
    let alt = AltrootFS::new(VfsPath::new(PhysicalFS::new(host.path())).join("inside").expect("it exists"));
    for fs in [Arc::new(physical) as Arc<dyn FileSystem>, Arc::new(alt)] {
        let port = VfsMount::new(Arc::clone(&fs));
        for path in
            ["../secret", "/../secret", "x/../../secret", "..", "./../secret", "..\\secret", "//etc/passwd", "a//b"]
        {
            assert_eq!(port.metadata(path.as_bytes()).map(drop), Err(Errno::Noent), "{path}");
            assert_eq!(port.create(path.as_bytes(), 0o644), Err(Errno::Inval), "{path}");
        }
        let mut tree = mounted(port, MountMode::ReadWrite);
        assert_eq!(tree.at("m/../secret"), Err(Errno::Noent), "that is the sandbox's own root");
        assert_eq!(tree.put("m/..\\secret", "x"), Err(Errno::Inval));
    }
    assert_eq!(std::fs::read_to_string(host.path().join("secret")).expect("it exists"), "outside");
}

#[test]
#[cfg(unix)]
fn physical_a_non_utf8_name_is_an_error() {
    use std::os::unix::ffi::OsStrExt;
    let host = tempfile::tempdir().expect("a directory");
    std::fs::write(host.path().join(std::ffi::OsStr::from_bytes(b"\xff")), "").expect("free");
    std::fs::write(host.path().join("good"), "good").expect("free");
    let mut fs = mount(PhysicalFS::new(host.path()), MountMode::ReadWrite);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let names = fs.names("m");
    std::panic::set_hook(hook);
    assert_eq!(names, Err(Errno::Io));
    assert_eq!(fs.text("m/good").as_deref(), Ok("good"), "other files stay usable");
    assert_eq!(fs.create(&USER, fs.root(), b"m/\xfe", 0o644, true, 6).map(drop), Err(Errno::Ilseq));
}

#[test]
fn physical_appends_and_seeks_write_at_their_offsets() {
    let host = tempfile::tempdir().expect("a directory");
    std::fs::write(host.path().join("f"), "0123456789").expect("free");
    let mut fs = mount(PhysicalFS::new(host.path()), MountMode::ReadWrite);
    let file = fs.at("m/f").expect("it exists");
    fs.write_at(file, 2, b"xx", 6).expect("it fits");
    fs.write_at(file, 10, b"end", 6).expect("it fits");
    assert_eq!(std::fs::read_to_string(host.path().join("f")).expect("it exists"), "01xx456789end");
}

/// An overlay of an empty layer over one with a file and a full directory.
fn overlay() -> OverlayFS {
    OverlayFS::new(&[MemoryFS::new().into(), memory().into()])
}

#[test]
fn overlay_whiteouts_are_hidden() {
    let mut fs = mount(overlay(), MountMode::ReadWrite);
    let root = fs.root();
    fs.unlink(&USER, root, b"m/f", 6).expect("it exists");
    assert_eq!(fs.names("m"), Ok(vec!["d".to_owned()]));
    for path in ["m/.whiteout", "m/.whiteout/f_wo"] {
        assert_eq!(fs.at(path), Err(Errno::Noent), "{path}");
        assert!(fs.unlink(&USER, root, path.as_bytes(), 6).is_err(), "{path}");
    }
    assert_eq!(fs.mkdir(&USER, root, b"m/.whiteout", 0o755, 6).map(drop), Err(Errno::Inval));
    assert_eq!(fs.at("m/f"), Err(Errno::Noent), "it stays removed");
}

#[test]
fn overlay_a_non_empty_directory_is_not_removed() {
    let mut fs = mount(overlay(), MountMode::ReadWrite);
    let root = fs.root();
    assert_eq!(fs.rmdir(&USER, root, b"m/d", 6), Err(Errno::Notempty));
    fs.unlink(&USER, root, b"m/d/inner", 6).expect("it exists");
    fs.rmdir(&USER, root, b"m/d", 6).expect("empty");
    fs.mkdir(&USER, root, b"m/d", 0o755, 6).expect("free");
    assert_eq!(fs.names("m/d"), Ok(vec![]));
}

#[test]
fn overlay_setting_times_of_a_lower_file_is_an_error() {
    let mut fs = mount(overlay(), MountMode::ReadWrite);
    let file = fs.at("m/f").expect("it exists");
    assert!(fs.set_times(&USER, file, None, Some(9), 6).is_err());
    assert_eq!(fs.text("m/f").as_deref(), Ok("text"));
    // The kernel's own copy-on-write supports this, the overlay does not.
    let mut fs = mount(memory(), MountMode::CopyOnWrite);
    let file = fs.at("m/f").expect("it exists");
    fs.set_times(&USER, file, None, Some(9), 6).expect("it is the user's");
    assert_eq!(fs.stat(file).map(|stat| stat.mtime), Ok(9));
}

#[test]
fn unsupported_operations_return_errors() {
    let mut fs = mount(memory(), MountMode::ReadOnly);
    assert_eq!(fs.put("m/f", "x"), Err(Errno::Rofs));
    assert_eq!(fs.put("m/new", "x"), Err(Errno::Rofs));
    let mut fs = mount(memory(), MountMode::ReadWrite);
    let (root, file) = (fs.root(), fs.at("m/f").expect("it exists"));
    assert_eq!(fs.symlink(&USER, b"f", root, b"m/link", 6).map(drop), Err(Errno::Notsup));
    assert_eq!(fs.link(&USER, file, root, b"m/link", 6), Err(Errno::Notsup));
    assert_eq!(fs.chmod(&USER, file, 0o600, 6), Err(Errno::Notsup));
    assert_eq!(fs.stat(fs.at("m/d").expect("it exists")).map(|stat| (stat.kind, stat.mode)), Ok((Kind::Dir, 0o755)));
}

/// Panics in every call.
#[derive(Debug)]
struct PanickingFs;

impl FileSystem for PanickingFs {
    fn read_dir(&self, _: &str) -> VfsResult<Box<dyn Iterator<Item = String> + Send>> {
        panic!("read_dir")
    }
    fn create_dir(&self, _: &str) -> VfsResult<()> {
        panic!("create_dir")
    }
    fn open_file(&self, _: &str) -> VfsResult<Box<dyn SeekAndRead + Send>> {
        panic!("open_file")
    }
    fn create_file(&self, _: &str) -> VfsResult<Box<dyn SeekAndWrite + Send>> {
        panic!("create_file")
    }
    fn append_file(&self, _: &str) -> VfsResult<Box<dyn SeekAndWrite + Send>> {
        panic!("append_file")
    }
    fn metadata(&self, path: &str) -> VfsResult<VfsMetadata> {
        if path == "/new" {
            panic!("metadata");
        }
        memory().metadata(path)
    }
    fn exists(&self, _: &str) -> VfsResult<bool> {
        panic!("exists")
    }
    fn remove_file(&self, _: &str) -> VfsResult<()> {
        panic!("remove_file")
    }
    fn remove_dir(&self, _: &str) -> VfsResult<()> {
        panic!("remove_dir")
    }
}

#[test]
fn a_panic_of_the_file_system_is_an_input_output_error() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut fs = mount(PanickingFs, MountMode::ReadWrite);
    let root = fs.root();
    let results = [
        fs.names("m").map(drop),
        fs.text("m/f").map(drop),
        fs.put("m/new", "x"),
        fs.put("m/f", "x"),
        fs.mkdir(&USER, root, b"m/other", 0o755, 6).map(drop),
        fs.unlink(&USER, root, b"m/f", 6),
        fs.rmdir(&USER, root, b"m/d", 6),
    ];
    std::panic::set_hook(hook);
    assert_eq!(results, [Err(Errno::Io); 7]);
}
