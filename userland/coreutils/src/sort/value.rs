//! Values of options of `sort`.

use tidebox_gnu::message::{path_label, print_error, quote_value};
use tidebox_gnu::stream::Input;

use super::{BUFFER_BYTES, about, fail};
use crate::common::Failure;

/// Returns the salt of the hashes of `-R`.
pub(super) fn salt(source: Option<&[u8]>) -> Result<[u8; 16], Failure> {
    let mut salt = [0; 16];
    match source {
        None => tidebox_rt::random(&mut salt).map_err(|errno| about("open failed", b"/dev/urandom", errno))?,
        Some(name) => {
            let input = Input::open(name).map_err(|errno| about("open failed", name, errno))?;
            let mut filled = 0;
            while filled < salt.len() {
                let got = tidebox_rt::read(input.fd(), salt.get_mut(filled..).unwrap_or_default());
                match got.map_err(|errno| about("read failed", name, errno))? {
                    0 => return Err(fail(format!("{}: end of file", path_label(name)))),
                    got => filled += got,
                }
            }
        }
    }
    Ok(salt)
}

/// Parses the value of `-t`. The option may be repeated only with the same value.
pub(super) fn tab(value: &[u8], before: Option<u8>) -> Result<u8, Failure> {
    let tab = match value {
        [] => return Err(fail("empty tab".to_owned())),
        [byte] => *byte,
        b"\\0" => 0,
        other => return Err(fail(format!("multi-character tab {}", quote_value(other)))),
    };
    match before {
        Some(before) if before != tab => Err(fail("incompatible tabs".to_owned())),
        _ => Ok(tab),
    }
}

/// Parses a number. Returns it with the text after it.
fn number(option: &str, value: &[u8]) -> Result<(u64, Vec<u8>), Failure> {
    let shown = String::from_utf8_lossy(value).into_owned();
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = value.split_at_checked(digits).unwrap_or((b"", b""));
    if digits.is_empty() {
        return Err(fail(format!("invalid {option} argument '{shown}'")));
    }
    match std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()) {
        Some(number) => Ok((number, rest.to_vec())),
        None => Err(fail(format!("{option} argument '{shown}' too large"))),
    }
}

/// Parses the value of `-S`, by default in KiB, to bytes.
pub(super) fn size(value: &[u8]) -> Result<usize, Failure> {
    let (number, suffix) = number("-S", value)?;
    let shown = String::from_utf8_lossy(value).into_owned();
    let unit = match suffix.as_slice() {
        b"" => 1 << 10,
        b"b" => 1,
        // Percentage of the largest buffer.
        b"%" => (BUFFER_BYTES as u64 * 4) / 100,
        [letter] => match b"KMGTPEZY".iter().position(|unit| *unit == letter.to_ascii_uppercase()) {
            Some(power) => 1_u64.checked_shl(10 * (power as u32 + 1)).unwrap_or(u64::MAX),
            None => return Err(fail(format!("invalid suffix in -S argument '{shown}'"))),
        },
        _ => return Err(fail(format!("invalid suffix in -S argument '{shown}'"))),
    };
    Ok(usize::try_from(number.saturating_mul(unit)).unwrap_or(usize::MAX))
}

/// Parses the value of `--batch-size`.
pub(super) fn batch(value: &[u8]) -> Result<usize, Failure> {
    match number("--batch-size", value)? {
        (number, rest) if rest.is_empty() && number >= 2 => Ok(usize::try_from(number).unwrap_or(usize::MAX).min(256)),
        (_, rest) if rest.is_empty() => {
            print_error("sort", &format!("invalid --batch-size argument {}", quote_value(value)));
            Err(fail(format!("minimum --batch-size argument is {}", quote_value(b"2"))))
        }
        _ => Err(fail(format!("invalid suffix in --batch-size argument '{}'", String::from_utf8_lossy(value)))),
    }
}

/// Checks the value of `--parallel`, which has no effect.
pub(super) fn parallel(value: &[u8]) -> Result<(), Failure> {
    match number("--parallel", value)? {
        (0, rest) if rest.is_empty() => Err(fail("number in parallel must be nonzero".to_owned())),
        (_, rest) if rest.is_empty() => Ok(()),
        _ => Err(fail(format!("invalid suffix in --parallel argument '{}'", String::from_utf8_lossy(value)))),
    }
}
