use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use futures_executor::block_on;

use super::*;

fn saved_sandbox(id: &str, number: u64) -> SavedSandbox {
    let labels = [("thread".to_owned(), "1".to_owned())].into();
    SavedSandbox { id: SandboxId::parse(id).unwrap(), labels, created: 1, last_used: number }
}

/// Content that identifies the save and has the expected length.
fn content(number: u64) -> Vec<u8> {
    format!("{number} ").repeat(1000).into_bytes()
}

struct TempStore {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl TempStore {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("made/deep");
        Self { _folder: dir, path }
    }

    fn open(&self) -> DirStore {
        DirStore::open(&self.path).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// Saves arbitrary bytes; the store does not parse them.
fn put(store: &DirStore, id: &str, number: u64) {
    let saved_sandbox = saved_sandbox(id, number);
    block_on(store.run(move |dir| dir.put(&saved_sandbox, &content(number)))).unwrap();
}

fn get(store: &DirStore, id: &str) -> Result<Option<Vec<u8>>> {
    block_on(store.get(&SandboxId::parse(id).unwrap()))
}

#[test]
fn saves_persist_until_they_are_deleted() {
    let temp = TempStore::new();
    let store = temp.open();
    for number in 0..3 {
        put(&store, "sb-1", number);
    }
    put(&store, "sb-2", 7);
    drop(store);
    let store = temp.open();
    assert_eq!(block_on(store.list()).unwrap(), [saved_sandbox("sb-1", 2), saved_sandbox("sb-2", 7)]);
    assert_eq!(get(&store, "sb-1").unwrap(), Some(content(2)));
    for _ in 0..2 {
        block_on(store.delete(&SandboxId::parse("sb-1").unwrap())).unwrap();
    }
    assert_eq!(get(&store, "sb-1").unwrap(), None);
    assert_eq!(block_on(store.list()).unwrap(), [saved_sandbox("sb-2", 7)]);
}

#[test]
fn all_ids_map_to_distinct_files_inside_the_directory() {
    let temp = TempStore::new();
    let store = temp.open();
    let long = "x".repeat(5000);
    let ids = ["a", "A", "../a", "/etc/passwd", ".", "..", ".lock", "a.sandbox", "%61", "ü", "a b", &long, &long[1..]];
    for (number, id) in ids.iter().enumerate() {
        put(&store, id, number as u64);
    }
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(get(&store, id).unwrap(), Some(content(number as u64)), "{id}");
    }
    assert_eq!(block_on(store.list()).unwrap().len(), ids.len());
    let names = fs::read_dir(&temp.path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: BTreeMap<String, ()> = names.map(|name| (name.to_lowercase(), ())).collect();
    assert_eq!(names.len(), ids.len() + 1, "also where the file system ignores case: {names:?}");
}

#[test]
fn a_directory_in_use_by_another_program_is_rejected() {
    let temp = TempStore::new();
    let first = temp.open();
    let second = DirStore::open(&temp.path).unwrap_err();
    assert_eq!(second.kind(), ErrorKind::Storage);
    assert!(second.message().contains("is used by another program"), "{second}");
    drop(first);
    temp.open();
}

#[cfg(unix)]
#[test]
fn directory_and_files_are_private_to_the_user() {
    use std::os::unix::fs::PermissionsExt;
    let temp = TempStore::new();
    put(&temp.open(), "sb-1", 1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&temp.path), 0o700);
    for entry in fs::read_dir(&temp.path).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

#[test]
fn a_crash_during_a_save_keeps_the_previous_save() {
    let temp = TempStore::new();
    let store = temp.open();
    put(&store, "sb-1", 1);
    drop(store);
    // The old file is renamed, and the new one is not yet.
    fs::rename(temp.file("sb-1.sandbox"), temp.file("sb-1.previous")).unwrap();
    fs::write(temp.file(".tidebox-half"), "half a file").unwrap();
    let store = temp.open();
    assert!(!temp.file(".tidebox-half").exists());
    assert_eq!(get(&store, "sb-1").unwrap(), Some(content(1)));
    assert_eq!(block_on(store.list()).unwrap(), [saved_sandbox("sb-1", 1)]);
    put(&store, "sb-1", 2);
    assert_eq!(get(&store, "sb-1").unwrap(), Some(content(2)));
}

#[test]
fn errors_name_a_corrupt_file_and_the_remedy() {
    let temp = TempStore::new();
    let store = temp.open();
    put(&store, "sb-1", 1);
    put(&store, "sb-1", 2);
    let file = temp.file("sb-1.sandbox");
    let whole = fs::read(&file).unwrap();
    let damaged = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let error = get(&store, "sb-1").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Storage);
        let advised = error.message().contains("sb-1.previous to sandbox instead of previous");
        assert!(error.message().contains("sb-1.sandbox") && advised, "{error}");
        assert_eq!(block_on(store.list()).unwrap()[0].labels, saved_sandbox("sb-1", 0).labels);
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
    assert!(damaged(&newer).contains("use the version of Tidebox that wrote it"));
    // Follow the advice of the error.
    fs::rename(temp.file("sb-1.previous"), &file).unwrap();
    assert_eq!(get(&store, "sb-1").unwrap(), Some(content(1)));
}

#[test]
fn list_fails_if_both_saves_are_corrupt() {
    let temp = TempStore::new();
    let store = temp.open();
    put(&store, "sb-1", 1);
    put(&store, "sb-2", 1);
    fs::write(temp.file("sb-1.sandbox"), "garbage").unwrap();
    let error = block_on(store.list()).unwrap_err();
    assert!(error.message().contains("sb-1.sandbox") && error.message().contains("to discard the sandbox"), "{error}");
    fs::copy(temp.file("sb-2.sandbox"), temp.file("sb-1.sandbox")).unwrap();
    let renamed = get(&store, "sb-1").unwrap_err();
    assert!(renamed.message().contains("belongs to another sandbox"), "{renamed}");
}

#[test]
fn errors_name_an_unusable_directory() {
    let temp = TempStore::new();
    fs::create_dir_all(temp.path.parent().unwrap()).unwrap();
    fs::write(&temp.path, "a file").unwrap();
    let error = DirStore::open(&temp.path).unwrap_err();
    assert!(error.message().contains("made/deep"), "{error}");
}

#[test]
fn a_save_is_completed_after_its_future_is_dropped() {
    let temp = TempStore::new();
    let store = temp.open();
    let saved_sandbox = saved_sandbox("sb-1", 1);
    let mut saving = store.run(move |dir| dir.put(&saved_sandbox, &content(1)));
    let _ = saving.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    drop(saving);
    drop(store);
    // The directory is locked until the thread has ended.
    let store = loop {
        match DirStore::open(&temp.path) {
            Ok(store) => break store,
            Err(_) => std::thread::yield_now(),
        }
    };
    assert_eq!(get(&store, "sb-1").unwrap(), Some(content(1)));
}
