//! Processes in a terminal.

use super::capabilities::Requirement::{Execute, ExitCodes, Processes, Terminals};
use super::case::{Case, cases};
use super::context::CaseContext;
use super::failure::{CaseResult, check, check_eq};
use super::process::{ended, finish, is_invalid, request, spawn, wait_for};
use crate::error::Result;
use crate::process::{ProcessId, ProcessInput, ProcessSignal, SpawnRequest, TerminalSize};

pub(super) const CASES: &[Case] = cases![
    "spawn: a terminal is one for the process, with its size and type" [Execute, Processes, Terminals] properties;
    "write_process: a terminal echoes keys and edits lines" [Execute, Processes, Terminals] echo;
    "write_process: Ctrl-C interrupts the program in a terminal" [Execute, Processes, Terminals, ExitCodes] interrupt;
    "write_process: the end of the input is the key Ctrl-D in a terminal" [Execute, Processes, Terminals] end;
    "resize_process: a program sees the signal and the new size" [Execute, Processes, Terminals] resize;
    "resize_process: a process without a terminal and an invalid size are rejected" [Execute, Processes, Terminals] rejected;
];

const SIZE: TerminalSize = TerminalSize::new(31, 117);

async fn start(context: &CaseContext<'_>, command: &str) -> Result<ProcessId> {
    context.backend.spawn(request(context, command).with_terminal(SIZE)).await
}

async fn press(context: &CaseContext<'_>, id: &ProcessId, keys: &str) -> CaseResult {
    let written = context.backend.write_process(id, ProcessInput::Bytes(keys.into())).await?;
    check_eq("the number of keys", &written, &keys.len())
}

async fn properties(context: &CaseContext<'_>) -> CaseResult {
    let id = start(context, "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo \"terminal $TERM\"; stty size").await?;
    check_eq("the output", &finish(context, &id).await?.0, &"terminal xterm-256color\r\n31 117\r\n")?;
    let typed = SpawnRequest::new("echo \"$TERM\"").with_terminal(SIZE).with_env("TERM", "vt100");
    let id = context.backend.spawn(typed).await?;
    check_eq("the type that the caller sets", &finish(context, &id).await?.0, &"vt100\r\n")
}

async fn echo(context: &CaseContext<'_>) -> CaseResult {
    let id = start(context, "read -r line; echo \"<$line>\"").await?;
    press(context, &id, "onx\x7fe\r").await?;
    check_eq("the output", &finish(context, &id).await?.0, &"onx\x08 \x08e\r\n<one>\r\n")
}

async fn interrupt(context: &CaseContext<'_>) -> CaseResult {
    let id = start(context, "echo ready; sleep 60").await?;
    wait_for(context, &id, "ready").await?;
    press(context, &id, "\x03").await?;
    let (output, state) = finish(context, &id).await?;
    check("output with the key", output.contains("^C"), &output)?;
    check_eq("the state", &state, &ended(130))
}

async fn end(context: &CaseContext<'_>) -> CaseResult {
    let id = start(context, "cat; cat; echo end").await?;
    press(context, &id, "a\r").await?;
    wait_for(context, &id, "a\r\na\r\n").await?;
    context.backend.write_process(&id, ProcessInput::End).await?;
    press(context, &id, "b\r").await?;
    wait_for(context, &id, "b\r\nb\r\n").await?;
    context.backend.write_process(&id, ProcessInput::End).await?;
    check("output with the end", finish(context, &id).await?.0.ends_with("end\r\n"), &"none")
}

async fn resize(context: &CaseContext<'_>) -> CaseResult {
    let command = "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.01; done";
    let id = start(context, command).await?;
    wait_for(context, &id, "ready").await?;
    context.backend.resize_process(&id, TerminalSize::new(50, 90)).await?;
    check("output with the size", finish(context, &id).await?.0.ends_with("50 90\r\n"), &"another size")
}

async fn rejected(context: &CaseContext<'_>) -> CaseResult {
    let id = spawn(context, "sleep 60").await?;
    is_invalid(context.backend.resize_process(&id, SIZE).await)?;
    context.backend.signal_process(&id, ProcessSignal::Kill).await?;
    finish(context, &id).await?;
    is_invalid(context.backend.resize_process(&ProcessId::new("no-such-process"), SIZE).await)?;
    let request = SpawnRequest::new("true").with_terminal(TerminalSize::new(0, 80));
    is_invalid(context.backend.spawn(request).await)
}
