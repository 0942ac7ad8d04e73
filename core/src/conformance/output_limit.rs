//! Large output, and output above the limit.

use super::capabilities::Requirement::{Execute, OutputBytes};
use super::case::{Case, cases};
use super::context::CaseContext;
use super::failure::{CaseResult, check, check_eq};

pub(super) const CASES: &[Case] = cases![
    "execute: 500 KiB of output arrive complete" [Execute] large;
    "execute: output over the limit is truncated and marked, and the command continues" [Execute, OutputBytes] over_limit;
    "execute: output of exactly the limit is not truncated" [Execute, OutputBytes] exact;
];

/// Returns a command that prints this number of bytes.
fn print_command(bytes: u64) -> String {
    format!("head -c {bytes} /dev/zero | tr '\\0' x")
}

async fn large(context: &CaseContext<'_>) -> CaseResult {
    let response = context.run(&print_command(500 * 1024)).await?;
    check_eq("bytes of output", &response.output.len(), &(500 * 1024))?;
    check_eq("truncated", &response.truncated, &false)
}

async fn over_limit(context: &CaseContext<'_>) -> CaseResult {
    let limit = context.capabilities.output_bytes.unwrap_or_default();
    let command = format!("{}; echo ended > mark", print_command(limit.saturating_add(1 << 20)));
    let response = context.run(&command).await?;
    check_eq("truncated", &response.truncated, &true)?;
    let kept = response.output.len() as u64;
    // A provider may append a note to truncated output.
    let near = kept <= limit.saturating_add(4096) && kept >= limit.saturating_sub(64 << 10);
    check(&format!("about {limit} bytes are kept"), near, &kept)?;
    check_eq("the file written after the output", &context.get_text("mark").await?, &"ended\n")
}

async fn exact(context: &CaseContext<'_>) -> CaseResult {
    let limit = context.capabilities.output_bytes.unwrap_or_default();
    let response = context.run(&print_command(limit)).await?;
    check_eq("truncated and bytes", &(response.truncated, response.output.len() as u64), &(false, limit))
}
