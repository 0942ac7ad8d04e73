//! Tokens of dates.

/// Kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Digits with an optional sign, and their number.
    Number(Number),
    /// Like [`Self::Number`], but with a fraction, in nanoseconds that count upwards.
    Decimal {
        signed: bool,
        seconds: i64,
        nanoseconds: u32,
    },
    /// `am` is false, `pm` true.
    Meridian(bool),
    /// 1 to 12.
    Month(u32),
    /// 0 is Sunday.
    Day(u32),
    /// Minutes east of Greenwich, with an hour of daylight saving where that is part of the name.
    Zone(i64),
    /// The local zone, by its standard or daylight-saving name.
    LocalZone(bool),
    Dst,
    /// A unit of time and its multiplier.
    Unit(Unit, i64),
    /// `tomorrow`, `yesterday` and similar.
    DayShift(i64),
    /// `next`, `third`.
    Ordinal(i64),
    Ago(i64),
    /// `T` separates date and time, and is also a zone.
    LetterT,
    Sign(u8),
    /// Unknown text.
    Unknown,
}

/// Digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) signed: bool,
    pub(super) negative: bool,
    pub(super) value: i64,
    pub(super) digits: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

const UNITS: &[(&str, Unit, i64)] = &[
    ("YEAR", Unit::Year, 1),
    ("MONTH", Unit::Month, 1),
    ("FORTNIGHT", Unit::Day, 14),
    ("WEEK", Unit::Day, 7),
    ("DAY", Unit::Day, 1),
    ("HOUR", Unit::Hour, 1),
    ("MINUTE", Unit::Minute, 1),
    ("MIN", Unit::Minute, 1),
    ("SECOND", Unit::Second, 1),
    ("SEC", Unit::Second, 1),
];

const ORDINALS: &[(&str, i64)] = &[
    ("LAST", -1),
    ("THIS", 0),
    ("NEXT", 1),
    ("FIRST", 1),
    ("THIRD", 3),
    ("FOURTH", 4),
    ("FIFTH", 5),
    ("SIXTH", 6),
    ("SEVENTH", 7),
    ("EIGHTH", 8),
    ("NINTH", 9),
    ("TENTH", 10),
    ("ELEVENTH", 11),
    ("TWELFTH", 12),
];

/// Known zone names, in minutes.
const ZONES: &[(&str, i64)] = &[
    ("GMT", 0),
    ("UT", 0),
    ("UTC", 0),
    ("WET", 0),
    ("WEST", 60),
    ("BST", 60),
    ("ART", -180),
    ("BRT", -180),
    ("BRST", -120),
    ("NST", -210),
    ("NDT", -150),
    ("AST", -240),
    ("ADT", -180),
    ("CLT", -240),
    ("CLST", -180),
    ("EST", -300),
    ("EDT", -240),
    ("CST", -360),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
    ("AKST", -540),
    ("AKDT", -480),
    ("HST", -600),
    ("HAST", -600),
    ("HADT", -540),
    ("SST", -720),
    ("WAT", 60),
    ("CET", 60),
    ("CEST", 120),
    ("MET", 60),
    ("MEZ", 60),
    ("MEST", 120),
    ("MESZ", 120),
    ("EET", 120),
    ("EEST", 180),
    ("CAT", 120),
    ("SAST", 120),
    ("EAT", 180),
    ("MSK", 180),
    ("MSD", 240),
    ("IST", 330),
    ("SGT", 480),
    ("KST", 540),
    ("JST", 540),
    ("GST", 600),
    ("NZST", 720),
    ("NZDT", 780),
];

/// Splits a text into tokens; `None` if a number overflows. `local` are the names of the local zone.
pub(super) fn tokens(text: &[u8], local: &[String]) -> Option<Vec<Token>> {
    let mut out = Vec::new();
    let mut at = 0;
    let byte = |at: usize| text.get(at).copied().unwrap_or(0);
    while let Some(first) = text.get(at).copied() {
        match first {
            b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r' => at += 1,
            b'0'..=b'9' | b'+' | b'-' => {
                let signed = !first.is_ascii_digit();
                if signed {
                    at += 1;
                    while byte(at).is_ascii_whitespace() {
                        at += 1;
                    }
                    // A sign without a number has no effect.
                    if !byte(at).is_ascii_digit() {
                        continue;
                    }
                }
                let (token, end) = number(text, at, signed, first == b'-')?;
                out.push(token);
                at = end;
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                let start = at;
                while byte(at).is_ascii_alphabetic() || byte(at) == b'.' {
                    at += 1;
                }
                out.push(word(text.get(start..at).unwrap_or_default(), local));
            }
            b'(' => at = comment(text, at),
            sign => {
                out.push(Token::Sign(sign));
                at += 1;
            }
        }
    }
    Some(out)
}

