//! Standard output with line wrapping.

use tidebox_rt::Errno;

/// Default line length, if `BC_LINE_LENGTH` is not set.
const COLUMNS: usize = 70;

/// Output buffer size in bytes.
const BUFFER: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Output {
    buffer: Vec<u8>,
    column: usize,
    /// Column of the backslash; 0 disables wrapping.
    columns: usize,
    tool: &'static str,
}

impl Output {
    pub(crate) fn new() -> Self {
        let made = Self::of("bc", "BC_LINE_LENGTH");
        Self { columns: made.columns.saturating_sub(1), ..made }
    }

    /// Creates the output with the line length of that variable.
    pub(crate) fn of(tool: &'static str, variable: &str) -> Self {
        let asked = std::env::var(variable).ok().and_then(|length| length.parse::<i64>().ok());
        let columns = match asked {
            Some(0) => 0,
            Some(length @ 3..) => usize::try_from(length).unwrap_or(COLUMNS),
            _ => COLUMNS,
        };
        Self { buffer: Vec::new(), column: 0, columns, tool }
    }

    /// Writes characters; a line that is too long continues after a backslash.
    pub(crate) fn wrapped(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                self.column = 0;
            } else {
                self.column += 1;
                if self.columns > 0 && self.column == self.columns {
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

    /// Writes bytes without wrapping.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    /// Ends a line.
    pub(crate) fn end_line(&mut self) {
        self.column = 0;
        self.raw(b"\n");
    }

    /// Writes to standard error, after pending output.
    pub(crate) fn warn(&mut self, text: &str) {
        self.flush();
        tidebox_gnu::eprint_line!("{text}");
    }

    /// Flushes if the writer of the next input may wait for the output.
    pub(crate) fn flush_before_reading(&mut self, input: &tidebox_gnu::stream::Input) {
        if input.is_drained() {
            self.flush();
        }
    }

    pub(crate) fn flush(&mut self) {
        match tidebox_rt::write_all(1, &self.buffer) {
            Ok(()) => {}
            // The reader has closed the pipe.
            Err(Errno::PIPE) => tidebox_rt::exit(141),
            Err(error) => {
                tidebox_gnu::eprint_line!("{}: write error: {}", self.tool, error.text());
                tidebox_rt::exit(1)
            }
        }
        self.buffer.clear();
    }
}
