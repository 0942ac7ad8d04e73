//! Commands of `ed` that merge. They come from the end on, so that the numbers of lines before stay what they are.

use super::Run;
use super::blocks::{Block, Kind};
use crate::Failure;
use crate::output::Output;

/// Prints the commands. True when there were conflicts.
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

/// Marks around a conflict: what the others say is put behind the lines that are there.
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

/// A range as `ed` reads it.
fn lines(first: usize, last: usize) -> String {
    if first == last { first.to_string() } else { format!("{first},{last}") }
}

/// Lines to insert. One that begins with a dot gets another one, because a dot alone ends them; true if there was one.
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

/// The end of inserted lines, and what takes added dots away again.
fn end(dots: bool, first: usize, count: usize, output: &mut Output) -> Result<(), Failure> {
    output.put(b".\n")?;
    if dots {
        output.put(format!("{}s/^\\.//\n", lines(first, (first + count).saturating_sub(1))).as_bytes())?;
    }
    Ok(())
}
