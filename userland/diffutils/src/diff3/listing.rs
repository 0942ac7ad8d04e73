//! Human-readable listing.

use super::Run;
use super::blocks::{Block, Kind};
use crate::Failure;
use crate::output::Output;

pub(super) fn print(run: &Run<'_>, blocks: &[Block], output: &mut Output) -> Result<(), Failure> {
    for block in blocks {
        // Lines of two equal files are printed once.
        let (mark, order, silent) = match block.kind {
            Kind::All => (String::new(), [0, 1, 2], None),
            Kind::Odd(odd) => {
                let order = if odd == 1 { [0, 2, 1] } else { [0, 1, 2] };
                ((odd + 1).to_string(), order, Some(usize::from(odd == 0)))
            }
        };
        output.put(format!("===={mark}\n").as_bytes())?;
        for file in order {
            let range = block.ranges.get(file).cloned().unwrap_or_default();
            let place = match range.len() {
                0 => format!("{}a", range.start),
                1 => format!("{}c", range.end),
                _ => format!("{},{}c", range.start + 1, range.end),
            };
            output.put(format!("{}:{place}\n", file + 1).as_bytes())?;
            if silent != Some(file) {
                lines(run, run.part(block, file), output)?;
            }
        }
    }
    Ok(())
}

fn lines(run: &Run<'_>, lines: &[&[u8]], output: &mut Output) -> Result<(), Failure> {
    let prefix: &[u8] = if run.options.initial_tab { b"\t" } else { b"  " };
    for line in lines {
        output.put(prefix)?;
        output.put(line)?;
    }
    match lines.last() {
        Some(last) if !last.ends_with(b"\n") => output.put(b"\n\\ No newline at end of file\n"),
        _ => Ok(()),
    }
}
