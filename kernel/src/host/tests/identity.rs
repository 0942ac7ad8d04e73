//! Identification of host program files.

use super::*;
use crate::Errno;
use crate::fs::Resolved;
use crate::kernel::USER;

fn spawn(stage: &Stage, path: &[u8]) -> Result<bool, Errno> {
    let mut k = stage.k();
    let request = SpawnRequest { path: path.to_vec(), argv: [path].into_iter().collect(), ..SpawnRequest::default() };
    k.spawn(stage.root, request)?;
    Ok(k.take_pending(stage.execution).pop().expect("started").host.is_some())
}

fn ino(k: &Kernel, path: &[u8]) -> crate::fs::Ino {
    match k.fs.walk(&USER, k.fs.root(), path, true) {
        Ok(Resolved::Node(ino)) => ino,
        other => panic!("{other:?}"),
    }
}

fn contents(k: &Kernel) -> crate::fs::Contents {
    k.fs.contents(ino(k, ASK)).expect("a file")
}

/// Creates a file of the user with these bytes.
fn make(stage: &Stage, path: &[u8], bytes: &[u8]) {
    let mut k = stage.k();
    let root = k.fs.root();
    let (ino, _) = k.fs.create(&USER, root, path, 0o755, true, 0).expect("created");
    k.fs.write_all(ino, bytes, 0).expect("written");
}

#[test]
fn a_copied_or_forged_file_is_not_the_program() {
    let stage = Stage::new(|_| async { 0 });
    let contents = contents(&stage.k());
    let bytes = contents.to_vec();
    make(&stage, b"/workspace/copy", &bytes);
    assert_eq!(spawn(&stage, ASK), Ok(true));
    // The copy is a script, whose interpreter this sandbox lacks.
    assert_eq!(spawn(&stage, b"/workspace/copy"), Err(Errno::Noent));
    // Not even with the same shared bytes, if the owner is not root.
    let shared = contents.shared().cloned().expect("installed");
    stage.k().fs.install(b"/workspace/owned", shared, 0o755, 1000).expect("installed");
    assert_eq!(spawn(&stage, b"/workspace/owned"), Err(Errno::Noent));
}

#[test]
fn links_to_the_file_run_the_program_and_cannot_write_it() {
    let stage = Stage::new(|_| async { 0 });
    let root = stage.k().fs.root();
    stage.k().fs.symlink(&USER, ASK, root, b"/workspace/link", 0).expect("created");
    assert_eq!(spawn(&stage, b"/workspace/link"), Ok(true));
    assert_eq!(spawn(&stage, b"/usr/local/../local/bin/ask"), Ok(true));
    let k = &mut *stage.k();
    let ask = ino(k, ASK);
    assert_eq!(k.fs.access(&USER, ask, 2), Err(Errno::Acces));
    assert_eq!(k.fs.unlink(&USER, root, ASK, 0), Err(Errno::Acces));
    assert_eq!(k.fs.chmod(&USER, ask, 0o777, 0), Err(Errno::Perm));
}

#[test]
fn the_file_content_reveals_nothing_about_the_program() {
    let stage = Stage::new(|_| async { 0 });
    let k = stage.k();
    let file = ino(&k, ASK);
    let stat = k.fs.stat(file).expect("it exists");
    assert_eq!((stat.mode & 0o7777, stat.uid), (0o755, 0));
    assert_eq!(k.fs.contents(file).expect("a file").to_vec(), crate::host::STUB_TEXT.as_bytes());
}

#[test]
fn a_fork_and_a_restored_tree_keep_the_programs() {
    let stage = Stage::new(|_| async { 0 });
    let mut fork = stage.k().fork_sandbox();
    fork.set_sandbox_id(id("sb-2"));
    let file = ino(&fork, ASK);
    assert!(fork.host_program(file).expect("a file").is_some());
    let before = fork.snapshot();
    fork.restore(&before).expect("nothing is missing");
    assert_eq!(ino(&fork, ASK), file, "an existing file is not changed");
    // A tree from another sandbox holds at most a file with the same content.
    let mut other = crate::testing::kernel(Limits::default());
    other.fs.install(ASK, crate::host::STUB_TEXT.as_bytes().into(), 0o755, 0).expect("installed");
    fork.restore(&other.snapshot()).expect("the file is installed");
    assert!(fork.host_program(ino(&fork, ASK)).expect("a file").is_some());
    assert!(other.host_program(ino(&other, ASK)).expect("a file").is_none());
}

#[test]
fn installing_a_program_over_a_directory_fails() {
    let mut k = crate::testing::kernel(Limits::default());
    let mut programs = HostPrograms::new(id("sb-1"));
    programs.add(b"/tmp".as_slice(), Program(|_| async { 0 }));
    assert_eq!(k.set_host_programs(programs), Err(Errno::Isdir));
}
