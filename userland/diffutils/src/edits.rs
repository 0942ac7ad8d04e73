//! Machine-readable output: scripts for `ed`, and RCS format.

use crate::Failure;
use crate::output::Output;
use crate::script::{Change, Script};

/// Prints commands of `ed`, the last change first, so that line numbers stay valid.
pub(crate) fn ed(script: &Script<'_>, output: &mut Output) -> Result<(), Failure> {
    for change in script.counted().rev() {
        let range = match change.old.len() {
            0 | 1 => change.old.end.to_string(),
            _ => format!("{},{}", change.old.start + 1, change.old.end),
        };
        output.put(format!("{range}{}\n", letter(change)).as_bytes())?;
        if change.new.is_empty() {
            continue;
        }
        let mut inserts = true;
        for line in script.new.get(change.new.clone()).unwrap_or_default() {
            if !std::mem::replace(&mut inserts, true) {
                output.put(b"a\n")?;
            }
            if matches!(*line, b".\n" | b".") {
                // A dot alone ends the text; it is doubled and then fixed.
                output.put(b"..\n.\ns/.//\n")?;
                inserts = false;
            } else {
                output.put(whole(line).as_ref())?;
            }
        }
        if inserts {
            output.put(b".\n")?;
        }
    }
    Ok(())
}

/// Prints the RCS format: lines to delete and lines to add, by their numbers in the old text.
pub(crate) fn rcs(script: &Script<'_>, output: &mut Output) -> Result<(), Failure> {
    for change in script.counted() {
        if !change.old.is_empty() {
            output.put(format!("d{} {}\n", change.old.start + 1, change.old.len()).as_bytes())?;
        }
        if !change.new.is_empty() {
            output.put(format!("a{} {}\n", change.old.end, change.new.len()).as_bytes())?;
            for line in script.new.get(change.new.clone()).unwrap_or_default() {
                output.put(line)?;
            }
        }
    }
    Ok(())
}

fn letter(change: &Change) -> char {
    match (change.old.is_empty(), change.new.is_empty()) {
        (true, _) => 'a',
        (_, true) => 'd',
        _ => 'c',
    }
}

/// Prints a line, adding a missing line end.
fn whole(line: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    match line.ends_with(b"\n") {
        true => line.into(),
        false => [line, b"\n"].concat().into(),
    }
}
