//! Check of the line order.

use std::cmp::Ordering;

use tidebox_gnu::message::{path_label, print_error};
use tidebox_gnu::stream::Input;

use super::about;
use super::compare::{Mark, Rules};
use super::options::Options;
use crate::common::Failure;

/// Returns 1 if a line is not in order. With `reports` it prints the first such line.
pub(super) fn check(options: &Options, rules: &Rules, reports: bool) -> Result<i32, Failure> {
    let file = options.files.first().map_or(b"-".as_slice(), Vec::as_slice);
    let mut input = Input::open(file).map_err(|errno| about("open failed", file, errno))?;
    let mut line = Vec::new();
    let mut before: Option<(Vec<u8>, Mark)> = None;
    let mut number: u64 = 0;
    while input.line(options.end, &mut line).map_err(|errno| about("read failed", file, errno))? {
        number += 1;
        if line.last() == Some(&options.end) {
            line.pop();
        }
        let this = rules.mark(&line);
        if let Some((before, mark)) = &before {
            let order = rules.compare((before, *mark), (&line, this));
            if order == Ordering::Greater || rules.unique && order == Ordering::Equal {
                if reports {
                    let shown = String::from_utf8_lossy(&line);
                    print_error("sort", &format!("{}:{number}: disorder: {shown}", path_label(file)));
                }
                return Ok(1);
            }
        }
        let (kept, _) = before.take().unwrap_or_default();
        before = Some((std::mem::replace(&mut line, kept), this));
    }
    Ok(0)
}
