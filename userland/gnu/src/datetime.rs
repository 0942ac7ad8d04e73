//! Date strings as accepted by `date -d` and `touch -d` of GNU.

mod fields;
mod read;
#[cfg(test)]
mod tests;
mod tokens;

use crate::zone::Zone;
use read::Reader;
use tokens::{Token, tokens};

/// A point in time: seconds since 1970, and nanoseconds of the second.
pub type Instant = (i64, u32);

/// Parses a date, relative to `now` if incomplete. `None` if it is invalid.
pub fn parse(text: &[u8], now: Instant, zone: &Zone) -> Option<Instant> {
    let trimmed = text.trim_ascii_start();
    let own;
    let (text, zone) = match trimmed.strip_prefix(b"TZ=\"") {
        None => (trimmed, zone),
        Some(rest) => {
            let end = rest.iter().position(|byte| *byte == b'"')?;
            let name: Vec<u8> = rest.get(..end)?.iter().copied().filter(|byte| *byte != b'\\').collect();
            own = Zone::named(&String::from_utf8_lossy(&name));
            (rest.get(end + 1..)?, &own)
        }
    };
    let tokens = tokens(text, &zone.names())?;
    if tokens.first() == Some(&Token::Sign(b'@')) {
        return match tokens.get(1..)? {
            [Token::Number(number)] => Some((number.value, 0)),
            [Token::Decimal { seconds, nanoseconds, .. }] => Some((*seconds, *nanoseconds)),
            _ => None,
        };
    }
    Reader::new(&tokens).all()?.resolve(now, zone)
}
