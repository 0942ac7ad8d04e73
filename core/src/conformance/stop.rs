//! Commands that would not end by themselves.

use std::time::Duration;

use super::capabilities::Need::{Execute, NothingOutlives, Timeout, TimeoutExitCode, TimeoutOutput};
use super::case::{Case, cases};
use super::fault::{Fault, Verdict, holds, same, text};
use super::ground::Ground;
use crate::execute::{ExecuteResponse, StopReason};

pub(super) const CASES: &[Case] = cases![
    "execute: a command that waits is stopped when its time is up" [Execute, Timeout] waiting;
    "execute: a command that computes is stopped when its time is up" [Execute, Timeout] computing;
    "execute: a command that ignores SIGTERM is stopped when its time is up" [Execute, Timeout] ignoring;
    "execute: a pipeline is stopped as a whole when its time is up" [Execute, Timeout] pipeline;
    "execute: a command whose time is up has exit code 124" [Execute, Timeout, TimeoutExitCode] exit_code;
    "execute: what a command wrote before its time was up is kept" [Execute, Timeout, TimeoutOutput] output_kept;
    "execute: a timeout of zero ends a command at once" [Execute, Timeout] zero;
    "execute: a command that is done in time is not stopped" [Execute, Timeout] in_time;
    "execute: a sandbox works on after a timeout" [Execute, Timeout] works_on;
    "execute: a command whose time was up leaves nothing running" [Execute, Timeout, NothingOutlives] nothing_left;
    "execute: a command does not wait for what it left in the background" [Execute] background;
    "execute: what a command left in the background ends with it" [Execute, NothingOutlives] background_ends;
];

const TIMEOUT: Duration = Duration::from_secs(1);

/// Runs a command that must be stopped in time.
async fn stopped(ground: &Ground<'_>, command: &str) -> Verdict<ExecuteResponse> {
    let response = ground.backend.execute(ground.request(command).with_timeout(TIMEOUT)).await?;
    let within = TIMEOUT.saturating_add(ground.capabilities.timeout_slack);
    if response.duration > within {
        return Err(Fault::new(format!("an end within {within:?}"), format!("{:?}", response.duration)));
    }
    same("stopped_by", &response.stopped_by, &Some(StopReason::Timeout))?;
    holds("an exit code other than 0", response.exit_code != Some(0), &response.exit_code)?;
    Ok(response)
}

async fn waiting(ground: &Ground<'_>) -> Verdict {
    stopped(ground, "sleep 60").await.map(drop)
}

async fn computing(ground: &Ground<'_>) -> Verdict {
    stopped(ground, "while :; do :; done").await.map(drop)
}

async fn ignoring(ground: &Ground<'_>) -> Verdict {
    stopped(ground, "trap '' TERM INT HUP; while :; do :; done").await.map(drop)
}

async fn pipeline(ground: &Ground<'_>) -> Verdict {
    stopped(ground, "sleep 60 | cat | sh -c 'cat; sleep 60'").await.map(drop)
}

async fn exit_code(ground: &Ground<'_>) -> Verdict {
    same("the exit code", &stopped(ground, "sleep 60").await?.exit_code, &Some(124))
}

async fn output_kept(ground: &Ground<'_>) -> Verdict {
    let response = stopped(ground, "echo begun; echo warned >&2; sleep 60; echo never").await?;
    let output = text(&response.output);
    let good = output.contains("begun\n") && output.contains("warned") && !output.contains("never");
    holds("what was written before the end", good, &output)
}

async fn zero(ground: &Ground<'_>) -> Verdict {
    let response = ground.backend.execute(ground.request("sleep 60").with_timeout(Duration::ZERO)).await?;
    same("stopped_by", &response.stopped_by, &Some(StopReason::Timeout))
}

async fn in_time(ground: &Ground<'_>) -> Verdict {
    let request = ground.request("echo quick").with_timeout(Duration::from_secs(60));
    let response = ground.backend.execute(request).await?;
    same("stopped_by", &response.stopped_by, &None)?;
    same("the output", &text(&response.output), &"quick\n")
}

async fn works_on(ground: &Ground<'_>) -> Verdict {
    stopped(ground, "sleep 60").await?;
    same("the next command's output", &ground.output("echo fine").await?, &"fine\n")
}

/// Waits for a word of the test and not for a time, so that a slow machine makes no backend look wrong.
const LINGER: &str = "until [ -e go ]; do sleep 1; done; echo late > mark";

async fn nothing_left(ground: &Ground<'_>) -> Verdict {
    stopped(ground, &format!("({LINGER}) & (trap '' TERM; {LINGER}) & sleep 60")).await?;
    ground.output("touch go; sleep 3").await?;
    same("a file that only a left process makes is there", &ground.is_there("mark").await?, &false)
}

async fn background(ground: &Ground<'_>) -> Verdict {
    let request = ground.request("sleep 40 > /dev/null 2>&1 & echo done");
    // Without a timeout a wrong backend would be found by the time alone, which is what is held below.
    let response = ground.backend.execute(request).await?;
    same("stopped_by", &response.stopped_by, &None)?;
    same("the output", &text(&response.output), &"done\n")?;
    let quick = response.duration < Duration::from_secs(20);
    holds("an end long before the background command's 40 s", quick, &response.duration)
}

async fn background_ends(ground: &Ground<'_>) -> Verdict {
    ground.output(&format!("({LINGER}) > /dev/null 2>&1 & true")).await?;
    ground.output("touch go; sleep 3").await?;
    same("a file that only a left process makes is there", &ground.is_there("mark").await?, &false)
}
