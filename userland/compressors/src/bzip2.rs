//! `bzip2`, `bunzip2` and `bzcat`.

use crabz2::{Crabz2Reader, Crabz2Writer, Level};
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;

use crate::job::{DataError, Input, Job, Mode, Passed, Problem, Tool, environment};
use crate::stream::{Sink, Source, drain, feed};

const VERSION: &str = "bzip2, a block-sorting file compressor.  Version 1.0.8, 13-Jul-2019.\n";
const USAGE: &str = "Usage: bzip2 [OPTION]... [FILE]...\nCompress or decompress FILEs.\n\n";
const NOTES: &str = "\nWith no FILE, or when FILE is -, read standard input.\n";

tidebox_gnu::options! {
    /// Options of `bzip2`.
    enum Flag {
        Help = "-h, --help", "print this message";
        Decompress = "-d, --decompress", "force decompression";
        Compress = "-z, --compress", "force compression";
        Keep = "-k, --keep", "keep (don't delete) input files";
        Force = "-f, --force", "overwrite existing output files";
        Test = "-t, --test", "test compressed file integrity";
        Stdout = "-c, --stdout", "output to standard out";
        Quiet = "-q, --quiet", "suppress noncritical error messages";
        Verbose = "-v, --verbose", "be verbose";
        Version = "-V, --version", "display software version";
        // It has no effect: the library needs little memory.
        Small = "-s, --small", "use less memory";
        Level = "-1 ... -9", "set block size to 100k .. 900k";
        Fast = "--fast", "alias for -1";
        Best = "--best", "alias for -9";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, version: VERSION, ..Syntax::new("bzip2", USAGE, 20) };

/// Options of `bzip2` that the other compressors do not have.
#[derive(Debug)]
pub(crate) struct Bzip2 {
    pub(crate) level: u8,
}

/// Runs the tool under one of its names.
pub fn main(name: &str, arguments: Vec<Vec<u8>>) -> i32 {
    run(name, arguments).into_exit_code(name)
}

fn run(name: &str, arguments: Vec<Vec<u8>>) -> Result<i32, ToolResult> {
    let mode = if name == "bzip2" { Mode::Compress } else { Mode::Decompress };
    let mut job = Job { to_stdout: name == "bzcat", ..Job::new(name, mode, ".bz2") };
    let mut bzip2 = Bzip2 { level: 9 };
    let words = [environment(&["BZIP2", "BZIP"]), arguments].concat();
    let (options, files) = LINE.split::<ToolResult>(words)?;
    for option in options {
        match option.id {
            Flag::Help | Flag::Version | Flag::Small => {}
            Flag::Decompress => job.mode = Mode::Decompress,
            Flag::Compress => job.mode = Mode::Compress,
            Flag::Test => job.mode = Mode::Test,
            Flag::Keep => job.keep = true,
            Flag::Force => job.force = true,
            Flag::Stdout => job.to_stdout = true,
            Flag::Quiet => job.verbosity = 1,
            Flag::Verbose => job.verbosity = 3,
            Flag::Fast => bzip2.level = 1,
            Flag::Best => bzip2.level = 9,
            Flag::Level => {
                bzip2.level = option.letter.and_then(|letter| u8::try_from(letter).ok()).unwrap_or(b'9') - b'0'
            }
        }
    }
    Ok(job.run(&mut bzip2, files))
}

impl Tool for Bzip2 {
    const SUFFIXES: &'static [(&'static str, &'static str)] =
        &[(".bz2", ""), (".bz", ""), (".tbz2", ".tar"), (".tbz", ".tar")];
    const STANDARD: [&'static str; 2] = ["(stdin)", "(stdout)"];

    fn pack(&mut self, _input: Input<'_>, source: &mut Source, sink: &mut Sink) -> Result<(), DataError> {
        let mut writer = Crabz2Writer::new(sink, Level::new(self.level).unwrap_or(Level::DEFAULT));
        feed(source, &mut writer)?;
        writer.finish()?;
        Ok(())
    }

    fn unpack(&mut self, source: &mut Source, sink: &mut Sink) -> Result<(), DataError> {
        let head = source.peek(4)?;
        match head {
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Ok(drain(&mut Crabz2Reader::new(source), sink)?),
            _ if head.len() < 4 && b"BZh".starts_with(head) => Err(DataError::Ended),
            _ => Err(DataError::Unknown),
        }
    }

    fn message(&self, job: &Job, name: &str, target: &str, problem: Problem<'_>) -> (i32, String) {
        let (code, text) = match problem {
            Problem::Missing(errno) | Problem::Open(errno) => {
                (1, format!("Can't open input file {name}: {}.", errno.text()))
            }
            Problem::Create(errno) => (1, format!("Can't create output file {target}: {}.", errno.text())),
            Problem::Remove(errno) => (1, format!("Can't remove {name}: {}.", errno.text())),
            Problem::Directory => (1, format!("Input file {name} is a directory.")),
            Problem::Link | Problem::NotRegular => (1, format!("Input file {name} is not a normal file.")),
            Problem::Links(1) => (1, format!("Input file {name} has 1 other link.")),
            Problem::Links(others) => (1, format!("Input file {name} has {others} other links.")),
            Problem::HasSuffix(suffix) => (1, format!("Input file {name} already has {suffix} suffix.")),
            Problem::NoSuffix => (1, format!("Can't guess original name for {name}")),
            Problem::Exists => (1, format!("Output file {target} already exists.")),
            Problem::Data(DataError::Read(errno)) => (1, format!("{name}: {}", errno.text())),
            Problem::Data(DataError::Write(errno)) => (1, format!("{target}: {}", errno.text())),
            Problem::Data(DataError::Unknown) if job.mode == Mode::Test => {
                (2, format!("{name}: bad magic number (file not created by bzip2)"))
            }
            Problem::Data(DataError::Unknown) => (2, format!("{name} is not a bzip2 file.")),
            Problem::Data(DataError::Ended) => (2, format!("{name}: Compressed file ends unexpectedly")),
            Problem::Data(_) => (2, format!("{name}: Data integrity error when decompressing.")),
        };
        (code, format!("{}: {text}", job.name))
    }

    fn report(&mut self, job: &Job, passed: &Passed<'_>) {
        if job.verbosity < 3 {
            return;
        }
        let (read, written) = (passed.read as f64, passed.written as f64);
        let result = match job.mode {
            Mode::Test => "ok".to_owned(),
            Mode::Decompress => "done".to_owned(),
            Mode::Compress if passed.read == 0 => " no data compressed.".to_owned(),
            Mode::Compress => format!(
                "{:6.3}:1, {:6.3} bits/byte, {:5.2}% saved, {read} in, {written} out.",
                read / written,
                8.0 * written / read,
                100.0 * (1.0 - written / read),
            ),
        };
        tidebox_gnu::eprint_line!("  {}: {result}", passed.name);
    }

    fn unnamed(&self, job: &Job, name: &[u8]) -> Option<Vec<u8>> {
        let target = [name, b".out"].concat();
        let [shown, into] = [name, &target].map(String::from_utf8_lossy);
        tidebox_gnu::eprint_line!("{}: Can't guess original name for {shown} -- using {into}", job.name);
        Some(target)
    }
}
