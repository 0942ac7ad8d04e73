//! `strftime`, `mktime` and `systime`.

use tidebox_gnu::calendar::days_to;
use tidebox_gnu::strftime::of_c_library;
use tidebox_gnu::zone::Zone;

use super::{Machine, Outcome, fatal};
use crate::array::Key;
use crate::builtin::Builtin;
use crate::compile::slot;
use crate::value::Value;

/// Default format of `strftime`.
const DEFAULT_FORMAT: &[u8] = b"%a %b %e %H:%M:%S %Z %Y";

impl Machine {
    pub(super) fn time_function(&mut self, builtin: Builtin, count: usize) -> Outcome<()> {
        let now = || (tidebox_rt::realtime_ns() / 1_000_000_000) as f64;
        match builtin {
            Builtin::Systime => self.push(Value::Number(now())),
            Builtin::Mktime => {
                let zone = self.zone(count == 2)?;
                let text = self.pop_text();
                self.push(Value::Number(seconds_of(text.bytes(), &zone).unwrap_or(-1.0)));
            }
            _ => {
                let zone = self.zone(count == 3)?;
                let time = if count >= 2 { self.pop_number() } else { now() };
                let format = if count >= 1 { self.pop_text().bytes().to_vec() } else { self.default_format() };
                if time.abs() > 67_767_976_233_532_799.0 {
                    return fatal("strftime: second argument out of range for time_t");
                }
                self.push(Value::text(&of_c_library(&format, (time.floor() as i64, 0), &zone)));
            }
        }
        Ok(())
    }

    /// The time zone of the environment, or UTC if the last argument is given and true.
    fn zone(&mut self, given: bool) -> Outcome<Zone> {
        Ok(if given && self.pop_truth()? { Zone::utc() } else { Zone::local().clone() })
    }

    fn default_format(&self) -> Vec<u8> {
        let named = match &self.globals[slot("PROCINFO") as usize] {
            Value::Array(procinfo) => procinfo.borrow().get(&Key::of_bytes(b"strftime")).cloned(),
            _ => None,
        };
        named.map_or(DEFAULT_FORMAT.to_vec(), |format| self.text_of(&format).bytes().to_vec())
    }
}

/// The seconds of `YYYY MM DD HH MM SS`. Values outside the calendar range are normalized.
fn seconds_of(text: &[u8], zone: &Zone) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let parts: Vec<i64> = text.split_whitespace().map_while(|part| part.parse().ok()).take(7).collect();
    let [year, month, day, hour, minute, second] = *parts.get(..6)? else {
        return None;
    };
    if [year, month, day, hour, minute, second].iter().any(|part| part.abs() > 1_000_000_000_000) {
        return None;
    }
    let months = year * 12 + month - 1;
    let first = days_to(months.div_euclid(12), u32::try_from(months.rem_euclid(12)).ok()? + 1, 1);
    let local = (first + day - 1) * 86_400 + hour * 3600 + minute * 60 + second;
    Some((local - zone.offset_of_local(local)) as f64)
}
