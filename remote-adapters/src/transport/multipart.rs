//! `multipart/form-data` bodies (RFC 7578), written as chunks and parsed as they arrive.

use bytes::Bytes;
use memchr::memmem;

/// One part.
#[derive(Clone, Debug)]
pub struct Part {
    /// Field name.
    pub name: String,
    /// File name, if the part is a file.
    pub file: Option<String>,
    /// Media type, if the part is a file.
    pub media_type: Option<&'static str>,
    /// Content.
    pub content: Bytes,
}

impl Part {
    /// Creates a text field.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), file: None, media_type: None, content: Bytes::from(text.into()) }
    }

    /// Creates a file part.
    pub fn file(name: impl Into<String>, file: impl Into<String>, content: impl Into<Bytes>) -> Self {
        Self {
            name: name.into(),
            file: Some(file.into()),
            media_type: Some("application/octet-stream"),
            content: content.into(),
        }
    }
}

/// Returns the media type and the chunks of a body with these parts. Contents are shared, not copied.
pub fn write(parts: &[Part]) -> (String, Vec<Bytes>) {
    let boundary = boundary(parts);
    let mut chunks = Vec::new();
    for part in parts {
        let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(&part.name));
        if let Some(file) = &part.file {
            head.push_str(&format!("; filename=\"{}\"", quoted(file)));
        }
        if let Some(media_type) = part.media_type {
            head.push_str(&format!("\r\nContent-Type: {media_type}"));
        }
        head.push_str("\r\n\r\n");
        chunks.push(Bytes::from(head));
        chunks.push(part.content.clone());
        chunks.push(Bytes::from_static(b"\r\n"));
    }
    chunks.push(Bytes::from(format!("--{boundary}--\r\n")));
    (format!("multipart/form-data; boundary={boundary}"), chunks)
}

/// Returns a boundary that occurs in no content.
fn boundary(parts: &[Part]) -> String {
    loop {
        let boundary: String = (0..32).map(|_| fastrand::alphanumeric()).collect();
        let line = format!("\r\n--{boundary}");
        let taken = |part: &Part| memmem::find(&part.content, line.as_bytes()).is_some();
        // Long contents are not searched: 190 random bits do not collide, and only tests use short boundaries.
        if !parts.iter().any(|part| part.content.len() < 4096 && taken(part)) {
            return boundary;
        }
    }
}

/// Quotes a name as browsers and the official clients do (WHATWG, "multipart/form-data encoding algorithm").
fn quoted(name: &str) -> String {
    name.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22")
}

/// A parsed part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPart {
    /// Field name.
    pub name: String,
    /// File name, if any.
    pub file: Option<String>,
    /// Content.
    pub content: Vec<u8>,
}

/// Parses a whole body; `None` if it is malformed.
pub fn read(media_type: &str, body: &[u8]) -> Option<Vec<ReadPart>> {
    let mut reader = PartReader::new(media_type, body.len())?;
    reader.push(body)?;
    reader.finish()
}

/// Maximum header length of a part, and maximum preamble.
const HEAD_BYTES: usize = 64 << 10;

/// Contents of this length reserve the remaining body length, so that they are not moved as they grow.
const LONG_BYTES: usize = 64 << 10;

/// Parses a body from chunks of any size. Each content is copied once, to its final buffer.
#[derive(Debug)]
pub struct PartReader {
    /// Line break followed by the boundary.
    line: memmem::Finder<'static>,
    /// Received bytes outside contents: headers, and bytes after a boundary.
    rest: Vec<u8>,
    state: State,
    parts: Vec<ReadPart>,
    /// Expected remaining bytes, if announced.
    left: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first boundary.
    Before,
    /// After a boundary.
    Between,
    /// In the content of the last part, searched up to this offset.
    Within(usize),
    /// After the last boundary.
    Over,
}

impl PartReader {
    /// Creates a parser for this media type with about `length` bytes to come; `None` if it is not multipart.
    pub fn new(media_type: &str, length: usize) -> Option<Self> {
        let boundary = parameter(media_type, "boundary")?;
        let line = memmem::Finder::new(format!("\r\n--{boundary}").as_bytes()).into_owned();
        // The first boundary has no preceding line to end.
        Some(Self { line, rest: b"\r\n".to_vec(), state: State::Before, parts: Vec::new(), left: length })
    }

    /// Adds a chunk; `None` if the body is malformed.
    pub fn push(&mut self, chunk: &[u8]) -> Option<()> {
        self.left = self.left.saturating_sub(chunk.len());
        match (self.state, self.parts.last_mut()) {
            (State::Over, _) => {}
            (State::Within(_), Some(part)) => {
                if part.content.len() >= LONG_BYTES {
                    part.content.reserve(chunk.len() + self.left);
                }
                part.content.extend_from_slice(chunk);
            }
            _ => self.rest.extend_from_slice(chunk),
        }
        while self.step()? {}
        Some(())
    }

