//! Units of sizes: what `--block-size` and its variables say, and how sizes are printed.

/// Format of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// In units of so many bytes, rounded up.
    Bytes(u64),
    /// In units of so many bytes, with the unit's letter.
    Lettered(u64, char),
    /// With a letter, in powers of this.
    Human(u64),
}

/// Reads `1`, `512`, `1K`, `M`, `human-readable` and the like.
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
    let power = match letter {
        "" => 0,
        "K" | "k" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
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
    let begins = text.starts_with(|c: char| c.is_ascii_digit());
    let what = if begins && number.len() < text.len() { "invalid suffix in" } else { "invalid" };
    format!("{what} {option} argument '{text}'")
}

/// A size as it is printed.
pub(crate) fn shown(bytes: u64, unit: Unit) -> String {
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
    // As in GNU, kilo is small in powers of 1000, one digit follows below ten, and all is rounded up.
    let letter = if base == 1000 && letter == 'K' { 'k' } else { letter };
    let tenths = u128::from(bytes).saturating_mul(10).div_ceil(u128::from(power));
    if tenths < 100 {
        format!("{}.{}{letter}", tenths / 10, tenths % 10)
    } else {
        format!("{}{letter}", bytes.div_ceil(power))
    }
}

/// The unit that the first of these variables which is set and sound asks for, else blocks of 1 KiB, or of 512 bytes for who
/// wants POSIX.
pub(crate) fn of_environment(variables: &[&str]) -> Unit {
    let set = variables.iter().find_map(|name| std::env::var(name).ok());
    let plain = if std::env::var_os("POSIXLY_CORRECT").is_some() { 512 } else { 1024 };
    set.and_then(|text| block_size(&text)).unwrap_or(Unit::Bytes(plain))
}
