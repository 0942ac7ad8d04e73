//! Media type detection, by content if possible, otherwise by extension.

/// Default type for text.
pub const PLAIN_TEXT: &str = "text/plain";

/// Default type for bytes.
pub const BYTES: &str = "application/octet-stream";

/// Extensions that the JavaScript tool treats as binary, and their types. It uses no other criterion.
const BINARY: &[(&str, &str)] = &[
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("heic", "image/heic"),
    ("heif", "image/heif"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("aiff", "audio/aiff"),
    ("aac", "audio/aac"),
    ("ogg", "audio/ogg"),
    ("flac", "audio/flac"),
    ("mp4", "video/mp4"),
    ("webm", "video/webm"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpeg"),
    ("mov", "video/quicktime"),
    ("avi", "video/x-msvideo"),
    ("flv", "video/x-flv"),
    ("wmv", "video/x-ms-wmv"),
    ("3gpp", "video/3gpp"),
    ("pdf", "application/pdf"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
];

/// Text types other than `text/plain`. The JavaScript tool treats all of them as text.
const TEXT: &[(&str, &str)] = &[
    ("html", "text/html"),
    ("htm", "text/html"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("md", "text/markdown"),
    ("xml", "text/xml"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("json", "application/json"),
    ("svg", "image/svg+xml"),
];

/// Signatures of binary formats: offset, bytes, type.
const MAGIC: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/x-msvideo"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"\0asm", "application/wasm"),
    (0, b"\x1f\x8b", "application/gzip"),
];

/// Returns the type of text at this path: by its extension, otherwise `text/plain`. Never a binary type.
pub fn guess_text(path: &[u8]) -> &'static str {
    extension(path).and_then(|extension| look_up(TEXT, &extension)).unwrap_or(PLAIN_TEXT)
}

/// Returns the type of bytes at this path: by their signature, then by the extension. Never a text type.
pub fn guess_binary(path: &[u8], content: &[u8]) -> &'static str {
    let begins = |at: usize, with: &[u8]| content.get(at..).is_some_and(|rest| rest.starts_with(with));
    MAGIC
        .iter()
        .find(|(at, with, _)| begins(*at, with))
        .map(|(_, _, mime)| *mime)
        .or_else(|| extension(path).and_then(|extension| look_up(BINARY, &extension)))
        .unwrap_or(BYTES)
}

/// Returns whether the extension alone makes a file binary for the JavaScript tools: `read` then must return bytes, and `write`
/// receives base64.
pub fn has_binary_extension(path: &[u8]) -> bool {
    extension(path).is_some_and(|extension| look_up(BINARY, &extension).is_some())
}

fn look_up(table: &[(&str, &'static str)], extension: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == extension).map(|(_, mime)| *mime)
}

/// Returns the part after the last dot of the file name, in lower case. A name whose only dot is leading has no extension.
fn extension(path: &[u8]) -> Option<String> {
    let name = path.rsplit(|byte| *byte == b'/').next()?;
    let dot = name.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0)?;
    Some(std::str::from_utf8(name.get(dot + 1..)?).ok()?.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_take_precedence_over_extensions() {
        assert_eq!(guess_binary(b"/a.pdf", b"\x89PNG\r\n\x1a\n..."), "image/png");
        assert_eq!(guess_binary(b"/a.pdf", b"\xff\xfe"), "application/pdf");
        assert_eq!(guess_binary(b"/a.txt", b"\xff\xfe"), BYTES);
        assert_eq!(guess_binary(b"/tool", b"\0asm\x01\0\0\0"), "application/wasm");
    }

    #[test]
    fn text_types_are_only_for_text() {
        for (extension, _) in BINARY {
            assert_eq!(guess_text(format!("/a.{extension}").as_bytes()), PLAIN_TEXT);
        }
        for (extension, _) in TEXT {
            assert_eq!(guess_binary(format!("/a.{extension}").as_bytes(), b"\xff"), BYTES);
        }
    }

    #[test]
    fn extensions_ignore_case_and_dots_of_directories() {
        assert_eq!(guess_text(b"/x.y/A.JSON"), "application/json");
        assert!(has_binary_extension(b"/a.PNG"));
        for plain in [&b"/png"[..], b"/.png", b"/a.png/b", b"/a.", b"/a.\xff", b""] {
            assert!(!has_binary_extension(plain), "{plain:?}");
            assert_eq!(guess_text(plain), PLAIN_TEXT);
        }
    }
}
