//! Programs whose memory was made ready before.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use tidebox_kernel::Status;
use tidebox_kernel::fs::FileBytes;
use tidebox_wasi_runner::{Provision, Task, take_apart, write_first_image};

use crate::guest;
use crate::stage::Stage;

/// Counts its setups at 1,024, keeps the first letter of what it was told last at 1,025, and counts its runs at 1,026. The exit
/// code is the sum of setups and runs, or what the kernel answers to `getids` when there were no setups.
const COUNTER: &str = r#"(module
  (import "host" "call" (func $call (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 1024) "\05")
  (data (i32.const 2048) "\06\00\00\00getids\01\00\00\00\00\00\00\00")
  (func (export "host_alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "setup") (i32.store8 (i32.const 1024) (i32.add (i32.load8_u (i32.const 1024)) (i32.const 1))))
  (func (export "load") (param $at i32) (result i32)
    (i32.store8 (i32.const 1025) (i32.load8_u (local.get $at)))
    (i32.ne (i32.load8_u (local.get $at)) (i32.const 33)))
  (func (export "run") (result i32)
    (i32.store8 (i32.const 1026) (i32.add (i32.load8_u (i32.const 1026)) (i32.const 1)))
    (if (result i32) (i32.eq (i32.load8_u (i32.const 1024)) (i32.const 5))
      (then
        (if (call $call (i32.const 2048) (i32.const 38) (i32.const 8) (i32.const 12)) (then (return (i32.const 99))))
        ;; The error number, and whether the user is the fourth number.
        (i32.add (i32.load (i32.const 4096)) (i32.eq (i32.load (i32.const 4112)) (i32.const 1000))))
      (else (i32.add (i32.load8_u (i32.const 1024)) (i32.load8_u (i32.const 1026)))))))"#;

fn provision(folder: &Path, image: &str, task: Task) -> Provision {
    let wasm = guest::compile(COUNTER);
    let parts = take_apart(&wasm, &[]).expect("it can be taken apart");
    let module = folder.join("module.wasm");
    fs::write(&module, &parts.module).expect("the folder can be written");
    if !folder.join("first.image").exists() {
        write_first_image(&folder.join("first.image"), &parts).expect("the folder can be written");
    }
    let digest = Sha256::digest(&parts.module).into();
    Provision { module, digest, image: folder.join(image), native: None, task }
}

fn stage(provision: Provision) -> Stage {
    Stage::new().prepared("/bin/counter", FileBytes::from(b"\0asm\x01\0\0\0".to_vec()), provision)
}

fn prepare(folder: &Path, arguments: [&str; 2]) -> Option<Status> {
    let task = Task::Prepare {
        setup: vec!["setup".to_owned(), "setup".to_owned()],
        function: "load".to_owned(),
        arguments: arguments.map(str::to_owned),
        signals: None,
        keep: folder.join("main.image"),
    };
    stage(provision(folder, "first.image", task)).run("/bin/counter").status
}

#[test]
fn a_process_begins_with_the_kept_memory_and_leaves_it_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(prepare(folder.path(), ["a", "b"]), Some(Status::Exited(0)));
    let kept = fs::read(folder.path().join("main.image")).expect("the memory was kept");
    assert_eq!((kept.len(), &kept[1024..1027]), (131_072, &[7, b'b', 0][..]));
    let stage = stage(provision(folder.path(), "main.image", Task::Run));
    for _ in 0..3 {
        assert_eq!(stage.run("/bin/counter").status, Some(Status::Exited(8)), "two setups, and one run each");
    }
}

#[test]
fn what_cannot_be_prepared_is_not_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(prepare(folder.path(), ["a", "!"]), Some(Status::Exited(1)));
    assert!(!folder.path().join("main.image").exists());
}

#[test]
fn it_reaches_the_kernel_by_its_one_import() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = stage(provision(folder.path(), "first.image", Task::Run)).run("/bin/counter");
    assert_eq!(ended.status, Some(Status::Exited(1)), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn a_module_or_an_image_that_was_changed_does_not_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let wanted = provision(folder.path(), "first.image", Task::Run);
    fs::write(&wanted.module, guest::compile(guest::QUIET)).expect("the folder can be written");
    let ended = stage(wanted).run("/bin/counter");
    assert_eq!(ended.status, Some(Status::Exited(126)));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("the file is not as it was made"));
    let wanted = provision(folder.path(), "first.image", Task::Run);
    fs::write(&wanted.image, b"cut").expect("the folder can be written");
    let ended = stage(wanted).run("/bin/counter");
    assert_eq!(ended.status, Some(Status::Exited(126)));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("this is no image of a memory"));
}
