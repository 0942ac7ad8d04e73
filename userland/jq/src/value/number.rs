//! Numbers: doubles that keep their original text until they are used in arithmetic.

use std::rc::Rc;

/// A number.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    value: f64,
    /// Original text, if it differs from that of the double.
    literal: Option<Rc<str>>,
}

impl Number {
    pub(crate) fn new(value: f64) -> Self {
        Self { value, literal: None }
    }

    /// Parses `digits[.digits][e[sign]digits]` with an optional sign.
    pub(crate) fn from_literal(text: &str) -> Option<Self> {
        let value: f64 = text.parse().ok()?;
        // Most numbers are short integers, which a double prints unchanged.
        if text.len() <= 15 && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Self::new(value));
        }
        let canonical = canonical(text);
        let literal = (value.is_finite() && canonical != double_text(value)).then(|| Rc::from(canonical));
        Some(Self { value, literal })
    }

    pub(crate) fn value(&self) -> f64 {
        self.value
    }

    /// As JSON: NaN is `null`, and infinity the largest double.
    pub(crate) fn text(&self) -> String {
        match &self.literal {
            Some(literal) => literal.to_string(),
            None => double_text(self.value),
        }
    }
}

/// The shortest decimal text of a double, in jq's layout.
pub(crate) fn double_text(value: f64) -> String {
    if value.is_nan() {
        return "null".to_owned();
    }
    let value = value.clamp(f64::MIN, f64::MAX);
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = mantissa.replace('.', "");
    let sign = if value < 0.0 { "-" } else { "" };
    // Number of digits before the point.
    let before = exponent + 1;
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    if before <= -4 || before > count + 15 {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{point}{rest}e{exponent_sign}{:02}", exponent.abs());
    }
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    if before <= 0 {
        return format!("{sign}0.{}{digits}", zeros(-before));
    }
    if before >= count {
        return format!("{sign}{digits}{}", zeros(before - count));
    }
    let (whole, fraction) = digits.split_at(usize::try_from(before).unwrap_or(0));
    format!("{sign}{whole}.{fraction}")
}

/// A decimal number with all its digits in canonical form: no leading zeros, and an exponent only if the point is far away.
pub(crate) fn canonical(text: &str) -> String {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let written: i64 = exponent.parse().unwrap_or(0);
    let exponent = written.saturating_sub(i64::try_from(fraction.len()).unwrap_or(0));
    let digits = format!("{whole}{fraction}");
    let digits = match digits.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let count = i64::try_from(digits.len()).unwrap_or(0);
    let adjusted = exponent.saturating_add(count - 1);
    if exponent > 0 || adjusted < -6 {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{first}{point}{rest}E{adjusted:+}");
    }
    if exponent == 0 {
        return format!("{sign}{digits}");
    }
    if adjusted >= 0 {
        let (whole, fraction) = digits.split_at(usize::try_from(adjusted + 1).unwrap_or(0));
        return format!("{sign}{whole}.{fraction}");
    }
    format!("{sign}0.{}{digits}", "0".repeat(usize::try_from(-adjusted - 1).unwrap_or(0)))
}
