//! HTTP and cookie dates, in several formats.

use tidebox_gnu::calendar::days_to;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Seconds since 1970, by the lenient rules of RFC 6265, 5.1.1: a time, a day, a month and a year in any order.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for word in text.split(|char: char| !(char.is_ascii_alphanumeric() || char == ':')).filter(|word| !word.is_empty())
    {
        let number = || word.parse::<i64>().ok();
        let named = || word.get(..3).and_then(|name| MONTHS.iter().position(|known| known.eq_ignore_ascii_case(name)));
        if time.is_none() && word.contains(':') {
            time = Some(time_of_day(word)?);
        } else if let (None, Some(found)) = (month, named()) {
            month = Some(u32::try_from(found).ok()? + 1);
        } else if let (None, 1..=2, Some(found)) = (day, word.len(), number()) {
            day = Some(u32::try_from(found).ok()?);
        } else if let (None, Some(found)) = (year, number()) {
            year = Some(match found {
                0..=69 => found + 2000,
                70..=99 => found + 1900,
                _ => found,
            });
        }
    }
    let (day, month, year) = (day?, month?, year?);
    if !(1..=31).contains(&day) || !(1601..=9999).contains(&year) {
        return None;
    }
    Some(days_to(year, month, day) * 86_400 + time?)
}

fn time_of_day(word: &str) -> Option<i64> {
    let mut parts = word.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().flatten().unwrap_or(0);
    let good = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..=60).contains(&second);
    good.then_some(hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn every_form_of_a_date_is_read() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "06 Nov 1994 08:49:37",
        ] {
            assert_eq!(parse(text), Some(784_111_777), "{text}");
        }
        for text in ["", "tomorrow", "06 Nov", "99 Nov 1994 08:49:37", "06 Nov 1994 25:00:00"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
