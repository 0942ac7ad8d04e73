//! `ed` commands for a merge. They are in reverse order, so that earlier line numbers stay valid.

use super::Run;
use super::blocks::{Block, Kind};
use crate::Failure;
use crate::output::Output;

/// Prints the commands. True if there were conflicts.
pub(super) fn print(run: &Run<'_>, blocks: &[Block], output: &mut Output) -> Result<bool, Failure> {
    let mut conflicts = false;
    for block in blocks.iter().rev() {
        let mine = &block.ranges[0];
        match run.options.conflict(block.kind) {
            None => {}
            Some(true) => {
                conflicts = true;
                conflict(run, block, output)?;
            }
            Some(false) if run.part(block, 2).is_empty() => {
                output.put(format!("{}d\n", lines(mine.start + 1, mine.end)).as_bytes())?;
            }
            Some(false) => {
                let command = if mine.is_empty() {
                    format!("{}a\n", mine.end)
                } else {
                    format!("{}c\n", lines(mine.start + 1, mine.end))
                };
                output.put(command.as_bytes())?;
                let dots = insert(run.part(block, 2), output)?;
                end(dots, mine.start + 1, run.part(block, 2).len(), output)?;
            }
        }
    }
    if run.options.writes {
        output.put(b"w\nq\n")?;
    }
    Ok(conflicts)
}

/// Prints markers around a conflict: the lines of the other files are appended to the existing ones.
fn conflict(run: &Run<'_>, block: &Block, output: &mut Output) -> Result<(), Failure> {
    let mine = &block.ranges[0];
    let (old, yours) = (run.part(block, 1), run.part(block, 2));
    output.put(format!("{}a\n", mine.end).as_bytes())?;
    let mut dots = false;
    if block.kind == Kind::All {
        if run.options.shows_old {
            output.put(&run.mark("|||||||", 1))?;
            dots = insert(old, output)?;
        }
        output.put(b"=======\n")?;
        dots |= insert(yours, output)?;
    }
    output.put(&run.mark(">>>>>>>", 2))?;
    end(dots, mine.end + 2, old.len() + yours.len() + 1, output)?;
    output.put(format!("{}a\n", mine.start).as_bytes())?;
    output.put(&run.mark("<<<<<<<", usize::from(block.kind != Kind::All)))?;
    let mut dots = false;
    if block.kind != Kind::All {
        dots = insert(old, output)?;
        output.put(b"=======\n")?;
    }
    end(dots, mine.start + 2, old.len(), output)
}

/// Formats a range for `ed`.
fn lines(first: usize, last: usize) -> String {
    if first == last { first.to_string() } else { format!("{first},{last}") }
}

/// Prints lines to insert. A line that starts with a dot gets another one, because a dot alone ends them; true if there was one.
fn insert(lines: &[&[u8]], output: &mut Output) -> Result<bool, Failure> {
    let mut dots = false;
    for line in lines {
        if line.starts_with(b".") {
            dots = true;
            output.put(b".")?;
        }
        output.put(line)?;
        if !line.ends_with(b"\n") {
            output.put(b"\n")?;
        }
    }
    Ok(dots)
}

/// Prints the end of inserted lines, and the command that removes added dots.
fn end(dots: bool, first: usize, count: usize, output: &mut Output) -> Result<(), Failure> {
    output.put(b".\n")?;
    if dots {
        output.put(format!("{}s/^\\.//\n", lines(first, (first + count).saturating_sub(1))).as_bytes())?;
    }
    Ok(())
}
