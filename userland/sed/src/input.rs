//! Lines of the input files.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;

use memchr::memchr;
use tidebox_gnu::message::{bytes_path, error_text, print_error};
use tidebox_gnu::stream::StandardInput;

use crate::options::Options;

/// Bytes per read.
const READ: usize = 64 * 1024;

/// A line without its newline.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: Vec<u8>,
    /// It had a newline. The last line of a file may lack it, and then none is printed.
    pub(crate) ended: bool,
}

/// A line source.
pub(crate) struct Lines {
    from: Box<dyn Read>,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    delimiter: u8,
    /// Bytes per read.
    size: usize,
}

impl Lines {
    pub(crate) fn new(from: Box<dyn Read>, delimiter: u8) -> Self {
        Self { from, buffer: Vec::new(), at: 0, filled: 0, delimiter, size: READ }
    }

    /// Reads more if the buffer is empty. Returns `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        if self.at < self.filled {
            return Ok(true);
        }
        self.buffer.resize(self.size, 0);
        (self.at, self.filled) = (0, 0);
        loop {
            match self.from.read(&mut self.buffer) {
                Ok(count) => {
                    self.filled = count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The next line.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line>> {
        let mut line = Line::default();
        let mut any = false;
        while self.fill()? {
            any = true;
            let ready = self.buffer.get(self.at..self.filled).unwrap_or_default();
            if let Some(end) = memchr(self.delimiter, ready) {
                line.text.extend_from_slice(ready.get(..end).unwrap_or_default());
                line.ended = true;
                self.at += end + 1;
                break;
            }
            line.text.extend_from_slice(ready);
            self.at = self.filled;
        }
        Ok(any.then_some(line))
    }

    /// Returns whether another line follows.
    fn has_more(&mut self) -> bool {
        self.fill().unwrap_or(false)
    }
}

/// Replacement of a file that `-i` edits.
#[derive(Debug)]
pub(crate) struct InPlace {
    pub(crate) path: PathBuf,
}

/// The input files in order.
pub(crate) struct Input {
    waiting: VecDeque<Vec<u8>>,
    current: Option<Lines>,
    /// The name of the current file; `-` is standard input.
    pub(crate) name: Vec<u8>,
    delimiter: u8,
    /// Each file has a separate last line.
    separate: bool,
    in_place: bool,
    follow_links: bool,
    /// Standard input is read byte by byte, so that unused input is not consumed.
    unbuffered: bool,
    /// A new file has started, with separate line numbers.
    pub(crate) anew: bool,
    /// Number of unreadable files.
    pub(crate) failed: bool,
    /// A fatal read error.
    pub(crate) broken: bool,
    /// The number of the line read last.
    pub(crate) number: u64,
}

/// The target of a chain of symbolic links, each resolved relative to its directory.
fn end_of_links(name: &[u8]) -> Result<Vec<u8>, String> {
    let mut path = name.to_vec();
    let shown = String::from_utf8_lossy(name).into_owned();
    for _ in 0..MAX_LINKS {
        match tidebox_rt::stat(&path, false) {
            Err(errno) => {
                return Err(format!("couldn't readlink {}: {}", String::from_utf8_lossy(&path), errno.text()));
            }
            Ok(stat) if stat.kind() != tidebox_rt::FileKind::Symlink => return Ok(path),
            Ok(_) => {}
        }
        let target =
            tidebox_rt::read_link(&path).map_err(|errno| format!("couldn't readlink {shown}: {}", errno.text()))?;
        match path.iter().rposition(|byte| *byte == b'/') {
            Some(slash) if !target.starts_with(b"/") => {
                path.truncate(slash + 1);
                path.extend_from_slice(&target);
            }
            _ => path = target,
        }
    }
    Err(format!("couldn't follow symlink {shown}: {}", tidebox_rt::Errno::LOOP.text()))
}

/// Linux's limit of symbolic links in a path.
const MAX_LINKS: usize = 40;

/// Next input event.
pub(crate) enum Step {
    Line(Line),
    /// A file that `-i` edits starts.
    Begin(InPlace),
    /// That file ends.
    End,
    /// End of the input.
    Done,
}

impl Input {
    pub(crate) fn new(options: &Options) -> Self {
        let files = &options.files;
        let (delimiter, separate, in_place) = (options.delimiter, options.separate, options.in_place.is_some());
        let unbuffered = options.unbuffered;
        let mut waiting: VecDeque<Vec<u8>> = files.iter().cloned().collect();
        if waiting.is_empty() {
            waiting.push_back(b"-".to_vec());
        }
        let name = b"-".to_vec();
        let (failed, broken, anew) = (false, false, false);
        Self {
            waiting,
            current: None,
            name,
            delimiter,
            separate,
            in_place,
            follow_links: options.follow_links,
            unbuffered,
            anew,
            failed,
            broken,
            number: 0,
        }
    }

    pub(crate) fn step(&mut self) -> Step {
        loop {
            if let Some(lines) = &mut self.current {
                match lines.next_line() {
                    Ok(Some(line)) => {
                        self.number = self.number.saturating_add(1);
                        return Step::Line(line);
                    }
                    Ok(None) => {}
                    Err(error) => {
                        self.give_up();
                        let name = String::from_utf8_lossy(&self.name).into_owned();
                        print_error("sed", &format!("read error on {name}: {}", error_text(&error)));
                    }
                }
                self.current = None;
                if self.in_place {
                    return Step::End;
                }
            }
            let Some(name) = self.waiting.pop_front() else {
                return Step::Done;
            };
            if self.open(name) && self.in_place {
                return Step::Begin(InPlace { path: bytes_path(&self.name).to_owned() });
            }
        }
    }

    /// Stops reading.
    fn give_up(&mut self) {
        (self.failed, self.broken) = (true, true);
        self.waiting.clear();
    }

    fn open(&mut self, name: Vec<u8>) -> bool {
        let name = match if self.follow_links && name != b"-" { end_of_links(&name) } else { Ok(name) } {
            Ok(name) => name,
            Err(message) => {
                print_error("sed", &message);
                self.give_up();
                return false;
            }
        };
        let shown = String::from_utf8_lossy(&name).into_owned();
        let from: Box<dyn Read> = if name == b"-" && !self.in_place {
            Box::new(StandardInput)
        } else {
            let path = bytes_path(&name);
            match std::fs::metadata(path) {
                Ok(metadata) if self.in_place && !metadata.is_file() => {
                    print_error("sed", &format!("couldn't edit {shown}: not a regular file"));
                    self.give_up();
                    return false;
                }
                Ok(metadata) if metadata.is_dir() => {
                    print_error("sed", &format!("read error on {shown}: Is a directory"));
                    self.give_up();
                    return false;
                }
                _ => {}
            }
            match File::open(path) {
                Ok(file) => Box::new(file),
                Err(error) => {
                    print_error("sed", &format!("can't read {shown}: {}", error_text(&error)));
                    self.failed = true;
                    return false;
                }
            }
        };
        if self.separate {
            self.number = 0;
            self.anew = true;
        }
        let mut lines = Lines::new(from, self.delimiter);
        if self.unbuffered && name == b"-" {
            lines.size = 1;
        }
        self.name = name;
        self.current = Some(lines);
        true
    }

    /// Seeks standard input back over buffered but unused data.
    pub(crate) fn give_back(&mut self) {
        if let Some(lines) = self.current.take().filter(|_| self.name == b"-" && !self.in_place) {
            StandardInput::unread((lines.filled - lines.at) as u64);
        }
    }

    /// Returns whether the last line read is the last one.
    pub(crate) fn is_last(&mut self) -> bool {
        if self.current.as_mut().is_some_and(Lines::has_more) {
            return false;
        }
        if self.separate {
            return true;
        }
        // An empty or unreadable file has no next line.
        while let Some(name) = self.waiting.front().cloned() {
            let readable = name == b"-" || File::open(bytes_path(&name)).is_ok();
            if !readable {
                self.waiting.pop_front();
                self.failed = true;
                let shown = String::from_utf8_lossy(&name).into_owned();
                print_error("sed", &format!("can't read {shown}: No such file or directory"));
                continue;
            }
            if name == b"-" {
                return false;
            }
            let is_empty =
                std::fs::metadata(bytes_path(&name)).is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0);
            if !is_empty {
                return false;
            }
            self.waiting.pop_front();
        }
        true
    }

    /// Returns whether no further line follows in any file.
    pub(crate) fn is_exhausted(&mut self) -> bool {
        let separate = std::mem::replace(&mut self.separate, false);
        let last = self.is_last();
        self.separate = separate;
        last
    }
}
