//! The merged file.

use super::Run;
use super::blocks::{Block, Kind};
use crate::Failure;
use crate::output::Output;

/// Prints the first file with the changes of the third. True if there were conflicts.
pub(super) fn print(run: &Run<'_>, blocks: &[Block], output: &mut Output) -> Result<bool, Failure> {
    let mine = run.untouched;
    let mut at = 0;
    let mut conflicts = false;
    for block in blocks {
        let Some(conflict) = run.options.conflict(block.kind) else {
            continue;
        };
        put(mine.get(at..block.ranges[0].start).unwrap_or_default(), output)?;
        at = block.ranges[0].end;
        if conflict {
            conflicts = true;
            if block.kind == Kind::All {
                output.put(&run.mark("<<<<<<<", 0))?;
                put(run.part(block, 0), output)?;
            }
            if run.options.shows_old {
                output.put(&run.mark(if block.kind == Kind::All { "|||||||" } else { "<<<<<<<" }, 1))?;
                put(run.part(block, 1), output)?;
            }
            output.put(b"=======\n")?;
        }
        put(run.part(block, 2), output)?;
        if conflict {
            output.put(&run.mark(">>>>>>>", 2))?;
        }
    }
    put(mine.get(at..).unwrap_or_default(), output)?;
    Ok(conflicts)
}

fn put(lines: &[&[u8]], output: &mut Output) -> Result<(), Failure> {
    lines.iter().try_for_each(|line| output.put(line))
}
