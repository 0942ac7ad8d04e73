//! `gzip`, `gunzip` and `zcat`.

use std::io::Write;

use flate2::bufread::GzDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::print;
use tidebox_rt::FileKind;

use crate::job::{DataError, Input, Job, Mode, Passed, Problem, Tool, environment};
use crate::stream::{CHUNK, Sink, Source, drain};

const USAGE: &str = "\
Usage: gzip [OPTION]... [FILE]...
Compress or uncompress FILEs (by default, compress FILES in-place).

Mandatory arguments to long options are mandatory for short options too.

";

const NOTES: &str = "\n\
With no FILE, or when FILE is -, read standard input.
";

tidebox_gnu::options! {
    /// Options of `gzip`.
    enum Flag {
        Stdout = "-c, --stdout | --to-stdout", "write on standard output, keep original files unchanged";
        Decompress = "-d, --decompress | --uncompress", "decompress";
        Force = "-f, --force", "force overwrite of output file and compress links";
        Help = "-h, --help", "give this help";
        Keep = "-k, --keep", "keep (don't delete) input files";
        List = "-l, --list", "list compressed file contents";
        NoName = "-n, --no-name", "do not save the original name and timestamp";
        Name = "-N, --name", "save the original name and timestamp";
        Quiet = "-q, --quiet | --silent", "suppress all warnings";
        Recursive = "-r, --recursive", "operate recursively on directories";
        Rsyncable = "--rsyncable", "make rsync-friendly archive";
        Suffix = "-S, --suffix=SUF", "use suffix SUF on compressed files";
        Test = "-t, --test", "test compressed file integrity";
        Verbose = "-v, --verbose", "verbose mode";
        Version = "-V, --version", "display version number";
        Fast = "-1, --fast", "compress faster";
        Best = "-9, --best", "compress better";
        Level = "-2 ... -8", "";
    }
}

const VERSION: &str = "gzip 1.12\nThis is the gzip of Tidebox, which does what GNU gzip 1.12 does.\n";
const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, version: VERSION, ..Syntax::new("gzip", USAGE, 20) };

/// Options and state of `gzip` that the other compressors do not have.
#[derive(Debug)]
pub(crate) struct Gzip {
    pub(crate) level: u32,
    /// Store the name and the time.
    names: bool,
    list: bool,
    /// Size of header and trailer of the last member, in bytes.
    overhead: u64,
    /// Totals of `-l`: files, compressed bytes, bytes.
    listed: (u64, u64, u64),
}

impl Default for Gzip {
    fn default() -> Self {
        Self { level: 6, names: true, list: false, overhead: 0, listed: (0, 0, 0) }
    }
}

/// Runs the tool under one of its names.
pub fn main(name: &str, arguments: Vec<Vec<u8>>) -> i32 {
    run(name, arguments).into_exit_code("gzip")
}

fn run(name: &str, arguments: Vec<Vec<u8>>) -> Result<i32, ToolResult> {
    let mode = if name == "gzip" { Mode::Compress } else { Mode::Decompress };
    let mut job = Job { to_stdout: name == "zcat", tries_suffix: true, ..Job::new("gzip", mode, ".gz") };
    let mut gzip = Gzip::default();
    let mut words = environment(&["GZIP"]);
    if !words.is_empty() {
        tidebox_gnu::eprint_line!("gzip: warning: GZIP environment variable is deprecated; use an alias or script");
    }
    words.extend(arguments);
    let (options, files) = LINE.split::<ToolResult>(words)?;
    let mut restores = false;
    for option in options {
        match option.id {
            // Blocks for rsync have no effect.
            Flag::Rsyncable | Flag::Help | Flag::Version => {}
            Flag::Stdout => job.to_stdout = true,
            Flag::Decompress => job.mode = Mode::Decompress,
            Flag::Force => job.force = true,
            Flag::Keep => job.keep = true,
            Flag::List => gzip.list = true,
            Flag::NoName => gzip.names = false,
            Flag::Name => restores = true,
            Flag::Quiet => job.verbosity = 1,
            Flag::Recursive => job.recursive = true,
            Flag::Suffix => job.suffix = option.value,
            Flag::Test => job.mode = Mode::Test,
            Flag::Verbose => job.verbosity = 3,
            Flag::Fast => gzip.level = 1,
            Flag::Best => gzip.level = 9,
            Flag::Level => gzip.level = option.letter.and_then(|digit| digit.to_digit(10)).unwrap_or(6),
        }
    }
    if gzip.list {
        job.mode = Mode::Test;
    }
    if restores && job.mode == Mode::Decompress {
        return Err(ToolResult::Failure("restoring the name and time (-N) is not supported".to_owned(), 1));
    }
    if job.suffix.is_empty() {
        return Err(ToolResult::Failure("invalid suffix ''".to_owned(), 1));
    }
    Ok(job.run(&mut gzip, files))
}

