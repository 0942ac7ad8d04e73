//! `xz`, `lzma` and their aliases.

mod list;

use std::io::ErrorKind;

use lzma_rust2::{CheckType, EncodeMode, LzmaOptions, LzmaReader, LzmaWriter, MfType, XzOptions, XzReader, XzWriter};
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;

use crate::job::{DataError, Input, Job, Mode, Passed, Problem, Tool, environment};
use crate::stream::{Sink, Source, drain, feed};

const USAGE: &str = "\
Usage: xz [OPTION]... [FILE]...
Compress or decompress FILEs in the .xz format.

";

const NOTES: &str = "\n\
With no FILE, or when FILE is -, read standard input.
";

tidebox_gnu::options! {
    /// Options of `xz`.
    enum Flag {
        Compress = "-z, --compress", "force compression";
        Decompress = "-d, --decompress | --uncompress", "force decompression";
        Test = "-t, --test", "test compressed file integrity";
        List = "-l, --list", "list information about .xz files";
        Keep = "-k, --keep", "keep (don't delete) input files";
        Force = "-f, --force", "force overwrite of output file and (de)compress links";
        Stdout = "-c, --stdout | --to-stdout", "write to standard output and don't delete input files";
        Preset = "-0 ... -9", "compression preset; default is 6";
        Extreme = "-e, --extreme", "try to improve compression ratio by using more CPU time";
        // It has no effect: compression uses one thread.
        Threads = "-T, --threads=NUM", "use at most NUM threads";
        Quiet = "-q, --quiet", "suppress warnings; specify twice to suppress errors too";
        Verbose = "-v, --verbose", "be verbose";
        Check = "-C, --check=CHECK", "integrity check: none, crc32, crc64 or sha256";
        Format = "-F, --format=FORMAT", "auto, xz or lzma";
        Suffix = "-S, --suffix=.SUF", "use the suffix `.SUF' on compressed files";
        Help = "-h, --help", "display this short help and exit";
        Version = "-V, --version", "display the version number and exit";
        // The sandbox limits the memory.
        Memlimit = "-M, --memlimit=LIMIT, --memlimit-decompress=LIMIT, --memlimit-compress=LIMIT", "";
        Fast = "--fast", "";
        Best = "--best", "";
        Lzma = "--lzma1[=OPTS], --lzma2[=OPTS]", "", unsupported "--lzma1 and --lzma2 are not supported: see -0 ... -9";
    }
}

const VERSION: &str = "xz (XZ Utils) 5.4.1\nliblzma 5.4.1\n";
const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, version: VERSION, ..Syntax::new("xz", USAGE, 22) };
const MAGIC: &[u8] = b"\xfd7zXZ\0";

/// File formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Detected by magic bytes; when compressing, [`Self::Xz`].
    Auto,
    Xz,
    Lzma,
}

/// Options of `xz` that the other compressors do not have.
#[derive(Debug)]
pub(crate) struct Xz {
    pub(crate) format: Format,
    pub(crate) how: XzOptions,
}

/// Runs the tool under one of its names.
pub fn main(name: &str, arguments: Vec<Vec<u8>>) -> i32 {
    run(name, arguments).into_exit_code(name)
}

fn run(name: &str, arguments: Vec<Vec<u8>>) -> Result<i32, ToolResult> {
    let old = matches!(name, "lzma" | "unlzma" | "lzcat");
    let mode = if matches!(name, "xz" | "lzma") { Mode::Compress } else { Mode::Decompress };
    let mut job = Job { to_stdout: matches!(name, "xzcat" | "lzcat"), ..Job::new(name, mode, "") };
    let mut xz = Xz { format: if old { Format::Lzma } else { Format::Auto }, how: XzOptions::default() };
    let (mut level, mut extreme, mut list) = (6, false, false);
    let words = [environment(&["XZ_DEFAULTS", "XZ_OPT"]), arguments].concat();
    let (options, files) = LINE.split::<ToolResult>(words)?;
    for option in options {
        let text = String::from_utf8_lossy(&option.value).into_owned();
        match option.id {
            Flag::Preset => level = option.letter.and_then(|digit| digit.to_digit(10)).unwrap_or(6),
            Flag::Fast => level = 0,
            Flag::Best => level = 9,
            Flag::Extreme => extreme = true,
            Flag::Compress => job.mode = Mode::Compress,
            Flag::Decompress => job.mode = Mode::Decompress,
            Flag::Test => job.mode = Mode::Test,
            Flag::List => list = true,
            Flag::Keep => job.keep = true,
            Flag::Force => job.force = true,
            Flag::Stdout => job.to_stdout = true,
            Flag::Quiet => job.verbosity = job.verbosity.saturating_sub(1),
            Flag::Verbose => job.verbosity = 3,
            Flag::Suffix => job.suffix = option.value,
            Flag::Format => xz.format = format(&text)?,
            Flag::Check => xz.how.check_type = check(&text)?,
            _ => {}
        }
    }
    if list {
        return Ok(list::list(&files));
    }
    if job.suffix.is_empty() {
        job.suffix = if xz.format == Format::Lzma { b".lzma".to_vec() } else { b".xz".to_vec() };
    }
    xz.how.lzma_options = preset(level, extreme);
    Ok(job.run(&mut xz, files))
}

fn format(name: &str) -> Result<Format, ToolResult> {
    match name {
        "auto" => Ok(Format::Auto),
        "xz" => Ok(Format::Xz),
        "lzma" | "alone" => Ok(Format::Lzma),
        _ => Err(ToolResult::Failure(format!("{name}: Unknown file format type"), 1)),
    }
}

