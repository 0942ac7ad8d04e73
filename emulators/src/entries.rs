//! Directory entries of a sandbox.

mod attributes;
mod clock;
mod usage;

use std::time::SystemTime;

use tidebox_core::{FileInfo, FileKind, SandboxPath};

use crate::registry::SandboxRecord;

pub(crate) use attributes::{Attributes, attributes};
pub(crate) use clock::{millis, timestamp_millis, wall_clock};
pub(crate) use usage::usage;

/// Returns the entry at a path, read from its parent directory.
pub(crate) async fn stat(sandbox: &SandboxRecord, path: &SandboxPath) -> Option<FileInfo> {
    let Some(parent) = path.parent() else {
        return Some(FileInfo { path: b"/".to_vec(), kind: FileKind::Directory, size: None, modified: None });
    };
    let listed = sandbox.sandbox.ls(&parent).await.ok()?.ok()?;
    listed.entries.into_iter().find(|entry| entry.path == path.as_bytes())
}

/// Formats a time as RFC 3339 in UTC, from the days since 1970 (the civil calendar of Howard Hinnant's
/// "chrono-compatible low-level date algorithms").
pub(crate) fn timestamp(at: SystemTime) -> String {
    let seconds = at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn timestamps_match_the_real_daemon() {
        let at = |seconds| timestamp(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_798_761_599), "2026-12-31T23:59:59Z");
    }
}
