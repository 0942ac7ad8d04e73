//! The engine's guarantees about processes, tested with guests of a few lines each.

mod depth;
mod fixture;
mod guest;
#[cfg(unix)]
mod preinit;

use std::time::{Duration, Instant};

use fixture::Fixture;
use tidebox_core::Limits;
use tidebox_kernel::{ExitStatus, Signal, StopReason};

#[test]
fn returning_from_start_is_exit_code_zero() {
    let result = Fixture::new().program("/bin/quiet", guest::QUIET).run("/bin/quiet");
    assert_eq!(result.status, Some(ExitStatus::Exited(0)));
    assert_eq!(result.stopped_by, None);
}

#[test]
fn an_exit_code_keeps_its_low_eight_bits() {
    let result = Fixture::new().program("/bin/leave", &guest::leave(0x0107)).run("/bin/leave");
    assert_eq!(result.status, Some(ExitStatus::Exited(7)));
}

#[test]
fn output_chunks_carry_their_stream() {
    let result = Fixture::new().program("/bin/say", &guest::print(2, "careful\n")).run("/bin/say");
    assert_eq!((result.stdout.as_slice(), result.stderr.as_slice()), (&b""[..], &b"careful\n"[..]));
}

#[test]
fn an_endless_loop_ends_at_its_deadline() {
    let fixture = Fixture::new().program("/bin/spin", guest::SPIN).wall_time(Duration::from_millis(100));
    let start = Instant::now();
    let result = fixture.run("/bin/spin");
    assert_eq!(result.stopped_by, Some(StopReason::Timeout));
    assert!(start.elapsed() < Duration::from_secs(10), "it took {:?}", start.elapsed());
}

#[test]
fn a_sleeping_process_ends_at_its_deadline() {
    let fixture = Fixture::new().program("/bin/sleep", &guest::sleep(3600)).wall_time(Duration::from_millis(50));
    assert_eq!(fixture.run("/bin/sleep").stopped_by, Some(StopReason::Timeout));
}

#[test]
fn a_sleeping_process_wakes_up() {
    let result = Fixture::new().program("/bin/nap", &guest::sleep_milliseconds(20)).run("/bin/nap");
    assert_eq!(result.status, Some(ExitStatus::Exited(0)));
}

#[test]
fn endless_recursion_ends_only_the_guest() {
    let fixture = Fixture::new().program("/bin/deep", guest::DEEP).program("/bin/quiet", guest::QUIET);
    let result = fixture.run("/bin/deep");
    assert_eq!(result.status, Some(ExitStatus::Killed(Signal::Segv)));
    assert_eq!(String::from_utf8_lossy(&result.stderr), "deep: stack overflow\n");
    assert_eq!(fixture.run("/bin/quiet").status, Some(ExitStatus::Exited(0)));
}

#[test]
fn exceeding_the_memory_limit_fails_with_a_message() {
    let mut limits = Limits::default();
    limits.process_memory_bytes = 8 << 20;
    let result = Fixture::new().limits(limits).program("/bin/hog", guest::HOG).run("/bin/hog");
    assert_eq!(result.status, Some(ExitStatus::Killed(Signal::Kill)));
    assert_eq!(result.stopped_by, Some(StopReason::Memory));
    let message = "hog: out of memory (the limits are 8192 KiB for a process and 1048576 KiB for all of a sandbox)\n";
    assert_eq!(String::from_utf8_lossy(&result.stderr), message);
    assert!(result.peak_memory_bytes <= 8 << 20, "{} bytes", result.peak_memory_bytes);
}

#[test]
fn a_guest_can_continue_after_a_failed_growth() {
    let mut limits = Limits::default();
    limits.process_memory_bytes = 8 << 20;
    let result = Fixture::new().limits(limits).program("/bin/modest", guest::MODEST).run("/bin/modest");
    assert_eq!(result.status, Some(ExitStatus::Exited(0)));
    assert_eq!(result.stopped_by, None);
}

