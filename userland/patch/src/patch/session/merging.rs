//! Hunks that are merged (`--merge`).

use std::ops::Range;

use super::super::merge::Conflicts;
use super::{Hunk, Place, Session, Work};

impl Session {
    /// Reverses a hunk if requested and finds its position: an exact match, or else the most similar lines.
    pub(super) fn region(&self, place: &Place<'_>, hunk: Hunk) -> (Hunk, Range<usize>, bool) {
        let hunk = if self.reverse { hunk.reversed() } else { hunk };
        let fitting = place.locate(&hunk, 0).and_then(|at| {
            let start = usize::try_from(at - 1).ok().filter(|start| *start <= place.input.len())?;
            Some(start..start + hunk.pattern().len())
        });
        let fits = fitting.is_some();
        let region = fitting.unwrap_or_else(|| place.most_alike(&hunk));
        (hunk, region, fits)
    }

    /// Merges a hunk, reports the result, and returns the offset for the next one.
    pub(super) fn merge(
        &mut self,
        work: &mut Work<'_>,
        hunk: &Hunk,
        region: Range<usize>,
        fits: bool,
        number: usize,
        how: Conflicts,
    ) -> i64 {
        let start = i64::try_from(region.start).unwrap_or(i64::MAX);
        let merged = work.merge(hunk, region, self.options.loosely, how);
        self.failed |= merged.has_conflicts();
        let is_news = self.is_verbose() || !merged.only_merges() || !fits && !self.is_silent();
        if is_news {
            self.say(&format!("Hunk #{number} {}.\n", merged.format_summary()));
        }
        start + 1 - hunk.old_first + merged.longer
    }
}
