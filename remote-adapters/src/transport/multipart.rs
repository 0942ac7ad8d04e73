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
    let mut reader = PartReader::new(media_type, body.len())?;
    reader.push(body)?;
    reader.finish()
}

/// The longest head of a part, and what may stand before the first one.
const HEAD_BYTES: usize = 64 << 10;

/// A content of this length may have all the room that the rest of the body can need, so that it is not moved as it grows.
const LONG_BYTES: usize = 64 << 10;

/// Takes a body in any pieces and keeps its parts. A content is copied once, into the place where it stays.
#[derive(Debug)]
pub struct PartReader {
    /// What stands before the boundary and the boundary.
    line: memmem::Finder<'static>,
    /// What came and is in no content: heads, and what follows a boundary.
    rest: Vec<u8>,
    state: State,
    parts: Vec<ReadPart>,
    /// Bytes that are still to come, as far as was told.
    left: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first boundary.
    Before,
    /// Behind a boundary.
    Between,
    /// In the content of the last part, which has been searched up to here.
    Within(usize),
    /// Behind the last boundary.
    Over,
}

impl PartReader {
    /// A reader of a body of this type, of which about `length` bytes are to come; `None` when it has no parts.
    pub fn new(media_type: &str, length: usize) -> Option<Self> {
        let boundary = parameter(media_type, "boundary")?;
        let line = memmem::Finder::new(format!("\r\n--{boundary}").as_bytes()).into_owned();
        // The first boundary has no line before it that it would end.
        Some(Self { line, rest: b"\r\n".to_vec(), state: State::Before, parts: Vec::new(), left: length })
    }

    /// Takes a piece; `None` when this is no body of parts.
    pub fn push(&mut self, piece: &[u8]) -> Option<()> {
        self.left = self.left.saturating_sub(piece.len());
        match (self.state, self.parts.last_mut()) {
            (State::Over, _) => {}
            (State::Within(_), Some(part)) => {
                if part.content.len() >= LONG_BYTES {
                    part.content.reserve(piece.len() + self.left);
                }
                part.content.extend_from_slice(piece);
            }
            _ => self.rest.extend_from_slice(piece),
        }
        while self.step()? {}
        Some(())
    }

    /// The parts, after the last piece; `None` when something is missing.
    pub fn finish(self) -> Option<Vec<ReadPart>> {
        (self.state == State::Over).then_some(self.parts)
    }

    /// Goes on with what is there. False when more has to come.
    fn step(&mut self) -> Option<bool> {
        match self.state {
            State::Before => match self.line.find(&self.rest) {
                Some(at) => {
                    self.rest.drain(..at + self.line.needle().len());
                    self.state = State::Between;
                    Some(true)
                }
                None => self.has_room(),
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

    /// Reads what stands between a boundary and the content behind it.
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
            return self.has_room();
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

    /// That more has to come; `None` when there is too much already.
    fn has_room(&self) -> Option<bool> {
        (self.rest.len() <= HEAD_BYTES).then_some(false)
    }
}

/// A parameter of a header, with or without quotes.
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
    fn parts_are_the_same_however_their_bytes_are_cut() {
        let contents: [&[u8]; 4] = [b"", b"\r\n--", b"a\r\n\r\nb\r\n--x", b"\r\n\r\n"];
        let parts: Vec<Part> = contents.iter().map(|content| Part::file("f", "n", content.to_vec())).collect();
        let (media_type, pieces) = write(&parts);
        let body = [b"what nobody reads\r\n".as_slice(), &pieces.concat(), b"nor this"].concat();
        for size in 1..=body.len() {
            let mut reader = PartReader::new(&media_type, body.len()).expect("a boundary");
            for piece in body.chunks(size) {
                reader.push(piece).expect("a body with parts");
            }
            let read = reader.finish().expect("a whole body");
            let read: Vec<&[u8]> = read.iter().map(|part| part.content.as_slice()).collect();
            assert_eq!(read, contents, "in pieces of {size}");
        }
    }

    #[test]
    fn a_head_without_an_end_is_refused_before_it_fills_the_memory() {
        for beginning in ["", "--b\r\n"] {
            let mut reader = PartReader::new("multipart/form-data; boundary=b", 0).expect("a boundary");
            reader.push(beginning.as_bytes()).expect("a beginning");
            let pieces = (0..).map_while(|_| reader.push(&[b'x'; 1 << 10])).take(1 << 10).count();
            assert!((60..70).contains(&pieces), "{pieces} KiB were taken");
        }
    }

    #[test]
    fn a_body_that_was_cut_is_none() {
        let (media_type, pieces) = write(&[Part::text("a", "b")]);
        let body = pieces.concat();
        assert_eq!(read(&media_type, body.get(..body.len() - 6).unwrap_or_default()), None);
        assert_eq!(read("text/plain", &body), None);
    }
}
