//! The local time zone from `TZ`: a name in the time zone database, or a POSIX rule.

mod posix;

use std::sync::OnceLock;

use tz::TimeZone;
use tz::timezone::{LocalTimeType, TransitionRule};

use crate::calendar::Moment;
use posix::Rule;

/// Directory of the time zone database.
const DATABASE: &str = "/usr/share/zoneinfo";

/// Distance from a transition, in seconds: large enough to be before or after it, small enough to reach no other one.
const DAY: i64 = 86_400;

/// A zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Rule(Rule),
    Location(Box<TimeZone>),
}

/// Offset and name in force at a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Local<'a> {
    /// Seconds east of Greenwich.
    offset: i64,
    name: &'a str,
    summer: bool,
}

impl Zone {
    /// Universal time.
    pub fn utc() -> Self {
        Self(Kind::Rule(Rule::fixed("UTC", 0)))
    }

    /// Returns the zone of the environment.
    pub fn of_environment() -> Self {
        std::env::var("TZ").map_or_else(|_| Self::utc(), |name| Self::named(&name))
    }

    /// Returns the zone of the environment at the time of the first call.
    pub fn local() -> &'static Self {
        static LOCAL: OnceLock<Zone> = OnceLock::new();
        LOCAL.get_or_init(Self::of_environment)
    }

    /// Converts seconds since 1970 to local broken-down time.
    pub fn moment(&self, seconds: i64, nanoseconds: u32) -> Moment {
        let offset = self.local_at(seconds).offset;
        Moment { seconds, offset, ..Moment::new(seconds.saturating_add(offset), nanoseconds) }
    }

    /// Parses a value of `TZ`. Invalid values mean universal time, under the name with which they start.
    pub fn named(text: &str) -> Self {
        let text = text.strip_prefix(':').unwrap_or(text);
        if matches!(text, "" | "UTC" | "UTC0") {
            return Self::utc();
        }
        if let Some(place) = place(text) {
            return Self(Kind::Location(Box::new(place)));
        }
        Self(Kind::Rule(Rule::read(text).unwrap_or_else(|| {
            let name: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
            Rule::fixed(if name.len() < 3 { "" } else { &name }, 0)
        })))
    }

    /// Returns the offset in seconds east of Greenwich and the zone name at a point in time.
    pub fn at(&self, seconds: i64) -> (i64, &str) {
        let local = self.local_at(seconds);
        (local.offset, local.name)
    }

    /// Returns the offset in seconds east of Greenwich at a local time, given as if it were universal. An ambiguous hour resolves
    /// to the first one; a skipped hour gets the offset after the gap.
    pub fn offset_of_local(&self, local: i64) -> i64 {
        let before = self.local_at(local.saturating_sub(DAY)).offset;
        let after = self.local_at(local.saturating_add(DAY)).offset;
        if self.local_at(local.saturating_sub(before)).offset == before { before } else { after }
    }

    /// Like the previous, with a daylight-saving flag that resolves an ambiguous hour.
    pub fn offset_of_local_in(&self, local: i64, summer: bool) -> i64 {
        let around = [local.saturating_sub(DAY), local.saturating_add(DAY)].map(|near| self.local_at(near).offset);
        let fits = |offset: &i64| {
            let then = self.local_at(local.saturating_sub(*offset));
            then.offset == *offset && then.summer == summer
        };
        around.into_iter().find(fits).unwrap_or_else(|| self.offset_of_local(local))
    }

    /// Returns whether daylight saving time is in force.
    pub fn is_summer_at(&self, seconds: i64) -> bool {
        self.local_at(seconds).summer
    }

    /// Returns the names of this zone.
    pub fn names(&self) -> Vec<String> {
        match &self.0 {
            Kind::Rule(rule) => rule.names(),
            Kind::Location(place) => names(place),
        }
    }

    fn local_at(&self, seconds: i64) -> Local<'_> {
        match &self.0 {
            Kind::Rule(rule) => rule.at(seconds),
            // Before the supported years, the first offset of the zone applies.
            Kind::Location(place) => {
                match place.find_local_time_type(seconds).ok().or(TimeZone::as_ref(place).local_time_types().first()) {
                    Some(local) => Local::from(local),
                    None => Local { offset: 0, name: "UTC", summer: false },
                }
            }
        }
    }
}

impl<'a> From<&'a LocalTimeType> for Local<'a> {
    fn from(local: &'a LocalTimeType) -> Self {
        Self { offset: i64::from(local.ut_offset()), name: local.time_zone_designation(), summer: local.is_dst() }
    }
}

/// Looks up a zone in the database; `None` if it is unknown.
fn place(text: &str) -> Option<TimeZone> {
    // For values that are both a rule and a file name, like EST5EDT, the file has more data; a rule with commas is never a name.
    if text.contains(',') {
        return None;
    }
    let path = if text.starts_with('/') { text.to_owned() } else { format!("{DATABASE}/{text}") };
    TimeZone::from_tz_data(&std::fs::read(path).ok()?).ok()
}

/// The names in use since the last change of rules.
fn names(place: &TimeZone) -> Vec<String> {
    let place = place.as_ref();
    let last = || {
        let last = place.transitions().last().map_or(0, tz::timezone::Transition::local_time_type_index);
        place.local_time_types().get(last).into_iter().collect::<Vec<_>>()
    };
    let used = match place.extra_rule() {
        Some(TransitionRule::Fixed(local)) => vec![local],
        Some(TransitionRule::Alternate(rule)) => vec![rule.std(), rule.dst()],
        None => last(),
    };
    used.into_iter().map(|local| local.time_zone_designation().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::Zone;

    #[test]
    fn zones_of_posix_know_their_summers() {
        let zone = Zone::named("EST5EDT4,M3.2.0,M11.1.0");
        assert_eq!(zone.at(1_704_067_200), (-5 * 3600, "EST"));
        assert_eq!(zone.at(1_719_792_000), (-4 * 3600, "EDT"));
        let zone = Zone::named("CET-1CEST,M3.5.0,M10.5.0/3");
        assert_eq!(zone.at(1_711_846_799), (3600, "CET"));
        assert_eq!(zone.at(1_711_846_800), (7200, "CEST"));
        assert_eq!(Zone::named("<+0530>-5:30").at(0), (19_800, "+0530"));
        assert_eq!(Zone::named("Asia/Nowhere").at(0), (0, "Asia"));
        assert_eq!(Zone::named("").at(0), (0, "UTC"));
    }

    #[test]
    fn repeated_hours_are_the_first_and_skipped_ones_move_on() {
        let zone = Zone::named("CET-1CEST,M3.5.0,M10.5.0/3");
        // 2024-10-27 02:30 and 2024-03-31 02:30.
        assert_eq!(zone.offset_of_local(1_729_996_200), 7200);
        assert_eq!(zone.offset_of_local(1_711_852_200), 7200);
        assert_eq!(zone.offset_of_local(1_704_067_200), 3600);
    }
}
