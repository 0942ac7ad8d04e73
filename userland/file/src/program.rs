//! Executables of systems other than Linux.

use tidebox_gnu::calendar::Moment;

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
    if matches!(bytes.get(2, 2), Some(b"\r\n")) { python(bytes) } else { None }
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

/// Magic numbers of compiled CPython modules, by version.
const PYTHONS: &[(u16, u16, &str)] = &[
    (3310, 3310, "3.4"),
    (3320, 3351, "3.5"),
    (3360, 3379, "3.6"),
    (3390, 3394, "3.7"),
    (3400, 3413, "3.8"),
    (3420, 3425, "3.9"),
    (3430, 3439, "3.10"),
    (3450, 3495, "3.11"),
    (3500, 3531, "3.12"),
];

fn python(bytes: Bytes<'_>) -> Detected {
    let number = bytes.le16(0)?;
    let (.., version) = PYTHONS.iter().find(|(first, last, _)| (*first..=*last).contains(&number))?;
    let mut text = format!("Byte-compiled Python module for CPython {version}");
    if bytes.le32(4)? & 1 == 0 {
        let (time, size) = (bytes.le32(8)?, bytes.le32(12)?);
        let time = Moment::new(i64::from(time), 0).field('c').unwrap_or_default();
        text.push_str(&format!(", timestamp-based, .py timestamp: {time} UTC, .py size: {size} bytes"));
    } else {
        text.push_str(", hash-based");
    }
    recognized(text, "application/x-bytecode.python")
}

fn windows(bytes: Bytes<'_>) -> Detected {
    let header = usize::try_from(bytes.le32(0x3c).unwrap_or(0)).ok()?;
    if header == 0 || !bytes.has(header, b"PE\0\0") {
        return recognized("MS-DOS executable, MZ for MS-DOS", "application/x-dosexec");
    }
    let magic = bytes.le16(header + 24).unwrap_or(0);
    let flags = bytes.le16(header + 22).unwrap_or(0);
    let form = if magic == 0x20b { "PE32+" } else { "PE32" };
    let subsystem = match bytes.le16(header + 92).unwrap_or(0) {
        1 => " (native)",
        2 => " (GUI)",
        3 => " (console)",
        7 => " (POSIX)",
        10 => " (EFI application)",
        _ => "",
    };
    let dll = if flags & 0x2000 != 0 { " (DLL)" } else { "" };
    let machine = match bytes.le16(header + 4).unwrap_or(0) {
        0x14c => "Intel 80386",
        0x8664 => "x86-64",
        0xaa64 => "Aarch64",
        0x1c0 => "ARM",
        _ => "unknown processor",
    };
    let stripped = if flags & 0x0200 != 0 { " (stripped to external PDB)" } else { "" };
    let sections = bytes.le16(header + 6).unwrap_or(0);
    let text = format!("{form} executable{dll}{subsystem} {machine}{stripped}, for MS Windows, {sections} sections");
    recognized(text, "application/vnd.microsoft.portable-executable")
}
