//! Which files are such programs.

use super::*;
use crate::Errno;
use crate::fs::Target;
use crate::kernel::USER;

fn spawn(stage: &Stage, path: &[u8]) -> Result<bool, Errno> {
    let mut k = stage.k();
    let request = SpawnRequest { path: path.to_vec(), argv: vec![path.to_vec()], ..SpawnRequest::default() };
    k.spawn(stage.root, request)?;
    Ok(k.take_starts(stage.session).pop().expect("started").host.is_some())
}

fn ino(k: &Kernel, path: &[u8]) -> crate::fs::Ino {
    match k.fs.walk(&USER, k.fs.root(), path, true) {
        Ok(Target::Node(ino)) => ino,
        other => panic!("{other:?}"),
    }
}

fn contents(k: &Kernel) -> crate::fs::Contents {
    k.fs.contents(ino(k, ASK)).expect("a file")
}

/// A file of the user with these bytes.
fn make(stage: &Stage, path: &[u8], bytes: &[u8]) {
    let mut k = stage.k();
    let root = k.fs.root();
    let (ino, _) = k.fs.create(&USER, root, path, 0o755, true, 0).expect("made");
    k.fs.write_all(ino, bytes, 0).expect("written");
}

#[test]
fn a_copy_or_a_forgery_of_the_file_is_not_the_program() {
    let stage = Stage::new(|_| async { 0 });
    let contents = contents(&stage.k());
    let bytes = contents.to_vec();
    make(&stage, b"/workspace/copy", &bytes);
    assert_eq!(spawn(&stage, ASK), Ok(true));
    // The copy is a script, whose interpreter this sandbox lacks.
    assert_eq!(spawn(&stage, b"/workspace/copy"), Err(Errno::Noent));
    // Not even the very bytes, when they belong to somebody else than root.
    let shared = contents.shared().cloned().expect("installed");
    stage.k().fs.install(b"/workspace/owned", shared, 0o755, 1000).expect("installed");
    assert_eq!(spawn(&stage, b"/workspace/owned"), Err(Errno::Noent));
}

#[test]
fn other_names_of_the_file_are_the_program_and_the_user_cannot_change_it() {
    let stage = Stage::new(|_| async { 0 });
    let root = stage.k().fs.root();
    stage.k().fs.symlink(&USER, ASK, root, b"/workspace/link", 0).expect("made");
    assert_eq!(spawn(&stage, b"/workspace/link"), Ok(true));
    assert_eq!(spawn(&stage, b"/usr/local/../local/bin/ask"), Ok(true));
    let k = &mut *stage.k();
    let ask = ino(k, ASK);
    assert_eq!(k.fs.access(&USER, ask, 2), Err(Errno::Acces));
    assert_eq!(k.fs.unlink(&USER, root, ASK, 0), Err(Errno::Acces));
    assert_eq!(k.fs.chmod(&USER, ask, 0o777, 0), Err(Errno::Perm));
}

#[test]
fn the_file_says_nothing_of_the_program() {
    let stage = Stage::new(|_| async { 0 });
    let k = stage.k();
    let file = ino(&k, ASK);
    let stat = k.fs.stat(file).expect("there");
    assert_eq!((stat.mode & 0o7777, stat.uid), (0o755, 0));
    assert_eq!(k.fs.contents(file).expect("a file").to_vec(), crate::host::TEXT.as_bytes());
}

#[test]
fn a_fork_and_a_restored_tree_keep_the_programs() {
    let stage = Stage::new(|_| async { 0 });
    let mut fork = stage.k().fork_sandbox();
    fork.set_sandbox(id("sb-2"));
    let file = ino(&fork, ASK);
    assert!(fork.host_program(file).expect("a file").is_some());
    let before = fork.snapshot();
    fork.restore(&before).expect("nothing is missing");
    assert_eq!(ino(&fork, ASK), file, "a file that is there already is left alone");
    // A tree from elsewhere holds at most a file that looks the same.
    let mut other = crate::testing::kernel(Limits::default());
    other.fs.install(ASK, crate::host::TEXT.as_bytes().into(), 0o755, 0).expect("installed");
    fork.restore(&other.snapshot()).expect("the file is placed");
    assert!(fork.host_program(ino(&fork, ASK)).expect("a file").is_some());
    assert!(other.host_program(ino(&other, ASK)).expect("a file").is_none());
}

#[test]
fn a_program_whose_place_is_taken_by_a_directory_is_an_error() {
    let mut k = crate::testing::kernel(Limits::default());
    let mut programs = HostPrograms::new(id("sb-1"));
    programs.add(b"/tmp".as_slice(), Program(|_| async { 0 }));
    assert_eq!(k.set_host_programs(programs), Err(Errno::Isdir));
}
