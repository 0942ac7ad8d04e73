//! What the engine promises about processes, shown by guests of a few lines each.

mod depth;
mod guest;
#[cfg(unix)]
mod prepared;
mod stage;

use std::time::{Duration, Instant};

use stage::Stage;
use tidebox_core::Limits;
use tidebox_kernel::{Signal, Status, Stop};

#[test]
fn the_end_of_start_is_exit_code_zero() {
    let ended = Stage::new().program("/bin/quiet", guest::QUIET).run("/bin/quiet");
    assert_eq!(ended.status, Some(Status::Exited(0)));
    assert_eq!(ended.stopped_by, None);
}

#[test]
fn an_exit_code_keeps_its_low_eight_bits() {
    let ended = Stage::new().program("/bin/leave", &guest::leave(0x0107)).run("/bin/leave");
    assert_eq!(ended.status, Some(Status::Exited(7)));
}

#[test]
fn what_a_guest_writes_arrives_with_its_stream() {
    let ended = Stage::new().program("/bin/say", &guest::say(2, "careful\n")).run("/bin/say");
    assert_eq!((ended.stdout.as_slice(), ended.stderr.as_slice()), (&b""[..], &b"careful\n"[..]));
}

#[test]
fn an_endless_loop_ends_with_its_wall_time() {
    let stage = Stage::new().program("/bin/spin", guest::SPIN).wall_time(Duration::from_millis(100));
    let start = Instant::now();
    let ended = stage.run("/bin/spin");
    assert_eq!(ended.stopped_by, Some(Stop::Time));
    assert!(start.elapsed() < Duration::from_secs(10), "it took {:?}", start.elapsed());
}

#[test]
fn a_sleeper_ends_with_its_wall_time() {
    let stage = Stage::new().program("/bin/sleep", &guest::sleep(3600)).wall_time(Duration::from_millis(50));
    assert_eq!(stage.run("/bin/sleep").stopped_by, Some(Stop::Time));
}

#[test]
fn a_sleeper_wakes_by_itself() {
    let ended = Stage::new().program("/bin/nap", &guest::nap_milliseconds(20)).run("/bin/nap");
    assert_eq!(ended.status, Some(Status::Exited(0)));
}

#[test]
fn endless_recursion_ends_the_guest_alone() {
    let stage = Stage::new().program("/bin/deep", guest::DEEP).program("/bin/quiet", guest::QUIET);
    let ended = stage.run("/bin/deep");
    assert_eq!(ended.status, Some(Status::Killed(Signal::Segv)));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "deep: stack overflow\n");
    assert_eq!(stage.run("/bin/quiet").status, Some(Status::Exited(0)));
}

#[test]
fn memory_beyond_the_limit_is_refused_and_told() {
    let mut limits = Limits::default();
    limits.process_memory_bytes = 8 << 20;
    let ended = Stage::new().limits(limits).program("/bin/hog", guest::HOG).run("/bin/hog");
    assert_eq!(ended.status, Some(Status::Killed(Signal::Kill)));
    assert_eq!(ended.stopped_by, Some(Stop::Memory));
    let told = "hog: out of memory (the limits are 8192 KiB for a process and 1048576 KiB for all of a sandbox)\n";
    assert_eq!(String::from_utf8_lossy(&ended.stderr), told);
    assert!(ended.peak_memory_bytes <= 8 << 20, "{} bytes", ended.peak_memory_bytes);
}

#[test]
fn a_guest_may_go_on_after_memory_was_refused() {
    let mut limits = Limits::default();
    limits.process_memory_bytes = 8 << 20;
    let ended = Stage::new().limits(limits).program("/bin/modest", guest::MODEST).run("/bin/modest");
    assert_eq!(ended.status, Some(Status::Exited(0)));
    assert_eq!(ended.stopped_by, None);
}

#[test]
fn a_parent_waits_for_the_child_it_spawned() {
    let stage = Stage::new()
        .program("/bin/child", &guest::leave(42))
        .program("/bin/parent", &guest::spawn_and_exit_with_its_status("/bin/child"));
    assert_eq!(stage.run("/bin/parent").status, Some(Status::Exited(42)));
}

#[test]
fn a_forked_child_has_its_parents_memory_and_its_own_after_that() {
    let ended = Stage::new().program("/bin/fork", guest::FORK).run("/bin/fork");
    assert_eq!(ended.status, Some(Status::Exited(0)), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "child sees A\nparent still has A\n");
}

#[test]
fn a_module_without_the_fork_entry_cannot_fork() {
    let ended = Stage::new().program("/bin/fork", guest::FORK_WITHOUT_ENTRY).run("/bin/fork");
    assert_eq!(ended.status, Some(Status::Exited(58)), "58 is notsup");
}

#[test]
fn a_writer_without_a_reader_dies_of_a_broken_pipe() {
    let ended = Stage::new().program("/bin/orphan", guest::WRITE_WITHOUT_READER).run("/bin/orphan");
    assert_eq!(ended.status, Some(Status::Killed(Signal::Pipe)));
}

#[test]
fn a_file_that_is_no_module_cannot_execute() {
    for (bytes, reason) in [
        (&b"\0asm\x01\0\0\0\xff\xff"[..], "not a valid WebAssembly module"),
        (&guest::compile("(module)"), "exports no _start"),
        (&guest::compile(guest::FOREIGN_IMPORT), "imports what this sandbox does not have"),
    ] {
        let ended = Stage::new().file("/bin/broken", bytes).run("/bin/broken");
        assert_eq!(ended.status, Some(Status::Exited(126)));
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(told.starts_with("broken: cannot execute: ") && told.contains(reason), "{told}");
    }
}

#[test]
fn an_uploaded_module_runs_like_an_installed_one() {
    let stage = Stage::new().file("/bin/tool", &guest::compile(&guest::say(1, "mine\n")));
    for _ in 0..3 {
        assert_eq!(stage.run("/bin/tool").stdout, b"mine\n");
    }
}

#[test]
fn a_module_without_memory_gets_a_fault_for_every_pointer() {
    let ended = Stage::new().program("/bin/bare", guest::WITHOUT_MEMORY).run("/bin/bare");
    assert_eq!(ended.status, Some(Status::Exited(21)), "21 is fault");
}

#[test]
fn fixed_time_passes_while_every_process_sleeps() {
    let start = Instant::now();
    let ended = Stage::new().fixed_clock().program("/bin/sleep", &guest::sleep(3000)).run("/bin/sleep");
    assert_eq!(ended.status, Some(Status::Exited(0)));
    assert!(start.elapsed() < Duration::from_secs(100), "it took {:?}", start.elapsed());
}

#[test]
#[cfg(feature = "exceptions")]
fn an_exception_is_caught_where_the_guest_wants_it() {
    let ended = Stage::new().program("/bin/throw", guest::THROW).run("/bin/throw");
    assert_eq!(ended.status, Some(Status::Exited(9)), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
#[cfg(feature = "exceptions")]
fn an_exception_that_nobody_catches_ends_the_guest() {
    let ended = Stage::new().program("/bin/throw", guest::THROW_UNCAUGHT).run("/bin/throw");
    assert_eq!(ended.status, Some(Status::Killed(Signal::Segv)));
    assert!(!ended.stderr.is_empty(), "it says why");
}
