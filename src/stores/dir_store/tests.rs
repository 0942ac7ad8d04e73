use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use futures_executor::block_on;
use tidebox_core::SandboxProvider;

use super::*;
use crate::stores::tests::support::{get, provider, read, thread, write};

struct TempStore {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

impl TempStore {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("made/deep");
        Self { _dir: dir, path }
    }

    fn open(&self) -> DirStore {
        DirStore::open(&self.path).unwrap()
    }

    /// Files of the only sandbox, in the order of their names.
    fn files(&self) -> Vec<PathBuf> {
        let dirs = fs::read_dir(&self.path).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
        let files = dirs.flat_map(|dir| fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()));
        files.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

#[test]
fn saves_persist_until_they_are_deleted() {
    let temp = TempStore::new();
    let first = provider(temp.open());
    let sandbox = get(&first);
    for number in 0..3 {
        write(&*sandbox, "file", format!("{number}")).unwrap();
    }
    let id = sandbox.id().clone();
    drop((first, sandbox));
    let again = provider(temp.open());
    let sandbox = get(&again);
    assert_eq!((sandbox.id(), read(&*sandbox, "file").unwrap().as_slice()), (&id, b"2".as_slice()));
    for _ in 0..2 {
        block_on(again.delete(&id)).unwrap();
    }
    drop((again, sandbox));
    assert_eq!(block_on(temp.open().list()).unwrap(), []);
    assert_eq!(temp.files(), [] as [PathBuf; 0], "nothing is left of a deleted sandbox");
}

#[test]
fn all_ids_map_to_distinct_directories_inside_the_directory() {
    let long = "x".repeat(5000);
    let ids = ["a", "A", "../a", "/etc/passwd", ".", "..", ".lock", "a.sandbox", "%61", "ü", "a b", &long, &long[1..]];
    let stems: BTreeSet<String> = ids.iter().map(|id| name::stem(&SandboxId::parse(*id).unwrap())).collect();
    assert_eq!(stems.len(), ids.len());
    for stem in stems {
        assert_eq!(stem.to_lowercase(), stem, "also where the file system ignores case");
        assert!(!stem.contains(['/', '.']) && stem.len() <= 150, "{stem}");
    }
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
    let first = provider(temp.open());
    get(&first);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&temp.path), 0o700);
    let files = temp.files();
    assert_eq!(mode(files[0].parent().unwrap()), 0o700);
    for file in files {
        assert_eq!(mode(&file), 0o600);
    }
}

#[test]
fn the_space_of_old_saves_is_freed() {
    let temp = TempStore::new();
    let first = provider(temp.open());
    let sandbox = get(&first);
    let size = || temp.files().iter().map(|file| fs::metadata(file).unwrap().len()).sum::<u64>();
    for number in 0..40 {
        write(&*sandbox, "large", crate::stores::tests::support::noise(number, 1 << 20)).unwrap();
    }
    // Of 40 MiB: a whole snapshot and one save of changes, twice.
    assert!(size() < 5 << 20, "{} bytes", size());
}

#[test]
fn interrupted_saves_are_removed_on_opening() {
    let temp = TempStore::new();
    temp.open();
    fs::write(temp.path.join(".tidebox-half"), "half a file").unwrap();
    temp.open();
    assert!(!temp.path.join(".tidebox-half").exists());
}

#[test]
fn errors_name_a_corrupt_file_and_the_remedy() {
    let temp = TempStore::new();
    let sandbox = get(&provider(temp.open()));
    write(&*sandbox, "file", "1").unwrap();
    write(&*sandbox, "file", "2").unwrap();
    drop(sandbox);
    let newest = temp.files().pop().unwrap();
    let whole = fs::read(&newest).unwrap();
    let damaged = |bytes: &[u8]| {
        fs::write(&newest, bytes).unwrap();
        let again = provider(temp.open());
        let error = block_on(again.get_or_create(thread())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Storage);
        let file = newest.file_name().unwrap().to_str().unwrap();
        assert!(error.message().contains(file) && error.message().contains("the save before"), "{error}");
        error.message().to_owned()
    };
    for at in (0..whole.len()).step_by(37).chain([0, 8, 12, 16, whole.len() - 1]) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        damaged(&bytes);
        // An empty file is a tombstone.
        damaged(&whole[..at.max(1)]);
    }
    damaged(&[&whole, &b"x"[..]].concat());
    let mut newer = whole.clone();
    newer[8] = 2;
    assert!(damaged(&newer).contains("use the version of Tidebox that wrote it"));
    // Follow the advice of the error.
    fs::remove_file(&newest).unwrap();
    assert_eq!(read(&*get(&provider(temp.open())), "file").unwrap(), b"1");
    fs::write(&newest, "garbage").unwrap();
    let again = provider(temp.open());
    let listed = block_on(again.list(tidebox_core::ListRequest::default())).unwrap().sandboxes;
    block_on(again.delete(&listed[0].id)).unwrap();
    assert_eq!(temp.files(), [] as [PathBuf; 0], "a corrupt sandbox can be deleted");
}

