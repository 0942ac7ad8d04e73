//! pax extended header records.

use std::collections::BTreeMap;

use crate::header::Member;

/// Keys and values.
pub(crate) type Records = BTreeMap<Vec<u8>, Vec<u8>>;

/// Parses records of the form `LENGTH KEY=VALUE`, up to the first invalid one.
pub(crate) fn parse(mut text: &[u8]) -> Records {
    let mut records = Records::new();
    while let Some((key, value, rest)) = record(text) {
        text = rest;
        records.insert(key.to_vec(), value.to_vec());
    }
    records
}

fn record(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = text.iter().position(|byte| *byte == b' ')?;
    let length: usize = std::str::from_utf8(text.get(..space)?).ok()?.parse().ok()?;
    let line = text.get(space + 1..length)?.strip_suffix(b"\n")?;
    let equals = line.iter().position(|byte| *byte == b'=')?;
    Some((line.get(..equals)?, line.get(equals + 1..)?, text.get(length..)?))
}

/// Overrides header fields. An empty value cancels an earlier global record.
pub(crate) fn apply(records: &Records, member: &mut Member) {
    for (key, value) in records.iter().filter(|(_, value)| !value.is_empty()) {
        let number = || std::str::from_utf8(value).ok().and_then(|text| text.parse::<u64>().ok());
        match key.as_slice() {
            b"path" => member.name.clone_from(value),
            b"linkpath" => member.link.clone_from(value),
            b"uname" => member.uname.clone_from(value),
            b"gname" => member.gname.clone_from(value),
            b"uid" => member.uid = number().unwrap_or(member.uid),
            b"gid" => member.gid = number().unwrap_or(member.gid),
            b"size" => {
                let size = number().unwrap_or(member.size);
                (member.size, member.stored) = (size, size);
            }
            b"mtime" => member.mtime = time(value).unwrap_or(member.mtime),
            _ => {}
        }
    }
    if member.kind == b'0' && member.name.ends_with(b"/") {
        member.kind = b'5';
    }
}

/// Returns the keys that GNU tar does not know, in order, for a warning.
pub(crate) fn unknown(mut text: &[u8]) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    while let Some((key, _, rest)) = record(text) {
        if !is_known(key) {
            keys.push(key.to_vec());
        }
        text = rest;
    }
    keys
}

/// Returns whether GNU tar knows a key, though not all of them have an effect here.
fn is_known(key: &[u8]) -> bool {
    const PLAIN: &[&[u8]] = &[
        b"atime",
        b"charset",
        b"comment",
        b"ctime",
        b"gid",
        b"gname",
        b"linkpath",
        b"mtime",
        b"path",
        b"size",
        b"uid",
        b"uname",
        b"RHT.security.selinux",
        b"SCHILY.acl.access",
        b"SCHILY.acl.default",
    ];
    PLAIN.contains(&key) || key.starts_with(b"GNU.") || key.starts_with(b"SCHILY.xattr.")
}

/// Seconds with a fraction.
fn time(text: &[u8]) -> Option<(i64, u32)> {
    let text = std::str::from_utf8(text).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = whole.parse().ok()?;
    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let nanoseconds: u32 = digits.parse().ok()?;
    if whole.starts_with('-') && nanoseconds > 0 {
        return Some((seconds.checked_sub(1)?, 1_000_000_000 - nanoseconds));
    }
    Some((seconds, nanoseconds))
}

/// Formats one record. Its length includes its own digits.
pub(crate) fn write(key: &str, value: &[u8]) -> Vec<u8> {
    // A space, the equals sign and the line end.
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    [length.to_string().as_bytes(), b" ", key.as_bytes(), b"=", value, b"\n"].concat()
}

/// Formats seconds with a fraction, without trailing zeros.
pub(crate) fn write_time((seconds, nanoseconds): (i64, u32)) -> String {
    if nanoseconds == 0 {
        return seconds.to_string();
    }
    let (sign, seconds, nanoseconds) =
        if seconds < 0 { ("-", -(seconds + 1), 1_000_000_000 - nanoseconds) } else { ("", seconds, nanoseconds) };
    let text = format!("{sign}{seconds}.{nanoseconds:09}");
    text.trim_end_matches('0').to_owned()
}
