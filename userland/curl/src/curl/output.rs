//! Destinations of a response body.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use tidebox_gnu::message::{bytes_path, error_text};

use super::fault::Fault;

/// Standard output or a file, created on the first byte.
pub(super) struct Output {
    /// `None`: standard output.
    pub(super) path: Option<PathBuf>,
    /// Create the parent directories of the file.
    pub(super) makes_folders: bool,
    /// Append to the file.
    pub(super) appends: bool,
    /// Reject an existing file: the server chose the name.
    pub(super) is_new: bool,
    file: Option<File>,
    pub(super) written: u64,
}

impl Output {
    /// Writes to the file of that name; `-` is standard output.
    pub(super) fn to(name: &[u8], folder: Option<&[u8]>) -> Self {
        let path = (name != b"-").then(|| match folder {
            Some(folder) => bytes_path(folder).join(bytes_path(name)),
            None => bytes_path(name).to_owned(),
        });
        Self { path, ..Self::stdout() }
    }

    /// Writes to standard output.
    pub(super) fn stdout() -> Self {
        Self { path: None, makes_folders: false, appends: false, is_new: false, file: None, written: 0 }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.is_empty() {
            return Ok(());
        }
        let failed = |_| Fault::new(23, "Failure writing output to destination");
        if self.path.is_none() {
            let mut out = io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush()).map_err(failed)?;
        } else {
            self.open()?.write_all(bytes).map_err(failed)?;
        }
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Creates the file even if the body was empty.
    pub(super) fn finish(&mut self) -> Result<(), Fault> {
        if self.path.is_some() { self.open().map(drop) } else { Ok(()) }
    }

    /// Discards the output before a retry or after a failure.
    pub(super) fn remove(&mut self) {
        self.file = None;
        if let Some(path) = self.path.as_ref().filter(|_| self.written > 0) {
            // It may already be deleted.
            let _ = std::fs::remove_file(path);
        }
        self.written = 0;
    }

    /// Restarts for another attempt.
    pub(super) fn rewind(&mut self) {
        if !self.appends {
            self.file = None;
        }
        self.written = 0;
    }

    fn open(&mut self) -> Result<&mut File, Fault> {
        let (Some(path), None) = (&self.path, &self.file) else {
            return self.file.as_mut().ok_or_else(|| Fault::new(23, "Failure writing output to destination"));
        };
        if let Some(folder) = path.parent().filter(|_| self.makes_folders) {
            std::fs::create_dir_all(folder).map_err(|error| {
                Fault::new(23, format!("The directory {} cannot be made: {}", folder.display(), error_text(&error)))
            })?;
        }
        let mut how = OpenOptions::new();
        if self.is_new {
            how.write(true).create_new(true);
        } else if self.appends {
            how.append(true).create(true);
        } else {
            how.write(true).create(true).truncate(true);
        }
        let opened = how.open(path);
        let file = opened.map_err(|error| {
            Fault::warned(
                23,
                "Failure writing output to destination",
                format!("Failed to open the file {}: {}", path.display(), error_text(&error)),
            )
        })?;
        Ok(self.file.insert(file))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes).map_err(|fault| io::Error::other(fault.message))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
