//! Guests in text format, one feature each.

pub(crate) fn compile(wat: &str) -> Vec<u8> {
    wat::parse_str(wat).expect("the guest is valid text")
}

pub(crate) const QUIET: &str = r#"(module (func (export "_start")))"#;

pub(crate) const SPIN: &str = r#"(module (func (export "_start") (loop $again (br $again))))"#;

pub(crate) const DEEP: &str = r#"(module (func $f (export "_start") (call $f)))"#;

/// Grows its memory until that fails, then traps as an allocator does.
pub(crate) const HOG: &str = r#"(module (memory (export "memory") 1)
  (func (export "_start")
    (loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
    unreachable))"#;

/// Grows its memory until that fails, then exits with 0.
pub(crate) const MODEST: &str = r#"(module (memory (export "memory") 1)
  (func (export "_start")
    (loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))))"#;

#[cfg(feature = "exceptions")]
/// Throws a number and exits with the caught number.
pub(crate) const THROW: &str = r#"(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (tag $number (param i32))
  (func $throw (throw $number (i32.const 9)))
  (func (export "_start")
    (call $exit (block $caught (result i32)
      (try_table (catch $number $caught) (call $throw))
      (i32.const 1)))))"#;

#[cfg(feature = "exceptions")]
pub(crate) const THROW_UNCAUGHT: &str = r#"(module
  (memory (export "memory") 1)
  (tag $number)
  (func (export "_start") (throw $number)))"#;

pub(crate) const FOREIGN_IMPORT: &str =
    r#"(module (import "env" "launch" (func)) (memory (export "memory") 1) (func (export "_start")))"#;

/// Exits with the errno of `random_get` into memory that does not exist.
pub(crate) const WITHOUT_MEMORY: &str = r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (func (export "_start") (call $exit (call $random (i32.const 0) (i32.const 8)))))"#;

/// Creates a pipe, closes its read end and writes.
pub(crate) const WRITE_WITHOUT_READER: &str = r#"(module
  (import "tidebox_v1" "pipe" (func $pipe (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 32) "\40\00\00\00\01\00\00\00")
  (func (export "_start")
    (drop (call $pipe (i32.const 0)))
    (drop (call $close (i32.load (i32.const 0))))
    (drop (call $write (i32.load (i32.const 4)) (i32.const 32) (i32.const 1) (i32.const 48)))))"#;

pub(crate) fn leave(code: u32) -> String {
    format!(
        r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
          (memory (export "memory") 1) (func (export "_start") (call $exit (i32.const {code}))))"#
    )
}

pub(crate) fn print(stream: u32, text: &str) -> String {
    let (len, text) = (text.len(), text.escape_default());
    format!(
        r#"(module (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 1)
          (data (i32.const 64) "{text}")
          (func (export "_start")
            (i32.store (i32.const 0) (i32.const 64))
            (i32.store (i32.const 4) (i32.const {len}))
            (drop (call $write (i32.const {stream}) (i32.const 0) (i32.const 1) (i32.const 16)))))"#
    )
}

pub(crate) fn sleep(seconds: u64) -> String {
    sleep_milliseconds(seconds * 1000)
}

/// Waits for the monotonic clock with `poll_oneoff`.
pub(crate) fn sleep_milliseconds(milliseconds: u64) -> String {
    let nanoseconds = milliseconds * 1_000_000;
    format!(
        r#"(module (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 1)
          (func (export "_start")
            (i32.store (i32.const 16) (i32.const 1))
            (i64.store (i32.const 24) (i64.const {nanoseconds}))
            (drop (call $poll (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 128)))))"#
    )
}

/// Spawns a program with no arguments, environment or descriptors, waits, and exits with its status. Any other failure
/// is exit code 99.
pub(crate) fn spawn_and_exit_with_its_status(path: &str) -> String {
    let word = |n: usize| u32::try_from(n).expect("a short path").to_le_bytes().map(|b| format!("\\{b:02x}")).concat();
    let request = [
        word(1),
        word(path.len()),
        path.to_owned(),
        word(1),
        word(path.len()),
        path.to_owned(),
        word(0),
        word(0),
        word(0),
        word(0),
        word(0),
        word(0),
    ]
    .concat();
    let len = 4 * 10 + 2 * path.len();
    format!(
        r#"(module
          (import "tidebox_v1" "spawn" (func $spawn (param i32 i32 i32) (result i32)))
          (import "tidebox_v1" "wait" (func $wait (param i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
          (memory (export "memory") 1)
          (data (i32.const 1024) "{request}")
          (func (export "_start")
            (if (call $spawn (i32.const 1024) (i32.const {len}) (i32.const 0)) (then (call $exit (i32.const 99))))
            (if (call $wait (i32.load (i32.const 0)) (i32.const 0) (i32.const 8)) (then (call $exit (i32.const 99))))
            (if (i32.ne (i32.load (i32.const 8)) (i32.load (i32.const 0))) (then (call $exit (i32.const 99))))
            (call $exit (i32.load (i32.const 12)))))"#
    )
}

/// The child prints a byte of its copy of the memory and changes it; the parent waits and prints its own byte. Both
/// letters are at 4096, above the stack pointer.
pub(crate) const FORK: &str = r#"(module
  (import "tidebox_v1" "fork" (func $fork (param i32 i32) (result i32)))
  (import "tidebox_v1" "wait" (func $wait (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (global (export "__stack_pointer") (mut i32) (i32.const 1024))
  (global $seen (export "seen") (mut i32) (i32.const 0))
  (data (i32.const 2048) "child sees ?\n")
  (data (i32.const 3072) "parent still has ?\n")
  (func $print (param $at i32) (param $len i32)
    (i32.store8 (i32.sub (i32.add (local.get $at) (local.get $len)) (i32.const 2)) (i32.load8_u (i32.const 4096)))
    (i32.store (i32.const 1100) (local.get $at))
    (i32.store (i32.const 1104) (local.get $len))
    (drop (call $write (i32.const 1) (i32.const 1100) (i32.const 1) (i32.const 1108))))
  (func (export "tidebox_fork_child") (param $arg i32)
    (if (i32.ne (local.get $arg) (i32.const 77)) (then (call $exit (i32.const 1))))
    (if (i32.ne (global.get $seen) (i32.const 5)) (then (call $exit (i32.const 2))))
    (call $print (i32.const 2048) (i32.const 13))
    (i32.store8 (i32.const 4096) (i32.const 66)))
  (func (export "_start")
    (i32.store8 (i32.const 4096) (i32.const 65))
    (global.set $seen (i32.const 5))
    (if (call $fork (i32.const 77) (i32.const 1200)) (then (call $exit (i32.const 3))))
    (if (call $wait (i32.load (i32.const 1200)) (i32.const 0) (i32.const 1204)) (then (call $exit (i32.const 4))))
    (if (i32.load (i32.const 1208)) (then (call $exit (i32.load (i32.const 1208)))))
    (call $print (i32.const 3072) (i32.const 19))))"#;

/// Exits with the errno of `fork`.
pub(crate) const FORK_WITHOUT_ENTRY: &str = r#"(module
  (import "tidebox_v1" "fork" (func $fork (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start") (call $exit (call $fork (i32.const 0) (i32.const 16)))))"#;
