//! What is written: standard output, the file that is changed in place, and the files of `w`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tidebox_gnu::answer::print;
use tidebox_gnu::message::{bytes_path, path_bytes, reason};

use crate::input::InPlace;
use crate::script::Target;

/// Bytes that wait before they are written.
const BUFFER: usize = 32 * 1024;

/// Something to write to.
#[derive(Debug)]
struct Sink {
    /// `None` is standard output.
    file: Option<File>,
    name: String,
    buffer: Vec<u8>,
    /// The last line written had no end, so that one is due before the next.
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
        written.map_err(|error| format!("couldn't flush {}: {}", self.name, reason(&error)))
    }

    /// Begins something new: the line before it gets the end that it lacked.
    fn begin(&mut self, delimiter: u8) {
        if std::mem::take(&mut self.missing_end) {
            self.buffer.push(delimiter);
        }
    }
}

/// A file that is being changed in place.
#[derive(Debug)]
struct Change {
    sink: Sink,
    path: PathBuf,
    temporary: PathBuf,
}

/// Everything that is written to.
#[derive(Debug)]
pub(crate) struct Outputs {
    stdout: Sink,
    change: Option<Change>,
    files: Vec<Option<Sink>>,
    delimiter: u8,
    unbuffered: bool,
    /// The first thing that could not be written.
    error: Option<String>,
}

impl Outputs {
    /// Opens the files that `written` names.
    pub(crate) fn new(files: &[Vec<u8>], written: &[bool], delimiter: u8, unbuffered: bool) -> Result<Self, String> {
        let open = |(name, written): (&Vec<u8>, &bool)| {
            if !written {
                return Ok(None);
            }
            let shown = String::from_utf8_lossy(name).into_owned();
            match File::create(bytes_path(name)) {
                Ok(file) => Ok(Some(Sink::new(Some(file), shown))),
                Err(error) => Err(format!("couldn't open file {shown}: {}", reason(&error))),
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

    /// What could not be written.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Prints a line; `ended` says that it has an end.
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

    /// Prints text as it is.
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
            // Also when a file is changed in place, this is standard output itself.
            Target::Stdout if self.change.is_some() => {
                self.stdout.buffer.extend_from_slice(text);
                self.stdout.buffer.push(delimiter);
                self.stdout.flush()
            }
            Target::Stdout => return self.line(text, ended),
            Target::Stderr => {
                let mut line = text.to_vec();
                line.push(delimiter);
                io::stderr().write_all(&line).map_err(|error| reason(&error))
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

    /// Begins to change a file in place: what is printed goes into a new file beside it.
    pub(crate) fn begin_change(&mut self, change: &InPlace) -> Result<(), String> {
        let path = change.path.clone();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut number = [0; 8];
        // Without entropy the name is still one that hardly any file has.
        let _ = tidebox_rt::random(&mut number);
        let temporary = folder.join(format!("sed{:016x}", u64::from_le_bytes(number)));
        let file = File::create_new(&temporary)
            .map_err(|error| format!("couldn't open temporary file {}: {}", temporary.display(), reason(&error)))?;
        let sink = Sink::new(Some(file), temporary.display().to_string());
        self.change = Some(Change { sink, path, temporary });
        Ok(())
    }

    /// Puts the changed file in the place of the old one, of which a copy may be kept.
    pub(crate) fn end_change(&mut self, suffix: &[u8]) -> Result<(), String> {
        let Some(mut change) = self.change.take() else {
            return Ok(());
        };
        if let Err(message) = change.sink.flush() {
            // The old file stays as it is.
            let _ = fs::remove_file(&change.temporary);
            return Err(message);
        }
        drop(change.sink);
        if let Ok(stat) = tidebox_rt::stat(path_bytes(&change.path), true) {
            let _ = tidebox_rt::chmod(path_bytes(&change.temporary), stat.mode & 0o7777);
        }
        let moved = |from: &Path, to: &Path| {
            fs::rename(from, to).map_err(|error| format!("cannot rename {}: {}", from.display(), reason(&error)))
        };
        if !suffix.is_empty() {
            let kept = moved(&change.path, &copy_name(&change.path, suffix));
            if kept.is_err() {
                // The old file stays as it is.
                let _ = fs::remove_file(&change.temporary);
                return kept;
            }
        }
        moved(&change.temporary, &change.path)
    }

    /// Writes what waits. The old file stays where it was being changed.
    pub(crate) fn end(&mut self) {
        if let Some(change) = self.change.take() {
            let _ = fs::remove_file(&change.temporary);
        }
        let result = self.stdout.flush();
        self.settle(result);
    }
}

/// The name of the copy: the suffix follows the name as it was given, or takes it in where it has stars.
pub(crate) fn copy_name(path: &Path, suffix: &[u8]) -> PathBuf {
    let name = path_bytes(path);
    let copy = if suffix.contains(&b'*') {
        suffix.split(|byte| *byte == b'*').collect::<Vec<_>>().join(name)
    } else {
        [name, suffix].concat()
    };
    bytes_path(&copy).to_owned()
}
