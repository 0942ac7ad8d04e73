//! Audio, video and fonts.

use crate::bytes::Bytes;
use crate::data::{Detected, recognized};

pub(crate) fn find(bytes: Bytes<'_>) -> Detected {
    let start = |wanted: &[u8]| bytes.has(0, wanted);
    if start(b"RIFF") {
        return riff(bytes);
    }
    if start(b"ID3") {
        let (major, minor) = (bytes.byte(3)?, bytes.byte(4)?);
        let size = (6..10).try_fold(0usize, |size, at| Some(size << 7 | usize::from(bytes.byte(at)? & 0x7f)))?;
        let mut text = format!("Audio file with ID3 version 2.{major}.{minor}");
        let inside = bytes.0.get(10 + size..).and_then(|rest| mpeg(Bytes(rest)));
        if let Some((inside, _)) = inside {
            text.push_str(&format!(", contains: {inside}"));
        }
        return recognized(text, "audio/mpeg");
    }
    if start(b"fLaC") {
        return flac(bytes);
    }
    if start(b"OggS") {
        return ogg(bytes);
    }
    if bytes.has(4, b"ftyp") {
        return iso(bytes);
    }
    if start(b"\x1a\x45\xdf\xa3") {
        return match bytes.find(4, 4096, b"\x42\x82") {
            Some(at) if bytes.has(at + 3, b"webm") => recognized("WebM", "video/webm"),
            Some(at) if bytes.has(at + 3, b"matroska") => recognized("Matroska data", "video/x-matroska"),
            _ => None,
        };
    }
    if start(b"OTTO") {
        return recognized("OpenType font data", "application/vnd.ms-opentype");
    }
    for (begin, name, mime) in [
        (b"wOFF".as_slice(), "Web Open Font Format", "font/woff"),
        (b"wOF2", "Web Open Font Format (Version 2)", "font/woff2"),
    ] {
        if start(begin) {
            let flavor = match bytes.get(4, 4)? {
                b"\0\x01\0\0" => "TrueType".to_owned(),
                b"OTTO" => "CFF".to_owned(),
                other => format!("flavor {}", u32::from_be_bytes(other.try_into().ok()?)),
            };
            let at = if begin == b"wOFF" { 20 } else { 24 };
            let (major, minor) = (bytes.be16(at)?, bytes.be16(at + 2)?);
            return recognized(format!("{name}, {flavor}, length {}, version {major}.{minor}", bytes.be32(8)?), mime);
        }
    }
    mpeg(bytes)
}

fn riff(bytes: Bytes<'_>) -> Detected {
    let text = "RIFF (little-endian) data".to_owned();
    match bytes.get(8, 4)? {
        b"WAVE" => recognized(text + ", WAVE audio" + &wave(bytes).unwrap_or_default(), "audio/x-wav"),
        b"AVI " => recognized(text + ", AVI", "video/x-msvideo"),
        _ => recognized(text, "application/octet-stream"),
    }
}

fn wave(bytes: Bytes<'_>) -> Option<String> {
    if !bytes.has(12, b"fmt ") {
        return None;
    }
    let mut text = String::new();
    match bytes.le16(20)? {
        1 => text.push_str(", Microsoft PCM"),
        2 => text.push_str(", Microsoft ADPCM"),
        3 => text.push_str(", IEEE Float"),
        6 => text.push_str(", ITU G.711 A-law"),
        7 => text.push_str(", ITU G.711 mu-law"),
        _ => {}
    }
    let (channels, rate, bits) = (bytes.le16(22)?, bytes.le32(24)?, bytes.le16(34)?);
    if bits > 0 && bits < 1024 {
        text.push_str(&format!(", {bits} bit"));
    }
    match channels {
        1 => text.push_str(", mono"),
        2 => text.push_str(", stereo"),
        count => text.push_str(&format!(", {count} channels")),
    }
    Some(format!("{text} {rate} Hz"))
}

