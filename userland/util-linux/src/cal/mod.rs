//! `cal`: months as tables of weeks.

mod date;
mod options;
mod page;
#[cfg(test)]
mod tests;

use tidebox_gnu::exit::{IntoExitCode, ToolResult};

/// Runs `cal`.
pub fn cal(arguments: Vec<Vec<u8>>) -> i32 {
    let today = tidebox_gnu::calendar::Moment::local_ns(tidebox_rt::realtime_ns());
    print(arguments, today.year, today.month).into_exit_code("cal")
}

/// Returns the output in the given month.
fn print(arguments: Vec<Vec<u8>>, year: i64, month: u32) -> ToolResult {
    match options::parse(arguments, year, month) {
        Ok(page) => ToolResult::Print(page.print().into_bytes()),
        Err(result) => result,
    }
}