fn check(name: &str) -> Result<CheckType, ToolResult> {
    match name {
        "none" => Ok(CheckType::None),
        "crc32" => Ok(CheckType::Crc32),
        "crc64" => Ok(CheckType::Crc64),
        "sha256" => Ok(CheckType::Sha256),
        _ => Err(ToolResult::Failure(format!("{name}: Unsupported integrity check type"), 1)),
    }
}

/// Three quarters of the memory that the process may have, in KiB.
fn available_kib() -> u32 {
    let bytes = tidebox_rt::limits().map_or(512 << 20, |limits| limits.process_memory_bytes);
    u32::try_from(bytes / 1024 / 4 * 3).unwrap_or(u32::MAX)
}

/// Options of a preset.
fn preset(level: u32, extreme: bool) -> LzmaOptions {
    let mut how = LzmaOptions::with_preset(level);
    if extreme {
        how.mode = EncodeMode::Normal;
        how.mf = MfType::Bt4;
        how.nice_len = 273;
        how.depth_limit = 512;
    }
    // A dictionary as large as the memory would leave no memory for other data.
    while how.get_memory_usage() > available_kib() && how.dict_size > 4096 {
        how.dict_size /= 2;
    }
    how
}

/// The lzma format has no magic, so only headers that its writers produce are accepted.
fn is_lzma(head: &[u8]) -> bool {
    let (Some(properties), Some(dictionary), Some(size)) = (head.first(), head.get(1..5), head.get(5..13)) else {
        return false;
    };
    let dictionary = dictionary.iter().rev().fold(0u32, |value, byte| value << 8 | u32::from(*byte));
    let size = size.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
    let top = dictionary.checked_ilog2().map_or(0, |bits| 1u32 << bits);
    let usual = dictionary == u32::MAX || dictionary == top || dictionary == top | top >> 1;
    *properties < 225 && usual && (size == u64::MAX || size < 1 << 38)
}

fn why(error: std::io::Error) -> DataError {
    match error.kind() {
        ErrorKind::OutOfMemory => DataError::Damaged("Memory usage limit reached"),
        ErrorKind::Unsupported => DataError::Damaged("Unsupported options"),
        _ => error.into(),
    }
}

impl Tool for Xz {
    const SUFFIXES: &'static [(&'static str, &'static str)] =
        &[(".xz", ""), (".txz", ".tar"), (".lzma", ""), (".tlz", ".tar")];
    const STANDARD: [&'static str; 2] = ["(stdin)", "(stdout)"];

    fn pack(&mut self, _input: Input<'_>, source: &mut Source, sink: &mut Sink) -> Result<(), DataError> {
        if self.format == Format::Lzma {
            let mut writer = LzmaWriter::new_use_header(sink, &self.how.lzma_options, None)?;
            feed(source, &mut writer)?;
            writer.finish()?;
        } else {
            let mut writer = XzWriter::new(sink, self.how.clone())?;
            feed(source, &mut writer)?;
            writer.finish()?;
        }
        Ok(())
    }

    fn unpack(&mut self, source: &mut Source, sink: &mut Sink) -> Result<(), DataError> {
        let head = source.peek(13)?;
        if head.starts_with(MAGIC) && self.format != Format::Lzma {
            drain(&mut XzReader::new_mem_limit(source, true, available_kib()), sink).map_err(why)
        } else if is_lzma(head) && self.format != Format::Xz {
            let mut reader = LzmaReader::new_mem_limit(source, available_kib(), None).map_err(why)?;
            drain(&mut reader, sink).map_err(why)
        } else {
            Err(DataError::Unknown)
        }
    }

    fn message(&self, job: &Job, name: &str, target: &str, problem: Problem<'_>) -> (i32, String) {
        let (code, text) = match problem {
            Problem::Missing(errno) | Problem::Open(errno) => (1, format!("{name}: {}", errno.text())),
            Problem::Create(errno) => (1, format!("{target}: {}", errno.text())),
            Problem::Exists => (1, format!("{target}: {}", tidebox_rt::Errno::EXIST.text())),
            Problem::Remove(errno) => (1, format!("{name}: Cannot remove: {}", errno.text())),
            Problem::Directory => (2, format!("{name}: Is a directory, skipping")),
            Problem::Link => (2, format!("{name}: Is a symbolic link, skipping")),
            Problem::NotRegular => (2, format!("{name}: Not a regular file, skipping")),
            Problem::Links(_) => (2, format!("{name}: Input file has more than one hard link, skipping")),
            Problem::HasSuffix(suffix) => (2, format!("{name}: File already has `{suffix}' suffix, skipping")),
            Problem::NoSuffix => (2, format!("{name}: Filename has an unknown suffix, skipping")),
            Problem::Data(broken) => match broken {
                DataError::Read(errno) => (1, format!("{name}: Read error: {}", errno.text())),
                DataError::Write(errno) => (1, format!("{target}: Write error: {}", errno.text())),
                DataError::Unknown => (1, format!("{name}: File format not recognized")),
                DataError::Ended => (1, format!("{name}: Unexpected end of input")),
                DataError::Damaged("") | DataError::Garbage => (1, format!("{name}: Compressed data is corrupt")),
                DataError::Damaged(what) => (1, format!("{name}: {what}")),
            },
        };
        (code, format!("{}: {text}", job.name))
    }

    fn report(&mut self, job: &Job, passed: &Passed<'_>) {
        if job.verbosity < 3 {
            return;
        }
        let (small, large) = match job.mode {
            Mode::Compress => (passed.written, passed.read),
            _ => (passed.read, passed.written),
        };
        let ratio = match small as f64 / large as f64 {
            ratio if ratio > 9.999 => " > 9.999".to_owned(),
            ratio => format!(" = {ratio:.3}"),
        };
        tidebox_gnu::eprint_line!("{}: {} / {}{ratio}", passed.name, list::nice(small), list::nice(large));
    }
}
