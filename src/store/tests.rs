use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use futures_executor::block_on;

use super::*;

fn about(id: &str, number: u64) -> SavedSandbox {
    let labels = [("thread".to_owned(), "1".to_owned())].into();
    SavedSandbox { id: SandboxId::parse(id).unwrap(), labels, created: 1, used: number }
}

/// A snapshot that tells which one it is, and how long it has to be.
fn content(number: u64) -> Vec<u8> {
    format!("{number} ").repeat(1000).into_bytes()
}

struct Shelf {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Shelf {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made/deep");
        Self { _folder: folder, path }
    }

    fn open(&self) -> FolderStore {
        FolderStore::open(&self.path).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// Saves bytes that are no snapshot, which the store does not look into.
fn put(store: &FolderStore, id: &str, number: u64) {
    let about = about(id, number);
    block_on(store.run(move |folder| folder.put(&about, &content(number)))).unwrap();
}

fn get(store: &FolderStore, id: &str) -> Result<Option<Vec<u8>>> {
    block_on(store.get(&SandboxId::parse(id).unwrap()))
}

#[test]
fn what_was_put_is_there_for_the_next_program_until_it_is_deleted() {
    let shelf = Shelf::new();
    let store = shelf.open();
    for number in 0..3 {
        put(&store, "sb-1", number);
    }
    put(&store, "sb-2", 7);
    drop(store);
    let store = shelf.open();
    assert_eq!(block_on(store.list()).unwrap(), [about("sb-1", 2), about("sb-2", 7)]);
    assert_eq!(get(&store, "sb-1").unwrap(), Some(content(2)));
    for _ in 0..2 {
        block_on(store.delete(&SandboxId::parse("sb-1").unwrap())).unwrap();
    }
    assert_eq!(get(&store, "sb-1").unwrap(), None);
    assert_eq!(block_on(store.list()).unwrap(), [about("sb-2", 7)]);
}

#[test]
fn ids_of_any_kind_have_files_of_their_own_inside_the_folder() {
    let shelf = Shelf::new();
    let store = shelf.open();
    let long = "x".repeat(5000);
    let ids = ["a", "A", "../a", "/etc/passwd", ".", "..", ".lock", "a.sandbox", "%61", "ü", "a b", &long, &long[1..]];
    for (number, id) in ids.iter().enumerate() {
        put(&store, id, number as u64);
    }
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(get(&store, id).unwrap(), Some(content(number as u64)), "{id}");
    }
    assert_eq!(block_on(store.list()).unwrap().len(), ids.len());
    let names = fs::read_dir(&shelf.path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: BTreeMap<String, ()> = names.map(|name| (name.to_lowercase(), ())).collect();
    assert_eq!(names.len(), ids.len() + 1, "also where the file system ignores case: {names:?}");
}

#[test]
fn a_folder_that_another_program_uses_is_refused() {
    let shelf = Shelf::new();
    let first = shelf.open();
    let second = FolderStore::open(&shelf.path).unwrap_err();
    assert_eq!(second.kind(), ErrorKind::Storage);
    assert!(second.message().contains("is used by another program"), "{second}");
    drop(first);
    shelf.open();
}

#[cfg(unix)]
#[test]
fn folder_and_files_are_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let shelf = Shelf::new();
    put(&shelf.open(), "sb-1", 1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&shelf.path), 0o700);
    for entry in fs::read_dir(&shelf.path).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

#[test]
fn a_crash_between_the_steps_of_a_save_leaves_the_save_before() {
    let shelf = Shelf::new();
    let store = shelf.open();
    put(&store, "sb-1", 1);
    drop(store);
    // The old file has its new name, and the new one has none yet.
    fs::rename(shelf.file("sb-1.sandbox"), shelf.file("sb-1.previous")).unwrap();
    fs::write(shelf.file(".tidebox-half"), "half a file").unwrap();
    let store = shelf.open();
    assert!(!shelf.file(".tidebox-half").exists());
    assert_eq!(get(&store, "sb-1").unwrap(), Some(content(1)));
    assert_eq!(block_on(store.list()).unwrap(), [about("sb-1", 1)]);
    put(&store, "sb-1", 2);
    assert_eq!(get(&store, "sb-1").unwrap(), Some(content(2)));
}

#[test]
fn wherever_a_file_is_damaged_it_is_named_with_what_to_do() {
    let shelf = Shelf::new();
    let store = shelf.open();
    put(&store, "sb-1", 1);
    put(&store, "sb-1", 2);
    let file = shelf.file("sb-1.sandbox");
    let whole = fs::read(&file).unwrap();
    let damaged = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let error = get(&store, "sb-1").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Storage);
        let advised = error.message().contains("sb-1.previous to sandbox instead of previous");
        assert!(error.message().contains("sb-1.sandbox") && advised, "{error}");
        assert_eq!(block_on(store.list()).unwrap()[0].labels, about("sb-1", 0).labels);
        error.message().to_owned()
    };
    for at in (0..whole.len()).step_by(37).chain([0, 8, 12, 16, whole.len() - 1]) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        damaged(&bytes);
        damaged(&whole[..at]);
    }
    damaged(&[&whole, &b"x"[..]].concat());
    let mut newer = whole.clone();
    newer[8] = 2;
    assert!(damaged(&newer).contains("use the Tidebox that wrote it"));
    // What the error advises.
    fs::rename(shelf.file("sb-1.previous"), &file).unwrap();
    assert_eq!(get(&store, "sb-1").unwrap(), Some(content(1)));
}

#[test]
fn a_sandbox_of_which_nothing_is_readable_is_an_error_of_the_list() {
    let shelf = Shelf::new();
    let store = shelf.open();
    put(&store, "sb-1", 1);
    put(&store, "sb-2", 1);
    fs::write(shelf.file("sb-1.sandbox"), "garbage").unwrap();
    let error = block_on(store.list()).unwrap_err();
    assert!(error.message().contains("sb-1.sandbox") && error.message().contains("gives the sandbox up"), "{error}");
    fs::copy(shelf.file("sb-2.sandbox"), shelf.file("sb-1.sandbox")).unwrap();
    let renamed = get(&store, "sb-1").unwrap_err();
    assert!(renamed.message().contains("is another sandbox's"), "{renamed}");
}

#[test]
fn a_folder_that_cannot_be_used_is_named() {
    let shelf = Shelf::new();
    fs::create_dir_all(shelf.path.parent().unwrap()).unwrap();
    fs::write(&shelf.path, "a file").unwrap();
    let error = FolderStore::open(&shelf.path).unwrap_err();
    assert!(error.message().contains("made/deep"), "{error}");
}

#[test]
fn a_save_whose_caller_went_away_is_whole_nevertheless() {
    let shelf = Shelf::new();
    let store = shelf.open();
    let about = about("sb-1", 1);
    let mut saving = store.run(move |folder| folder.put(&about, &content(1)));
    let _ = saving.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    drop(saving);
    drop(store);
    // The folder is locked until the thread has ended.
    let store = loop {
        match FolderStore::open(&shelf.path) {
            Ok(store) => break store,
            Err(_) => std::thread::yield_now(),
        }
    };
    assert_eq!(get(&store, "sb-1").unwrap(), Some(content(1)));
}