    /// Returns the parts after the last chunk; `None` if the body is incomplete.
    pub fn finish(self) -> Option<Vec<ReadPart>> {
        (self.state == State::Over).then_some(self.parts)
    }

    /// Parses the buffered bytes. False if more bytes are needed.
    fn step(&mut self) -> Option<bool> {
        match self.state {
            State::Before => match self.line.find(&self.rest) {
                Some(at) => {
                    self.rest.drain(..at + self.line.needle().len());
                    self.state = State::Between;
                    Some(true)
                }
                None => self.need_more(),
            },
            State::Between => self.head(),
            State::Within(from) => {
                let content = &mut self.parts.last_mut()?.content;
                let Some(at) = self.line.find(content.get(from..)?).map(|at| from + at) else {
                    let searched = content.len().saturating_sub(self.line.needle().len() - 1);
                    self.state = State::Within(searched);
                    return Some(false);
                };
                self.rest = content.get(at + self.line.needle().len()..)?.to_vec();
                content.truncate(at);
                self.state = State::Between;
                Some(true)
            }
            State::Over => Some(false),
        }
    }

    /// Parses the bytes between a boundary and the following content.
    fn head(&mut self) -> Option<bool> {
        match self.rest.get(..2) {
            None => return Some(false),
            Some(b"--") => {
                self.state = State::Over;
                return Some(true);
            }
            Some(b"\r\n") => {}
            Some(_) => return None,
        }
        let Some((head, content)) = self.rest.get(2..).and_then(|part| split(part, b"\r\n\r\n")) else {
            return self.need_more();
        };
        let head = String::from_utf8_lossy(head);
        let disposition = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-disposition").then(|| value.trim().to_owned())
        })?;
        let name = parameter(&disposition, "name")?;
        self.parts.push(ReadPart { name, file: parameter(&disposition, "filename"), content: content.to_vec() });
        self.rest.clear();
        self.state = State::Within(0);
        Some(true)
    }

    /// Requests more bytes; `None` if a limit is exceeded.
    fn need_more(&self) -> Option<bool> {
        (self.rest.len() <= HEAD_BYTES).then_some(false)
    }
}

/// Returns a parameter of a header, with or without quotes.
fn parameter(header: &str, wanted: &str) -> Option<String> {
    header.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.trim().split_once('=')?;
        name.eq_ignore_ascii_case(wanted).then(|| value.trim_matches('"').replace("%22", "\""))
    })
}

fn split<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = memmem::find(bytes, mark)?;
    Some((bytes.get(..at)?, bytes.get(at + mark.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_parts_are_parsed_back() {
        let content: Vec<u8> = (0..=255).chain(*b"\r\n--x--\r\n").collect();
        let parts = [Part::text("path", "/a \"b\""), Part::file("file", "/a", content.clone())];
        let (media_type, chunks) = write(&parts);
        let read = read(&media_type, &chunks.concat()).expect("a body with parts");
        assert_eq!(read.first().map(|part| part.content.as_slice()), Some(b"/a \"b\"".as_slice()));
        let file = ReadPart { name: "file".to_owned(), file: Some("/a".to_owned()), content };
        assert_eq!(read.get(1), Some(&file));
    }

    #[test]
    fn parts_do_not_depend_on_chunk_boundaries() {
        let contents: [&[u8]; 4] = [b"", b"\r\n--", b"a\r\n\r\nb\r\n--x", b"\r\n\r\n"];
        let parts: Vec<Part> = contents.iter().map(|content| Part::file("f", "n", content.to_vec())).collect();
        let (media_type, chunks) = write(&parts);
        let body = [b"what nobody reads\r\n".as_slice(), &chunks.concat(), b"nor this"].concat();
        for size in 1..=body.len() {
            let mut reader = PartReader::new(&media_type, body.len()).expect("a boundary");
            for chunk in body.chunks(size) {
                reader.push(chunk).expect("a body with parts");
            }
            let read = reader.finish().expect("a whole body");
            let read: Vec<&[u8]> = read.iter().map(|part| part.content.as_slice()).collect();
            assert_eq!(read, contents, "in chunks of {size}");
        }
    }

    #[test]
    fn an_unterminated_part_header_is_rejected() {
        for beginning in ["", "--b\r\n"] {
            let mut reader = PartReader::new("multipart/form-data; boundary=b", 0).expect("a boundary");
            reader.push(beginning.as_bytes()).expect("a beginning");
            let chunks = (0..).map_while(|_| reader.push(&[b'x'; 1 << 10])).take(1 << 10).count();
            assert!((60..70).contains(&chunks), "{chunks} KiB were accepted");
        }
    }

    #[test]
    fn a_truncated_body_is_rejected() {
        let (media_type, chunks) = write(&[Part::text("a", "b")]);
        let body = chunks.concat();
        assert_eq!(read(&media_type, body.get(..body.len() - 6).unwrap_or_default()), None);
        assert_eq!(read("text/plain", &body), None);
    }
}
