//! Units of sizes: `--block-size`, its environment variables, and output of sizes.

/// Format of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Units of this many bytes, rounded up.
    Bytes(u64),
    /// Like `Bytes`, followed by the letter of the unit.
    Lettered(u64, char),
    /// With the largest fitting letter, in powers of this.
    Human(u64),
}

/// Parses a value of `--block-size`: `512`, `1K`, `1kB`, `M`, `human-readable`.
pub(crate) fn block_size(text: &str) -> Option<Unit> {
    match text {
        "" => return None,
        "human-readable" => return Some(Unit::Human(1024)),
        "si" => return Some(Unit::Human(1000)),
        _ => {}
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let number: u64 = if number.is_empty() { 1 } else { number.parse().ok()? };
    let (letter, base) = match suffix.strip_suffix("iB").or_else(|| suffix.strip_suffix('B')) {
        Some(letter) if suffix.ends_with("iB") => (letter, 1024u64),
        Some(letter) => (letter, 1000),
        None => (suffix, 1024),
    };
    let power = match letter.len() {
        0 => 0,
        1 => u32::try_from("KMGTPE".find(&letter.to_ascii_uppercase())? + 1).ok()?,
        _ => return None,
    };
    let size = number.checked_mul(base.checked_pow(power)?)?;
    match suffix.chars().next() {
        _ if size == 0 => None,
        // A unit without a number is printed with every size.
        Some(letter) if digits == 0 => Some(Unit::Lettered(size, letter)),
        _ => Some(Unit::Bytes(size)),
    }
}

/// Returns the error message of a value that [`block_size`] cannot parse.
pub(crate) fn wrong_size(option: &str, value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let number = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let has_number = text.starts_with(|c: char| c.is_ascii_digit());
    let what = if has_number && number.len() < text.len() { "invalid suffix in" } else { "invalid" };
    format!("{what} {option} argument '{text}'")
}

/// Formats a size.
pub(crate) fn format_size(bytes: u64, unit: Unit) -> String {
    let base = match unit {
        Unit::Bytes(unit) => return bytes.div_ceil(unit).to_string(),
        Unit::Lettered(unit, letter) => return format!("{}{letter}", bytes.div_ceil(unit)),
        Unit::Human(base) => base,
    };
    let mut power: u64 = 1;
    let mut letters = "KMGTPE".chars();
    let mut letter = None;
    while bytes.div_ceil(power) >= base && letters.as_str() != "" {
        power = power.saturating_mul(base);
        letter = letters.next();
    }
    let Some(letter) = letter else {
        return bytes.to_string();
    };
    // As in GNU: lower-case k for 1000, one decimal below ten, rounded up.
    let letter = if base == 1000 && letter == 'K' { 'k' } else { letter };
    let tenths = u128::from(bytes).saturating_mul(10).div_ceil(u128::from(power));
    if tenths < 100 {
        format!("{}.{}{letter}", tenths / 10, tenths % 10)
    } else {
        format!("{}{letter}", bytes.div_ceil(power))
    }
}

/// Returns the unit of the first variable that is set, if it is valid. The default is 1 KiB, or 512 bytes with
/// `POSIXLY_CORRECT`.
pub(crate) fn of_environment(variables: &[&str]) -> Unit {
    let set = variables.iter().find_map(|name| std::env::var(name).ok());
    let plain = if std::env::var_os("POSIXLY_CORRECT").is_some() { 512 } else { 1024 };
    set.and_then(|text| block_size(&text)).unwrap_or(Unit::Bytes(plain))
}
