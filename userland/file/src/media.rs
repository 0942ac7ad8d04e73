//! Audio, video and fonts.

use crate::bytes::Bytes;
use crate::data::{Detected, recognized};

/// Formats with a fixed first text: the text, the description and the media type.
const FORMATS: &[(&[u8], &str, &str)] = &[
    (b"fLaC", "FLAC audio bitstream data", "audio/flac"),
    (b"OTTO", "OpenType font data", "application/vnd.ms-opentype"),
    (b"wOFF", "Web Open Font Format", "font/woff"),
    (b"wOF2", "Web Open Font Format (Version 2)", "font/woff2"),
];

/// Brands of the ISO base media format.
const BRANDS: &[(&[u8], &str, &str)] = &[
    (b"isom", ", MP4 Base Media v1 [ISO 14496-12:2003]", "video/mp4"),
    (b"iso2", ", MP4 Base Media v2 [ISO 14496-12:2005]", "video/mp4"),
    (b"mp41", ", MP4 v1 [ISO 14496-1:ch13]", "video/mp4"),
    (b"mp42", ", MP4 v2 [ISO 14496-14]", "video/mp4"),
    (b"qt  ", ", Apple QuickTime movie, Apple QuickTime (.MOV/QT)", "video/quicktime"),
    (b"M4A ", ", Apple iTunes ALAC/AAC-LC (.M4A) Audio", "audio/x-m4a"),
    (b"heic", ", HEIF Image HEVC Main or Main Still Picture Profile", "image/heic"),
    (b"avif", ", AVIF Image", "image/avif"),
];

pub(crate) fn find(bytes: Bytes<'_>) -> Detected {
    let start = |wanted: &[u8]| bytes.has(0, wanted);
    if let Some((_, name, mime)) = FORMATS.iter().find(|(first, ..)| start(first)) {
        return recognized(*name, mime);
    }
    if start(b"RIFF") {
        return match bytes.get(8, 4)? {
            b"WAVE" => recognized("RIFF (little-endian) data, WAVE audio", "audio/x-wav"),
            b"AVI " => recognized("RIFF (little-endian) data, AVI", "video/x-msvideo"),
            _ => recognized("RIFF (little-endian) data", "application/octet-stream"),
        };
    }
    if start(b"ID3") {
        let (major, minor) = (bytes.byte(3)?, bytes.byte(4)?);
        return recognized(format!("Audio file with ID3 version 2.{major}.{minor}"), "audio/mpeg");
    }
    if start(b"OggS") {
        let audio = bytes.has(28, b"\x01vorbis") || bytes.has(28, b"OpusHead");
        return recognized("Ogg data", if audio { "audio/ogg" } else { "application/ogg" });
    }
    if bytes.has(4, b"ftyp") {
        let brand = bytes.get(8, 4)?;
        let known = BRANDS.iter().find(|(name, ..)| *name == brand);
        let (name, mime) = known.map_or(("", "video/mp4"), |(_, name, mime)| (*name, *mime));
        return recognized(format!("ISO Media{name}"), mime);
    }
    if start(b"\x1a\x45\xdf\xa3") {
        return match bytes.find(4, 4096, b"\x42\x82") {
            Some(at) if bytes.has(at + 3, b"webm") => recognized("WebM", "video/webm"),
            Some(at) if bytes.has(at + 3, b"matroska") => recognized("Matroska data", "video/x-matroska"),
            _ => None,
        };
    }
    None
}
