//! Times on the command line: the time of a file, or a date string.

use tidebox_gnu::zone::Zone;

use crate::message::warn;
use crate::options::Stop;

/// Parses a time: seconds and nanoseconds.
pub(crate) fn read(text: &[u8]) -> Result<(i64, u32), Stop> {
    if text.starts_with(b"/") || text.starts_with(b".") {
        let stat = tidebox_rt::stat(text, true)
            .map_err(|errno| Stop::Fatal([text, b": Cannot stat: ", errno.text().as_bytes()].concat()))?;
        return Ok(crate::names::time(stat.mtime_ns));
    }
    let words = String::from_utf8_lossy(text).into_owned();
    if let Some(seconds) = words.strip_prefix('@').and_then(|number| number.parse().ok()) {
        return Ok((seconds, 0));
    }
    let Some(zoned) = parse_datetime::parse_datetime(&words).ok().and_then(parse_datetime::ParsedDateTime::into_zoned)
    else {
        let now = crate::names::time(tidebox_rt::realtime_ns());
        let message = format!("Substituting {} for unknown date format ", format(now));
        warn(&[message.as_bytes(), &crate::quote::quoted(text)]);
        return Ok(now);
    };
    let stamp = zoned.timestamp();
    Ok((stamp.as_second(), u32::try_from(stamp.subsec_nanosecond()).unwrap_or(0)))
}

/// Formats a time with its date, and a fraction of a second if not zero.
pub(crate) fn format((seconds, nanoseconds): (i64, u32)) -> String {
    let at = Zone::local().moment(seconds, 0);
    let text = format!("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", at.year, at.month, at.day, at.hour, at.minute, at.second);
    if nanoseconds == 0 { text } else { format!("{text}.{nanoseconds:09}") }
}
