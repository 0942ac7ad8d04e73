//! Commands that do not end without a timeout.

use std::time::Duration;

use super::capabilities::Requirement::{Execute, KillsBackground, Timeout, TimeoutExitCode, TimeoutOutput};
use super::case::{Case, cases};
use super::context::CaseContext;
use super::failure::{CaseFailure, CaseResult, check, check_eq, text};
use crate::execute::{ExecuteResponse, StopReason};

pub(super) const CASES: &[Case] = cases![
    "execute: a waiting command is stopped at its timeout" [Execute, Timeout] waiting;
    "execute: a computing command is stopped at its timeout" [Execute, Timeout] computing;
    "execute: a command that ignores SIGTERM is stopped at its timeout" [Execute, Timeout] ignoring;
    "execute: a whole pipeline is stopped at its timeout" [Execute, Timeout] pipeline;
    "execute: a timed-out command has exit code 124" [Execute, Timeout, TimeoutExitCode] exit_code;
    "execute: output before the timeout is kept" [Execute, Timeout, TimeoutOutput] output_kept;
    "execute: a timeout of zero stops a command immediately" [Execute, Timeout] zero;
    "execute: a command that ends before its timeout is not stopped" [Execute, Timeout] in_time;
    "execute: a sandbox is usable after a timeout" [Execute, Timeout] usable_after_stop;
    "execute: a timed-out command leaves no processes" [Execute, Timeout, KillsBackground] background_is_killed;
    "execute: a command does not wait for background processes" [Execute] background;
    "execute: background processes end with their command" [Execute, KillsBackground] background_ends;
];

const TIMEOUT: Duration = Duration::from_secs(1);

/// Runs a command that must be stopped by its timeout.
async fn stopped(context: &CaseContext<'_>, command: &str) -> CaseResult<ExecuteResponse> {
    let response = context.backend.execute(context.request(command).with_timeout(TIMEOUT)).await?;
    let within = TIMEOUT.saturating_add(context.capabilities.timeout_tolerance);
    if response.duration > within {
        return Err(CaseFailure::new(format!("a duration of at most {within:?}"), format!("{:?}", response.duration)));
    }
    check_eq("stopped_by", &response.stopped_by, &Some(StopReason::Timeout))?;
    check("an exit code other than 0", response.exit_code != Some(0), &response.exit_code)?;
    Ok(response)
}

async fn waiting(context: &CaseContext<'_>) -> CaseResult {
    stopped(context, "sleep 60").await.map(drop)
}

async fn computing(context: &CaseContext<'_>) -> CaseResult {
    stopped(context, "while :; do :; done").await.map(drop)
}

async fn ignoring(context: &CaseContext<'_>) -> CaseResult {
    stopped(context, "trap '' TERM INT HUP; while :; do :; done").await.map(drop)
}

async fn pipeline(context: &CaseContext<'_>) -> CaseResult {
    stopped(context, "sleep 60 | cat | sh -c 'cat; sleep 60'").await.map(drop)
}

async fn exit_code(context: &CaseContext<'_>) -> CaseResult {
    check_eq("the exit code", &stopped(context, "sleep 60").await?.exit_code, &Some(124))
}

async fn output_kept(context: &CaseContext<'_>) -> CaseResult {
    let response = stopped(context, "echo started; echo warned >&2; sleep 60; echo never").await?;
    let output = text(&response.output);
    let good = output.contains("started\n") && output.contains("warned") && !output.contains("never");
    check("the output before the timeout", good, &output)
}

async fn zero(context: &CaseContext<'_>) -> CaseResult {
    let response = context.backend.execute(context.request("sleep 60").with_timeout(Duration::ZERO)).await?;
    check_eq("stopped_by", &response.stopped_by, &Some(StopReason::Timeout))
}

async fn in_time(context: &CaseContext<'_>) -> CaseResult {
    let request = context.request("echo quick").with_timeout(Duration::from_secs(60));
    let response = context.backend.execute(request).await?;
    check_eq("stopped_by", &response.stopped_by, &None)?;
    check_eq("the output", &text(&response.output), &"quick\n")
}

async fn usable_after_stop(context: &CaseContext<'_>) -> CaseResult {
    stopped(context, "sleep 60").await?;
    check_eq("the next command's output", &context.output("echo fine").await?, &"fine\n")
}

/// Waits for a file created by the test instead of a fixed time, so that a slow host cannot fail a correct backend.
const WAIT_FOR_FILE: &str = "until [ -e go ]; do sleep 1; done; echo late > mark";

async fn background_is_killed(context: &CaseContext<'_>) -> CaseResult {
    stopped(context, &format!("({WAIT_FOR_FILE}) & (trap '' TERM; {WAIT_FOR_FILE}) & sleep 60")).await?;
    context.output("touch go; sleep 3").await?;
    check_eq("existence of the file that a background process creates", &context.exists("mark").await?, &false)
}

async fn background(context: &CaseContext<'_>) -> CaseResult {
    let request = context.request("sleep 40 > /dev/null 2>&1 & echo done");
    // Without a timeout of the sink, a wrong backend would be detected only by the duration, which is checked below.
    let response = context.backend.execute(request).await?;
    check_eq("stopped_by", &response.stopped_by, &None)?;
    check_eq("the output", &text(&response.output), &"done\n")?;
    let quick = response.duration < Duration::from_secs(20);
    check("a duration well below the background command's 40 s", quick, &response.duration)
}

async fn background_ends(context: &CaseContext<'_>) -> CaseResult {
    context.output(&format!("({WAIT_FOR_FILE}) > /dev/null 2>&1 & true")).await?;
    context.output("touch go; sleep 3").await?;
    check_eq("existence of the file that a background process creates", &context.exists("mark").await?, &false)
}
