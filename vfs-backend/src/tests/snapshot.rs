//! Snapshots, restoring and forks.

use futures_executor::block_on;
use tidebox_core::{ErrorKind, ExecuteRequest, Limits, SandboxBackend, StopReason};

use super::scripted_engine::{ScriptedEngine, Step};
use super::{builder, js, path, text, write};
use crate::Snapshot;

#[test]
fn a_snapshot_is_send_sync_and_static() {
    fn check<T: Clone + Send + Sync + 'static>() {}
    check::<Snapshot>();
}

#[test]
fn restoring_resets_files_and_the_shell_session() {
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
fn a_fork_has_the_same_state_and_is_independent() {
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
fn fork_ids_are_unique_and_deterministic() {
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
fn a_fork_continues_the_random_sequence() {
    let sandbox = js();
    let fork = sandbox.fork().unwrap();
    let next = |sandbox: &crate::VfsBackend| {
        let mut bytes = [0; 8];
        sandbox.kernel("test").unwrap().lock().host_random(&mut bytes);
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
        let kernel = kernel.lock();
        let path = format!("/workspace/{number}");
        kernel.fs().contents(crate::file::locate(kernel.fs(), path.as_bytes(), true).unwrap()).unwrap()
    };
    for number in 0..50 {
        assert!(contents(&sandbox, number).is_same(&contents(&fork, number)), "{number}");
    }
}

#[test]
fn restoring_stops_running_commands_with_a_message() {
    let sandbox = builder(ScriptedEngine::new([Step::Hang])).build().unwrap();
    let snapshot = sandbox.snapshot().unwrap();
    let kernel = sandbox.kernel("test").unwrap();
    let mut running = Box::pin(sandbox.execute(ExecuteRequest::new("sleep 1000")));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(running.as_mut().poll(&mut context).is_pending());
    sandbox.restore(&snapshot).unwrap();
    let stopped = kernel.lock().finish_execution(tidebox_kernel::ExecutionId(1));
    assert_eq!((stopped.stopped_by, stopped.restored), (Some(StopReason::Cancelled), true));
}

#[test]
fn a_command_stopped_by_restore_reports_the_cause() {
    let sandbox = builder(ScriptedEngine::new([Step::Restored])).build().unwrap();
    let response = block_on(sandbox.execute(ExecuteRequest::new("sleep 1000"))).unwrap();
    assert_eq!((response.exit_code, response.stopped_by), (Some(137), Some(StopReason::Cancelled)));
    assert!(response.output_text().contains("the sandbox was restored"), "{}", response.output_text());
}

#[test]
fn a_sandbox_starts_with_a_snapshot_and_added_files() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", "kept").unwrap();
    sandbox.set_shell_state(b"x=1".as_slice().into()).unwrap();
    let snapshot = sandbox.snapshot().unwrap();
    let engine = ScriptedEngine::new([Step::Exit(0)]);
    let other = builder(engine).snapshot(&snapshot).file("b", "added").hostname("other").build().unwrap();
    assert_eq!((text(&other, "/workspace/a"), text(&other, "/workspace/b")), ("kept".into(), "added".into()));
    assert_eq!(text(&other, "/etc/hostname"), "other\n");
    assert_eq!(&*other.shell_state(), b"x=1");
}

#[test]
fn a_snapshot_over_the_limits_is_restored_in_full() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", vec![b'x'; 5000]).unwrap();
    let snapshot = sandbox.snapshot().unwrap();
    let mut limits = Limits::default();
    limits.file_bytes = 1000;
    let small = builder(ScriptedEngine::new([])).limits(limits).build().unwrap();
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
