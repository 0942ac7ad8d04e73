//! The label of an archive.

use tidebox_gnu::glob::{self, Flags};

use crate::list::unwritten;
use crate::message::{Fatal, fatal, note_difference, warn};
use crate::options::{How, Options, Word};
use crate::quote::quoted;
use crate::reader::Step;
use crate::scan;

/// pax record of the label.
pub(crate) const KEY: &str = "GNU.volume.label";

/// Runs `--test-label`: prints the label, or returns by the exit code whether it matches one of the names.
pub(crate) fn test(options: &Options) -> Result<(), Fatal> {
    let (archive, mut reader) = scan::open(options)?;
    let label = match reader.next().map_err(|error| scan::read_error(options, error))? {
        Step::Member(member) if member.kind == b'V' => Some(member.name),
        _ => None,
    };
    let names: Vec<(&[u8], How)> = options
        .words
        .iter()
        .filter_map(|word| match word {
            Word::Name(name, how) => Some((name.as_slice(), *how)),
            _ => None,
        })
        .collect();
    if let Some(label) = &label
        && (names.is_empty() || options.verbose > 0)
    {
        tidebox_rt::write_all(1, &[label, b"\n".as_slice()].concat()).map_err(unwritten)?;
    }
    let asked = !names.is_empty();
    if asked && !names.iter().any(|(name, how)| label.as_deref().is_some_and(|label| is(label, name, *how))) {
        if options.verbose > 0 {
            warn(&[b"Archive label mismatch"]);
        }
        note_difference();
    }
    scan::close(archive, &mut reader)
}

/// Returns whether a label matches a pattern.
fn is(label: &[u8], name: &[u8], how: How) -> bool {
    if how.wildcards == Some(true) { glob::matches(name, label, Flags::default()) } else { name == label }
}

/// Checks the label of the archive against the requested one.
pub(crate) fn check(options: &Options, label: Option<&[u8]>) -> Result<(), Fatal> {
    let Some(wanted) = &options.label else {
        return Ok(());
    };
    match label {
        None => Err(fatal(&[b"Archive not labeled to match ", &quoted(wanted)])),
        Some(label) if glob::matches(wanted, label, Flags::default()) => Ok(()),
        Some(label) => Err(fatal(&[b"Volume ", &quoted(label), b" does not match ", &quoted(wanted)])),
    }
}
