//! Common parts of the compressors: finding input files, naming and creating output files, and removing one or the other.

use std::io;

use tidebox_rt::{Errno, Fd, FileKind, Open, Stat};

use crate::place::{files_below, take_over, without_suffix};
use crate::stream::{self, Sink, Source};

/// Operation on each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Compress,
    Decompress,
    Test,
}

/// Reason why data cannot be processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataError {
    Read(Errno),
    Write(Errno),
    /// Another format.
    Unknown,
    /// It ends in the middle.
    Ended,
    /// With a description, which may be empty.
    Damaged(&'static str),
    /// Other data follows; all before it is good.
    Garbage,
}

impl From<Errno> for DataError {
    fn from(errno: Errno) -> Self {
        Self::Read(errno)
    }
}

impl From<io::Error> for DataError {
    fn from(error: io::Error) -> Self {
        if breaks_off(&error) { Self::Ended } else { Self::Damaged("") }
    }
}

/// Returns whether an error is caused by truncated input.
fn breaks_off(error: &io::Error) -> bool {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return true;
    }
    let mut next: Option<&(dyn std::error::Error + 'static)> = error.get_ref().map(|inner| inner as _);
    while let Some(error) = next {
        let missing = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
        if error.downcast_ref().is_some_and(missing) || error.downcast_ref() == Some(&crabz2::Error::Truncated) {
            return true;
        }
        next = error.source();
    }
    false
}

/// Reason why a file is not processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem<'a> {
    Missing(Errno),
    Open(Errno),
    Directory,
    Link,
    NotRegular,
    /// The number of other hard links.
    Links(u64),
    HasSuffix(&'a str),
    NoSuffix,
    Exists,
    Create(Errno),
    Remove(Errno),
    Data(DataError),
}

impl Problem<'_> {
    /// Returns whether the file is skipped with a warning.
    fn is_warning(&self) -> bool {
        use Problem::*;
        matches!(self, Directory | Link | NotRegular | Links(_) | HasSuffix(_) | NoSuffix | Data(DataError::Garbage))
    }
}

/// Input of a compression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    /// `None` for standard input.
    pub(crate) name: Option<&'a [u8]>,
    pub(crate) stat: &'a Stat,
}

/// A processed file.
#[derive(Debug)]
pub(crate) struct Passed<'a> {
    pub(crate) name: &'a str,
    pub(crate) target: &'a str,
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) into_file: bool,
}

