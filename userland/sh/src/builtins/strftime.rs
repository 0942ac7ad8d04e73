//! Dates for `printf '%(..)T'`, prompts and the history, in the time zone of `TZ`.

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
        // A year beyond the range of the C library yields the epoch.
        let year = Moment::new(seconds, 0).year;
        let seconds = if i32::try_from(year - 1900).is_ok() { seconds } else { 0 };
        // Only an exported variable reaches the C library.
        let zone = self.vars.get(b"TZ").filter(|var| var.has(EXPORT)).and_then(|var| var.scalar());
        let zone = zone.map_or_else(Zone::utc, |text| Zone::named(&String::from_utf8_lossy(text)));
        let text = strftime::of_c_library(format, (seconds, 0), &zone);
        // bash has no room for longer ones.
        if text.len() < ROOM { text } else { Bytes::new() }
    }
}
