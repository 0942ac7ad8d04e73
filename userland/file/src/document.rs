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
    if let Some(id) = bytes.be32(68).filter(|id| *id != 0) {
        text.push_str(&format!(", application id {id}"));
    }
    if let Some(version) = bytes.be32(60).filter(|version| *version != 0) {
        text.push_str(&format!(", user version {version}"));
    }
    text.push_str(&format!(", last written using SQLite version {}", bytes.be32(96)?));
    let size = bytes.be16(16)?;
    if size != 4096 {
        text.push_str(&format!(", page size {}", if size == 1 { 65536 } else { u32::from(size) }));
    }
    if bytes.byte(18) == Some(2) {
        text.push_str(", writer version 2");
    }
    if bytes.byte(19) == Some(2) {
        text.push_str(", read version 2");
    }
    text.push_str(&format!(", file counter {}", bytes.be32(24)?));
    text.push_str(&format!(", database pages {}", bytes.be32(28)?));
    if let Some(free) = bytes.be32(32).filter(|free| *free != 0) {
        text.push_str(&format!(", 1st free page {free}, free pages {}", bytes.be32(36)?));
    }
    text.push_str(&format!(", cookie 0x{:x}, schema {}", bytes.be32(40)?, bytes.be32(44)?));
    if let Some(cache) = bytes.be32(48).filter(|cache| *cache != 0) {
        text.push_str(&format!(", cache page size {cache}"));
    }
    if let Some(root) = bytes.be32(52).filter(|root| *root != 0) {
        text.push_str(&format!(", largest root page {root}"));
    }
    text.push_str(match bytes.be32(56)? {
        1 => ", UTF-8",
        2 => ", UTF-16 little endian",
        3 => ", UTF-16 big endian",
        _ => "",
    });
    if let Some(vacuum) = bytes.be32(64).filter(|vacuum| *vacuum != 0) {
        text.push_str(&format!(", vacuum mode {vacuum}"));
    }
    text.push_str(&format!(", version-valid-for {}", bytes.be32(92)?));
    recognized(text, "application/vnd.sqlite3")
}
