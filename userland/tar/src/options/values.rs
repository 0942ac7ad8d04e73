//! Option values.

use super::apply::usage;
use super::flags::Flag;
use super::{Owner, Stop};
use crate::header::Format;

/// Parses a format name.
pub(super) fn format(text: &str) -> Result<Format, Stop> {
    Ok(match text {
        "ustar" => Format::Ustar,
        "posix" | "pax" => Format::Pax,
        "gnu" => Format::Gnu,
        "v7" | "oldgnu" => return Err(Stop::Fatal(format!("the format {text} is not supported").into_bytes())),
        _ => return Err(usage(format!("{text}: Invalid archive format"))),
    })
}

/// Parses `NAME`, `NAME:ID`, `:ID` or `ID`.
pub(super) fn owner(value: &[u8]) -> Option<Owner> {
    let text = std::str::from_utf8(value).ok()?;
    if let Some((name, id)) = text.split_once(':') {
        let name = (!name.is_empty()).then(|| name.as_bytes().to_vec());
        return Some(Owner { name, id: Some(id.parse().ok()?) });
    }
    match text.parse() {
        Ok(id) => Some(Owner { name: None, id: Some(id) }),
        Err(_) => Some(Owner { name: Some(value.to_vec()), id: None }),
    }
}

/// Reports an unknown owner.
pub(super) fn invalid_owner(value: &[u8], what: &str) -> Stop {
    Stop::Fatal([value, b": Invalid ", what.as_bytes()].concat())
}

/// Reports a value that is not in the list.
pub(super) fn invalid_choice(value: &[u8], option: &str, valid: &[&str]) -> Vec<u8> {
    let mut text = [b"invalid argument ".as_slice(), &crate::quote::quoted(value), b" for "].concat();
    text.extend(crate::quote::quoted(option.as_bytes()));
    text.extend_from_slice(b"\nValid arguments are:");
    for valid in valid {
        text.extend_from_slice(b"\n  - ");
        text.extend(crate::quote::quoted(valid.as_bytes()));
    }
    text
}

/// Returns the compressor that an option selects.
pub(super) fn program(id: Flag) -> Option<&'static str> {
    Some(match id {
        Flag::Gzip => "gzip",
        Flag::Bzip2 => "bzip2",
        Flag::Xz => "xz",
        Flag::Zstd => "zstd",
        Flag::Lzma => "lzma",
        _ => return None,
    })
}

/// Suffixes of archives, and their compressors.
const SUFFIXES: &[(&[u8], &str)] = &[
    (b".gz", "gzip"),
    (b".tgz", "gzip"),
    (b".taz", "gzip"),
    (b".bz2", "bzip2"),
    (b".tbz", "bzip2"),
    (b".tbz2", "bzip2"),
    (b".tz2", "bzip2"),
    (b".lzma", "xz"),
    (b".tlz", "xz"),
    (b".xz", "xz"),
    (b".txz", "xz"),
    (b".zst", "zstd"),
    (b".tzst", "zstd"),
];

/// Returns the compressor for an archive name.
pub(super) fn by_suffix(name: &[u8]) -> Option<Vec<Vec<u8>>> {
    let entry = SUFFIXES.iter().find(|(suffix, _)| name.len() > suffix.len() && name.ends_with(suffix));
    entry.map(|(_, program)| vec![program.as_bytes().to_vec()])
}

/// Returns the name of an archive without directories and suffixes.
pub(super) fn top_level(name: &[u8]) -> Option<Vec<u8>> {
    let last = name.rsplit(|byte| *byte == b'/').next()?;
    let known = SUFFIXES.iter().find_map(|(suffix, _)| last.strip_suffix(*suffix)).unwrap_or(last);
    let stem = known.strip_suffix(b".tar").unwrap_or(known);
    (stem.len() < last.len() && !stem.is_empty()).then(|| stem.to_vec())
}
