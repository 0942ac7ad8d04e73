//! Listing an archive.

use crate::list::Lines;
use crate::message::Fatal;
use crate::names::{self, Naming, Selection, is_excluded};
use crate::options::Options;
use crate::reader::RECORD;
use crate::scan;
use crate::transform::Of;

/// Runs `-t`.
pub(crate) fn list(options: &Options) -> Result<(), Fatal> {
    let mut selection = Selection::new(options);
    let (archive, mut reader) = scan::open(options)?;
    let mut lines = Lines::new(false);
    let mut naming = Naming::default();
    let ended = scan::each(options, &mut reader, |_, member| {
        if selection.select(&member.name).is_some() && !is_excluded(&member, options) {
            let safe = match member.kind {
                b'V' => member.name.clone(),
                _ => naming.safe_name(&member.name, options, false).to_vec(),
            };
            if member.kind == b'1' {
                naming.safe_name(&member.link, options, true);
            }
            let mut shown = member;
            if options.show_transformed {
                shown.name = names::transformed(&safe, Of::Member, options).unwrap_or_else(|| b"/".to_vec());
                let of = if shown.kind == b'1' { Of::HardLink } else { Of::SymbolicLink };
                shown.link = names::transformed(&shown.link, of, options).unwrap_or_default();
            }
            lines.member(&shown, options.verbose > 1, options)?;
        }
        Ok(())
    });
    lines.flush()?;
    ended?;
    selection.report();
    if options.totals {
        crate::totals(b"read", reader.total.next_multiple_of(RECORD as u64), options.began);
    }
    scan::close(archive, &mut reader)
}
