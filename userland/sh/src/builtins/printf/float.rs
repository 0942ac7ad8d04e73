//! Digits of floating-point numbers for `%e`, `%f` and `%g`.

/// Digits of a number that is not negative, as C's `printf` writes them.
pub(super) fn float_digits(letter: u8, value: f64, precision: usize, alternate: bool) -> String {
    let upper = letter.is_ascii_uppercase();
    let text = if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        "inf".to_owned()
    } else {
        match letter.to_ascii_lowercase() {
            b'e' => exponent(value, precision, alternate),
            b'g' => general(value, precision.max(1), alternate),
            b'a' => format!("{value:e}"),
            _ if alternate && precision == 0 => format!("{value:.0}."),
            _ => format!("{value:.precision$}"),
        }
    };
    if upper { text.to_uppercase() } else { text }
}

/// `d.ddde+dd`, with a point in any case if it is the alternate form.
pub(super) fn exponent(value: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{value:.precision$e}");
    match text.split_once('e') {
        Some((mantissa, power)) => {
            let (sign, digits) = match power.strip_prefix('-') {
                Some(digits) => ('-', digits),
                None => ('+', power),
            };
            let point = if alternate && precision == 0 { "." } else { "" };
            format!("{mantissa}{point}e{sign}{digits:0>2}")
        }
        None => text,
    }
}

/// The shorter of both notations, without zeros at the end.
fn general(value: f64, precision: usize, alternate: bool) -> String {
    let scientific = exponent(value, precision - 1, false);
    let power: i64 = scientific.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    let limit = i64::try_from(precision).unwrap_or(i64::MAX);
    let trim = |text: &str| {
        if !text.contains('.') {
            return if alternate { format!("{text}.") } else { text.to_owned() };
        }
        if alternate {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if power < -4 || power >= limit {
        return match scientific.split_once('e') {
            Some((mantissa, power)) => format!("{}e{power}", trim(mantissa)),
            None => scientific,
        };
    }
    let decimals = usize::try_from(limit - 1 - power).unwrap_or(0);
    trim(&format!("{value:.decimals$}"))
}
