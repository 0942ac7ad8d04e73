//! Numbers as C's `long double` on x86-64, with a mantissa of 64 bits. bash prints `%f` and `%a` with them, so values
//! halfway between two decimals round differently than a `double`.

/// A positive number: `mantissa` times two to the power of `exponent`, the mantissa's top bit set, or zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extended {
    mantissa: u64,
    exponent: i32,
}

impl Extended {
    /// Reads decimal digits with at most one point. `None` when there are more digits than this can hold exactly.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let text = match text.split_first() {
            Some((b'+' | b'-', rest)) => rest,
            _ => text,
        };
        let (mut digits, mut places, mut point) = (0_u64, 0_u32, false);
        if !text.iter().any(u8::is_ascii_digit) {
            return None;
        }
        for byte in text {
            match byte {
                b'0'..=b'9' => {
                    digits = digits.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
                    places += u32::from(point);
                }
                b'.' if !point => point = true,
                _ => return None,
            }
        }
        Self::quotient(digits, 10_u64.checked_pow(places)?)
    }

    /// The nearest number to a fraction, the even one of two.
    fn quotient(top: u64, bottom: u64) -> Option<Self> {
        if top == 0 {
            return Some(Self { mantissa: 0, exponent: 0 });
        }
        // The quotient of this shift has 64 or 65 bits.
        let shift = 64 + top.leading_zeros() as i32 - bottom.leading_zeros() as i32;
        let (top, bottom) = match u32::try_from(shift) {
            Ok(shift) => (u128::from(top).checked_shl(shift)?, u128::from(bottom)),
            Err(_) => return None,
        };
        let (mut value, mut rest) = (top / bottom, top % bottom);
        let mut exponent = -shift;
        let mut divisor = bottom;
        if value >> 64 != 0 {
            rest += (value & 1) * bottom;
            divisor = bottom * 2;
            value >>= 1;
            exponent += 1;
        }
        if rest * 2 > divisor || (rest * 2 == divisor && value & 1 == 1) {
            value += 1;
            if value >> 64 != 0 {
                value >>= 1;
                exponent += 1;
            }
        }
        Some(Self { mantissa: u64::try_from(value).ok()?, exponent })
    }

    /// Digits with this many decimals, as `%f` prints them; `None` where the number is too large or too small for it.
    pub(super) fn fixed(self, precision: usize) -> Option<String> {
        let places = u32::try_from(-self.exponent).ok().filter(|places| *places <= 120);
        let places = if self.mantissa == 0 { 0 } else { places? };
        let (mut whole, mut rest) = if places >= 64 {
            (0, u128::from(self.mantissa))
        } else {
            let mask = (1_u128 << places) - 1;
            (u128::from(self.mantissa >> places.min(63)), u128::from(self.mantissa) & mask)
        };
        let one = 1_u128 << places;
        let mut digits = Vec::with_capacity(precision);
        for _ in 0..precision {
            rest *= 10;
            digits.push((rest >> places) as u8);
            rest &= one - 1;
        }
        let last_is_odd = digits.last().map_or(whole & 1 == 1, |digit| digit % 2 == 1);
        if rest * 2 > one || (rest * 2 == one && last_is_odd) {
            let mut carries = true;
            for digit in digits.iter_mut().rev() {
                *digit += 1;
                carries = *digit == 10;
                if !carries {
                    break;
                }
                *digit = 0;
            }
            whole += u128::from(carries);
        }
        let decimals: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        Some(if precision == 0 { whole.to_string() } else { format!("{whole}.{decimals}") })
    }

    /// Hexadecimal digits, as `%a` prints them.
    pub(super) fn hexadecimal(self, precision: Option<usize>) -> String {
        if self.mantissa == 0 {
            let zeros = "0".repeat(precision.unwrap_or(0));
            let point = if zeros.is_empty() { "" } else { "." };
            return format!("0x0{point}{zeros}p+0");
        }
        let mut mantissa = u128::from(self.mantissa);
        let mut exponent = self.exponent + 60;
        if let Some(precision) = precision.filter(|precision| *precision < 15) {
            let dropped = 60 - 4 * precision as u32;
            let (unit, rest) = (1_u128 << dropped, mantissa & ((1 << dropped) - 1));
            mantissa -= rest;
            if rest * 2 > unit || (rest * 2 == unit && mantissa & unit != 0) {
                mantissa += unit;
            }
            if mantissa >> 64 != 0 {
                mantissa >>= 4;
                exponent += 4;
            }
        }
        let digits = format!("{:016x}", mantissa);
        let (first, rest) = digits.split_at(1);
        let rest = match precision {
            None => rest.trim_end_matches('0').to_owned(),
            Some(precision) => format!("{rest:0<precision$}").chars().take(precision).collect(),
        };
        let point = if rest.is_empty() { "" } else { "." };
        format!("0x{first}{point}{rest}p{exponent:+}")
    }
}
