//! Processes that outlive the call that started them.

use std::time::Duration;

use super::capabilities::Requirement::{Execute, ExitCodes, KeepsBackground, Processes};
use super::case::{Case, cases};
use super::context::CaseContext;
use super::failure::{CaseFailure, CaseResult, check, check_eq, text};
use crate::error::{ErrorKind, Result};
use crate::execute::Background;
use crate::process::{
    OutputCursor, ProcessId, ProcessInput, ProcessSignal, ProcessState, ReadOutput, SpawnInput, SpawnRequest,
};

pub(super) const CASES: &[Case] = cases![
    "spawn: a process outlives the call that started it" [Execute, Processes] outlives;
    "spawn: a tag names one live process" [Execute, Processes] tag;
    "spawn: a process has its directory and variables" [Execute, Processes] environment;
    "read_process: readers see all output from any position" [Execute, Processes] readers;
    "read_process: a reader waits for output" [Execute, Processes] waits;
    "read_process: the state has the exit code" [Execute, Processes, ExitCodes] exit_code;
    "write_process: input arrives and ends" [Execute, Processes] input;
    "write_process: closed input rejects bytes" [Execute, Processes] closed_input;
    "signal_process: TERM ends a process, and a trap handles it" [Execute, Processes, ExitCodes] term;
    "signal_process: KILL ends a process that ignores TERM and its children" [Execute, Processes, ExitCodes] kill;
    "processes: an unknown id is an invalid request" [Execute, Processes] unknown;
    "processes: a process is listed with its command and state" [Execute, Processes] listed;
    "execute: background processes run on if the request keeps them" [Execute, Processes, KeepsBackground] keep_background;
    "execute: a command that keeps background processes and leaves none is like any other" [Execute, Processes, KeepsBackground] none_left;
];

/// Maximum time for which a case waits for a process.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) async fn spawn(context: &CaseContext<'_>, command: &str) -> Result<ProcessId> {
    context.backend.spawn(request(context, command)).await
}

pub(super) fn request(context: &CaseContext<'_>, command: &str) -> SpawnRequest {
    SpawnRequest::new(context.request(command).command).with_timeout(Duration::from_secs(120))
}

/// Reads until the process has ended; returns its output and state.
pub(super) async fn finish(context: &CaseContext<'_>, id: &ProcessId) -> CaseResult<(String, ProcessState)> {
    let (mut after, mut output) = (OutputCursor::START, Vec::new());
    for _ in 0..1000 {
        let page = context.backend.read_process(id, ReadOutput::after(after).with_wait(PATIENCE)).await?;
        output.extend(page.bytes());
        after = page.next;
        if page.state.has_ended() {
            return Ok((text(&output), page.state));
        }
    }
    Err(CaseFailure::new("a process that ends", text(&output)))
}

/// Waits until the output contains `wanted`.
pub(super) async fn wait_for(context: &CaseContext<'_>, id: &ProcessId, wanted: &str) -> CaseResult<OutputCursor> {
    let (mut after, mut output) = (OutputCursor::START, Vec::new());
    loop {
        let page = context.backend.read_process(id, ReadOutput::after(after).with_wait(PATIENCE)).await?;
        output.extend(page.bytes());
        after = page.next;
        if text(&output).contains(wanted) {
            return Ok(after);
        }
        check(&format!("output with {wanted:?}"), !page.state.has_ended() && !page.chunks.is_empty(), &text(&output))?;
    }
}

pub(super) fn ended(exit_code: i32) -> ProcessState {
    ProcessState::Ended { exit_code: Some(exit_code), stopped_by: None }
}

async fn outlives(context: &CaseContext<'_>) -> CaseResult {
    let id = spawn(context, "echo started; until [ -e go ]; do sleep 0.01; done; cat go").await?;
    wait_for(context, &id, "started\n").await?;
    context.put("go", "went on\n").await?;
    let (output, _) = finish(context, &id).await?;
    check_eq("the output", &output, &"started\nwent on\n")
}

