//! `cal` and `ncal`: months on paper, in weeks across or weeks down.

mod country;
mod date;
mod options;
mod page;
#[cfg(test)]
mod tests;

use tidebox_gnu::exit::{IntoExitCode, ToolResult};

/// Runs `cal`.
pub fn cal(arguments: Vec<Vec<u8>>) -> i32 {
    run("cal", arguments)
}

/// Runs `ncal`.
pub fn ncal(arguments: Vec<Vec<u8>>) -> i32 {
    run("ncal", arguments)
}

fn run(tool: &str, arguments: Vec<Vec<u8>>) -> i32 {
    let today = tidebox_gnu::calendar::Moment::local_ns(tidebox_rt::realtime_ns());
    answer(tool, arguments, today.year, today.month).into_exit_code(tool)
}

/// Returns the output for the given month.
fn answer(tool: &str, arguments: Vec<Vec<u8>>, year: i64, month: u32) -> ToolResult {
    match options::read(tool, arguments, year, month) {
        Ok(page) => ToolResult::Print(page.print().into_bytes()),
        Err(answer) => answer,
    }
}
