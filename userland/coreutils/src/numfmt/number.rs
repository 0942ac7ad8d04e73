//! Numbers with units of thousands.

use tidebox_gnu::message::quote_value;

/// Maximum number of digits of an input number.
const MAX_DIGITS: usize = 27;

/// Maximum power of ten of a number with a unit.
const MAX_POWER: u32 = 33;

/// Maximum number of digits without a unit.
const MAX_DIGITS_WITHOUT_UNIT: usize = 18;

const UNITS: &[u8] = b"KMGTPEZY";

/// Unit scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scale {
    #[default]
    None,
    Auto,
    /// Powers of 1000.
    Si,
    /// Powers of 1024.
    Iec,
    /// Powers of 1024, with an `i` after the unit.
    IecI,
}

/// Rounding mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Round {
    Up,
    Down,
    #[default]
    FromZero,
    TowardsZero,
    Nearest,
}

/// A number with the number of its decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    value: f64,
    precision: usize,
    /// Digits of the input as a whole number, unless a unit was applied.
    exact: Option<i128>,
}

/// Parses a number. The error is the message.
pub(super) fn parse(text: &[u8], scale: Scale) -> Result<Number, String> {
    let invalid = || format!("invalid number: {}", quote_value(text));
    let (negative, body) = text.strip_prefix(b"-").map_or((false, text), |rest| (true, rest));
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(body);
    let mut rest = body.get(whole..).unwrap_or_default();
    let mut precision = 0;
    if let [b'.', fraction @ ..] = rest {
        precision = digits(fraction);
        if fraction.starts_with(b".") {
            return Err(format!("invalid suffix in input: {}", quote_value(text)));
        }
        if precision == 0 {
            return Err(invalid());
        }
        rest = fraction.get(precision..).unwrap_or_default();
    }
    if whole == 0 && precision == 0 {
        return Err(invalid());
    }
    let significant = body.iter().take(whole).skip_while(|byte| **byte == b'0').count();
    if significant > MAX_DIGITS {
        return Err(format!("value too large to be converted: {}", quote_value(text)));
    }
    let end = body.len() - rest.len();
    let number =
        std::str::from_utf8(body.get(..end).unwrap_or_default()).ok().and_then(|digits| digits.parse::<f64>().ok());
    let value = number.ok_or_else(invalid)? * if negative { -1.0 } else { 1.0 };
    let digits: String =
        body.iter().take(end).filter(|byte| byte.is_ascii_digit()).map(|byte| char::from(*byte)).collect();
    let exact = digits.parse::<i128>().ok().map(|exact| if negative { -exact } else { exact });
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let missing = || format!("missing 'i' suffix in input: {} (e.g Ki/Mi/Gi)", quote_value(text));
    let Some((letter, mut rest)) = rest.get(blanks..).and_then(<[u8]>::split_first) else {
        return if scale == Scale::IecI { Err(missing()) } else { Ok(Number { value, precision, exact }) };
    };
    let Some(power) = UNITS.iter().position(|unit| unit == letter) else {
        return Err(format!("invalid suffix in input: {}", quote_value(text)));
    };
    let mut base: f64 = if matches!(scale, Scale::Iec | Scale::IecI) { 1024.0 } else { 1000.0 };
    match (scale, rest.strip_prefix(b"i")) {
        (Scale::None, _) => {
            return Err(format!("rejecting suffix in input: {} (consider using --from)", quote_value(text)));
        }
        (Scale::Auto, Some(after)) => (base, rest) = (1024.0, after),
        (Scale::IecI, Some(after)) => rest = after,
        (Scale::IecI, None) => return Err(missing()),
        _ => {}
    }
    if !rest.is_empty() {
        return Err(format!("invalid suffix in input {}: {}", quote_value(text), quote_value(rest)));
    }
    Ok(Number { value: value * base.powi(power as i32 + 1), precision: 0, exact: None })
}

impl Number {
    pub(super) fn scaled(self, from: f64, to: f64) -> Self {
        if from == 1.0 && to == 1.0 { self } else { Self { value: self.value * from / to, exact: None, ..self } }
    }

