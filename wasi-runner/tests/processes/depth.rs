//! A guest that has used up its stack and then calls the host: what the host needs lies in a part of the fiber that no guest
//! gets, so that the guest ends and nothing else.

use tidebox_kernel::{Signal, Status};

use crate::guest;
use crate::stage::Stage;

/// What a level of the recursion keeps on the stack, in words. The call that is nearest to the end has less than this left.
const WORDS: usize = 60;

/// A guest that does `call` on every level of an endless recursion.
fn plunging(call: &str) -> String {
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

/// Runs it to the end of its stack; the engine is there for the next program.
fn expect_stack_overflow(stage: Stage, call: &str, program: &str) {
    let stage = stage.program("/bin/plunge", program).program("/bin/quiet", guest::QUIET);
    let ended = stage.run("/bin/plunge");
    assert_eq!(ended.status, Some(Status::Killed(Signal::Segv)), "{call}");
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "plunge: stack overflow\n", "{call}");
    assert_eq!(stage.run("/bin/quiet").status, Some(Status::Exited(0)), "after {call}");
}

#[test]
fn calls_at_the_end_of_the_stack_have_room() {
    for call in [
        // One byte to standard output, which may wait.
        "(drop (call $write (i32.const 1) (i32.const 1000) (i32.const 1) (i32.const 0)))",
        "(drop (call $write (i32.const 77) (i32.const 1000) (i32.const 1) (i32.const 0)))",
        "(drop (call $list (i32.const 3) (i32.const 4096) (i32.const 4096) (i64.const 0) (i32.const 0)))",
        "(drop (call $poll (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))",
        "(drop (memory.grow (i32.const 0)))",
        "(drop (table.grow (ref.null func) (i32.const 0)))",
    ] {
        expect_stack_overflow(Stage::new(), call, &plunging(call));
    }
}

#[test]
fn a_path_of_forty_links_at_the_end_of_the_stack_has_room() {
    // 32 says that there are too many.
    for (link, answer) in [(39, 0), (40, 32)] {
        let call = format!(
            r#"(if (i32.ne (call $stat (i32.const 3) (i32.const 1) (i32.const 2000) (i32.const 9) (i32.const 100)) (i32.const {answer}))
                 (then (call $exit (i32.const 9))))"#
        );
        let data = format!(r#"(data (i32.const 2000) "links/l{link:02}")"#);
        let program = plunging(&call).replacen("(func $down", &format!("{data} (func $down"), 1);
        let mut stage = Stage::new().link("/links/l00", "/bin");
        for link in 1..=40 {
            stage = stage.link(&format!("/links/l{link:02}"), &format!("l{:02}", link - 1));
        }
        expect_stack_overflow(stage, &format!("link {link}"), &program);
    }
}

#[test]
fn starting_programs_at_the_end_of_the_stack_has_room() {
    // A request for /bin/quiet without arguments, environment and descriptors, as docs/abi.md has it.
    let path = "/bin/quiet";
    let words = |numbers: &[u32]| -> String {
        numbers.iter().flat_map(|number| number.to_le_bytes()).map(|byte| format!("\\{byte:02x}")).collect()
    };
    let request = format!("{}{path}{}", words(&[1, 10]), words(&[0, 0, 0, 0, 0, 0, 0]));
    let data = format!(r#"(data (i32.const 3000) "{request}")"#);
    let program = plunging(&started("(call $spawn (i32.const 3000) (i32.const 46) (i32.const 0))")).replacen(
        "(func $down",
        &format!("{data} (func $down"),
        1,
    );
    expect_stack_overflow(Stage::new(), "spawn", &program);
    expect_stack_overflow(Stage::new(), "fork", &plunging(&started("(call $fork (i32.const 0) (i32.const 0))")));
}

/// The call succeeds until there are too many processes (6) or too little memory (48); all else is a mistake of this test.
fn started(call: &str) -> String {
    format!(
        r#"(local.set $answer {call})
           (if (local.get $answer) (then
             (if (i32.and (i32.ne (local.get $answer) (i32.const 6)) (i32.ne (local.get $answer) (i32.const 48)))
               (then (call $exit (i32.const 9))))))"#
    )
}

#[test]
fn what_ends_a_guest_at_the_end_of_its_stack_is_told() {
    // Some levels before the stack ends.
    for (trap, told) in [
        ("(unreachable)", "aborted"),
        ("(drop (i32.load (i32.const -1)))", "out of bounds memory access"),
        ("(drop (i32.div_u (i32.const 1) (i32.const 0)))", "arithmetic fault"),
        ("(call_indirect (i32.const 0))", "uninitialized element"),
    ] {
        let count = "(global.set $i (i32.add (global.get $i) (i32.const 1)))";
        let deepest = levels(count);
        let call = format!("{count} (if (i32.eq (global.get $i) (i32.const {deepest})) (then {trap}))");
        let stage = Stage::new().program("/bin/plunge", &plunging(&call)).program("/bin/quiet", guest::QUIET);
        let ended = stage.run("/bin/plunge");
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(matches!(ended.status, Some(Status::Killed(_))), "{trap}: {stderr}");
        assert!(stderr.contains(told), "{trap}: {stderr}");
        assert_eq!(stage.run("/bin/quiet").status, Some(Status::Exited(0)), "after {trap}");
    }
}

/// How many levels a guest gets that does `call` on each, less one in fifty for what else it does.
fn levels(call: &str) -> usize {
    let write = "(drop (call $write (i32.const 1) (i32.const 1000) (i32.const 1) (i32.const 0)))";
    let ended = Stage::new().program("/bin/plunge", &plunging(&format!("{call} {write}"))).run("/bin/plunge");
    ended.stdout.len() - ended.stdout.len() / 50
}
