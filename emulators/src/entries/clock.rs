//! Wall clock times of a monotonic clock, as the control planes report them.

use std::time::{Instant, SystemTime};

use super::timestamp;

/// Converts a time of the monotonic clock.
pub(crate) fn wall_clock(at: Instant) -> SystemTime {
    let (now, wall) = (Instant::now(), SystemTime::now());
    let past = wall.checked_sub(now.saturating_duration_since(at));
    let time = past.and_then(|time| time.checked_add(at.saturating_duration_since(now)));
    time.unwrap_or(wall)
}

/// Returns milliseconds since 1970.
pub(crate) fn millis(at: SystemTime) -> u64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Formats a time as RFC 3339 in UTC, with milliseconds.
pub(crate) fn timestamp_millis(at: SystemTime) -> String {
    let seconds = timestamp(at);
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), millis(at) % 1000)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_later_instant_has_a_later_time() {
        let now = Instant::now();
        let between = wall_clock(now + Duration::from_secs(300)).duration_since(wall_clock(now)).expect("it is later");
        assert!(between.abs_diff(Duration::from_secs(300)) < Duration::from_secs(1), "{between:?}");
        let off = wall_clock(now).duration_since(SystemTime::now()).unwrap_or_else(|error| error.duration());
        assert!(off < Duration::from_secs(1), "{off:?}");
    }

    #[test]
    fn a_timestamp_has_milliseconds() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(951_782_400_007);
        assert_eq!(timestamp_millis(at), "2000-02-29T00:00:00.007Z");
    }
}
