//! Pre-initialized programs.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest, Sha256};
use tidebox_kernel::ExitStatus;
use tidebox_kernel::fs::FileBytes;
use tidebox_wasi_runner::{PreinitMode, PreinitSource, split_module, write_first_image};

use crate::fixture::Fixture;
use crate::guest;

/// Counts its setups at 1,024, stores the first letter of its last argument at 1,025, and counts its runs at 1,026. The
/// exit code is the sum of setups and runs, or the result of `getids` without any setup.
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

fn source(dir: &Path, image: &str, task: PreinitMode) -> PreinitSource {
    let wasm = guest::compile(COUNTER);
    let parts = split_module(&wasm, &[]).expect("the module can be split");
    let module = dir.join("module.wasm");
    fs::write(&module, &parts.module).expect("the directory can be written");
    if !dir.join("first.image").exists() {
        write_first_image(&dir.join("first.image"), &parts).expect("the directory can be written");
    }
    let digest = Sha256::digest(&parts.module).into();
    PreinitSource {
        module,
        digest,
        image: dir.join(image),
        image_digest: [0; 32],
        native: None,
        on_compile: None,
        task,
    }
}

fn fixture(source: PreinitSource) -> Fixture {
    Fixture::new().preinit("/bin/counter", FileBytes::from(b"\0asm\x01\0\0\0".to_vec()), source)
}

fn prepare(dir: &Path, arguments: [&str; 2]) -> Option<ExitStatus> {
    let task = PreinitMode::Initialize {
        setup: vec!["setup".to_owned(), "setup".to_owned()],
        function: "load".to_owned(),
        arguments: arguments.map(str::to_owned),
        signals: None,
        keep: dir.join("main.image"),
    };
    fixture(source(dir, "first.image", task)).run("/bin/counter").status
}

#[test]
fn a_process_starts_with_the_image_and_does_not_change_it() {
    let dir = tempfile::tempdir().expect("a directory");
    assert_eq!(prepare(dir.path(), ["a", "b"]), Some(ExitStatus::Exited(0)));
    let saved = fs::read(dir.path().join("main.image")).expect("the image was written");
    assert_eq!((saved.len(), &saved[1024..1027]), (131_072, &[7, b'b', 0][..]));
    let fixture = fixture(source(dir.path(), "main.image", PreinitMode::Run));
    for _ in 0..3 {
        assert_eq!(fixture.run("/bin/counter").status, Some(ExitStatus::Exited(8)), "two setups, and one run each");
    }
}

#[test]
fn a_failed_initialization_writes_no_image() {
    let dir = tempfile::tempdir().expect("a directory");
    assert_eq!(prepare(dir.path(), ["a", "!"]), Some(ExitStatus::Exited(1)));
    assert!(!dir.path().join("main.image").exists());
}

#[test]
fn host_call_reaches_the_kernel() {
    let dir = tempfile::tempdir().expect("a directory");
    let result = fixture(source(dir.path(), "first.image", PreinitMode::Run)).run("/bin/counter");
    assert_eq!(result.status, Some(ExitStatus::Exited(1)), "{}", String::from_utf8_lossy(&result.stderr));
}

#[test]
fn a_changed_module_or_image_does_not_start() {
    let dir = tempfile::tempdir().expect("a directory");
    let expected = source(dir.path(), "first.image", PreinitMode::Run);
    fs::write(&expected.module, guest::compile(guest::QUIET)).expect("the directory can be written");
    let result = fixture(expected).run("/bin/counter");
    assert_eq!(result.status, Some(ExitStatus::Exited(126)));
    assert!(String::from_utf8_lossy(&result.stderr).contains("the file was changed"));
    let expected = source(dir.path(), "first.image", PreinitMode::Run);
    fs::write(&expected.image, b"cut").expect("the directory can be written");
    let result = fixture(expected).run("/bin/counter");
    assert_eq!(result.status, Some(ExitStatus::Exited(126)));
    assert!(String::from_utf8_lossy(&result.stderr).contains("not a memory image"));
}

#[test]
fn a_program_is_prepared_once_on_its_first_start() {
    let dir = tempfile::tempdir().expect("a directory");
    let prepared = source(dir.path(), "first.image", PreinitMode::Run);
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let prepare = move || match counted.fetch_add(1, Ordering::Relaxed) {
        0 => Err("the disk is full".to_owned()),
        _ => Ok(prepared.clone()),
    };
    let file = FileBytes::from(b"\0asm\x01\0\0\0".to_vec());
    let fixture = Fixture::new().preinit_on_use("/bin/counter", file, Box::new(prepare));
    assert_eq!(calls.load(Ordering::Relaxed), 0, "registering it prepares nothing");
    let failed = fixture.run("/bin/counter");
    assert_eq!(failed.status, Some(ExitStatus::Exited(126)));
    assert!(String::from_utf8_lossy(&failed.stderr).contains("the disk is full"));
    for _ in 0..3 {
        assert_eq!(fixture.run("/bin/counter").status, Some(ExitStatus::Exited(1)));
    }
    assert_eq!(calls.load(Ordering::Relaxed), 2, "a failure is tried again, and the result is kept");
}