async fn tag(context: &CaseContext<'_>) -> CaseResult {
    let tagged = |command: &str| request(context, command).with_tag("server");
    let first = context.backend.spawn(tagged("sleep 60")).await?;
    let second = context.backend.spawn(tagged("echo other")).await?;
    check_eq("the process of the tag", &second, &first)?;
    context.backend.signal_process(&first, ProcessSignal::Kill).await?;
    finish(context, &first).await?;
    let third = context.backend.spawn(tagged("echo other")).await?;
    check("a new process after the first has ended", third != first, &third)?;
    check_eq("its output", &finish(context, &third).await?.0, &"other\n")
}

async fn environment(context: &CaseContext<'_>) -> CaseResult {
    context.put("here", "").await?;
    let request = SpawnRequest::new("ls; echo \"$COLOR\"").with_cwd(context.dir.clone()).with_env("COLOR", "blue");
    let id = context.backend.spawn(request).await?;
    check_eq("the output", &finish(context, &id).await?.0, &"here\nblue\n")
}

async fn readers(context: &CaseContext<'_>) -> CaseResult {
    let id = spawn(context, "printf one; printf two").await?;
    let (output, _) = finish(context, &id).await?;
    check_eq("the output of the first reader", &output, &"onetwo")?;
    check_eq("the output of the second reader", &finish(context, &id).await?.0, &"onetwo")?;
    let page = context.backend.read_process(&id, ReadOutput::after(OutputCursor::new(4))).await?;
    check_eq("the output from the fourth byte", &text(&page.bytes()), &"wo")?;
    let page = context.backend.read_process(&id, ReadOutput::default().with_max_bytes(2)).await?;
    check_eq("the first two bytes", &(text(&page.bytes()), page.next.bytes()), &("on".to_owned(), 2))
}

async fn waits(context: &CaseContext<'_>) -> CaseResult {
    let id = spawn(context, "sleep 0.3; echo late; sleep 60").await?;
    let page = context.backend.read_process(&id, ReadOutput::default()).await?;
    check("no output at first", page.chunks.is_empty() && !page.state.has_ended(), &page)?;
    let page = context.backend.read_process(&id, ReadOutput::default().with_wait(PATIENCE)).await?;
    check_eq("the output", &text(&page.bytes()), &"late\n")?;
    let short = ReadOutput::after(page.next).with_wait(Duration::from_millis(20));
    let page = context.backend.read_process(&id, short).await?;
    check("an empty page after the wait", page.chunks.is_empty() && !page.state.has_ended(), &page)?;
    context.backend.signal_process(&id, ProcessSignal::Kill).await?;
    finish(context, &id).await.map(drop)
}

async fn exit_code(context: &CaseContext<'_>) -> CaseResult {
    let id = spawn(context, "exit 7").await?;
    check_eq("the state", &finish(context, &id).await?.1, &ended(7))
}

async fn input(context: &CaseContext<'_>) -> CaseResult {
    let id = context.backend.spawn(request(context, "tr a-z A-Z; echo end").with_input(SpawnInput::Open)).await?;
    for part in ["one\n", "two\n"] {
        let written = context.backend.write_process(&id, ProcessInput::Bytes(part.into())).await?;
        check_eq("the number of written bytes", &written, &part.len())?;
    }
    context.backend.write_process(&id, ProcessInput::End).await?;
    check_eq("the output", &finish(context, &id).await?.0, &"ONE\nTWO\nend\n")
}

async fn closed_input(context: &CaseContext<'_>) -> CaseResult {
    let id = spawn(context, "cat; echo end").await?;
    check_eq("the output", &finish(context, &id).await?.0, &"end\n")?;
    is_invalid(context.backend.write_process(&id, ProcessInput::Bytes(b"x".to_vec())).await)
}

