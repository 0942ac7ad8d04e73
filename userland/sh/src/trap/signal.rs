//! Signals by number and by name.

use tidebox_gnu::signal::NAMES;

use super::{DEBUG, ERR, EXIT, RETURN};
use crate::expand::lossy;

/// The number of a signal or of another occasion for a trap.
pub(crate) fn signal_number(name: &[u8]) -> Option<u8> {
    let digits = name.strip_prefix(b"+").unwrap_or(name);
    if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
        return lossy(digits).parse().ok().filter(|n| *n < 65);
    }
    let name = name.to_ascii_uppercase();
    let short = name.strip_prefix(b"SIG");
    let name = short.unwrap_or(&name);
    match name {
        // These are not signals and have no `SIG` names.
        b"EXIT" | b"ERR" | b"DEBUG" | b"RETURN" if short.is_some() => None,
        b"EXIT" => Some(EXIT),
        b"ERR" => Some(ERR),
        b"DEBUG" => Some(DEBUG),
        b"RETURN" => Some(RETURN),
        b"POLL" => Some(29),
        b"IOT" => Some(6),
        b"CLD" => Some(17),
        b"RTMIN" => Some(34),
        b"RTMAX" => Some(64),
        _ => match (name.strip_prefix(b"RTMIN+"), name.strip_prefix(b"RTMAX-")) {
            (Some(digits), _) => real_time(digits).and_then(|n| 34_u8.checked_add(n)),
            (_, Some(digits)) => real_time(digits).and_then(|n| 64_u8.checked_sub(n)),
            _ => (1..).zip(NAMES).find(|(_, known)| known.as_bytes() == name).map(|(number, _)| number),
        },
    }
}

/// The distance of a real-time signal from the first or the last one.
fn real_time(digits: &[u8]) -> Option<u8> {
    u8::try_from(crate::parse::plain_number(digits)?).ok().filter(|n| *n <= 30)
}

/// The name of a signal in `trap -p` and `kill -l`.
pub(crate) fn signal_name(signal: u8) -> Option<std::borrow::Cow<'static, str>> {
    let name = match signal {
        EXIT => "EXIT",
        ERR => "ERR",
        DEBUG => "DEBUG",
        RETURN => "RETURN",
        34 => "RTMIN",
        64 => "RTMAX",
        35..=49 => return Some(format!("RTMIN+{}", signal - 34).into()),
        50..=63 => return Some(format!("RTMAX-{}", 64 - signal).into()),
        _ => NAMES.get(usize::from(signal).checked_sub(1)?).copied()?,
    };
    Some(name.into())
}

/// All signals, in the columns of `kill -l` and `trap -l`.
pub(crate) fn signal_table() -> String {
    let mut text = String::new();
    let mut column = 0;
    for number in 1..=64 {
        let Some(name) = signal_name(number) else { continue };
        column += 1;
        text.push_str(&format!("{number:2}) SIG{name}{}", if column % 5 == 0 { "\n" } else { "\t" }));
    }
    text.push('\n');
    text
}
