//! Dates for `printf '%(..)T'`, prompts and the history, in the zone that `TZ` says.

use tidebox_gnu::calendar::Moment;
use tidebox_gnu::strftime;
use tidebox_gnu::zone::Zone;

use crate::ir::Bytes;
use crate::state::Shell;
use crate::vars::EXPORT;

/// Bytes of a text, with the NUL at its end.
const ROOM: usize = 128;

impl Shell {
    /// Formats a moment, seconds since 1970, as `strftime` of the C library does in the C locale.
    pub(crate) fn format_time(&self, format: &[u8], seconds: i64) -> Bytes {
        // A year that the C library cannot hold makes it the beginning of time.
        let year = Moment::new(seconds, 0).year;
        let seconds = if i32::try_from(year - 1900).is_ok() { seconds } else { 0 };
        // Only an exported variable reaches the C library.
        let zone = self.vars.get(b"TZ").filter(|var| var.has(EXPORT)).and_then(|var| var.scalar());
        let zone = zone.map_or_else(Zone::utc, |text| Zone::named(&String::from_utf8_lossy(text)));
        let text = strftime::format(&without_fields_of_date(format), (seconds, 0), &zone);
        // bash has no room for longer ones.
        if text.len() < ROOM { text } else { Bytes::new() }
    }
}

/// Makes text of fields that `date` knows and the C library does not: `%N`, `%q`, and those with colons or `+`.
fn without_fields_of_date(format: &[u8]) -> Bytes {
    let mut out = Bytes::with_capacity(format.len());
    let mut rest = format;
    while let Some(at) = rest.iter().position(|&b| b == b'%') {
        let (before, field) = rest.split_at(at);
        out.extend_from_slice(before);
        let flags = field.iter().skip(1).take_while(|b| b"-_0^#123456789EO".contains(b)).count();
        if matches!(field.get(flags + 1), Some(b'N' | b'q' | b':' | b'+')) {
            out.push(b'%');
        }
        let (field, after) = field.split_at(field.len().min(flags + 2));
        out.extend_from_slice(field);
        rest = after;
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::without_fields_of_date;

    #[test]
    fn fields_that_only_date_has_are_text() {
        let made = |format: &str| String::from_utf8_lossy(&without_fields_of_date(format.as_bytes())).into_owned();
        assert_eq!(made("%Y %N %-q %:z %%N %_5d 100%"), "%Y %%N %%-q %%:z %%N %_5d 100%");
    }
}
