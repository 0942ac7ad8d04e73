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
        .or_else(|| photoshop(bytes))
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
            0xe1 if bytes.has(at + 4, b"Exif\0\0") => {
                let inside = bytes.0.get(at + 10..).and_then(|rest| tiff(Bytes(rest)));
                text.push_str(&format!(", Exif standard: [{}]", inside.map(|(text, _)| text).unwrap_or_default()));
            }
            0xfe => {
                let comment = bytes.get(at + 4, usize::from(length).saturating_sub(2)).unwrap_or_default();
                let comment = comment.split(|byte| *byte == 0).next().unwrap_or_default();
                text.push_str(&format!(", comment: \"{}\"", String::from_utf8_lossy(comment)));
            }
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
    let mut text = "RIFF (little-endian) data, Web/P image".to_owned();
    if bytes.has(12, b"VP8 ") && bytes.has(23, b"\x9d\x01\x2a") {
        let (width, height) = (bytes.le16(26)?, bytes.le16(28)?);
        let scaling = |value: u16| ["none", "5/4", "5/3", "2"].get(usize::from(value >> 14)).copied().unwrap_or("none");
        text.push_str(&format!(", VP8 encoding, {}x{}", width & 0x3fff, height & 0x3fff));
        text.push_str(&format!(", Scaling: [{}]x[{}]", scaling(width), scaling(height)));
        text.push_str(", YUV color, decoders should clamp");
    }
    recognized(text, "image/webp")
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
    let mut text = format!("PC bitmap, {kind}, {width} x {height} x {}", bytes.le16(28)?);
    match bytes.le32(30)? {
        1 => text.push_str(", 8-bit RLE"),
        2 => text.push_str(", 4-bit RLE"),
        _ => {}
    }
    let optional = |at, name: &str, text: &mut String| {
        if let Some(value) = bytes.le32(at).filter(|value| *value != 0) {
            text.push_str(&format!(", {name} {value}"));
        }
    };
    optional(34, "image size", &mut text);
    if let (Some(x), Some(y)) = (bytes.le32(38), bytes.le32(42))
        && x != 0
    {
        text.push_str(&format!(", resolution {x} x {y} px/m"));
    }
    optional(46, "", &mut text);
    optional(2, "cbSize", &mut text);
    optional(10, "bits offset", &mut text);
    recognized(text.replace(",  ", ", "), "image/bmp")
}

fn icon(bytes: Bytes<'_>) -> Detected {
    let name = match bytes.get(0, 4)? {
        b"\0\0\x01\0" => "MS Windows icon resource",
        b"\0\0\x02\0" => "MS Windows cursor resource",
        _ => return None,
    };
    let count = bytes.le16(4).filter(|count| *count > 0 && *count < 256)?;
    if bytes.byte(9)? != 0 {
        return None;
    }
    let mut text = format!("{name} - {count} icon{}", if count == 1 { "" } else { "s" });
    let full = |side: u8| if side == 0 { 256 } else { u16::from(side) };
    text.push_str(&format!(", {}x{}", full(bytes.byte(6)?), full(bytes.byte(7)?)));
    if let Some(colors) = bytes.byte(8).filter(|colors| *colors != 0) {
        text.push_str(&format!(", {colors} colors"));
    }
    if let Some(bits) = bytes.le16(12).filter(|bits| *bits != 0) {
        text.push_str(&format!(", {bits} bits/pixel"));
    }
    recognized(text, "image/vnd.microsoft.icon")
}

fn tiff(bytes: Bytes<'_>) -> Detected {
    let little = match bytes.get(0, 4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let u16_at = |at| if little { bytes.le16(at) } else { bytes.be16(at) };
    let u32_at = |at| if little { bytes.le32(at) } else { bytes.be32(at) };
    let order = if little { "little" } else { "big" };
    let mut text = format!("TIFF image data, {order}-endian");
    let directory = usize::try_from(u32_at(4)?).ok()?;
    if let Some(count) = u16_at(directory) {
        text.push_str(&format!(", direntries={count}"));
        for number in 0..usize::from(count.min(64)) {
            let at = directory.saturating_add(2 + number * 12);
            let (Some(tag), Some(kind)) = (u16_at(at), u16_at(at + 2)) else {
                break;
            };
            let value = if kind == 3 { u16_at(at + 8).map(u32::from) } else { u32_at(at + 8) };
            let (Some(value), Some(name)) = (value, tag_name(tag)) else {
                continue;
            };
            text.push_str(&format!(", {name}={value}"));
        }
    }
    recognized(text, "image/tiff")
}

fn tag_name(tag: u16) -> Option<&'static str> {
    Some(match tag {
        0x100 => "width",
        0x101 => "height",
        0x102 => "bps",
        _ => return None,
    })
}

fn photoshop(bytes: Bytes<'_>) -> Detected {
    if !bytes.has(0, b"8BPS") {
        return None;
    }
    let (channels, height, width) = (bytes.be16(12)?, bytes.be32(14)?, bytes.be32(18)?);
    let mode = match bytes.be16(24)? {
        0 => "bitmap",
        1 => "grayscale",
        2 => "indexed",
        3 => "RGB",
        4 => "CMYK",
        7 => "multichannel",
        8 => "duotone",
        9 => "lab",
        _ => return None,
    };
    let depth = bytes.be16(22)?;
    let channels = if channels == 1 { "1x".to_owned() } else { format!("{channels}x") };
    let text = format!("Adobe Photoshop Image, {width} x {height}, {mode}, {channels} {depth}-bit channels");
    recognized(text, "image/vnd.adobe.photoshop")
}