impl Tool for Gzip {
    const SUFFIXES: &'static [(&'static str, &'static str)] =
        &[(".gz", ""), (".tgz", ".tar"), (".taz", ".tar"), (".Z", ""), (".z", ""), ("-gz", "")];
    const STANDARD: [&'static str; 2] = ["stdin", "stdout"];

    fn pack(&mut self, input: Input<'_>, source: &mut Source, sink: &mut Sink) -> Result<(), DataError> {
        let last = input.name.and_then(|name| name.rsplit(|byte| *byte == b'/').next()).filter(|_| self.names);
        let mut head = vec![0x1f, 0x8b, 8, if last.is_some() { 8 } else { 0 }];
        let has_time = self.names && input.stat.kind() == FileKind::File;
        let time = if has_time { u32::try_from(input.stat.mtime_ns / 1_000_000_000).unwrap_or(0) } else { 0 };
        head.extend_from_slice(&time.to_le_bytes());
        // The level, and the operating system: Unix.
        head.extend_from_slice(&[if self.level == 9 { 2 } else { 4 * u8::from(self.level == 1) }, 3]);
        if let Some(name) = last {
            head.extend_from_slice(name);
            head.push(0);
        }
        self.overhead = head.len() as u64 + 8;
        sink.put(&head)?;
        // For small input the highest level costs no noticeable time, and its output has the same length as that of gzip.
        let is_small = source.peek(CHUNK)?.len() < CHUNK;
        let level = if is_small && self.level >= 6 { 9 } else { self.level };
        let mut encoder = DeflateEncoder::new(&mut *sink, Compression::new(level));
        let mut sum = Crc::new();
        loop {
            let bytes = source.peek(1)?;
            if bytes.is_empty() {
                break;
            }
            sum.update(bytes);
            encoder.write_all(bytes)?;
            let count = bytes.len();
            source.advance(count);
        }
        encoder.finish()?;
        sink.put(&sum.sum().to_le_bytes())?;
        Ok(sink.put(&sum.amount().to_le_bytes())?)
    }

    fn unpack(&mut self, source: &mut Source, sink: &mut Sink) -> Result<(), DataError> {
        match source.peek(2)? {
            [0x1f, 0x8b, ..] => {}
            [] | [_] => return Err(DataError::Ended),
            _ => return Err(DataError::Unknown),
        }
        while source.peek(2)?.starts_with(b"\x1f\x8b") {
            let mut member = GzDecoder::new(&mut *source);
            let name = member.header().and_then(|header| header.filename());
            self.overhead = 18 + name.map_or(0, |name| name.len() as u64 + 1);
            drain(&mut member, sink).map_err(|error| match error.to_string() {
                text if text.contains("checksum") => DataError::Damaged("crc error"),
                _ => error.into(),
            })?;
        }
        // Zeros pad the blocks of tapes.
        while source.peek(1)?.first() == Some(&0) {
            source.advance(1);
        }
        if source.peek(1)?.is_empty() { Ok(()) } else { Err(DataError::Garbage) }
    }

    fn message(&self, _job: &Job, name: &str, target: &str, problem: Problem<'_>) -> (i32, String) {
        match problem {
            Problem::Missing(errno) | Problem::Open(errno) | Problem::Remove(errno) => {
                (1, format!("gzip: {name}: {}", errno.text()))
            }
            Problem::Create(errno) => (1, format!("gzip: {target}: {}", errno.text())),
            Problem::Link => (1, format!("gzip: {name}: {}", tidebox_rt::Errno::LOOP.text())),
            Problem::Directory => (2, format!("gzip: {name} is a directory -- ignored")),
            Problem::NotRegular => (2, format!("gzip: {name} is not a directory or a regular file - ignored")),
            Problem::Links(1) => (2, format!("gzip: {name} has 1 other link -- file ignored")),
            Problem::Links(others) => (2, format!("gzip: {name} has {others} other links -- file ignored")),
            Problem::HasSuffix(suffix) => (0, format!("gzip: {name} already has {suffix} suffix -- unchanged")),
            Problem::NoSuffix => (2, format!("gzip: {name}: unknown suffix -- ignored")),
            Problem::Exists => (2, format!("gzip: {target} already exists;\tnot overwritten")),
            Problem::Data(broken) => match broken {
                DataError::Garbage => (2, format!("\ngzip: {name}: decompression OK, trailing garbage ignored")),
                DataError::Read(errno) => (1, format!("\ngzip: {name}: {}", errno.text())),
                DataError::Write(errno) => (1, format!("\ngzip: {target}: {}", errno.text())),
                DataError::Unknown => (1, format!("\ngzip: {name}: not in gzip format")),
                DataError::Ended => (1, format!("\ngzip: {name}: unexpected end of file")),
                DataError::Damaged("") => (1, format!("\ngzip: {name}: invalid compressed data--format violated")),
                DataError::Damaged(what) => (1, format!("\ngzip: {name}: invalid compressed data--{what}")),
            },
        }
    }

    fn report(&mut self, job: &Job, passed: &Passed<'_>) {
        if self.list {
            return self.print_row(job, passed);
        }
        let is_stdin = passed.name == "stdin";
        if job.verbosity < 3 || is_stdin && job.mode == Mode::Decompress {
            return;
        }
        let prefix = if is_stdin { String::new() } else { format!("{}:\t", passed.name) };
        if job.mode == Mode::Test {
            return tidebox_gnu::eprint_line!("{prefix} OK");
        }
        let (small, large) = match job.mode {
            Mode::Compress => (passed.written, passed.read),
            _ => (passed.read, passed.written),
        };
        let share = percent(large, small, self.overhead);
        let how = if job.keep { "created" } else { "replaced with" };
        let result = if passed.into_file { format!(" -- {how} {}", passed.target) } else { String::new() };
        tidebox_gnu::eprint_line!("{prefix}{share}{result}");
    }

    fn finish(&mut self, job: &Job) {
        let (_, small, large) = self.listed;
        if self.list && job.several && job.verbosity > 1 {
            // As in gzip, only the header size of the last file is subtracted.
            let line = format!("{small:>19} {large:>19} {} (totals)\n", percent(large, small, self.overhead));
            print("gzip", line.as_bytes());
        }
    }
}

impl Gzip {
    /// Prints one line of `-l`, and the column headings before the first.
    fn print_row(&mut self, job: &Job, passed: &Passed<'_>) {
        let heading = if self.listed.0 == 0 && job.verbosity > 1 {
            "         compressed        uncompressed  ratio uncompressed_name\n"
        } else {
            ""
        };
        self.listed.0 += 1;
        self.listed.1 += passed.read;
        self.listed.2 += passed.written;
        let share = percent(passed.written, passed.read, self.overhead);
        let stem = job.stem::<Self>(passed.name.as_bytes());
        let name = match passed.name {
            "stdin" => "stdout".into(),
            name => String::from_utf8_lossy(stem.as_deref().unwrap_or(name.as_bytes())).into_owned(),
        };
        print("gzip", format!("{heading}{:>19} {:>19} {share} {name}\n", passed.read, passed.written).as_bytes());
    }
}

/// Returns the share of `large` saved by `small`, excluding `overhead` bytes.
fn percent(large: u64, small: u64, overhead: u64) -> String {
    let saved = large as f64 - (small as f64 - overhead as f64);
    let share = if large == 0 { 0.0 } else { 100.0 * saved / large as f64 };
    format!("{share:5.1}%")
}
