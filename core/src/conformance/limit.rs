//! Output that is large, and output that is too large.

use super::capabilities::Need::{Execute, OutputBytes};
use super::case::{Case, cases};
use super::fault::{Verdict, holds, same};
use super::ground::Ground;

pub(super) const CASES: &[Case] = cases![
    "execute: half a megabyte of output arrives whole" [Execute] large;
    "execute: output over the limit is cut, says so, and the command goes on" [Execute, OutputBytes] over;
    "execute: output of exactly the limit is whole" [Execute, OutputBytes] exact;
];

/// A command that prints so many bytes.
fn printing(bytes: u64) -> String {
    format!("head -c {bytes} /dev/zero | tr '\\0' x")
}

async fn large(ground: &Ground<'_>) -> Verdict {
    let response = ground.sh(&printing(500 * 1024)).await?;
    same("bytes of output", &response.output.len(), &(500 * 1024))?;
    same("truncated", &response.truncated, &false)
}

async fn over(ground: &Ground<'_>) -> Verdict {
    let limit = ground.capabilities.output_bytes.unwrap_or_default();
    let command = format!("{}; echo ended > mark", printing(limit.saturating_add(1 << 20)));
    let response = ground.sh(&command).await?;
    same("truncated", &response.truncated, &true)?;
    let kept = response.output.len() as u64;
    // A provider may put a note behind what it cut.
    let near = kept <= limit.saturating_add(4096) && kept >= limit.saturating_sub(64 << 10);
    holds(&format!("about {limit} bytes are kept"), near, &kept)?;
    same("what the command did behind its output", &ground.get_text("mark").await?, &"ended\n")
}

async fn exact(ground: &Ground<'_>) -> Verdict {
    let limit = ground.capabilities.output_bytes.unwrap_or_default();
    let response = ground.sh(&printing(limit)).await?;
    same("truncated and bytes", &(response.truncated, response.output.len() as u64), &(false, limit))
}
