//! Archives and compressed data.

use tidebox_gnu::calendar::Moment;

use crate::bytes::Bytes;
use crate::data::{Detected, recognized};

/// A tar, detected by the checksum of its first header.
pub(crate) fn tar(bytes: Bytes<'_>) -> Detected {
    let header = bytes.get(0, 512)?;
    let digits =
        header.get(148..156)?.iter().skip_while(|byte| **byte == b' ').take_while(|byte| (b'0'..=b'7').contains(*byte));
    let stored = digits.clone().fold(0u32, |value, digit| value.wrapping_mul(8).wrapping_add(u32::from(digit - b'0')));
    if digits.count() == 0 {
        return None;
    }
    let sum: u32 =
        header.iter().enumerate().map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) }).sum();
    if sum != stored {
        return None;
    }
    let name = match () {
        () if bytes.has(257, b"ustar  \0") => "POSIX tar archive (GNU)",
        () if bytes.has(257, b"ustar\0") => "POSIX tar archive",
        () => "tar archive",
    };
    recognized(name, "application/x-tar")
}

/// Formats with a fixed first text: the text, the description and the media type.
const FORMATS: &[(&[u8], &str, &str)] = &[
    (b"PK\x05\x06", "Zip archive data (empty)", "application/zip"),
    (b"\x28\xb5\x2f\xfd", "Zstandard compressed data (v0.8+), Dictionary ID: None", "application/zstd"),
    (b"Rar!\x1a\x07\x01\0", "RAR archive data, v5", "application/x-rar"),
    (b"Rar!", "RAR archive data", "application/x-rar"),
    (b"!<arch>\ndebian", "Debian binary package (format 2.0)", "application/vnd.debian.binary-package"),
    (b"!<arch>\n", "current ar archive", "application/x-archive"),
    (b"\x04\x22\x4d\x18", "LZ4 compressed data (v1.4+)", "application/x-lz4"),
    (b"070701", "ASCII cpio archive (SVR4 with no CRC)", "application/x-cpio"),
];

pub(crate) fn find(bytes: Bytes<'_>) -> Detected {
    let start = |wanted: &[u8]| bytes.has(0, wanted);
    if start(b"\x1f\x8b") {
        return gzip(bytes);
    }
    if start(b"PK\x03\x04") {
        return zip(bytes);
    }
    if start(b"BZh") {
        let level = bytes.byte(3).filter(u8::is_ascii_digit)?;
        return recognized(
            format!("bzip2 compressed data, block size = {}00k", char::from(level)),
            "application/x-bzip2",
        );
    }
    if start(b"\xfd7zXZ\0") {
        return xz(bytes);
    }
    if start(b"7z\xbc\xaf\x27\x1c") {
        let (major, minor) = (bytes.byte(6)?, bytes.byte(7)?);
        return recognized(format!("7-zip archive data, version {major}.{minor}"), "application/x-7z-compressed");
    }
    for (magic, text, mime) in FORMATS {
        if start(magic) {
            return recognized(*text, mime);
        }
    }
    let is_zlib = bytes.byte(0) == Some(0x78) && matches!(bytes.byte(1), Some(0x01 | 0x5e | 0x9c | 0xda));
    if is_zlib { recognized("zlib compressed data", "application/zlib") } else { None }
}

fn gzip(bytes: Bytes<'_>) -> Detected {
    let mut text = "gzip compressed data".to_owned();
    let flags = bytes.byte(3)?;
    if flags & 12 == 8 {
        text.push_str(&format!(", was \"{}\"", bytes.text(10)));
    }
    let time = bytes.le32(4)?;
    if time > 0 {
        let moment = Moment::new(i64::from(time), 0).field('c').unwrap_or_default();
        text.push_str(&format!(", last modified: {moment}"));
    }
    text.push_str(match bytes.byte(8)? {
        2 => ", max compression",
        4 => ", max speed",
        _ => "",
    });
    if bytes.byte(9)? == 3 {
        text.push_str(", from Unix");
    }
    if let Some(size) = bytes.0.len().checked_sub(4).and_then(|at| bytes.le32(at)) {
        text.push_str(&format!(", original size modulo 2^32 {size}"));
    }
    recognized(text, "application/gzip")
}

fn xz(bytes: Bytes<'_>) -> Detected {
    let check = match bytes.byte(7)? & 15 {
        0 => "none",
        1 => "CRC32",
        4 => "CRC64",
        10 => "SHA-256",
        _ => "unknown",
    };
    recognized(format!("XZ compressed data, checksum {check}"), "application/x-xz")
}

/// Returns the type of a zip by its first entry.
fn zip(bytes: Bytes<'_>) -> Detected {
    let name_length = usize::from(bytes.le16(26)?);
    let name = bytes.get(30, name_length).unwrap_or_default();
    if name == b"mimetype" {
        let extra = usize::from(bytes.le16(28)?);
        let kind = bytes.text(30 + name_length + extra);
        for (mime, label) in [
            ("application/epub+zip", "EPUB document"),
            ("application/vnd.oasis.opendocument.text", "OpenDocument Text"),
            ("application/vnd.oasis.opendocument.spreadsheet", "OpenDocument Spreadsheet"),
            ("application/vnd.oasis.opendocument.presentation", "OpenDocument Presentation"),
            ("application/vnd.oasis.opendocument.graphics", "OpenDocument Drawing"),
        ] {
            let rest = kind.strip_prefix(mime);
            if rest.is_some_and(|rest| !rest.starts_with('-')) {
                return recognized(label, mime);
            }
        }
    }
    if matches!(name, b"[Content_Types].xml" | b"_rels/.rels" | b"docProps/core.xml" | b"docProps/app.xml")
        && let Some(office) = office(bytes)
    {
        return Some(office);
    }
    let is_jar = bytes.le16(26 + 4 + name_length) == Some(0xcafe);
    if is_jar {
        return recognized("Java archive data (JAR)", "application/java-archive");
    }
    let needed = bytes.byte(4)?;
    let method = match bytes.le16(8)? {
        0 => "store",
        8 => "deflate",
        99 => "AES Encrypted",
        _ => "unknown",
    };
    let version = format!("v{}.{}", needed / 10, needed % 10);
    recognized(
        format!("Zip archive data, at least {version} to extract, compression method={method}"),
        "application/zip",
    )
}

fn office(bytes: Bytes<'_>) -> Detected {
    let entries = memchr::memmem::find_iter(bytes.0, b"PK\x03\x04").take(64);
    for at in entries {
        for (folder, label, mime) in [
            (
                b"word/".as_slice(),
                "Microsoft Word 2007+",
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            ),
            (
                b"ppt/",
                "Microsoft PowerPoint 2007+",
                "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            ),
            (b"xl/", "Microsoft Excel 2007+", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ] {
            if bytes.has(at + 30, folder) {
                return recognized(label, mime);
            }
        }
    }
    None
}