/// Differences between the compressors.
pub(crate) trait Tool {
    /// Suffixes of compressed files, and what replaces them.
    const SUFFIXES: &'static [(&'static str, &'static str)];
    /// Names of standard input and standard output in messages.
    const STANDARD: [&'static str; 2];

    fn pack(&mut self, input: Input<'_>, source: &mut Source, sink: &mut Sink) -> Result<(), DataError>;
    fn unpack(&mut self, source: &mut Source, sink: &mut Sink) -> Result<(), DataError>;
    /// Returns the exit code and the message of a problem with a file.
    fn message(&self, job: &Job, name: &str, target: &str, problem: Problem<'_>) -> (i32, String);
    /// Prints the result of a file.
    fn report(&mut self, job: &Job, passed: &Passed<'_>);
    /// Prints the result of all files.
    fn finish(&mut self, _job: &Job) {}
    /// Returns the output name of a compressed file without a known suffix.
    fn unnamed(&self, _job: &Job, _name: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// Options and state of one run.
#[derive(Debug)]
pub(crate) struct Job {
    /// The prefix of messages.
    pub(crate) name: String,
    pub(crate) mode: Mode,
    pub(crate) to_stdout: bool,
    pub(crate) force: bool,
    pub(crate) keep: bool,
    pub(crate) recursive: bool,
    /// Verbosity: 0 nothing, 1 errors, 2 warnings, 3 results.
    pub(crate) verbosity: u8,
    /// Suffix of compressed files.
    pub(crate) suffix: Vec<u8>,
    /// True if a compressed file may be compressed again.
    pub(crate) repeats_suffix: bool,
    /// True if a name that does not exist is tried with the suffix.
    pub(crate) tries_suffix: bool,
    /// The single output file.
    pub(crate) output: Option<Vec<u8>>,
    /// True if there are several operands.
    pub(crate) several: bool,
    pub(crate) code: i32,
}

impl Job {
    pub(crate) fn new(name: &str, mode: Mode, suffix: &str) -> Self {
        Self {
            name: name.to_owned(),
            mode,
            to_stdout: false,
            force: false,
            keep: false,
            recursive: false,
            verbosity: 2,
            suffix: suffix.as_bytes().to_vec(),
            repeats_suffix: false,
            tries_suffix: false,
            output: None,
            several: false,
            code: 0,
        }
    }

    /// Processes the operands and returns the exit code.
    pub(crate) fn run(mut self, tool: &mut impl Tool, mut files: Vec<Vec<u8>>) -> i32 {
        if files.is_empty() {
            files.push(b"-".to_vec());
        }
        self.several = files.len() > 1;
        for file in files {
            match file.as_slice() {
                b"-" => self.standard_input(tool),
                name => self.operand(tool, name),
            }
        }
        tool.finish(&self);
        self.code
    }

    fn writes_file(&self) -> bool {
        self.mode != Mode::Test && !self.to_stdout
    }

    fn problem(&mut self, tool: &impl Tool, name: &[u8], target: &[u8], problem: Problem<'_>) {
        // Other files below a directory are skipped silently.
        if self.recursive && self.verbosity < 3 && matches!(problem, Problem::HasSuffix(_) | Problem::NoSuffix) {
            return;
        }
        let [name, target] = [name, target].map(String::from_utf8_lossy);
        let (code, text) = tool.message(self, &name, &target, problem);
        if self.verbosity > u8::from(problem.is_warning()) {
            tidebox_gnu::eprint_line!("{text}");
        }
        if self.code == 0 || code == 1 {
            self.code = code;
        }
    }

    fn standard_input<T: Tool>(&mut self, tool: &mut T) {
        let stat = tidebox_rt::fstat(0).unwrap_or_default();
        let [name, target] = T::STANDARD.map(str::as_bytes);
        let input = Input { name: None, stat: &stat };
        let Some(output) = self.output.clone() else {
            self.to_stdout = true;
            self.pass(tool, input, [name, target], 0, None);
            return;
        };
        if let Some(out) = self.make(tool, name, &output) {
            self.pass(tool, input, [name, &output], 0, Some(out));
        }
    }

    fn operand<T: Tool>(&mut self, tool: &mut T, name: &[u8]) {
        let follow = self.force || !self.writes_file();
        let mut name = name.to_vec();
        let mut found = tidebox_rt::stat(&name, follow);
        let tries = self.tries_suffix && self.mode != Mode::Compress && self.stem::<T>(&name).is_none();
        if found == Err(Errno::NOENT) && tries {
            name.extend_from_slice(&self.suffix);
            found = tidebox_rt::stat(&name, follow);
        }
        let stat = match found {
            Ok(stat) => stat,
            Err(errno) => return self.problem(tool, &name, b"", Problem::Missing(errno)),
        };
        if stat.kind() == FileKind::Dir && self.recursive {
            let mut unread = Vec::new();
            let files = files_below(&name, &mut |path, errno| unread.push((path.to_vec(), errno)));
            unread.iter().for_each(|(path, errno)| self.problem(tool, path, b"", Problem::Open(*errno)));
            return files.iter().for_each(|file| self.operand(tool, file));
        }
        if let Some(problem) = self.refusal(&stat) {
            return self.problem(tool, &name, b"", problem);
        }
        let fd = match stream::open(&name) {
            Ok(fd) => fd,
            Err(errno) => return self.problem(tool, &name, b"", Problem::Open(errno)),
        };
        self.opened(tool, &name, fd, &stat);
        // Nothing was written to it.
        let _ = tidebox_rt::close(fd);
    }

    /// Returns why a file of this type cannot be read, or replaced.
    fn refusal(&self, stat: &Stat) -> Option<Problem<'static>> {
        match stat.kind() {
            FileKind::Dir => Some(Problem::Directory),
            _ if !self.writes_file() => None,
            FileKind::Symlink => Some(Problem::Link),
            FileKind::File if !self.force && !self.keep && stat.nlink > 1 => Some(Problem::Links(stat.nlink - 1)),
            FileKind::File => None,
            _ => Some(Problem::NotRegular),
        }
    }

    fn opened<T: Tool>(&mut self, tool: &mut T, name: &[u8], fd: Fd, stat: &Stat) {
        let input = Input { name: Some(name), stat };
        if !self.writes_file() {
            self.pass(tool, input, [name, T::STANDARD[1].as_bytes()], fd, None);
            return;
        }
        let Some(target) = self.target(tool, name) else {
            return;
        };
        let Some(out) = self.make(tool, name, &target) else {
            return;
        };
        if !self.pass(tool, input, [name, &target], fd, Some(out)) {
            return;
        }
        if tidebox_rt::stat(&target, true).is_ok_and(|stat| stat.kind() == FileKind::File)
            && let Err(errno) = take_over(&target, stat)
        {
            self.problem(tool, name, &target, Problem::Create(errno));
        }
        if !self.keep
            && let Err(errno) = tidebox_rt::unlink(name)
        {
            self.problem(tool, name, &target, Problem::Remove(errno));
        }
    }

    /// Returns the name of a compressed file without its suffix.
    pub(crate) fn stem<T: Tool>(&self, name: &[u8]) -> Option<Vec<u8>> {
        let own = without_suffix(name, &self.suffix).map(<[u8]>::to_vec);
        own.or_else(|| {
            let known = |(suffix, stands): &(&str, &str)| {
                Some([without_suffix(name, suffix.as_bytes())?, stands.as_bytes()].concat())
            };
            T::SUFFIXES.iter().find_map(known)
        })
    }

    /// Returns the name of the output file.
    fn target<T: Tool>(&mut self, tool: &T, name: &[u8]) -> Option<Vec<u8>> {
        if let Some(output) = &self.output {
            return Some(output.clone());
        }
        if self.mode == Mode::Decompress {
            let stem = self.stem::<T>(name).or_else(|| tool.unnamed(self, name));
            if stem.is_none() {
                self.problem(tool, name, b"", Problem::NoSuffix);
            }
            return stem;
        }
        let own = String::from_utf8_lossy(&self.suffix).into_owned();
        let mut suffixes = T::SUFFIXES.iter().map(|(suffix, _)| *suffix).chain([own.as_str()]);
        if !self.repeats_suffix
            && let Some(suffix) = suffixes.find(|suffix| without_suffix(name, suffix.as_bytes()).is_some())
        {
            self.problem(tool, name, b"", Problem::HasSuffix(suffix));
            return None;
        }
        Some([name, &self.suffix].concat())
    }

    /// Creates the output file.
    fn make(&mut self, tool: &impl Tool, name: &[u8], target: &[u8]) -> Option<Fd> {
        let made = match tidebox_rt::stat(target, true) {
            // A device or a pipe is written directly.
            Ok(stat) if matches!(stat.kind(), FileKind::CharDevice | FileKind::Pipe) => {
                tidebox_rt::open(target, Open { write: true, ..Open::default() })
            }
            Ok(stat) if self.force && stat.kind() == FileKind::File => {
                tidebox_rt::unlink(target).and_then(|()| stream::create(target))
            }
            _ => stream::create(target),
        };
        match made {
            Ok(fd) => return Some(fd),
            Err(Errno::EXIST) => self.problem(tool, name, target, Problem::Exists),
            Err(errno) => self.problem(tool, name, target, Problem::Create(errno)),
        }
        None
    }

    /// Compresses, decompresses or tests a stream, and returns whether it succeeded. Closes the output file, and removes it if it is
    /// incomplete.
    fn pass<T: Tool>(
        &mut self,
        tool: &mut T,
        input: Input<'_>,
        [name, target]: [&[u8]; 2],
        fd: Fd,
        out: Option<Fd>,
    ) -> bool {
        let mut source = Source::new(fd);
        let mut sink = Sink::new(if self.mode == Mode::Test { None } else { out.or(Some(1)) });
        let mut done = match self.mode {
            Mode::Compress => tool.pack(input, &mut source, &mut sink),
            _ => tool.unpack(&mut source, &mut sink),
        };
        let passes_on = self.force && self.to_stdout && self.mode == Mode::Decompress && source.consumed() == 0;
        if passes_on && matches!(done, Err(DataError::Unknown | DataError::Ended)) {
            done = stream::copy(&mut source, &mut sink).map_err(DataError::from);
        }
        // The sink keeps the error.
        let _ = sink.finish();
        let failures = [source.failure().map(DataError::Read), sink.failure().map(DataError::Write)];
        done = failures.into_iter().flatten().next().map_or(done, Err);
        if let Some(Err(errno)) = out.map(tidebox_rt::close) {
            done = Err(DataError::Write(errno));
        }
        if let Err(broken) = done {
            self.problem(tool, name, target, Problem::Data(broken));
            if broken != DataError::Garbage {
                if out.is_some() {
                    // The file is incomplete; a failure to remove it cannot be reported better.
                    let _ = tidebox_rt::unlink(target);
                }
                return false;
            }
        }
        let [name, target] = [name, target].map(String::from_utf8_lossy);
        let (read, written) = (source.consumed(), sink.put_so_far());
        tool.report(self, &Passed { name: &name, target: &target, read, written, into_file: out.is_some() });
        true
    }
}

/// Returns the arguments in variables that hold options.
pub(crate) fn environment(variables: &[&str]) -> Vec<Vec<u8>> {
    let values = variables.iter().filter_map(std::env::var_os);
    values
        .flat_map(|value| {
            let words = value.as_encoded_bytes().split(u8::is_ascii_whitespace);
            words.filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect::<Vec<_>>()
        })
        .collect()
}