fn flac(bytes: Bytes<'_>) -> Detected {
    let mut text = "FLAC audio bitstream data".to_owned();
    if bytes.byte(4)? & 0x7f == 0 {
        let packed = bytes.be64(18)?;
        let (rate, channels) = (packed >> 44, (packed >> 41 & 7) + 1);
        let (bits, samples) = ((packed >> 36 & 31) + 1, packed & 0xf_ffff_ffff);
        let channels = match channels {
            1 => "mono".to_owned(),
            2 => "stereo".to_owned(),
            count => format!("{count} channels"),
        };
        let rate =
            if rate % 1000 == 0 { format!("{} kHz", rate / 1000) } else { format!("{} kHz", rate as f64 / 1000.0) };
        text.push_str(&format!(", {bits} bit, {channels}, {rate}"));
        if samples > 0 {
            text.push_str(&format!(", {samples} samples"));
        }
    }
    recognized(text, "audio/flac")
}

fn ogg(bytes: Bytes<'_>) -> Detected {
    let mut text = "Ogg data".to_owned();
    if bytes.has(28, b"\x01vorbis") {
        let channels = match bytes.byte(39)? {
            1 => "mono".to_owned(),
            2 => "stereo".to_owned(),
            count => format!("{count} channels"),
        };
        let (rate, nominal) = (bytes.le32(40)?, bytes.le32(48)?);
        text.push_str(&format!(", Vorbis audio, {channels}, {rate} Hz, ~{nominal} bps"));
        return recognized(text, "audio/ogg");
    }
    if bytes.has(28, b"OpusHead") {
        return recognized(text + ", Opus audio", "audio/ogg");
    }
    recognized(text, "application/ogg")
}

fn iso(bytes: Bytes<'_>) -> Detected {
    let (name, mime) = match bytes.get(8, 4)? {
        b"isom" => (", MP4 Base Media v1 [ISO 14496-12:2003]", "video/mp4"),
        b"iso2" => (", MP4 Base Media v2 [ISO 14496-12:2005]", "video/mp4"),
        b"iso4" => (", MP4 Base Media v4", "video/mp4"),
        b"iso5" => (", MP4 Base Media v5", "video/mp4"),
        b"iso6" => (", MP4 Base Media v6", "video/mp4"),
        b"mp41" => (", MP4 v1 [ISO 14496-1:ch13]", "video/mp4"),
        b"mp42" => (", MP4 v2 [ISO 14496-14]", "video/mp4"),
        b"qt  " => (", Apple QuickTime movie, Apple QuickTime (.MOV/QT)", "video/quicktime"),
        b"M4A " => (", Apple iTunes ALAC/AAC-LC (.M4A) Audio", "audio/x-m4a"),
        b"M4V " => (", Apple iTunes Video (.M4V) Video", "video/x-m4v"),
        b"heic" | b"heix" => (", HEIF Image HEVC Main or Main Still Picture Profile", "image/heic"),
        b"avif" => (", AVIF Image", "image/avif"),
        b"dash" => (", MPEG v4 system, Dynamic Adaptive Streaming over HTTP", "video/mp4"),
        _ => ("", "video/mp4"),
    };
    recognized(format!("ISO Media{name}"), mime)
}

/// Bit rates of MPEG 1 layer III in kbit/s, by code.
const BIT_RATES: &[u16] = &[0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];

fn mpeg(bytes: Bytes<'_>) -> Detected {
    if bytes.byte(0)? != 0xff || bytes.byte(1)? & 0xfe != 0xfa {
        return None;
    }
    let (rates, mode) = (bytes.byte(2)?, bytes.byte(3)?);
    let bits = BIT_RATES.get(usize::from(rates >> 4)).filter(|rate| **rate > 0)?;
    let rate = ["44.1 kHz", "48 kHz", "32 kHz"].get(usize::from(rates >> 2 & 3))?;
    let channels = ["Stereo", "JntStereo", "2x Monaural", "Monaural"].get(usize::from(mode >> 6))?;
    recognized(format!("MPEG ADTS, layer III, v1, {bits} kbps, {rate}, {channels}"), "audio/mpeg")
}