async fn term(context: &CaseContext<'_>) -> CaseResult {
    let id = spawn(context, "echo ready; sleep 60").await?;
    wait_for(context, &id, "ready").await?;
    context.backend.signal_process(&id, ProcessSignal::Term).await?;
    check_eq("the state", &finish(context, &id).await?.1, &ended(143))?;
    let id = spawn(context, "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done").await?;
    wait_for(context, &id, "ready").await?;
    context.backend.signal_process(&id, ProcessSignal::Term).await?;
    let (output, state) = finish(context, &id).await?;
    // A shell may report that the signal ended its child too, on the other stream.
    check("output with that of the trap", output.starts_with("ready\n") && output.contains("bye\n"), &output)?;
    check_eq("the state", &state, &ended(3))
}

async fn kill(context: &CaseContext<'_>) -> CaseResult {
    let id = spawn(context, "trap '' TERM; (sleep 4; echo late > late) & echo ready; sleep 60").await?;
    wait_for(context, &id, "ready").await?;
    context.backend.signal_process(&id, ProcessSignal::Term).await?;
    context.backend.signal_process(&id, ProcessSignal::Kill).await?;
    check_eq("the state", &finish(context, &id).await?.1, &ended(137))?;
    context.backend.signal_process(&id, ProcessSignal::Kill).await?;
    let response = context.backend.execute(context.request("sleep 4.2; ls late 2> /dev/null")).await?;
    check_eq("the files that its child wrote", &text(&response.stdout), &"")
}

async fn unknown(context: &CaseContext<'_>) -> CaseResult {
    let id = ProcessId::new("no-such-process");
    is_invalid(context.backend.read_process(&id, ReadOutput::default()).await)?;
    is_invalid(context.backend.write_process(&id, ProcessInput::End).await)?;
    is_invalid(context.backend.signal_process(&id, ProcessSignal::Term).await)
}

pub(super) fn is_invalid<T: std::fmt::Debug>(result: Result<T>) -> CaseResult {
    match result {
        Err(error) if error.kind() == ErrorKind::InvalidRequest => Ok(()),
        Err(error) => Err(CaseFailure::new("the error invalid_request", format!("{} ({error})", error.kind()))),
        Ok(value) => Err(CaseFailure::new("the error invalid_request", format!("{value:?}"))),
    }
}

async fn listed(context: &CaseContext<'_>) -> CaseResult {
    let request = request(context, "echo listed; sleep 60").with_tag("listed");
    let command = request.command.clone();
    let id = context.backend.spawn(request).await?;
    wait_for(context, &id, "listed").await?;
    let listed = context.backend.processes().await?;
    let Some(info) = listed.iter().find(|info| info.id == id) else {
        return Err(CaseFailure::new("the process in the list", format!("{listed:?}")));
    };
    check_eq("the command", &info.command, &command)?;
    check_eq("the tag", &info.tag.as_deref(), &Some("listed"))?;
    check_eq("the state", &info.state, &ProcessState::Running)?;
    check_eq("the written bytes", &info.written_bytes, &7)?;
    context.backend.signal_process(&id, ProcessSignal::Kill).await?;
    finish(context, &id).await.map(drop)
}

async fn keep_background(context: &CaseContext<'_>) -> CaseResult {
    let command = "(until [ -e go ]; do sleep 0.01; done; cat go) & echo started";
    let request = context.request(command).with_background(Background::Keep);
    let response = context.backend.execute(request).await?;
    check_eq("the output of the command", &text(&response.stdout), &"started\n")?;
    check_eq("the exit code", &response.exit_code, &Some(0))?;
    let Some(id) = response.process else {
        return Err(CaseFailure::new("a process that runs on", format!("{response:?}")));
    };
    context.put("go", "went on\n").await?;
    check_eq("the output of the process", &finish(context, &id).await?.0, &"went on\n")
}

async fn none_left(context: &CaseContext<'_>) -> CaseResult {
    let request = context.request("(sleep 0.05; echo child) & wait; echo shell; exit 5");
    let response = context.backend.execute(request.with_background(Background::Keep)).await?;
    check_eq("the output", &text(&response.stdout), &"child\nshell\n")?;
    check_eq("the exit code", &response.exit_code, &Some(5))?;
    check_eq("the process that runs on", &response.process, &None::<ProcessId>)
}