#[test]
fn a_parent_waits_for_the_child_it_spawned() {
    let fixture = Fixture::new()
        .program("/bin/child", &guest::leave(42))
        .program("/bin/parent", &guest::spawn_and_exit_with_its_status("/bin/child"));
    assert_eq!(fixture.run("/bin/parent").status, Some(ExitStatus::Exited(42)));
}

#[test]
fn a_forked_child_has_a_copy_of_its_parents_memory() {
    let result = Fixture::new().program("/bin/fork", guest::FORK).run("/bin/fork");
    assert_eq!(result.status, Some(ExitStatus::Exited(0)), "{}", String::from_utf8_lossy(&result.stderr));
    assert_eq!(String::from_utf8_lossy(&result.stdout), "child sees A\nparent still has A\n");
}

#[test]
fn a_module_without_the_fork_entry_cannot_fork() {
    let result = Fixture::new().program("/bin/fork", guest::FORK_WITHOUT_ENTRY).run("/bin/fork");
    assert_eq!(result.status, Some(ExitStatus::Exited(58)), "58 is notsup");
}

#[test]
fn writing_without_a_reader_raises_sigpipe() {
    let result = Fixture::new().program("/bin/orphan", guest::WRITE_WITHOUT_READER).run("/bin/orphan");
    assert_eq!(result.status, Some(ExitStatus::Killed(Signal::Pipe)));
}

#[test]
fn executing_an_invalid_module_fails() {
    for (bytes, reason) in [
        (&b"\0asm\x01\0\0\0\xff\xff"[..], "not a valid WebAssembly module"),
        (&guest::compile("(module)"), "exports no _start"),
        (&guest::compile(guest::FOREIGN_IMPORT), "unsupported import of the module"),
    ] {
        let result = Fixture::new().file("/bin/broken", bytes).run("/bin/broken");
        assert_eq!(result.status, Some(ExitStatus::Exited(126)));
        let message = String::from_utf8_lossy(&result.stderr).into_owned();
        assert!(message.starts_with("broken: cannot execute: ") && message.contains(reason), "{message}");
    }
}

#[test]
fn an_uploaded_module_runs_like_an_installed_one() {
    let fixture = Fixture::new().file("/bin/tool", &guest::compile(&guest::print(1, "mine\n")));
    for _ in 0..3 {
        assert_eq!(fixture.run("/bin/tool").stdout, b"mine\n");
    }
}

#[test]
fn pointers_without_a_memory_fail_with_fault() {
    let result = Fixture::new().program("/bin/bare", guest::WITHOUT_MEMORY).run("/bin/bare");
    assert_eq!(result.status, Some(ExitStatus::Exited(21)), "21 is fault");
}

#[test]
fn deterministic_time_advances_while_all_processes_sleep() {
    let start = Instant::now();
    let result = Fixture::new().fixed_clock().program("/bin/sleep", &guest::sleep(3000)).run("/bin/sleep");
    assert_eq!(result.status, Some(ExitStatus::Exited(0)));
    assert!(start.elapsed() < Duration::from_secs(100), "it took {:?}", start.elapsed());
}

#[test]
#[cfg(feature = "exceptions")]
fn a_thrown_exception_is_caught() {
    let result = Fixture::new().program("/bin/throw", guest::THROW).run("/bin/throw");
    assert_eq!(result.status, Some(ExitStatus::Exited(9)), "{}", String::from_utf8_lossy(&result.stderr));
}

#[test]
#[cfg(feature = "exceptions")]
fn an_uncaught_exception_ends_the_guest() {
    let result = Fixture::new().program("/bin/throw", guest::THROW_UNCAUGHT).run("/bin/throw");
    assert_eq!(result.status, Some(ExitStatus::Killed(Signal::Segv)));
    assert!(!result.stderr.is_empty(), "stderr has the reason");
}
