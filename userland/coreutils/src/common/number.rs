//! Numbers with a unit, as options of GNU tools take them.

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
pub(crate) enum Wrong {
    /// It is none.
    Invalid,
    /// It is too large for any file.
    TooLarge,
}

/// Digits and a unit.
pub(crate) fn amount(text: &[u8]) -> Result<u64, Wrong> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, suffix) = text.split_at_checked(digits).ok_or(Wrong::Invalid)?;
    if digits.is_empty() {
        return Err(Wrong::Invalid);
    }
    // A letter that is no unit is the worse mistake. Two units are larger than any number can be.
    if matches!(suffix, [b'Z' | b'Y'] | [b'Z' | b'Y', b'B'] | [b'Z' | b'Y', b'i', b'B']) {
        return Err(Wrong::TooLarge);
    }
    let unit = unit(suffix).ok_or(Wrong::Invalid)?;
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u64>().ok());
    number.and_then(|number| number.checked_mul(unit)).ok_or(Wrong::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::{Wrong, amount};

    #[test]
    fn units_multiply() {
        for (text, wanted) in [("5", 5), ("1k", 1024), ("1K", 1024), ("2kB", 2000), ("1b", 512), ("1MiB", 1 << 20)] {
            assert_eq!(amount(text.as_bytes()), Ok(wanted), "{text}");
        }
        for text in ["", "x", "1x", "k", "1Kb", "-1"] {
            assert_eq!(amount(text.as_bytes()), Err(Wrong::Invalid), "{text}");
        }
        assert_eq!(amount(b"99999999999999999999"), Err(Wrong::TooLarge));
    }
}
