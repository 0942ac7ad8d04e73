//! Executables of systems other than Linux.

use crate::bytes::Bytes;
use crate::data::{Detected, recognized};

pub(crate) fn find(bytes: Bytes<'_>) -> Detected {
    let start = |wanted: &[u8]| bytes.has(0, wanted);
    if start(b"\0asm") {
        let version = bytes.le32(4)?;
        let (text, mime) = match version {
            1 => (" version 0x1 (MVP)".to_owned(), "application/wasm"),
            _ => (format!(" version {version:#x}"), "application/octet-stream"),
        };
        return recognized(format!("WebAssembly (wasm) binary module{text}"), mime);
    }
    if start(b"\xca\xfe\xba\xbe") {
        return java(bytes);
    }
    if start(b"MZ") {
        return windows(bytes);
    }
    None
}

fn java(bytes: Bytes<'_>) -> Detected {
    let major = bytes.be16(6).filter(|major| *major > 30)?;
    let minor = bytes.be16(4)?;
    let name = match major {
        45 => " (Java 1.1)".to_owned(),
        46..=48 => format!(" (Java 1.{})", major - 44),
        49..=52 => format!(" (Java 1.{})", major - 44),
        53.. => format!(" (Java SE {})", major - 44),
        _ => String::new(),
    };
    recognized(format!("compiled Java class data, version {major}.{minor}{name}"), "application/x-java-applet")
}

fn windows(bytes: Bytes<'_>) -> Detected {
    let header = usize::try_from(bytes.le32(0x3c).unwrap_or(0)).ok()?;
    if header == 0 || !bytes.has(header, b"PE\0\0") {
        return recognized("MS-DOS executable, MZ for MS-DOS", "application/x-dosexec");
    }
    let magic = bytes.le16(header + 24).unwrap_or(0);
    let form = if magic == 0x20b { "PE32+" } else { "PE32" };
    let machine = match bytes.le16(header + 4).unwrap_or(0) {
        0x14c => "Intel 80386",
        0x8664 => "x86-64",
        0xaa64 => "Aarch64",
        0x1c0 => "ARM",
        _ => "unknown processor",
    };
    let text = format!("{form} executable {machine}, for MS Windows");
    recognized(text, "application/vnd.microsoft.portable-executable")
}
