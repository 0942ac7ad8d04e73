//! Bodies of `multipart/form-data` (RFC 7578), written in pieces and read as they come.

use bytes::Bytes;
use memchr::memmem;

/// One part.
#[derive(Clone, Debug)]
pub struct Part {
    /// The name of the field.
    pub name: String,
    /// The name of the file, where the part is one.
    pub file: Option<String>,
    /// Its type, where the part is a file.
    pub media_type: Option<&'static str>,
    /// What it holds.
    pub content: Bytes,
}

impl Part {
    /// A field of text.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), file: None, media_type: None, content: Bytes::from(text.into()) }
    }

    /// A file of bytes.
    pub fn file(name: impl Into<String>, file: impl Into<String>, content: impl Into<Bytes>) -> Self {
        Self {
            name: name.into(),
            file: Some(file.into()),
            media_type: Some("application/octet-stream"),
            content: content.into(),
        }
    }
}

/// The type and the pieces of a body with these parts. Contents are shared, not copied.
pub fn write(parts: &[Part]) -> (String, Vec<Bytes>) {
    let boundary = boundary(parts);
    let mut pieces = Vec::new();
    for part in parts {
        let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(&part.name));
        if let Some(file) = &part.file {
            head.push_str(&format!("; filename=\"{}\"", quoted(file)));
        }
        if let Some(media_type) = part.media_type {
            head.push_str(&format!("\r\nContent-Type: {media_type}"));
        }
        head.push_str("\r\n\r\n");
        pieces.push(Bytes::from(head));
        pieces.push(part.content.clone());
        pieces.push(Bytes::from_static(b"\r\n"));
    }
    pieces.push(Bytes::from(format!("--{boundary}--\r\n")));
    (format!("multipart/form-data; boundary={boundary}"), pieces)
}

/// Text that no content holds.
fn boundary(parts: &[Part]) -> String {
    loop {
        let boundary: String = (0..32).map(|_| fastrand::alphanumeric()).collect();
        let line = format!("\r\n--{boundary}");
        let taken = |part: &Part| memmem::find(&part.content, line.as_bytes()).is_some();
        // Long contents are not searched: 190 random bits are met by nobody, and tests have short ones.
        if !parts.iter().any(|part| part.content.len() < 4096 && taken(part)) {
            return boundary;
        }
    }
}

/// As browsers and the official clients write names (WHATWG, "multipart/form-data encoding algorithm").
fn quoted(name: &str) -> String {
    name.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22")
}

/// A part that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPart {
    /// The name of the field.
    pub name: String,
    /// The name of the file, where there is one.
    pub file: Option<String>,
    /// What it holds.
    pub content: Vec<u8>,
}

/// The parts of a whole body; `None` when it is none.
pub fn read(media_type: &str, body: &[u8]) -> Option<Vec<ReadPart>> {
    let boundary = parameter(media_type, "boundary")?;
    let line = format!("--{boundary}");
    let mut parts = Vec::new();
    let mut rest = after(body, line.as_bytes())?;
    while let Some(part) = rest.strip_prefix(b"\r\n") {
        let (head, content) = split(part, b"\r\n\r\n")?;
        let (content, behind) = split(content, format!("\r\n{line}").as_bytes())?;
        let head = String::from_utf8_lossy(head);
        let disposition = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-disposition").then(|| value.trim().to_owned())
        })?;
        let name = parameter(&disposition, "name")?;
        parts.push(ReadPart { name, file: parameter(&disposition, "filename"), content: content.to_vec() });
        rest = behind;
    }
    rest.starts_with(b"--").then_some(parts)
}

/// A parameter of a header, with or without quotes.
fn parameter(header: &str, wanted: &str) -> Option<String> {
    header.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.trim().split_once('=')?;
        name.eq_ignore_ascii_case(wanted).then(|| value.trim_matches('"').replace("%22", "\""))
    })
}

fn after<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    split(bytes, mark).map(|(_, behind)| behind)
}

fn split<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = memmem::find(bytes, mark)?;
    Some((bytes.get(..at)?, bytes.get(at + mark.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let content: Vec<u8> = (0..=255).chain(*b"\r\n--x--\r\n").collect();
        let parts = [Part::text("path", "/a \"b\""), Part::file("file", "/a", content.clone())];
        let (media_type, pieces) = write(&parts);
        let read = read(&media_type, &pieces.concat()).expect("a body with parts");
        assert_eq!(read.first().map(|part| part.content.as_slice()), Some(b"/a \"b\"".as_slice()));
        let file = ReadPart { name: "file".to_owned(), file: Some("/a".to_owned()), content };
        assert_eq!(read.get(1), Some(&file));
    }

    #[test]
    fn a_body_that_was_cut_is_none() {
        let (media_type, pieces) = write(&[Part::text("a", "b")]);
        let body = pieces.concat();
        assert_eq!(read(&media_type, body.get(..body.len() - 6).unwrap_or_default()), None);
        assert_eq!(read("text/plain", &body), None);
    }
}
