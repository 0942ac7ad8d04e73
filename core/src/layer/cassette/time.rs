//! Times as decimal seconds, exact to the nanosecond: `"1.5s"` for a duration, `"1795219200.5"` for a time since 1970.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::layer) struct Seconds(pub(in crate::layer) Duration);

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::layer) struct Moment(pub(in crate::layer) SystemTime);

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{}s", decimal(self.0)))
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let parsed = text.strip_suffix('s').and_then(parse);
        parsed.map(Self).ok_or_else(|| D::Error::custom(format!("'{text}' is not a duration such as '1.5s'")))
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&match self.0.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => decimal(after),
            Err(before) => format!("-{}", decimal(before.duration())),
        })
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let moment = match text.strip_prefix('-') {
            Some(before) => parse(before).and_then(|before| SystemTime::UNIX_EPOCH.checked_sub(before)),
            None => parse(&text).and_then(|after| SystemTime::UNIX_EPOCH.checked_add(after)),
        };
        moment.map(Self).ok_or_else(|| D::Error::custom(format!("'{text}' is not a time in seconds since 1970")))
    }
}

fn decimal(duration: Duration) -> String {
    let mut text = duration.as_secs().to_string();
    if duration.subsec_nanos() > 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, ".{:09}", duration.subsec_nanos());
        text.truncate(text.trim_end_matches('0').len());
    }
    text
}

fn parse(text: &str) -> Option<Duration> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let nanos = format!("{fraction:0<9}").parse().ok()?;
    Some(Duration::new(seconds.parse().ok()?, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact_and_readable() {
        for (duration, written) in [
            (Duration::ZERO, r#""0s""#),
            (Duration::from_millis(1500), r#""1.5s""#),
            (Duration::from_nanos(10), r#""0.00000001s""#),
            (Duration::from_secs(100), r#""100s""#),
            (Duration::MAX, r#""18446744073709551615.999999999s""#),
        ] {
            assert_eq!(serde_json::to_string(&Seconds(duration)).unwrap(), written);
            assert_eq!(serde_json::from_str::<Seconds>(written).unwrap().0, duration);
        }
        for bad in ["1.5", "s", ".5s", "-1s", "1.s", "1.0000000001s", "99999999999999999999s", "+1s"] {
            assert!(serde_json::from_str::<Seconds>(&format!("\"{bad}\"")).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_before_and_after_1970_survive() {
        for (moment, written) in [
            (SystemTime::UNIX_EPOCH, r#""0""#),
            (SystemTime::UNIX_EPOCH + Duration::new(5, 100_000_000), r#""5.1""#),
            (SystemTime::UNIX_EPOCH - Duration::new(5, 100_000_000), r#""-5.1""#),
        ] {
            assert_eq!(serde_json::to_string(&Moment(moment)).unwrap(), written);
            assert_eq!(serde_json::from_str::<Moment>(written).unwrap().0, moment);
        }
        assert!(serde_json::from_str::<Moment>(r#""18446744073709551615""#).is_err());
    }
}
