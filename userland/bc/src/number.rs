//! Numbers: an integer and the number of its decimals.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{Signed, ToPrimitive, Zero};

/// A decimal number of any precision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Number {
    digits: BigInt,
    scale: usize,
}

/// Ten to a power.
fn ten(power: usize) -> BigInt {
    BigInt::from(10).pow(u32::try_from(power).unwrap_or(u32::MAX))
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self { digits: BigInt::from(value), scale: 0 }
    }
}

impl Number {
    pub(crate) fn new(digits: BigInt, scale: usize) -> Self {
        Self { digits, scale }
    }

    /// All digits as an integer.
    pub(crate) fn into_digits(self) -> BigInt {
        self.digits
    }

    pub(crate) fn truth(value: bool) -> Self {
        Self::from(i64::from(value))
    }

    /// Parses decimal digits with an optional point.
    pub(crate) fn decimal(text: &[u8]) -> Self {
        let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
        let digits: Vec<u8> = text.iter().copied().filter(u8::is_ascii_digit).collect();
        let scale = text.len().saturating_sub(point + 1);
        Self { digits: BigInt::parse_bytes(&digits, 10).unwrap_or_default(), scale }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_zero()
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.digits.is_negative()
    }

    pub(crate) fn scale(&self) -> usize {
        self.scale
    }

    /// The number of digits, as returned by `length`.
    pub(crate) fn length(&self) -> usize {
        let all = if self.is_zero() { 0 } else { self.digits.magnitude().to_string().len() };
        match all.max(self.scale) {
            0 => 1,
            length => length,
        }
    }

    /// Sets the number of decimals, truncating excess digits.
    pub(crate) fn with_scale(&self, scale: usize) -> Self {
        let digits = match scale.cmp(&self.scale) {
            Ordering::Equal => self.digits.clone(),
            Ordering::Greater => &self.digits * ten(scale - self.scale),
            Ordering::Less => &self.digits / ten(self.scale - scale),
        };
        Self { digits, scale }
    }

    fn aligned(&self, other: &Self) -> (BigInt, BigInt, usize) {
        let scale = self.scale.max(other.scale);
        (self.with_scale(scale).digits, other.with_scale(scale).digits, scale)
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        let (left, right, scale) = self.aligned(other);
        Self { digits: left + right, scale }
    }

    pub(crate) fn subtract(&self, other: &Self) -> Self {
        let (left, right, scale) = self.aligned(other);
        Self { digits: left - right, scale }
    }

    pub(crate) fn negated(&self) -> Self {
        Self { digits: -&self.digits, scale: self.scale }
    }

    pub(crate) fn multiply(&self, other: &Self, scale: usize) -> Self {
        let full = self.scale + other.scale;
        let wanted = full.min(scale.max(self.scale).max(other.scale));
        Self { digits: &self.digits * &other.digits, scale: full }.with_scale(wanted)
    }

