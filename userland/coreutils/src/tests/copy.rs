use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use crate::{cp, ln, mv};

/// A folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("tidebox-copy-{}-{name}", std::process::id()));
    // Left over from a run that failed.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

fn words(words: &[&dyn AsRef<std::ffi::OsStr>]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_ref().as_encoded_bytes().to_vec()).collect()
}

#[test]
fn an_archive_keeps_modes_times_and_links() {
    let folder = folder("archive");
    let (from, to) = (folder.join("from"), folder.join("to"));
    fs::create_dir(&from).expect("a folder");
    fs::write(from.join("x"), "text").expect("a file");
    fs::set_permissions(from.join("x"), fs::Permissions::from_mode(0o641)).expect("a mode");
    fs::hard_link(from.join("x"), from.join("y")).expect("a link");
    assert_eq!(cp::main(words(&[&"-a", &from, &to])), 0);
    let (old, new) = (fs::metadata(from.join("x")), fs::metadata(to.join("x")));
    let (old, new) = (old.expect("the original"), new.expect("the copy"));
    assert_eq!((new.mode(), new.mtime(), new.mtime_nsec()), (old.mode(), old.mtime(), old.mtime_nsec()));
    assert_eq!(fs::metadata(to.join("y")).expect("the other name").ino(), new.ino());
    fs::remove_dir_all(&folder).expect("it can be removed");
}

#[test]
fn a_folder_is_not_copied_into_itself_without_end() {
    let folder = folder("itself");
    fs::write(folder.join("x"), "").expect("a file");
    assert_eq!(cp::main(words(&[&"-r", &folder, &folder.join("inner")])), 1);
    assert!(!folder.join("inner").join("inner").exists());
    fs::remove_dir_all(&folder).expect("it can be removed");
}

#[test]
fn what_is_replaced_can_be_kept() {
    let folder = folder("backup");
    for (name, text) in [("a", "1"), ("b", "2")] {
        fs::write(folder.join(name), text).expect("a file");
    }
    assert_eq!(mv::main(words(&[&"--backup=numbered", &folder.join("a"), &folder.join("b")])), 0);
    assert_eq!(fs::read_to_string(folder.join("b")).expect("the new one"), "1");
    assert_eq!(fs::read_to_string(folder.join("b.~1~")).expect("the old one"), "2");
    fs::remove_dir_all(&folder).expect("it can be removed");
}

#[test]
fn a_relative_link_leads_from_where_it_is() {
    let folder = folder("relative");
    fs::create_dir_all(folder.join("p/q")).expect("folders");
    fs::write(folder.join("f"), "text").expect("a file");
    assert_eq!(ln::main(words(&[&"-sr", &folder.join("f"), &folder.join("p/q/g")])), 0);
    assert_eq!(fs::read_link(folder.join("p/q/g")).expect("a link"), PathBuf::from("../../f"));
    fs::remove_dir_all(&folder).expect("it can be removed");
}
