//! Outputs: standard output, the file edited with `-i`, and the files of `w`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tidebox_gnu::exit::print;
use tidebox_gnu::message::{bytes_path, error_text, path_bytes};

use crate::input::InPlace;
use crate::script::Target;

/// Output buffer size in bytes.
const BUFFER: usize = 32 * 1024;

/// An output.
#[derive(Debug)]
struct Sink {
    /// `None` is standard output.
    file: Option<File>,
    name: String,
    buffer: Vec<u8>,
    /// The last line lacked a newline, which precedes the next output.
    missing_end: bool,
}

impl Sink {
    fn new(file: Option<File>, name: String) -> Self {
        Self { file, name, buffer: Vec::new(), missing_end: false }
    }

    fn flush(&mut self) -> Result<(), String> {
        let written = match &mut self.file {
            Some(file) => file.write_all(&self.buffer),
            None => print(&self.buffer),
        };
        self.buffer.clear();
        written.map_err(|error| format!("couldn't flush {}: {}", self.name, error_text(&error)))
    }

    /// Starts new output: writes the missing newline of the previous line.
    fn begin(&mut self, delimiter: u8) {
        if std::mem::take(&mut self.missing_end) {
            self.buffer.push(delimiter);
        }
    }
}

/// A file that `-i` edits.
#[derive(Debug)]
struct Change {
    sink: Sink,
    path: PathBuf,
    temporary: PathBuf,
}

/// All outputs.
#[derive(Debug)]
pub(crate) struct Outputs {
    stdout: Sink,
    change: Option<Change>,
    files: Vec<Option<Sink>>,
    delimiter: u8,
    unbuffered: bool,
    /// The first write error.
    error: Option<String>,
}

impl Outputs {
    /// Opens the files in `written`.
    pub(crate) fn new(files: &[Vec<u8>], written: &[bool], delimiter: u8, unbuffered: bool) -> Result<Self, String> {
        let open = |(name, written): (&Vec<u8>, &bool)| {
            if !written {
                return Ok(None);
            }
            let shown = String::from_utf8_lossy(name).into_owned();
            match File::create(bytes_path(name)) {
                Ok(file) => Ok(Some(Sink::new(Some(file), shown))),
                Err(error) => Err(format!("couldn't open file {shown}: {}", error_text(&error))),
            }
        };
        let files = files.iter().zip(written).map(open).collect::<Result<Vec<_>, String>>()?;
        let stdout = Sink::new(None, "stdout".to_owned());
        Ok(Self { stdout, change: None, files, delimiter, unbuffered, error: None })
    }

    fn main(&mut self) -> &mut Sink {
        match &mut self.change {
            Some(change) => &mut change.sink,
            None => &mut self.stdout,
        }
    }

    fn settle(&mut self, result: Result<(), String>) {
        if let Err(message) = result {
            self.error.get_or_insert(message);
        }
    }

    /// The write error, if one occurred.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Prints a line; `ended` means with a newline.
    pub(crate) fn line(&mut self, text: &[u8], ended: bool) {
        let delimiter = self.delimiter;
        let at_once = self.unbuffered;
        let sink = self.main();
        sink.begin(delimiter);
        sink.buffer.extend_from_slice(text);
        if ended {
            sink.buffer.push(delimiter);
        }
        sink.missing_end = !ended;
        if at_once || sink.buffer.len() >= BUFFER {
            let flushed = sink.flush();
            self.settle(flushed);
        }
    }

    /// Prints text unchanged.
    pub(crate) fn text(&mut self, text: &[u8]) {
        let delimiter = self.delimiter;
        let sink = self.main();
        sink.begin(delimiter);
        sink.buffer.extend_from_slice(text);
        if self.unbuffered {
            self.flush();
        }
    }

    /// Writes a line to the target of `w`.
    pub(crate) fn write(&mut self, target: Target, text: &[u8], ended: bool) {
        let delimiter = self.delimiter;
        let result = match target {
            // This is standard output even while `-i` edits a file.
            Target::Stdout if self.change.is_some() => {
                self.stdout.buffer.extend_from_slice(text);
                self.stdout.buffer.push(delimiter);
                self.stdout.flush()
            }
            Target::Stdout => return self.line(text, ended),
            Target::Stderr => {
                let mut line = text.to_vec();
                line.push(delimiter);
                io::stderr().write_all(&line).map_err(|error| error_text(&error))
            }
            Target::File(number) => match self.files.get_mut(number) {
                Some(Some(sink)) => {
                    sink.begin(delimiter);
                    sink.buffer.extend_from_slice(text);
                    if ended {
                        sink.buffer.push(delimiter);
                    }
                    sink.missing_end = !ended;
                    // Another command of the script may read the file.
                    sink.flush()
                }
                _ => Ok(()),
            },
        };
        self.settle(result);
    }

    pub(crate) fn flush(&mut self) {
        let result = self.main().flush();
        self.settle(result);
    }

    /// Starts the edit of a file with `-i`: output goes to a new file in the same directory.
    pub(crate) fn begin_change(&mut self, change: &InPlace) -> Result<(), String> {
        let path = change.path.clone();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut number = [0; 8];
        // Without randomness the name is still unlikely to exist.
        let _ = tidebox_rt::random(&mut number);
        let temporary = folder.join(format!("sed{:016x}", u64::from_le_bytes(number)));
        let file = File::create_new(&temporary)
            .map_err(|error| format!("couldn't open temporary file {}: {}", temporary.display(), error_text(&error)))?;
        let sink = Sink::new(Some(file), temporary.display().to_string());
        self.change = Some(Change { sink, path, temporary });
        Ok(())
    }

    /// Replaces the old file with the edited one, optionally keeping a backup.
    pub(crate) fn end_change(&mut self, suffix: &[u8]) -> Result<(), String> {
        let Some(mut change) = self.change.take() else {
            return Ok(());
        };
        if let Err(message) = change.sink.flush() {
            // The old file is unchanged.
            let _ = fs::remove_file(&change.temporary);
            return Err(message);
        }
        drop(change.sink);
        if let Ok(stat) = tidebox_rt::stat(path_bytes(&change.path), true) {
            let _ = tidebox_rt::chmod(path_bytes(&change.temporary), stat.mode & 0o7777);
        }
        let moved = |from: &Path, to: &Path| {
            fs::rename(from, to).map_err(|error| format!("cannot rename {}: {}", from.display(), error_text(&error)))
        };
        if !suffix.is_empty() {
            let kept = moved(&change.path, &copy_name(&change.path, suffix));
            if kept.is_err() {
                // The old file is unchanged.
                let _ = fs::remove_file(&change.temporary);
                return kept;
            }
        }
        moved(&change.temporary, &change.path)
    }

    /// Flushes the outputs. A file that `-i` edits is left unchanged.
    pub(crate) fn end(&mut self) {
        if let Some(change) = self.change.take() {
            let _ = fs::remove_file(&change.temporary);
        }
        let result = self.stdout.flush();
        self.settle(result);
    }
}

/// The backup name: the suffix is appended, or the name replaces its asterisks.
pub(crate) fn copy_name(path: &Path, suffix: &[u8]) -> PathBuf {
    let name = path_bytes(path);
    let copy = if suffix.contains(&b'*') {
        suffix.split(|byte| *byte == b'*').collect::<Vec<_>>().join(name)
    } else {
        [name, suffix].concat()
    };
    bytes_path(&copy).to_owned()
}
