use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use crate::{cp, ln, mv};

/// Creates an empty directory for a test.
fn test_dir(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("tidebox-copy-{}-{name}", std::process::id()));
    // A failed run may have left it.
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("the directory can be created");
    dir
}

fn words(words: &[&dyn AsRef<std::ffi::OsStr>]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_ref().as_encoded_bytes().to_vec()).collect()
}

#[test]
fn an_archive_keeps_modes_times_and_links() {
    let dir = test_dir("archive");
    let (from, to) = (dir.join("from"), dir.join("to"));
    fs::create_dir(&from).expect("a directory");
    fs::write(from.join("x"), "text").expect("a file");
    fs::set_permissions(from.join("x"), fs::Permissions::from_mode(0o641)).expect("a mode");
    fs::hard_link(from.join("x"), from.join("y")).expect("a link");
    assert_eq!(cp::main(words(&[&"-a", &from, &to])), 0);
    let (old, new) = (fs::metadata(from.join("x")), fs::metadata(to.join("x")));
    let (old, new) = (old.expect("the original"), new.expect("the copy"));
    assert_eq!((new.mode(), new.mtime(), new.mtime_nsec()), (old.mode(), old.mtime(), old.mtime_nsec()));
    assert_eq!(fs::metadata(to.join("y")).expect("the other name").ino(), new.ino());
    fs::remove_dir_all(&dir).expect("it can be removed");
}

#[test]
fn a_directory_is_not_copied_into_itself() {
    let dir = test_dir("itself");
    fs::write(dir.join("x"), "").expect("a file");
    assert_eq!(cp::main(words(&[&"-r", &dir, &dir.join("inner")])), 1);
    assert!(!dir.join("inner").join("inner").exists());
    fs::remove_dir_all(&dir).expect("it can be removed");
}

#[test]
fn backups_keep_replaced_files() {
    let dir = test_dir("backup");
    for (name, text) in [("a", "1"), ("b", "2")] {
        fs::write(dir.join(name), text).expect("a file");
    }
    assert_eq!(mv::main(words(&[&"--backup=numbered", &dir.join("a"), &dir.join("b")])), 0);
    assert_eq!(fs::read_to_string(dir.join("b")).expect("the new one"), "1");
    assert_eq!(fs::read_to_string(dir.join("b.~1~")).expect("the old one"), "2");
    fs::remove_dir_all(&dir).expect("it can be removed");
}

#[test]
fn relative_links_start_at_their_directory() {
    let dir = test_dir("relative");
    fs::create_dir_all(dir.join("p/q")).expect("directories");
    fs::write(dir.join("f"), "text").expect("a file");
    assert_eq!(ln::main(words(&[&"-sr", &dir.join("f"), &dir.join("p/q/g")])), 0);
    assert_eq!(fs::read_link(dir.join("p/q/g")).expect("a link"), PathBuf::from("../../f"));
    fs::remove_dir_all(&dir).expect("it can be removed");
}
