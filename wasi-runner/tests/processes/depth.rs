//! A guest that has exhausted its stack and then calls the host. Host calls run in a part of the fiber that is not
//! available to guests, so only the guest fails.

use tidebox_kernel::{ExitStatus, Signal};

use crate::fixture::Fixture;
use crate::guest;

/// Words that a level of the recursion keeps on the stack. The call nearest to the limit has less than this left.
const WORDS: usize = 60;

/// A guest that makes `call` on every level of an endless recursion.
fn recursive_guest(call: &str) -> String {
    let words: String = (0..WORDS).map(|word| format!("(local.get {word})")).collect();
    let sum: String = (1..WORDS).map(|word| format!("(local.get {word}) (i64.add)")).collect();
    let params = "i64 ".repeat(WORDS);
    let start = "(i64.const 1)".repeat(WORDS);
    format!(
        r#"(module
          (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "fd_readdir" (func $list (param i32 i32 i32 i64 i32) (result i32)))
          (import "wasi_snapshot_preview1" "path_filestat_get" (func $stat (param i32 i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
          (import "tidebox_v1" "spawn" (func $spawn (param i32 i32 i32) (result i32)))
          (import "tidebox_v1" "fork" (func $fork (param i32 i32) (result i32)))
          (memory (export "memory") 2)
          (table 1 100000 funcref)
          (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
          (global $i (mut i32) (i32.const 0))
          (data (i32.const 1000) "\c8\00\00\00\01\00\00\00")
          (func (export "tidebox_fork_child") (param i32) (call $exit (i32.const 0)))
          (func $down (param {params}) (result i64) (local $answer i32)
            {call}
            (call $down {words})
            (local.get 0) (i64.add) {sum})
          (func (export "_start") (drop (call $down {start}))))"#
    )
}

/// Runs it until its stack overflows; the engine must remain usable.
fn expect_stack_overflow(fixture: Fixture, call: &str, program: &str) {
    let fixture = fixture.program("/bin/plunge", program).program("/bin/quiet", guest::QUIET);
    let result = fixture.run("/bin/plunge");
    assert_eq!(result.status, Some(ExitStatus::Killed(Signal::Segv)), "{call}");
    assert_eq!(String::from_utf8_lossy(&result.stderr), "plunge: stack overflow\n", "{call}");
    assert_eq!(fixture.run("/bin/quiet").status, Some(ExitStatus::Exited(0)), "after {call}");
}

#[test]
fn calls_succeed_near_stack_exhaustion() {
    for call in [
        // Writes one byte to standard output, which may block.
        "(drop (call $write (i32.const 1) (i32.const 1000) (i32.const 1) (i32.const 0)))",
        "(drop (call $write (i32.const 77) (i32.const 1000) (i32.const 1) (i32.const 0)))",
        "(drop (call $list (i32.const 3) (i32.const 4096) (i32.const 4096) (i64.const 0) (i32.const 0)))",
        "(drop (call $poll (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))",
        "(drop (memory.grow (i32.const 0)))",
        "(drop (table.grow (ref.null func) (i32.const 0)))",
    ] {
        expect_stack_overflow(Fixture::new(), call, &recursive_guest(call));
    }
}

#[test]
fn forty_links_resolve_near_stack_exhaustion() {
    // 32 is ELOOP.
    for (link, errno) in [(39, 0), (40, 32)] {
        let call = format!(
            r#"(if (i32.ne (call $stat (i32.const 3) (i32.const 1) (i32.const 2000) (i32.const 9) (i32.const 100)) (i32.const {errno}))
                 (then (call $exit (i32.const 9))))"#
        );
        let data = format!(r#"(data (i32.const 2000) "links/l{link:02}")"#);
        let program = recursive_guest(&call).replacen("(func $down", &format!("{data} (func $down"), 1);
        let mut fixture = Fixture::new().link("/links/l00", "/bin");
        for link in 1..=40 {
            fixture = fixture.link(&format!("/links/l{link:02}"), &format!("l{:02}", link - 1));
        }
        expect_stack_overflow(fixture, &format!("link {link}"), &program);
    }
}

#[test]
fn programs_start_near_stack_exhaustion() {
    // A request for /bin/quiet without arguments, environment and descriptors, in the layout of docs/abi.md.
    let path = "/bin/quiet";
    let words = |numbers: &[u32]| -> String {
        numbers.iter().flat_map(|number| number.to_le_bytes()).map(|byte| format!("\\{byte:02x}")).collect()
    };
    let request = format!("{}{path}{}", words(&[1, 10]), words(&[0, 0, 0, 0, 0, 0, 0]));
    let data = format!(r#"(data (i32.const 3000) "{request}")"#);
    let program = recursive_guest(&guest_until_limit("(call $spawn (i32.const 3000) (i32.const 46) (i32.const 0))"))
        .replacen("(func $down", &format!("{data} (func $down"), 1);
    expect_stack_overflow(Fixture::new(), "spawn", &program);
    expect_stack_overflow(
        Fixture::new(),
        "fork",
        &recursive_guest(&guest_until_limit("(call $fork (i32.const 0) (i32.const 0))")),
    );
}

/// The call succeeds until there are too many processes (6) or too little memory (48); any other error is a bug in this
/// test.
fn guest_until_limit(call: &str) -> String {
    format!(
        r#"(local.set $answer {call})
           (if (local.get $answer) (then
             (if (i32.and (i32.ne (local.get $answer) (i32.const 6)) (i32.ne (local.get $answer) (i32.const 48)))
               (then (call $exit (i32.const 9))))))"#
    )
}

#[test]
fn traps_near_stack_exhaustion_are_reported() {
    // Some levels before the stack overflows.
    for (trap, message) in [
        ("(unreachable)", "aborted"),
        ("(drop (i32.load (i32.const -1)))", "out of bounds memory access"),
        ("(drop (i32.div_u (i32.const 1) (i32.const 0)))", "arithmetic fault"),
        ("(call_indirect (i32.const 0))", "uninitialized element"),
    ] {
        let count = "(global.set $i (i32.add (global.get $i) (i32.const 1)))";
        let deepest = recursion_depth(count);
        let call = format!("{count} (if (i32.eq (global.get $i) (i32.const {deepest})) (then {trap}))");
        let fixture =
            Fixture::new().program("/bin/plunge", &recursive_guest(&call)).program("/bin/quiet", guest::QUIET);
        let result = fixture.run("/bin/plunge");
        let stderr = String::from_utf8_lossy(&result.stderr).into_owned();
        assert!(matches!(result.status, Some(ExitStatus::Killed(_))), "{trap}: {stderr}");
        assert!(stderr.contains(message), "{trap}: {stderr}");
        assert_eq!(fixture.run("/bin/quiet").status, Some(ExitStatus::Exited(0)), "after {trap}");
    }
}

/// Returns the recursion depth of a guest that makes `call` on each level, less 2% for its other work.
fn recursion_depth(call: &str) -> usize {
    let write = "(drop (call $write (i32.const 1) (i32.const 1000) (i32.const 1) (i32.const 0)))";
    let result = Fixture::new().program("/bin/plunge", &recursive_guest(&format!("{call} {write}"))).run("/bin/plunge");
    result.stdout.len() - result.stdout.len() / 50
}
