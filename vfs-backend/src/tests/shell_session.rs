//! Which command is told what of the session, and whose state is kept. What a state means is the shell's business.

use std::task::{Context, Waker};

use futures_executor::block_on;
use tidebox_core::{ErrorKind, ExecuteRequest, SandboxBackend, ShellMode};

use super::engine::{Play, Stage};
use super::{builder, path};
use crate::VfsBackend;

fn persistent(play: impl IntoIterator<Item = Play>) -> VfsBackend {
    builder(Stage::new(play)).shell_mode(ShellMode::Persistent).build().unwrap()
}

fn told(sandbox: &VfsBackend, request: ExecuteRequest) -> Vec<u8> {
    block_on(sandbox.execute(request)).unwrap().stdout
}

/// Version, flags and number of variables, then each variable, then the state.
fn handed_in(flags: u8, variables: &[&str], state: &str) -> Vec<u8> {
    let mut bytes = vec![1, 0, 0, 0, flags, 0, 0, 0, u8::try_from(variables.len()).unwrap(), 0, 0, 0];
    for variable in variables {
        bytes.extend([u8::try_from(variable.len()).unwrap(), 0, 0, 0]);
        bytes.extend(variable.as_bytes());
    }
    bytes.extend(state.as_bytes());
    bytes
}

const TELL: [Play; 3] = [Play::TellState, Play::LeaveState, Play::Exit(0)];

#[test]
fn a_command_finds_what_the_one_before_left() {
    let sandbox = persistent(TELL);
    assert_eq!(told(&sandbox, ExecuteRequest::new("one")), handed_in(0, &[], ""));
    assert_eq!(told(&sandbox, ExecuteRequest::new("two")), handed_in(0, &[], "one"));
    assert_eq!(&*sandbox.shell_state(), b"two");
}

#[test]
fn a_fresh_sandbox_has_no_session_and_a_request_may_ask_for_the_other_mode() {
    let sandbox = builder(Stage::new(TELL)).build().unwrap();
    assert_eq!(sandbox.shell_mode(), ShellMode::Fresh);
    assert_eq!(told(&sandbox, ExecuteRequest::new("one")), b"no session");
    let joins = ExecuteRequest::new("two").with_shell_mode(ShellMode::Persistent);
    assert_eq!(told(&sandbox, joins), handed_in(0, &[], ""));
    let sandbox = persistent(TELL);
    told(&sandbox, ExecuteRequest::new("one"));
    let apart = ExecuteRequest::new("two").with_shell_mode(ShellMode::Fresh);
    assert_eq!(told(&sandbox, apart), b"no session");
    assert_eq!(&*sandbox.shell_state(), b"one");
}

#[test]
fn directory_and_variables_of_the_request_are_told_apart_from_the_session() {
    let sandbox = persistent(TELL);
    let request =
        ExecuteRequest::new("x").with_cwd(path("/tmp")).with_env("A", "1").with_env("B", "").with_env("A", "2");
    assert_eq!(told(&sandbox, request), handed_in(1, &["A=2", "B="], ""));
    let bad = block_on(sandbox.execute(ExecuteRequest::new("x").with_env("A=B", ""))).unwrap_err();
    assert_eq!(bad.kind(), ErrorKind::InvalidRequest);
}

#[test]
fn a_session_survives_the_loss_of_the_sandboxs_directory_and_a_directory_of_the_request_must_be_there() {
    let sandbox = persistent(TELL);
    block_on(sandbox.delete(&path("/workspace"))).unwrap().unwrap();
    assert_eq!(told(&sandbox, ExecuteRequest::new("x")), handed_in(2, &[], ""));
    let response = block_on(sandbox.execute(ExecuteRequest::new("y").with_cwd(path("/workspace")))).unwrap();
    assert_eq!(response.exit_code, Some(126));
    assert_eq!(&*sandbox.shell_state(), b"x");
}

#[test]
fn a_command_that_leaves_nothing_changes_nothing() {
    let sandbox = persistent([Play::TellState, Play::RunOutOfTime]);
    sandbox.set_shell_state(b"before".as_slice().into()).unwrap();
    block_on(sandbox.execute(ExecuteRequest::new("x"))).unwrap();
    assert_eq!(&*sandbox.shell_state(), b"before");
}

#[test]
fn of_commands_at_the_same_time_each_begins_with_the_last_finished_state_and_the_last_to_end_wins() {
    let sandbox = persistent([Play::TellState, Play::Wait, Play::LeaveState, Play::Exit(0)]);
    let mut context = Context::from_waker(Waker::noop());
    let mut first = sandbox.execute(ExecuteRequest::new("first"));
    let mut second = sandbox.execute(ExecuteRequest::new("second"));
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    assert_eq!(block_on(second).unwrap().stdout, handed_in(0, &[], ""));
    assert_eq!(&*sandbox.shell_state(), b"second");
    assert_eq!(block_on(first).unwrap().stdout, handed_in(0, &[], ""));
    assert_eq!(&*sandbox.shell_state(), b"first");
}

#[test]
fn a_command_that_began_before_the_host_replaced_the_state_does_not_undo_that() {
    let sandbox = persistent([Play::Wait, Play::LeaveState, Play::Exit(0)]);
    let mut running = sandbox.execute(ExecuteRequest::new("old"));
    assert!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    sandbox.set_shell_state(b"restored".as_slice().into()).unwrap();
    block_on(running).unwrap();
    assert_eq!(&*sandbox.shell_state(), b"restored");
}

#[test]
fn a_dropped_command_leaves_nothing() {
    let sandbox = persistent([Play::LeaveState, Play::Hang]);
    let mut running = sandbox.execute(ExecuteRequest::new("x"));
    assert!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(running);
    assert!(sandbox.shell_state().is_empty());
}
