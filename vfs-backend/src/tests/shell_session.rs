//! The session state that a command receives, and the commands whose state is stored. The content of a state is opaque
//! here.

use std::task::{Context, Waker};

use futures_executor::block_on;
use tidebox_core::{ErrorKind, ExecuteRequest, SandboxBackend, ShellMode};

use super::scripted_engine::{ScriptedEngine, Step};
use super::{builder, path};
use crate::VfsBackend;

fn persistent(steps: impl IntoIterator<Item = Step>) -> VfsBackend {
    builder(ScriptedEngine::new(steps)).shell_mode(ShellMode::Persistent).build().unwrap()
}

fn session_bytes(sandbox: &VfsBackend, request: ExecuteRequest) -> Vec<u8> {
    block_on(sandbox.execute(request)).unwrap().stdout
}

/// Version, flags and number of variables, then each variable, then the state.
fn session_input(flags: u8, variables: &[&str], state: &str) -> Vec<u8> {
    let mut bytes = vec![1, 0, 0, 0, flags, 0, 0, 0, u8::try_from(variables.len()).unwrap(), 0, 0, 0];
    for variable in variables {
        bytes.extend([u8::try_from(variable.len()).unwrap(), 0, 0, 0]);
        bytes.extend(variable.as_bytes());
    }
    bytes.extend(state.as_bytes());
    bytes
}

const TELL: [Step; 3] = [Step::PrintState, Step::StoreState, Step::Exit(0)];

#[test]
fn a_command_gets_the_state_of_the_previous_one() {
    let sandbox = persistent(TELL);
    assert_eq!(session_bytes(&sandbox, ExecuteRequest::new("one")), session_input(0, &[], ""));
    assert_eq!(session_bytes(&sandbox, ExecuteRequest::new("two")), session_input(0, &[], "one"));
    assert_eq!(&*sandbox.shell_state(), b"two");
}

#[test]
fn a_request_may_override_the_shell_mode() {
    let sandbox = builder(ScriptedEngine::new(TELL)).build().unwrap();
    assert_eq!(sandbox.shell_mode(), ShellMode::Fresh);
    assert_eq!(session_bytes(&sandbox, ExecuteRequest::new("one")), b"no session");
    let joins = ExecuteRequest::new("two").with_shell_mode(ShellMode::Persistent);
    assert_eq!(session_bytes(&sandbox, joins), session_input(0, &[], ""));
    let sandbox = persistent(TELL);
    session_bytes(&sandbox, ExecuteRequest::new("one"));
    let apart = ExecuteRequest::new("two").with_shell_mode(ShellMode::Fresh);
    assert_eq!(session_bytes(&sandbox, apart), b"no session");
    assert_eq!(&*sandbox.shell_state(), b"one");
}

#[test]
fn request_directory_and_variables_are_not_part_of_the_session() {
    let sandbox = persistent(TELL);
    let request =
        ExecuteRequest::new("x").with_cwd(path("/tmp")).with_env("A", "1").with_env("B", "").with_env("A", "2");
    assert_eq!(session_bytes(&sandbox, request), session_input(1, &["A=2", "B="], ""));
    let bad = block_on(sandbox.execute(ExecuteRequest::new("x").with_env("A=B", ""))).unwrap_err();
    assert_eq!(bad.kind(), ErrorKind::InvalidRequest);
}

#[test]
fn a_session_survives_a_removed_working_directory() {
    let sandbox = persistent(TELL);
    block_on(sandbox.delete(&path("/workspace"))).unwrap().unwrap();
    assert_eq!(session_bytes(&sandbox, ExecuteRequest::new("x")), session_input(2, &[], ""));
    let response = block_on(sandbox.execute(ExecuteRequest::new("y").with_cwd(path("/workspace")))).unwrap();
    assert_eq!(response.exit_code, Some(126));
    assert_eq!(&*sandbox.shell_state(), b"x");
}

#[test]
fn a_command_without_state_keeps_the_session() {
    let sandbox = persistent([Step::PrintState, Step::RunOutOfTime]);
    sandbox.set_shell_state(b"before".as_slice().into()).unwrap();
    block_on(sandbox.execute(ExecuteRequest::new("x"))).unwrap();
    assert_eq!(&*sandbox.shell_state(), b"before");
}

#[test]
fn the_last_concurrent_command_to_end_sets_the_state() {
    let sandbox = persistent([Step::PrintState, Step::Yield, Step::StoreState, Step::Exit(0)]);
    let mut context = Context::from_waker(Waker::noop());
    let mut first = sandbox.execute(ExecuteRequest::new("first"));
    let mut second = sandbox.execute(ExecuteRequest::new("second"));
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    assert_eq!(block_on(second).unwrap().stdout, session_input(0, &[], ""));
    assert_eq!(&*sandbox.shell_state(), b"second");
    assert_eq!(block_on(first).unwrap().stdout, session_input(0, &[], ""));
    assert_eq!(&*sandbox.shell_state(), b"first");
}

#[test]
fn an_older_command_does_not_undo_a_replaced_state() {
    let sandbox = persistent([Step::Yield, Step::StoreState, Step::Exit(0)]);
    let mut running = sandbox.execute(ExecuteRequest::new("old"));
    assert!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    sandbox.set_shell_state(b"restored".as_slice().into()).unwrap();
    block_on(running).unwrap();
    assert_eq!(&*sandbox.shell_state(), b"restored");
}

#[test]
fn a_dropped_command_stores_no_state() {
    let sandbox = persistent([Step::StoreState, Step::Hang]);
    let mut running = sandbox.execute(ExecuteRequest::new("x"));
    assert!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(running);
    assert!(sandbox.shell_state().is_empty());
}
