//! Numbers in options of GNU tools.

/// Returns the factor of a unit.
fn unit(suffix: &[u8]) -> Option<u64> {
    const LETTERS: &[u8] = b"KMGTPE";
    Some(match suffix {
        b"" => 1,
        b"b" => 512,
        [letter, rest @ ..] => {
            let letter = letter.to_ascii_uppercase();
            let power = u32::try_from(LETTERS.iter().position(|known| *known == letter)? + 1).ok()?;
            match rest {
                b"" | b"iB" => 1024_u64.checked_pow(power)?,
                b"B" => 1000_u64.checked_pow(power)?,
                _ => return None,
            }
        }
    })
}

/// Number parse error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberError {
    /// The text is not a number.
    Invalid,
    /// The number does not fit into 64 bits.
    TooLarge,
    /// The number is outside the range of the option.
    OutOfRange,
}

impl NumberError {
    /// End of the error message, after the quoted number.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Invalid => "",
            Self::TooLarge => ": Value too large for defined data type",
            Self::OutOfRange => ": Numerical result out of range",
        }
    }
}

/// Parses digits with an optional unit.
pub(crate) fn amount(text: &[u8]) -> Result<u64, NumberError> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, suffix) = text.split_at_checked(digits).ok_or(NumberError::Invalid)?;
    if digits.is_empty() {
        return Err(NumberError::Invalid);
    }
    // Zetta and yotta exceed 64 bits with any number.
    if matches!(suffix, [b'Z' | b'Y'] | [b'Z' | b'Y', b'B'] | [b'Z' | b'Y', b'i', b'B']) {
        return Err(NumberError::TooLarge);
    }
    let unit = unit(suffix).ok_or(NumberError::Invalid)?;
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u64>().ok());
    number.and_then(|number| number.checked_mul(unit)).ok_or(NumberError::TooLarge)
}

/// Parses digits without a unit.
pub(crate) fn in_range(text: &[u8], range: std::ops::RangeInclusive<usize>) -> Result<usize, NumberError> {
    if !text.iter().all(u8::is_ascii_digit) {
        return Err(NumberError::Invalid);
    }
    let number = usize::try_from(amount(text)?).unwrap_or(usize::MAX);
    if range.contains(&number) { Ok(number) } else { Err(NumberError::OutOfRange) }
}

#[cfg(test)]
mod tests {
    use super::{NumberError, amount, in_range};

    #[test]
    fn units_multiply() {
        for (text, wanted) in [("5", 5), ("1k", 1024), ("1K", 1024), ("2kB", 2000), ("1b", 512), ("1MiB", 1 << 20)] {
            assert_eq!(amount(text.as_bytes()), Ok(wanted), "{text}");
        }
        for text in ["", "x", "1x", "k", "1Kb", "-1"] {
            assert_eq!(amount(text.as_bytes()), Err(NumberError::Invalid), "{text}");
        }
        assert_eq!(amount(b"99999999999999999999"), Err(NumberError::TooLarge));
    }

    #[test]
    fn ranges_are_checked() {
        assert_eq!(in_range(b"9", 1..=9), Ok(9));
        assert_eq!(in_range(b"0", 1..=9), Err(NumberError::OutOfRange));
        assert_eq!(in_range(b"1K", 1..=9999), Err(NumberError::Invalid));
        assert_eq!(in_range(b"99999999999999999999", 1..=9), Err(NumberError::TooLarge));
    }
}