/// Returns the end of a comment in parentheses.
fn comment(text: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn number(text: &[u8], start: usize, signed: bool, negative: bool) -> Option<(Token, usize)> {
    let digits_from =
        |from: usize| text.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let digits = digits_from(start);
    let end = start + digits;
    let value = std::str::from_utf8(text.get(start..end)?).ok()?.parse::<i64>().ok()?;
    let value = if negative { -value } else { value };
    let point = matches!(text.get(end), Some(b'.' | b','));
    let fraction = if point { digits_from(end + 1) } else { 0 };
    if fraction == 0 {
        return Some((Token::Number(Number { signed, negative, value, digits }), end));
    }
    let shown = text.get(end + 1..end + 1 + fraction)?;
    let mut nanoseconds = 0_u32;
    for at in 0..9 {
        nanoseconds = nanoseconds * 10 + u32::from(shown.get(at).map_or(0, |digit| digit - b'0'));
    }
    let lost = shown.get(9..).is_some_and(|rest| rest.iter().any(|digit| *digit != b'0'));
    let (mut seconds, mut nanoseconds) = (value, nanoseconds);
    // The fraction counts upwards for negative numbers, too.
    if negative && (nanoseconds > 0 || lost) {
        seconds = seconds.checked_sub(1)?;
        nanoseconds = 1_000_000_000 - nanoseconds - u32::from(lost);
        if nanoseconds == 1_000_000_000 {
            (seconds, nanoseconds) = (seconds + 1, 0);
        }
    }
    Some((Token::Decimal { signed, seconds, nanoseconds }, end + 1 + fraction))
}

fn word(text: &[u8], local: &[String]) -> Token {
    let word = String::from_utf8_lossy(text).to_ascii_uppercase();
    match word.as_str() {
        "AM" | "A.M." => return Token::Meridian(false),
        "PM" | "P.M." => return Token::Meridian(true),
        "SEPT" => return Token::Month(9),
        "TUES" => return Token::Day(2),
        "WEDNES" => return Token::Day(3),
        "THUR" | "THURS" => return Token::Day(4),
        _ => {}
    }
    let short = word.len() == 3 || word.len() == 4 && word.ends_with('.');
    let named = |names: &[&str]| {
        let is = |name: &str| match short {
            true => name.get(..3).is_some_and(|name| word.get(..3).is_some_and(|word| name.eq_ignore_ascii_case(word))),
            false => name.eq_ignore_ascii_case(&word),
        };
        names.iter().position(|name| is(name)).and_then(|at| u32::try_from(at).ok())
    };
    if let Some(at) = named(&crate::calendar::MONTHS) {
        return Token::Month(at + 1);
    }
    if let Some(at) = named(&crate::calendar::DAYS) {
        return Token::Day(at);
    }
    let zone = |word: &str| ZONES.iter().find(|(name, _)| *name == word).map(|(_, minutes)| Token::Zone(*minutes));
    if matches!(word.as_str(), "GMT" | "UT" | "UTC") {
        return Token::Zone(0);
    }
    if let Some(at) = local.iter().position(|name| name.eq_ignore_ascii_case(&word)) {
        return Token::LocalZone(at > 0);
    }
    if let Some(zone) = zone(&word) {
        return zone;
    }
    if word == "DST" {
        return Token::Dst;
    }
    let unit =
        |word: &str| UNITS.iter().find(|(name, ..)| *name == word).map(|(_, unit, count)| Token::Unit(*unit, *count));
    if let Some(unit) = unit(&word).or_else(|| unit(word.strip_suffix('S')?)) {
        return unit;
    }
    match word.as_str() {
        "TOMORROW" => return Token::DayShift(1),
        "YESTERDAY" => return Token::DayShift(-1),
        "TODAY" | "NOW" => return Token::DayShift(0),
        "AGO" => return Token::Ago(-1),
        "HENCE" => return Token::Ago(1),
        _ => {}
    }
    if let Some((_, value)) = ORDINALS.iter().find(|(name, _)| *name == word) {
        return Token::Ordinal(*value);
    }
    if let [letter] = word.as_bytes() {
        return military(*letter);
    }
    // Dots within a name are ignored.
    zone(&word.replace('.', "")).unwrap_or(Token::Unknown)
}

/// Military zones of one letter: A to M are east of Greenwich, N to Y west.
fn military(letter: u8) -> Token {
    let hours = |from: u8| i64::from(letter.saturating_sub(from)) + 1;
    match letter {
        b'T' => Token::LetterT,
        b'Z' => Token::Zone(0),
        b'A'..=b'I' => Token::Zone(60 * hours(b'A')),
        b'K'..=b'M' => Token::Zone(60 * (hours(b'K') + 9)),
        b'N'..=b'Y' => Token::Zone(-60 * hours(b'N')),
        _ => Token::Unknown,
    }
}
