//! Pictures.

use crate::bytes::Bytes;
use crate::data::{Detected, recognized};

pub(crate) fn find(bytes: Bytes<'_>) -> Detected {
    png(bytes)
        .or_else(|| gif(bytes))
        .or_else(|| jpeg(bytes))
        .or_else(|| webp(bytes))
        .or_else(|| bmp(bytes))
        .or_else(|| icon(bytes))
        .or_else(|| tiff(bytes))
}

fn png(bytes: Bytes<'_>) -> Detected {
    if !bytes.has(0, b"\x89PNG\r\n\x1a\n") {
        return None;
    }
    if !bytes.has(12, b"IHDR") {
        return recognized("PNG image data", "image/png");
    }
    let (width, height, depth) = (bytes.be32(16)?, bytes.be32(20)?, bytes.byte(24)?);
    let color = match bytes.byte(25)? {
        0 => " grayscale",
        2 => "/color RGB",
        3 => " colormap",
        4 => " gray+alpha",
        6 => "/color RGBA",
        _ => "",
    };
    let order = if bytes.byte(28)? == 1 { "interlaced" } else { "non-interlaced" };
    recognized(format!("PNG image data, {width} x {height}, {depth}-bit{color}, {order}"), "image/png")
}

fn gif(bytes: Bytes<'_>) -> Detected {
    let version = bytes.get(3, 3).filter(|_| bytes.has(0, b"GIF8"))?;
    let version = String::from_utf8_lossy(version).into_owned();
    let (width, height) = (bytes.le16(6)?, bytes.le16(8)?);
    recognized(format!("GIF image data, version {version}, {width} x {height}"), "image/gif")
}

fn jpeg(bytes: Bytes<'_>) -> Detected {
    if !bytes.has(0, b"\xff\xd8\xff") {
        return None;
    }
    let mut text = "JPEG image data".to_owned();
    let mut at = 2;
    // Read segments up to the one with the size.
    for _ in 0..1000 {
        let (Some(0xff), Some(kind), Some(length)) = (bytes.byte(at), bytes.byte(at + 1), bytes.be16(at + 2)) else {
            break;
        };
        match kind {
            0xe0 if bytes.has(at + 4, b"JFIF\0") => text.push_str(&jfif(bytes, at)?),
            0xc0..=0xc3 => {
                text.push_str(match kind {
                    0xc0 => ", baseline",
                    0xc1 => ", extended sequential",
                    0xc2 => ", progressive",
                    _ => "",
                });
                let (precision, height, width) = (bytes.byte(at + 4)?, bytes.be16(at + 5)?, bytes.be16(at + 7)?);
                let components = bytes.byte(at + 9)?;
                text.push_str(&format!(", precision {precision}, {width}x{height}, components {components}"));
                break;
            }
            0xd9 | 0xda => break,
            _ => {}
        }
        at += 2 + usize::from(length);
    }
    recognized(text, "image/jpeg")
}

fn jfif(bytes: Bytes<'_>, at: usize) -> Option<String> {
    let (major, minor) = (bytes.byte(at + 9)?, bytes.byte(at + 10)?);
    let unit = match bytes.byte(at + 11)? {
        0 => ", aspect ratio",
        1 => ", resolution (DPI)",
        2 => ", resolution (DPCM)",
        _ => "",
    };
    let (x, y, length) = (bytes.be16(at + 12)?, bytes.be16(at + 14)?, bytes.be16(at + 2)?);
    Some(format!(", JFIF standard {major}.{minor:02}{unit}, density {x}x{y}, segment length {length}"))
}

fn webp(bytes: Bytes<'_>) -> Detected {
    if !bytes.has(0, b"RIFF") || !bytes.has(8, b"WEBP") {
        return None;
    }
    recognized("RIFF (little-endian) data, Web/P image", "image/webp")
}

fn bmp(bytes: Bytes<'_>) -> Detected {
    if !bytes.has(0, b"BM") {
        return None;
    }
    let kind = match bytes.le16(14)? {
        12 => "OS/2 1.x format",
        64 => "OS/2 2.x format",
        40 => "Windows 3.x format",
        108 => "Windows 95/NT4 and newer format",
        124 => "Windows 98/2000 and newer format",
        _ => return None,
    };
    let (width, height) = (bytes.le32(18)?, bytes.le32(22)?);
    let (width, height) = (i32::from_le_bytes(width.to_le_bytes()), i32::from_le_bytes(height.to_le_bytes()));
    recognized(format!("PC bitmap, {kind}, {width} x {height} x {}", bytes.le16(28)?), "image/bmp")
}

fn icon(bytes: Bytes<'_>) -> Detected {
    let name = match bytes.get(0, 4)? {
        b"\0\0\x01\0" => "MS Windows icon resource",
        b"\0\0\x02\0" => "MS Windows cursor resource",
        _ => return None,
    };
    let count = bytes.le16(4).filter(|count| *count > 0 && *count < 256 && bytes.byte(9) == Some(0))?;
    let text = format!("{name} - {count} icon{}", if count == 1 { "" } else { "s" });
    recognized(text, "image/vnd.microsoft.icon")
}

fn tiff(bytes: Bytes<'_>) -> Detected {
    let order = match bytes.get(0, 4)? {
        b"II*\0" => "little",
        b"MM\0*" => "big",
        _ => return None,
    };
    recognized(format!("TIFF image data, {order}-endian"), "image/tiff")
}
