//! Hunks that are merged (`--merge`).

use std::ops::Range;

use super::super::merge::Conflicts;
use super::{Hunk, Place, Session, Work};

impl Session {
    /// Turns a hunk as it is asked for and finds its place: where it fits, or else what is most alike.
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

    /// Merges a hunk, says what became of it, and answers how far off the next one may be.
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
            self.say(&format!("Hunk #{number} {}.\n", merged.told()));
        }
        start + 1 - hunk.old_first + merged.longer
    }
}