    /// Formats the number. The error is the message.
    pub(super) fn write(self, scale: Scale, precision: Option<usize>, round: Round) -> Result<String, String> {
        let digits = if self.value == 0.0 { 0 } else { self.value.abs().log10().floor().max(0.0) as u32 };
        if matches!(scale, Scale::None | Scale::Auto) {
            let decimals = precision.unwrap_or(self.precision);
            if digits as usize + decimals > MAX_DIGITS_WITHOUT_UNIT {
                let value = general(self.value);
                return Err(match decimals {
                    0 => format!("value too large to be printed: '{value}' (consider using --to)"),
                    _ => format!("value/precision too large to be printed: '{value}/{decimals}' (consider using --to)"),
                });
            }
            if let Some(exact) = self.exact.filter(|_| decimals >= self.precision) {
                return Ok(with_decimals(exact, self.precision, decimals));
            }
            let factor = 10_f64.powi(decimals as i32);
            return Ok(format!("{:.decimals$}", rounded(self.value * factor, round) / factor));
        }
        if digits >= MAX_POWER {
            let value = general(self.value);
            return Err(format!("value too large to be printed: '{value}' (cannot handle values > 999Y)"));
        }
        let base = if scale == Scale::Si { 1000.0 } else { 1024.0 };
        let (mut value, mut power) = (self.value, 0);
        while value.abs() >= base && power < UNITS.len() {
            value /= base;
            power += 1;
        }
        let decimals = match precision {
            Some(precision) => precision.min(power * 3),
            None => usize::from(value.abs() < 10.0),
        };
        let factor = 10_f64.powi(decimals as i32);
        value = rounded(value * factor, round) / factor;
        if value.abs() >= base && power < UNITS.len() {
            value /= base;
            power += 1;
        }
        // A number with one digit before the point has one decimal.
        let decimals = precision.unwrap_or_else(|| usize::from(value != 0.0 && value.abs() < 10.0 && power > 0));
        let unit = power.checked_sub(1).and_then(|at| UNITS.get(at)).map(|unit| char::from(*unit).to_string());
        let unit = unit.unwrap_or_default();
        let binary = if scale == Scale::IecI && power > 0 { "i" } else { "" };
        Ok(format!("{value:.decimals$}{unit}{binary}"))
    }
}

/// Formats a number whose last `fraction` digits are decimals, padded with zeros to `decimals`.
fn with_decimals(exact: i128, fraction: usize, decimals: usize) -> String {
    let sign = if exact < 0 { "-" } else { "" };
    let digits = format!("{:0>1$}", exact.unsigned_abs(), fraction + 1);
    let (whole, rest) = digits.split_at_checked(digits.len() - fraction).unwrap_or((&digits, ""));
    if decimals == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest:0<decimals$}") }
}

/// Rounds to a whole number. Rounding errors of the conversion are ignored.
fn rounded(value: f64, round: Round) -> f64 {
    let near = value.round();
    if (value - near).abs() <= value.abs() * 1e-14 {
        return near;
    }
    match round {
        Round::Up => value.ceil(),
        Round::Down => value.floor(),
        Round::FromZero if value < 0.0 => value.floor(),
        Round::FromZero => value.ceil(),
        Round::TowardsZero => value.trunc(),
        Round::Nearest => near,
    }
}

/// Formats a number with at most six digits, like `%Lg`.
fn general(value: f64) -> String {
    let exponent = value.abs().log10().floor() as i32;
    if exponent < 6 {
        return value.to_string();
    }
    let mantissa = format!("{:.5}", value / 10_f64.powi(exponent));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    format!("{mantissa}e+{exponent:02}")
}

#[cfg(test)]
mod tests {
    use super::{Round, Scale, parse};

    #[test]
    fn units_are_read_and_written() {
        for (text, from, to, wanted) in [
            ("1000", Scale::None, Scale::Si, "1.0K"),
            ("1500000", Scale::None, Scale::Si, "1.5M"),
            ("999999", Scale::None, Scale::Si, "1.0M"),
            ("1024", Scale::None, Scale::IecI, "1.0Ki"),
            ("1K", Scale::Iec, Scale::None, "1024"),
            ("1Ki", Scale::Auto, Scale::None, "1024"),
            ("-1.1K", Scale::Si, Scale::None, "-1100"),
            ("12.50", Scale::None, Scale::None, "12.50"),
            ("0", Scale::None, Scale::Iec, "0"),
        ] {
            let written = parse(text.as_bytes(), from).and_then(|number| number.write(to, None, Round::FromZero));
            assert_eq!(written.as_deref(), Ok(wanted), "{text}");
        }
        assert!(parse(b"1K", Scale::None).is_err_and(|message| message.contains("rejecting suffix")));
        assert!(parse(b"1x", Scale::Si).is_err_and(|message| message.contains("invalid suffix")));
    }
}
