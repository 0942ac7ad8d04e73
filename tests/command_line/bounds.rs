//! Commands that run forever or exhaust resources: each ends with a message, and the host continues.

use std::time::Duration;

use crate::run::{exec, tidebox};

/// Other tests may slow the host down, so the best of three runs counts.
fn best_of_three(arguments: &[&str], limit: Duration) -> crate::run::Ran {
    let mut ran = tidebox(arguments);
    for _ in 0..2 {
        if ran.elapsed <= limit {
            break;
        }
        ran = tidebox(arguments);
    }
    assert!(ran.elapsed <= limit, "{arguments:?} took {:?}", ran.elapsed);
    ran
}

#[test]
fn yes_ends_when_its_reader_exits() {
    let ran = best_of_three(&["exec", "yes | head -3"], Duration::from_secs(1));
    assert_eq!((ran.code, ran.stdout()), (Some(0), "y\ny\ny\n".to_owned()));
}

#[test]
fn an_endless_loop_times_out_with_124_and_its_output() {
    let line = "echo started; while :; do :; done";
    let ran = best_of_three(&["exec", "--timeout", "1", line], Duration::from_millis(1500));
    assert_eq!((ran.code, ran.stdout()), (Some(124), "started\n".to_owned()));
    assert!(ran.elapsed >= Duration::from_secs(1), "{:?}", ran.elapsed);
    assert!(!ran.stderr.is_empty(), "the timeout is explained");
}

#[test]
fn a_timeout_ends_the_whole_pipeline() {
    let ran = best_of_three(&["exec", "--timeout", "0.5", "yes | cat | while :; do :; done"], Duration::from_secs(2));
    assert_eq!(ran.code, Some(124));
}

#[test]
fn a_sleeping_command_ends_at_its_timeout() {
    let ran = best_of_three(&["exec", "--timeout", "0.3", "sleep 60"], Duration::from_millis(1500));
    assert_eq!(ran.code, Some(124));
}

#[test]
fn endless_recursion_ends_with_a_message() {
    let ran = exec("f(){ f; }; f");
    assert_ne!(ran.code, Some(0));
    assert!(ran.code.is_some(), "the host was killed by a signal");
    assert!(ran.stderr().contains("nesting"), "{}", ran.stderr());
}

#[test]
fn a_memory_bomb_ends_with_a_message() {
    let ran = tidebox(&["exec", "--timeout", "60", "x=a; while :; do x=$x$x; done"]);
    assert!(ran.code.is_some_and(|code| code != 0 && code != 124), "{ran:?}");
    let told = ran.stderr().to_lowercase();
    assert!(told.contains("memory") || told.contains("cannot allocate"), "{told}");
}

#[test]
fn a_fork_bomb_ends_and_the_host_continues() {
    let ran = tidebox(&["exec", "--timeout", "5", "--limits", "processes=50", ":(){ :|:& }; :; wait; echo over"]);
    assert!(ran.code.is_some(), "the host was killed by a signal");
    assert_eq!(exec("echo alive").stdout(), "alive\n");
}

#[test]
fn output_over_the_limit_is_truncated_with_a_warning() {
    let ran = tidebox(&["exec", "--limits", "output=10K", "seq 1 100000"]);
    assert_eq!(ran.stdout.len(), 10 << 10);
    assert!(ran.stderr().contains("--limits output"), "{}", ran.stderr());
}

#[test]
fn files_over_the_quota_fail_and_existing_files_stay() {
    let line = "echo kept >a; yes | head -c 200000 >b; echo $?; cat a";
    let ran = tidebox(&["exec", "--limits", "files=64K", line]);
    assert!(ran.stdout().ends_with("kept\n"), "{ran:?}");
    assert!(ran.stderr().contains("No space left on device"), "{}", ran.stderr());
}

#[test]
fn processes_above_the_limit_fail() {
    let line = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1 & done; wait";
    let ran = tidebox(&["exec", "--limits", "processes=4", line]);
    assert!(!ran.stderr.is_empty(), "{ran:?}");
    assert!(ran.code.is_some());
}
