//! Keeping a sandbox, going back, forking.

use futures_executor::block_on;
use tidebox_core::{ErrorKind, ExecuteRequest, Limits, SandboxBackend, StopReason};

use super::engine::{Play, Stage};
use super::{builder, js, path, text, write};
use crate::Snapshot;
use crate::backend::lock;

#[test]
fn a_snapshot_can_be_kept_and_sent_anywhere() {
    fn check<T: Clone + Send + Sync + 'static>() {}
    check::<Snapshot>();
}

#[test]
fn restoring_brings_back_files_and_the_shell_session() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", "old").unwrap();
    sandbox.set_shell_state(b"cd /tmp".as_slice().into()).unwrap();
    let snapshot = sandbox.snapshot().unwrap();
    block_on(sandbox.delete(&path("/workspace/a"))).unwrap().unwrap();
    write(&sandbox, "/workspace/b", "new").unwrap();
    sandbox.set_shell_state(b"cd /".as_slice().into()).unwrap();
    sandbox.restore(&snapshot).unwrap();
    assert_eq!(text(&sandbox, "/workspace/a"), "old");
    assert!(super::read(&sandbox, "/workspace/b").is_err());
    assert_eq!(&*sandbox.shell_state(), b"cd /tmp");
}

#[test]
fn a_fork_has_everything_and_then_goes_its_own_way() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", "shared").unwrap();
    sandbox.set_shell_state(b"alias x=y".as_slice().into()).unwrap();
    let fork = sandbox.fork().unwrap();
    assert_eq!(text(&fork, "/workspace/a"), "shared");
    assert_eq!((fork.dialect(), fork.cwd()), (sandbox.dialect(), sandbox.cwd()));
    assert_eq!(fork.shell_state(), sandbox.shell_state());
    write(&fork, "/workspace/only-there", "x").unwrap();
    write(&sandbox, "/workspace/only-here", "x").unwrap();
    assert!(super::read(&sandbox, "/workspace/only-there").is_err());
    assert!(super::read(&fork, "/workspace/only-here").is_err());
    block_on(sandbox.close()).unwrap();
    assert_eq!(text(&fork, "/workspace/a"), "shared");
}

#[test]
fn every_fork_has_an_id_of_its_own_and_equal_runs_give_equal_ids() {
    let ids = || {
        let sandbox = js();
        let forks = [sandbox.fork().unwrap(), sandbox.fork().unwrap()];
        let fork_of_fork = forks[0].fork().unwrap();
        let mut ids: Vec<String> = [&sandbox, &forks[0], &forks[1], &fork_of_fork].map(|s| s.id().to_string()).into();
        ids.sort();
        ids
    };
    let mut first = ids();
    assert_eq!(first, ids());
    first.dedup();
    assert_eq!(first.len(), 4);
}

#[test]
fn a_fork_gets_the_random_bytes_that_would_have_come_here() {
    let sandbox = js();
    let fork = sandbox.fork().unwrap();
    let next = |sandbox: &crate::VfsBackend| {
        let mut bytes = [0; 8];
        lock(&sandbox.kernel("test").unwrap()).random_aside(&mut bytes);
        bytes
    };
    assert_eq!(next(&sandbox), next(&fork));
}

#[test]
fn a_fork_shares_the_bytes_of_every_file() {
    let sandbox = js();
    for number in 0..50 {
        write(&sandbox, &format!("/workspace/{number}"), vec![b'x'; 100_000]).unwrap();
    }
    let fork = sandbox.fork().unwrap();
    let contents = |sandbox: &crate::VfsBackend, number: usize| {
        let kernel = sandbox.kernel("test").unwrap();
        let kernel = lock(&kernel);
        let path = format!("/workspace/{number}");
        kernel.fs().contents(crate::file::locate(kernel.fs(), path.as_bytes(), true).unwrap()).unwrap()
    };
    for number in 0..50 {
        assert!(contents(&sandbox, number).is_same(&contents(&fork, number)), "{number}");
    }
}

#[test]
fn restoring_stops_the_commands_that_run_and_says_so() {
    let sandbox = builder(Stage::new([Play::Hang])).build().unwrap();
    let snapshot = sandbox.snapshot().unwrap();
    let kernel = sandbox.kernel("test").unwrap();
    let mut running = Box::pin(sandbox.execute(ExecuteRequest::new("sleep 1000")));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(running.as_mut().poll(&mut context).is_pending());
    sandbox.restore(&snapshot).unwrap();
    let stopped = lock(&kernel).end(tidebox_kernel::SessionId(1));
    assert_eq!(stopped.stopped_by, Some(tidebox_kernel::Stop::Restore));
}

#[test]
fn a_stopped_command_answers_that_it_was_stopped_by_the_restoring() {
    let sandbox = builder(Stage::new([Play::Restored])).build().unwrap();
    let response = block_on(sandbox.execute(ExecuteRequest::new("sleep 1000"))).unwrap();
    assert_eq!((response.exit_code, response.stopped_by), (Some(137), Some(StopReason::Cancelled)));
    assert!(response.output_text().contains("went back to a snapshot"), "{}", response.output_text());
}

#[test]
fn a_sandbox_begins_with_a_snapshot_and_with_files_on_top() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", "kept").unwrap();
    sandbox.set_shell_state(b"x=1".as_slice().into()).unwrap();
    let snapshot = sandbox.snapshot().unwrap();
    let stage = Stage::new([Play::Exit(0)]);
    let other = builder(stage).snapshot(&snapshot).file("b", "added").hostname("other").build().unwrap();
    assert_eq!((text(&other, "/workspace/a"), text(&other, "/workspace/b")), ("kept".into(), "added".into()));
    assert_eq!(text(&other, "/etc/hostname"), "other\n");
    assert_eq!(&*other.shell_state(), b"x=1");
}

#[test]
fn a_snapshot_larger_than_the_limits_is_restored_whole_and_full() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", vec![b'x'; 5000]).unwrap();
    let snapshot = sandbox.snapshot().unwrap();
    let mut limits = Limits::default();
    limits.file_bytes = 1000;
    let small = builder(Stage::new([])).limits(limits).build().unwrap();
    small.restore(&snapshot).unwrap();
    assert_eq!(text(&small, "/workspace/a").len(), 5000);
    assert!(write(&small, "/workspace/b", "more").is_err());
}

#[test]
fn a_closed_sandbox_has_no_snapshot_and_no_fork() {
    let sandbox = js();
    let snapshot = sandbox.snapshot().unwrap();
    block_on(sandbox.close()).unwrap();
    assert_eq!(sandbox.snapshot().unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(sandbox.fork().unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(sandbox.restore(&snapshot).unwrap_err().kind(), ErrorKind::Closed);
}
