//! Documents, databases and files of tools.

use crate::bytes::Bytes;
use crate::data::{Detected, recognized};

pub(crate) fn find(bytes: Bytes<'_>) -> Detected {
    let start = |wanted: &[u8]| bytes.has(0, wanted);
    if start(b"%PDF-") {
        return pdf(bytes);
    }
    if start(b"SQLite format 3\0") {
        return sqlite(bytes);
    }
    if start(b"DIRC") {
        return recognized(
            format!("Git index, version {}, {} entries", bytes.be32(4)?, bytes.be32(8)?),
            "application/octet-stream",
        );
    }
    if start(b"PACK") {
        return recognized(
            format!("Git pack, version {}, {} objects", bytes.be32(4)?, bytes.be32(8)?),
            "application/x-git",
        );
    }
    if start(b"PAR1") {
        return recognized("Apache Parquet", "text/plain");
    }
    if start(b"\x93NUMPY") {
        let (major, minor) = (bytes.byte(6)?, bytes.byte(7)?);
        return recognized(
            format!("NumPy array, version {major}.{minor}, header length {}", bytes.le16(8)?),
            "application/octet-stream",
        );
    }
    if start(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return recognized("Composite Document File V2 Document", "application/x-ole-storage");
    }
    None
}

fn pdf(bytes: Bytes<'_>) -> Detected {
    let version = bytes.get(5, 3).map(|digits| String::from_utf8_lossy(digits).into_owned())?;
    let mut text = format!("PDF document, version {version}");
    let pages = bytes.find(0, 256 * 1024, b"/Type /Pages").or_else(|| bytes.find(0, 256 * 1024, b"/Type/Pages"));
    let count = pages.and_then(|at| bytes.find(at, 1024, b"/Count "));
    if let Some(at) = count {
        let digits: String = bytes.text(at + 7).chars().take_while(char::is_ascii_digit).collect();
        if let Ok(pages) = digits.parse::<u32>() {
            text.push_str(&format!(", {pages} page{}", if pages == 1 { "" } else { "s" }));
        }
    }
    recognized(text, "application/pdf")
}

fn sqlite(bytes: Bytes<'_>) -> Detected {
    let mut text = "SQLite 3.x database".to_owned();
    text.push_str(&format!(", last written using SQLite version {}", bytes.be32(96)?));
    recognized(text, "application/vnd.sqlite3")
}
