//! Content detection.

use crate::bytes::Bytes;
use crate::encoding::{self, Encoding};
use crate::json::{Json, is_csv, json};
use crate::text::{Ending, Text};
use crate::{Description, archive, document, elf, image, media, program, text};

/// A detected binary format: its description and media type.
pub(crate) type Detected = Option<(String, &'static str)>;

/// A detected format from a text and a type.
pub(crate) fn recognized(text: impl Into<String>, mime: &'static str) -> Detected {
    Some((text.into(), mime))
}

/// Detects the type of content.
pub(crate) fn detect(bytes: &[u8]) -> Description {
    if bytes.len() == 1 {
        return description("very short file (no magic)", "application/octet-stream", None);
    }
    let encoding = encoding::find(bytes).map(|(encoding, _)| encoding);
    let view = Bytes(bytes);
    if let Some((text, mime)) = archive::tar(view) {
        return description(text, mime, encoding);
    }
    match json(bytes) {
        Some(Json::One) => return description("JSON text data", "application/json", encoding),
        Some(Json::Lines) => return description("New Line Delimited JSON text data", "application/x-ndjson", encoding),
        None => {}
    }
    if let Some((text, mime)) = binary(view) {
        return description(text, mime, encoding);
    }
    // A text may end with zero bytes, although its character set is then reported as binary.
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    let trimmed = bytes.get(..end).unwrap_or_default();
    let Some((text_encoding, letters)) = encoding::find(bytes).or_else(|| encoding::find(trimmed)) else {
        return description("data", "application/octet-stream", None);
    };
    let ascii: Vec<u8> = match text_encoding.charset {
        // Text types are detected in decoded characters, of any width.
        "utf-16le" | "utf-16be" => letters.iter().map(|letter| u8::try_from(*letter).unwrap_or(b'?')).collect(),
        _ => bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).to_vec(),
    };
    let csv = || is_csv(&ascii).then(|| Text::alone("CSV text", "text/csv"));
    let kind = text::shebang(&ascii).or_else(csv).or_else(|| text::find(&ascii)).or_else(|| text::unknown(&ascii));
    let described = |suffix: &str| format!("{} text{suffix}{}", text_encoding.name, encoding::lines(&letters));
    let Some(kind) = kind else {
        return description(described(""), "text/plain", encoding);
    };
    let text = match kind.ending {
        Ending::Alone => kind.name.into_owned(),
        Ending::Encoding => format!("{}, {}", kind.name, described("")),
        Ending::Executable => format!("{}, {}", kind.name, described(" executable")),
    };
    description(text, kind.mime, encoding)
}

fn description(text: impl Into<String>, mime: &str, encoding: Option<Encoding>) -> Description {
    let charset = encoding.map_or("binary", |encoding| encoding.charset);
    Description { text: text.into(), mime: mime.to_owned(), charset, failed: false }
}

fn binary(bytes: Bytes<'_>) -> Detected {
    elf::find(bytes)
        .or_else(|| image::find(bytes))
        .or_else(|| archive::find(bytes))
        .or_else(|| document::find(bytes))
        .or_else(|| program::find(bytes))
        .or_else(|| media::find(bytes))
}
