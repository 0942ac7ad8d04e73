//! Standard output, in lines of a width.

use tidebox_rt::Errno;

/// Columns of a line, when `BC_LINE_LENGTH` does not say.
const COLUMNS: usize = 70;

/// Bytes that are kept before they are written.
const BUFFER: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Output {
    buffer: Vec<u8>,
    column: usize,
    /// 0 wraps nothing.
    columns: usize,
}

impl Output {
    pub(crate) fn new() -> Self {
        let asked = std::env::var("BC_LINE_LENGTH").ok().and_then(|length| length.parse::<i64>().ok());
        let columns = match asked {
            Some(0) => 0,
            Some(length @ 3..) => usize::try_from(length).unwrap_or(COLUMNS),
            _ => COLUMNS,
        };
        Self { buffer: Vec::new(), column: 0, columns }
    }

    /// Writes characters; a line that gets too long goes on behind a backslash.
    pub(crate) fn wrapped(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                self.column = 0;
            } else {
                self.column += 1;
                if self.columns > 0 && self.column == self.columns - 1 {
                    self.buffer.extend_from_slice(b"\\\n");
                    self.column = 1;
                }
            }
            self.buffer.push(*byte);
        }
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    pub(crate) fn flush(&mut self) {
        match tidebox_rt::write_all(1, &self.buffer) {
            Ok(()) => {}
            // Nobody reads any more.
            Err(Errno::PIPE) => tidebox_rt::exit(141),
            Err(error) => {
                eprintln!("bc: write error: {}", error.text());
                tidebox_rt::exit(1)
            }
        }
        self.buffer.clear();
    }
}