    /// `None` when the divisor is zero.
    pub(crate) fn divide(&self, other: &Self, scale: usize) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        let shift = scale + other.scale;
        let (dividend, divisor) = match shift.checked_sub(self.scale) {
            Some(up) => (&self.digits * ten(up), other.digits.clone()),
            None => (self.digits.clone(), &other.digits * ten(self.scale - shift)),
        };
        Some(Self { digits: dividend / divisor, scale })
    }

    pub(crate) fn remainder(&self, other: &Self, scale: usize) -> Option<Self> {
        let result_scale = self.scale.max(other.scale + scale);
        let quotient = self.divide(other, scale)?;
        let product = quotient.multiply(other, result_scale);
        let result = self.subtract(&product);
        Some(result.with_scale(result.scale.max(result_scale)))
    }

    /// Raises to an integer power, which must be small enough.
    pub(crate) fn power(&self, power: i64, scale: usize) -> Option<Self> {
        if power == 0 {
            return Some(Self::from(1));
        }
        let times = u32::try_from(power.unsigned_abs()).ok()?;
        let full = Self { digits: self.digits.pow(times), scale: self.scale.checked_mul(times as usize)? };
        if power < 0 {
            return if full.is_zero() { None } else { Self::from(1).divide(&full, scale) };
        }
        let wanted = full.scale.min(scale.max(self.scale));
        Some(full.with_scale(wanted))
    }

    /// `None` for a negative number.
    pub(crate) fn square_root(&self, scale: usize) -> Option<Self> {
        if self.is_negative() {
            return None;
        }
        if self.is_zero() {
            return Some(Self::default());
        }
        if self.compare(&Self::from(1)).is_eq() {
            return Some(Self::from(1));
        }
        let scale = scale.max(self.scale);
        let digits = self.with_scale(scale * 2).digits;
        Some(Self { digits: digits.sqrt(), scale })
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let (left, right, _) = self.aligned(other);
        left.cmp(&right)
    }

    /// Converts the integer part; `None` if it is too large.
    pub(crate) fn to_i64(&self) -> Option<i64> {
        self.with_scale(0).digits.to_i64()
    }

    /// Parses digits in a base. Digits too large for the base count as its largest digit.
    pub(crate) fn in_base(text: &[u8], base: u32) -> Self {
        let value = |byte: u8| match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            byte => u32::from(byte.to_ascii_uppercase().saturating_sub(b'A')) + 10,
        };
        if let [only] = text
            && *only != b'.'
        {
            return Self::from(i64::from(value(*only)));
        }
        let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
        let digits = |part: &[u8]| {
            let part: Vec<u8> = part.iter().map(|byte| value(*byte).min(base - 1) as u8).collect();
            BigInt::from_biguint(Sign::Plus, BigUint::from_radix_be(&part, base).unwrap_or_default())
        };
        let whole = match text.get(..point).unwrap_or_default() {
            // A single digit has its own value in any base.
            [only] => Self::from(i64::from(value(*only))),
            several => Self { digits: digits(several), scale: 0 },
        };
        let fraction = text.get(point + 1..).unwrap_or_default();
        if fraction.is_empty() {
            return whole;
        }
        let divisor = BigInt::from(base).pow(fraction.len() as u32);
        let part = Self { digits: digits(fraction), scale: 0 };
        match part.divide(&Self { digits: divisor, scale: 0 }, fraction.len()) {
            Some(part) => whole.add(&part),
            None => whole,
        }
    }

    /// Parses digits in a base. Each digit has its own value, even if it is too large for the base.
    pub(crate) fn of_digits(text: &[u8], base: u32) -> Self {
        let point = text.iter().position(|byte| *byte == b'.');
        if base == 10 && text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') {
            return Self::decimal(text);
        }
        let (mut digits, mut fraction) = (BigInt::default(), 0_u32);
        for byte in text.iter().filter(|byte| **byte != b'.') {
            let digit = char::from(*byte).to_digit(16).unwrap_or(0);
            digits = digits * base + digit;
        }
        if let Some(point) = point {
            fraction = u32::try_from(text.len() - point - 1).unwrap_or(u32::MAX);
        }
        let whole = Self { digits, scale: 0 };
        if fraction == 0 {
            return whole;
        }
        let divisor = Self { digits: BigInt::from(base).pow(fraction), scale: 0 };
        whole.divide(&divisor, fraction as usize).unwrap_or_default()
    }

    /// Number of digits without leading zeros, ignoring the point; zero has one.
    pub(crate) fn significant_digits(&self) -> usize {
        self.digits.magnitude().to_string().len()
    }

    /// Characters per digit in an output base.
    pub(crate) fn written(&self, base: u32) -> Vec<u8> {
        if self.is_zero() {
            return b"0".to_vec();
        }
        let mut out = Vec::new();
        if self.is_negative() {
            out.push(b'-');
        }
        let power = ten(self.scale);
        let magnitude = BigInt::from_biguint(Sign::Plus, self.digits.magnitude().clone());
        let (whole, fraction) = (&magnitude / &power, &magnitude % &power);
        if base == 10 {
            if !whole.is_zero() {
                out.extend_from_slice(whole.to_string().as_bytes());
            }
            if self.scale > 0 {
                out.extend_from_slice(format!(".{:0>width$}", fraction.to_string(), width = self.scale).as_bytes());
            }
            return out;
        }
        let width = (base - 1).to_string().len();
        let mut spaced = true;
        let digit = |digit: u32, spaced: bool, out: &mut Vec<u8>| match base {
            0..=16 => out.push(b"0123456789ABCDEF".get(digit as usize).copied().unwrap_or(b'0')),
            _ => {
                if spaced {
                    out.push(b' ');
                }
                out.extend_from_slice(format!("{digit:0>width$}").as_bytes());
            }
        };
        if !whole.is_zero() {
            let mut rest = whole;
            let mut digits = Vec::new();
            let divisor = BigInt::from(base);
            if base <= 256 {
                digits = rest.magnitude().to_radix_le(base).into_iter().map(u32::from).collect();
            } else {
                while !rest.is_zero() {
                    digits.push((&rest % &divisor).to_u32().unwrap_or(0));
                    rest /= &divisor;
                }
            }
            digits.iter().rev().for_each(|value| digit(*value, true, &mut out));
        }
        if self.scale > 0 {
            out.push(b'.');
            spaced = false;
            let mut fraction = fraction;
            let mut reached = BigInt::from(1);
            while reached.to_string().len() <= self.scale {
                fraction *= base;
                let value = (&fraction / &power).to_u32().unwrap_or(0);
                fraction %= &power;
                digit(value, spaced, &mut out);
                spaced = true;
                reached *= base;
            }
        }
        let _ = spaced;
        out
    }
}
