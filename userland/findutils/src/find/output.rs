//! Standard output and the files of `-fprint`.

use std::fs::File;
use std::io::{self, Write};

use tidebox_gnu::exit::print;
use tidebox_gnu::message::{bytes_path, error_text, quote_value};

/// Buffer size in bytes.
const BUFFER: usize = 32 * 1024;

/// Names of the outputs; the first one is standard output.
#[derive(Debug)]
pub(crate) struct Targets {
    files: Vec<Vec<u8>>,
}

impl Targets {
    pub(crate) fn new() -> Self {
        Self { files: Vec::new() }
    }

    /// Number of standard output.
    #[allow(clippy::unused_self, reason = "the number is meaningful only together with the list")]
    pub(crate) fn standard(&self) -> usize {
        0
    }

    /// Returns the number of a file. Equal names share a number.
    pub(crate) fn file(&mut self, name: &[u8]) -> usize {
        if name == b"/dev/stdout" {
            return 0;
        }
        let known = self.files.iter().position(|file| file == name);
        1 + known.unwrap_or_else(|| {
            self.files.push(name.to_vec());
            self.files.len() - 1
        })
    }
}

/// A buffered output.
#[derive(Debug)]
pub(crate) struct Output {
    /// `None` is standard output.
    file: Option<File>,
    name: String,
    buffer: Vec<u8>,
    /// Error that prevents further writes.
    error: Option<io::Error>,
}

impl Output {
    fn new(file: Option<File>, name: String) -> Self {
        Self { file, name, buffer: Vec::new(), error: None }
    }

    /// Opens every output.
    pub(crate) fn open(targets: &Targets) -> Result<Vec<Self>, String> {
        let mut outputs = vec![Self::new(None, "standard output".to_owned())];
        for name in &targets.files {
            let shown = String::from_utf8_lossy(name).into_owned();
            let file = File::create(bytes_path(name))
                .map_err(|error| format!("{}: {}", quote_value(name), error_text(&error)))?;
            outputs.push(Self::new(Some(file), shown));
        }
        Ok(outputs)
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    pub(crate) fn flush(&mut self) {
        if self.error.is_none() && !self.buffer.is_empty() {
            let written = match &mut self.file {
                Some(file) => file.write_all(&self.buffer),
                None => print(&self.buffer),
            };
            self.error = written.err();
        }
        self.buffer.clear();
    }

    /// Error that prevents further writes.
    pub(crate) fn error(&self) -> Option<String> {
        self.error.as_ref().map(|error| format!("{}: {}", quote_value(self.name.as_bytes()), error_text(error)))
    }
}
