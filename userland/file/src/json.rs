//! JSON and CSV detection like libmagic, which is more lenient than their grammars.

/// Kind of JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    One,
    /// Several values, one per line.
    Lines,
}

/// Maximum nesting of JSON.
const MAX_DEPTH: usize = 500;

struct Reader<'a> {
    rest: &'a [u8],
    /// Set if an array or an object was found; a single literal does not count as JSON.
    structured: bool,
}

/// Returns whether the bytes are JSON from start to end.
pub(crate) fn json(bytes: &[u8]) -> Option<Json> {
    let mut reader = Reader { rest: bytes, structured: false };
    reader.skip_space();
    let first = *reader.rest.first()?;
    reader.value(0)?;
    reader.skip_space();
    if !reader.structured {
        return None;
    }
    if reader.rest.is_empty() {
        return Some(Json::One);
    }
    (reader.rest.first() == Some(&first) && reader.value(0).is_some()).then_some(Json::Lines)
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        while let [b' ' | b'\t' | b'\n' | b'\r' | 11 | 12, rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    fn take(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_space();
        match self.take()? {
            b'"' => self.string(),
            b'[' => self.array(depth),
            b'{' => self.object(depth),
            b't' => self.word(b"rue"),
            b'f' => self.word(b"alse"),
            b'n' => self.word(b"ull"),
            b'-' | b'+' | b'.' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    fn string(&mut self) -> Option<()> {
        loop {
            match self.take()? {
                0 => return None,
                b'\\' => match self.take()? {
                    b'u' => {
                        for _ in 0..4 {
                            self.take().filter(u8::is_ascii_hexdigit)?;
                        }
                    }
                    0 => return None,
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    _ => return None,
                },
                b'"' => return Some(()),
                _ => {}
            }
        }
    }

    fn word(&mut self, wanted: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(wanted)?;
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte)).count();
        self.rest = self.rest.get(count..)?;
        Some(())
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.structured = true;
        loop {
            self.skip_space();
            if self.rest.first() == Some(&b']') {
                self.take();
                return Some(());
            }
            self.value(depth + 1)?;
            self.skip_space();
            match self.take()? {
                b',' => {}
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.structured = true;
        loop {
            self.skip_space();
            match self.take()? {
                b'}' => return Some(()),
                b'"' => self.string()?,
                _ => return None,
            }
            self.skip_space();
            self.take().filter(|byte| *byte == b':')?;
            self.value(depth + 1)?;
            self.skip_space();
            match self.take()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }
}

/// Number of lines examined for CSV.
const CSV_LINES: usize = 10;

/// Returns whether there are at least three lines, with the same number of fields.
pub(crate) fn is_csv(bytes: &[u8]) -> bool {
    let (mut fields, mut expected, mut lines, mut quoted) = (0usize, 0usize, 0usize, false);
    for byte in bytes {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b',' => fields += 1,
            b'\n' => {
                lines += 1;
                if lines == CSV_LINES {
                    return expected != 0 && expected == fields;
                }
                if lines == 1 {
                    expected = fields;
                }
                if fields == 0 || fields != expected {
                    return false;
                }
                fields = 0;
            }
            _ => {}
        }
    }
    expected > 0 && lines > 2
}
