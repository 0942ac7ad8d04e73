//! The type of a file, by its content where that tells, and by its extension.

/// The type for text without a better one.
pub const PLAIN_TEXT: &str = "text/plain";

/// The type for bytes without a better one.
pub const BYTES: &str = "application/octet-stream";

/// Extensions that the JavaScript tool takes for binary, and their types. It decides by nothing else.
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

/// Types of text that are more than `text/plain`. All of them count as text in the JavaScript tool.
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

/// How binary formats begin: where, with what, and their type.
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

/// The type of text under this path: by its extension, else `text/plain`. Never a binary type.
pub fn of_text(path: &[u8]) -> &'static str {
    extension(path).and_then(|extension| look_up(TEXT, &extension)).unwrap_or(PLAIN_TEXT)
}

/// The type of bytes under this path: by how they begin, then by the extension. Never a text type.
pub fn of_bytes(path: &[u8], content: &[u8]) -> &'static str {
    let begins = |at: usize, with: &[u8]| content.get(at..).is_some_and(|rest| rest.starts_with(with));
    MAGIC
        .iter()
        .find(|(at, with, _)| begins(*at, with))
        .map(|(_, _, mime)| *mime)
        .or_else(|| extension(path).and_then(|extension| look_up(BINARY, &extension)))
        .unwrap_or(BYTES)
}

/// Whether the extension alone makes a file binary for the JavaScript tools: `read` then needs bytes, and what `write`
/// gets is base64.
pub fn has_binary_extension(path: &[u8]) -> bool {
    extension(path).is_some_and(|extension| look_up(BINARY, &extension).is_some())
}

fn look_up(table: &[(&str, &'static str)], extension: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == extension).map(|(_, mime)| *mime)
}

/// What is behind the last dot of the last name, in lower case. A name that only begins with a dot has none.
fn extension(path: &[u8]) -> Option<String> {
    let name = path.rsplit(|byte| *byte == b'/').next()?;
    let dot = name.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0)?;
    Some(std::str::from_utf8(name.get(dot + 1..)?).ok()?.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_wins_over_the_extension_for_bytes() {
        assert_eq!(of_bytes(b"/a.pdf", b"\x89PNG\r\n\x1a\n..."), "image/png");
        assert_eq!(of_bytes(b"/a.pdf", b"\xff\xfe"), "application/pdf");
        assert_eq!(of_bytes(b"/a.txt", b"\xff\xfe"), BYTES);
        assert_eq!(of_bytes(b"/tool", b"\0asm\x01\0\0\0"), "application/wasm");
    }

    #[test]
    fn text_never_gets_a_binary_type_and_bytes_never_a_text_type() {
        for (extension, _) in BINARY {
            assert_eq!(of_text(format!("/a.{extension}").as_bytes()), PLAIN_TEXT);
        }
        for (extension, _) in TEXT {
            assert_eq!(of_bytes(format!("/a.{extension}").as_bytes(), b"\xff"), BYTES);
        }
    }

    #[test]
    fn extensions_ignore_case_and_dots_of_directories() {
        assert_eq!(of_text(b"/x.y/A.JSON"), "application/json");
        assert!(has_binary_extension(b"/a.PNG"));
        for plain in [&b"/png"[..], b"/.png", b"/a.png/b", b"/a.", b"/a.\xff", b""] {
            assert!(!has_binary_extension(plain), "{plain:?}");
            assert_eq!(of_text(plain), PLAIN_TEXT);
        }
    }
}