#[test]
fn errors_name_an_unusable_directory() {
    let temp = TempStore::new();
    fs::create_dir_all(temp.path.parent().unwrap()).unwrap();
    fs::write(&temp.path, "a file").unwrap();
    let error = DirStore::open(&temp.path).unwrap_err();
    assert!(error.message().contains("made/deep"), "{error}");
}

/// A directory that an earlier version has written: the current and the previous save of one sandbox.
fn earlier_version(temp: &TempStore) -> (PathBuf, PathBuf) {
    fs::create_dir_all(&temp.path).unwrap();
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/saved"));
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), temp.path.join(entry.file_name())).unwrap();
    }
    let stem = temp.path.join("sb-d49f9d455cda6d00daf95f4c5c8c3a80");
    (stem.with_extension("sandbox"), stem.with_extension("previous"))
}

fn by_name() -> tidebox_core::Selector {
    tidebox_core::Selector::labels([("name", "default")])
}

#[test]
fn sandboxes_of_an_earlier_version_are_converted() {
    let temp = TempStore::new();
    let (current, previous) = earlier_version(&temp);
    for round in 0..2 {
        let opened = provider(temp.open());
        let listed = block_on(opened.list(tidebox_core::ListRequest::default())).unwrap().sandboxes;
        assert_eq!(listed.len(), 1, "round {round}");
        let sandbox = block_on(opened.get_or_create(by_name())).unwrap();
        assert_eq!(sandbox.id().as_str(), "sb-d49f9d455cda6d00daf95f4c5c8c3a80");
        assert_eq!(read(&*sandbox, "notes/b.txt").unwrap(), b"second\n");
        assert!(!current.exists() && !previous.exists() && temp.files().len() == 1 + round);
        write(&*sandbox, "new", "text").unwrap();
    }
}

#[test]
fn a_conversion_that_was_interrupted_is_completed() {
    let temp = TempStore::new();
    let (current, _) = earlier_version(&temp);
    let old = fs::read(&current).unwrap();
    let opened = provider(temp.open());
    let sandbox = block_on(opened.get_or_create(by_name())).unwrap();
    write(&*sandbox, "new", "text").unwrap();
    drop((opened, sandbox));
    fs::write(&current, old).unwrap();
    let opened = provider(temp.open());
    let sandbox = block_on(opened.get_or_create(by_name())).unwrap();
    assert_eq!(read(&*sandbox, "new").unwrap(), b"text", "the earlier save does not replace later ones");
    assert!(!current.exists());
}

#[test]
fn a_corrupt_save_of_an_earlier_version_is_named() {
    let temp = TempStore::new();
    let (current, previous) = earlier_version(&temp);
    let mut bytes = fs::read(&current).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&current, bytes).unwrap();
    let error = block_on(provider(temp.open()).get_or_create(by_name())).unwrap_err();
    assert!(error.message().contains(".previous to sandbox instead of previous"), "{error}");
    fs::rename(previous, &current).unwrap();
    let opened = provider(temp.open());
    let sandbox = block_on(opened.get_or_create(by_name())).unwrap();
    assert_eq!(
        (read(&*sandbox, "notes/b.txt"), read(&*sandbox, "notes/a.txt").unwrap().as_slice()),
        (None, &b"first\n"[..])
    );
}

#[test]
fn a_save_is_completed_after_its_future_is_dropped() {
    let temp = TempStore::new();
    let folder = Folder::open(&temp.path).unwrap();
    let mut creating = crate::stores::objects::Objects::create(&folder, "sb-1/0000000000000001", b"bytes".to_vec());
    let _ = creating.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    drop(creating);
    drop(folder);
    while !temp.path.join("sb-1/0000000000000001").exists() {
        std::thread::yield_now();
    }
}
