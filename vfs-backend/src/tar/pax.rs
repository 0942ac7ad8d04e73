//! Records of POSIX tars: `length key=value` lines whose values may contain anything.

/// Records in tar encoding.
///
/// The `tar` crate's reader and writer of records are not used, because they look for line ends in values, and a file
/// name may contain one.
#[derive(Debug, Default)]
pub(super) struct Records {
    bytes: Vec<u8>,
    binary: bool,
}

impl Records {
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        self.binary |= std::str::from_utf8(value).is_err();
        self.bytes.extend_from_slice(&record(key, value));
    }

    /// Encodes all records, preceded by the charset record if a value is not UTF-8.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        if self.binary { [record(b"hdrcharset", b"BINARY"), self.bytes].concat() } else { self.bytes }
    }
}

/// A record starts with its own length, whose digits count too.
fn record(key: &[u8], value: &[u8]) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + digits(rest);
    length = rest + digits(length);
    [length.to_string().as_bytes(), b" ", key, b"=", value, b"\n"].concat()
}

fn digits(number: usize) -> usize {
    number.to_string().len()
}

/// Parses keys and values of the records; `None` when they are malformed.
pub(super) fn parse(mut bytes: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().position(|&byte| byte == b' ')?;
        let length: usize = std::str::from_utf8(bytes.get(..space)?).ok()?.parse().ok()?;
        let (line, rest) = bytes.split_at_checked(length)?;
        let line = line.get(space + 1..)?.strip_suffix(b"\n")?;
        let equals = line.iter().position(|&byte| byte == b'=')?;
        found.push((line.get(..equals)?, line.get(equals + 1..)?));
        bytes = rest;
    }
    Some(found)
}

/// Parses a decimal number of seconds to nanoseconds since the epoch; earlier times count as the epoch.
pub(super) fn time(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    let negative = text.starts_with('-');
    let (seconds, fraction) =
        text.trim_start_matches('-').split_once('.').unwrap_or((text.trim_start_matches('-'), ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds: u64 = seconds.parse().ok()?;
    let nanos: u64 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    if negative { Some(0) } else { seconds.checked_mul(1_000_000_000)?.checked_add(nanos) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_counts_its_own_digits() {
        assert_eq!(record(b"path", b"x"), b"9 path=x\n");
        for length in 0..2000 {
            let value = vec![b'v'; length];
            let record = record(b"path", &value);
            assert_eq!(parse(&record), Some(vec![(&b"path"[..], value.as_slice())]), "{length}");
        }
    }

    #[test]
    fn values_may_contain_line_ends_and_invalid_utf8() {
        let mut records = Records::default();
        records.add(b"path", b"a\nb=\xff");
        records.add(b"mtime", b"1.5");
        let bytes = records.into_bytes();
        let expected: Vec<(&[u8], &[u8])> =
            vec![(b"hdrcharset", b"BINARY"), (b"path", b"a\nb=\xff"), (b"mtime", b"1.5")];
        assert_eq!(parse(&bytes), Some(expected));
    }

    #[test]
    fn malformed_records_return_none() {
        for bytes in
            ["5", "x path=1\n", "99 path=x\n", "10 path=xy", "4 a\n", "0 a=b\n", "18446744073709551616 a=\n", "3 =\n"]
        {
            assert_eq!(parse(bytes.as_bytes()), None, "{bytes}");
        }
    }

    #[test]
    fn times_have_nine_digits_and_start_at_the_epoch() {
        assert_eq!(time(b"1.5"), Some(1_500_000_000));
        assert_eq!(time(b"1.0000000019"), Some(1_000_000_001));
        assert_eq!(time(b"-3.2"), Some(0));
        assert_eq!(time(b"12"), Some(12_000_000_000));
        assert_eq!((time(b""), time(b"1.x"), time(b"99999999999999999999")), (None, None, None));
    }
}
