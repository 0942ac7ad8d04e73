//! `zstd` and its aliases.

use structured_zstd::decoding::errors::FrameDecoderError;
use structured_zstd::decoding::{ContentChecksum, StreamingDecoder};
use structured_zstd::encoding::{CompressionLevel, StreamingEncoder};
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;
use tidebox_rt::FileKind;

use crate::job::{DataError, Input, Job, Mode, Passed, Problem, Tool};
use crate::stream::{Sink, Source, drain, feed};

const VERSION: &str = "*** Zstandard CLI (64-bit) v1.5.4, by Yann Collet ***\n";
const USAGE: &str = "\
Compress or decompress the INPUT file(s); reads from STDIN if INPUT is `-` or not provided.

Usage: zstd [OPTIONS...] [INPUT... | -] [-o OUTPUT]

Options:
";

tidebox_gnu::options! {
    /// Options of `zstd`.
    enum Flag {
        Output = "-o OUTPUT", "Write output to a single file, OUTPUT.";
        Keep = "-k, --keep", "Preserve INPUT file(s). [Default]";
        Remove = "--rm", "Remove INPUT file(s) after successful (de)compression.";
        // `level_words` gives the short form this name.
        Level = "--level=#", "Compression level, 1 to 19; usually written as -#. [Default: 3]";
        Ultra = "--ultra", "Enable levels beyond 19, up to 22.";
        Fast = "--fast[=#]", "Use a very fast level.";
        Compress = "-z, --compress", "Force compression.";
        Decompress = "-d, --decompress | --uncompress", "Perform decompression.";
        Test = "-t, --test", "Test compressed file integrity.";
        Stdout = "-c, --stdout", "Write to STDOUT.";
        Force = "-f, --force", "Overwrite files; with -c unknown formats pass through.";
        Recursive = "-r", "Operate recursively on directories.";
        Verbose = "-v, --verbose", "Increase verbosity.";
        Quiet = "-q, --quiet", "Decrease verbosity; twice also suppresses errors.";
        Check = "-C, --check", "Add XXH64 integrity checksums. [Default]";
        NoCheck = "--no-check", "Omit checksums.";
        // They change time and memory only.
        Threads = "-T, --threads=#", "Number of threads (no effect).";
        Memory = "-M, --memory=#", "";
        Ignored = "--long[=#], --adapt, --single-thread, --no-progress, --progress, --rsyncable, --sparse, --no-sparse", "";
        Help = "-h, --help, -H", "Display help and exit.";
        Version = "-V, --version", "Display the program version and exit.";
        Dictionary = "-D DICT, --patch-from=FILE", "", unsupported "dictionaries are not supported";
        Train = "--train", "", unsupported "dictionaries are not supported";
        List = "-l, --list", "", unsupported "--list is not supported";
        Benchmark = "-b, -e, -i", "", unsupported "benchmarks are not supported";
        Format = "--format=FORMAT", "", unsupported "--format is not supported";
        Directory = "--output-dir-flat=DIR, --output-dir-mirror=DIR", "",
            unsupported "--output-dir-flat and --output-dir-mirror are not supported";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { version: VERSION, ..Syntax::new("zstd", USAGE, 32) };

/// Options and state of `zstd` that the other compressors do not have.
#[derive(Debug)]
pub(crate) struct Zstd {
    pub(crate) checks: bool,
    pub(crate) level: i32,
    /// Totals: files, bytes read and written.
    sums: (usize, u64, u64),
}

impl Default for Zstd {
    fn default() -> Self {
        Self { checks: true, level: 3, sums: (0, 0, 0) }
    }
}

/// Runs the tool under one of its names.
pub fn main(name: &str, arguments: Vec<Vec<u8>>) -> i32 {
    run(name, arguments).into_exit_code("zstd")
}

fn run(name: &str, arguments: Vec<Vec<u8>>) -> Result<i32, ToolResult> {
    let mode = if matches!(name, "unzstd" | "zstdcat") { Mode::Decompress } else { Mode::Compress };
    let cat = name == "zstdcat";
    let mut job =
        Job { to_stdout: cat, force: cat, keep: true, repeats_suffix: true, ..Job::new("zstd", mode, ".zst") };
    let mut zstd = Zstd::default();
    let number = |text: &[u8]| String::from_utf8_lossy(text).parse::<i32>().ok();
    let level = std::env::var("ZSTD_CLEVEL").ok().and_then(|level| number(level.as_bytes()));
    zstd.level = level.unwrap_or(zstd.level);
    let mut top = 19;
    let (options, files) = LINE.split::<ToolResult>(level_words(arguments))?;
    for option in options {
        match option.id {
            Flag::Output => job.output = Some(option.value),
            Flag::Keep => job.keep = true,
            Flag::Remove => job.keep = false,
            Flag::Level => zstd.level = number(&option.value).unwrap_or(i32::MAX),
            Flag::Ultra => top = 22,
            Flag::Fast => zstd.level = -number(&option.value).unwrap_or(1),
            Flag::Compress => job.mode = Mode::Compress,
            Flag::Decompress => job.mode = Mode::Decompress,
            Flag::Test => job.mode = Mode::Test,
            Flag::Stdout => (job.to_stdout, job.output) = (true, None),
            Flag::Force => job.force = true,
            Flag::Recursive => job.recursive = true,
            Flag::Verbose => job.verbosity = job.verbosity.saturating_add(1),
            Flag::Quiet => job.verbosity = job.verbosity.saturating_sub(1),
            Flag::Check => zstd.checks = true,
            Flag::NoCheck => zstd.checks = false,
            _ => {}
        }
    }
    if job.mode == Mode::Compress && zstd.level > top {
        tidebox_gnu::eprint_line!("Warning : compression level higher than max, reduced to {top} ");
        zstd.level = top;
    }
    if zstd.level == 0 {
        zstd.level = 3;
    }
    if job.output.is_some() && files.len() > 1 {
        return Err(ToolResult::Failure(
            "several input files for one output file (-o) are not supported".to_owned(),
            1,
        ));
    }
    job.to_stdout |= job.output.is_none() && (files.is_empty() || files.iter().any(|file| file == b"-"));
    if job.to_stdout {
        job.keep = true;
        job.verbosity = if job.verbosity == 2 { 1 } else { job.verbosity };
    }
    Ok(job.run(&mut zstd, files))
}

/// Rewrites levels such as `-19`, which have several digits, to long options.
fn level_words(words: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut ended = false;
    for word in words {
        ended |= word == b"--";
        let letters = word.strip_prefix(b"-").filter(|_| !ended).unwrap_or_default();
        let digits = letters.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (level, rest) = letters.split_at_checked(digits).unwrap_or_default();
        if level.is_empty() {
            out.push(word);
            continue;
        }
        out.push([b"--level=", level].concat());
        if !rest.is_empty() {
            out.push([b"-", rest].concat());
        }
    }
    out
}

/// Returns whether a frame starts with these bytes.
fn is_frame(head: &[u8]) -> bool {
    matches!(head, [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

fn why(error: std::io::Error) -> DataError {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<FrameDecoderError>());
    match inner {
        Some(FrameDecoderError::ChecksumMismatch { .. }) => DataError::Damaged("Restored data doesn't match checksum"),
        Some(FrameDecoderError::DictNotProvided { .. }) => DataError::Damaged("Dictionary mismatch"),
        Some(FrameDecoderError::WindowSizeTooBig { .. }) => {
            DataError::Damaged("Frame requires too much memory for decoding")
        }
        Some(FrameDecoderError::FailedToReadChecksum(_) | FrameDecoderError::FailedToSkipFrame) => DataError::Ended,
        Some(FrameDecoderError::ReadFrameHeaderError(_)) => DataError::Ended,
        _ => error.into(),
    }
}

impl Tool for Zstd {
    const SUFFIXES: &'static [(&'static str, &'static str)] = &[(".zst", ""), (".tzst", ".tar")];
    const STANDARD: [&'static str; 2] = ["/*stdin*\\", "/*stdout*\\"];

    fn pack(&mut self, input: Input<'_>, source: &mut Source, sink: &mut Sink) -> Result<(), DataError> {
        let mut encoder = StreamingEncoder::new(sink, CompressionLevel::Level(self.level));
        encoder.set_content_checksum(self.checks)?;
        let is_empty = source.peek(1)?.is_empty();
        let is_file = input.name.is_some() && input.stat.kind() == FileKind::File;
        if is_file || is_empty {
            encoder.set_pledged_content_size(if is_empty { 0 } else { input.stat.size })?;
        }
        feed(source, &mut encoder)?;
        encoder.finish()?;
        Ok(())
    }

    fn unpack(&mut self, source: &mut Source, sink: &mut Sink) -> Result<(), DataError> {
        loop {
            if !is_frame(source.peek(4)?) {
                return Err(DataError::Unknown);
            }
            let mut decoder = StreamingDecoder::new(&mut *source);
            decoder.decoder_mut().set_content_checksum(ContentChecksum::Verify);
            drain(&mut decoder, sink).map_err(why)?;
            drop(decoder);
            if source.peek(1)?.is_empty() {
                return Ok(());
            }
        }
    }

    fn message(&self, job: &Job, name: &str, target: &str, problem: Problem<'_>) -> (i32, String) {
        let text = match problem {
            Problem::Missing(errno) => format!("zstd: can't stat {name} : {} -- ignored ", errno.text()),
            Problem::Open(errno) | Problem::Remove(errno) => format!("zstd: {name}: {} ", errno.text()),
            Problem::Create(errno) => format!("zstd: {target}: {}", errno.text()),
            Problem::Directory => format!("zstd: {name} is a directory -- ignored "),
            Problem::Link => format!("Warning : {name} is a symbolic link, ignoring "),
            Problem::NotRegular => format!("zstd: {name} is not a regular file -- ignored "),
            Problem::Links(_) | Problem::HasSuffix(_) => format!("zstd: {name} -- ignored "),
            Problem::NoSuffix => format!(
                "zstd: {name}: unknown suffix (.zst/.tzst/.gz/.tgz/.lzma/.xz/.txz/.lz4/.tlz4 expected). Can't derive the \
                 output file name. Specify it with -o dstFileName. Ignoring."
            ),
            Problem::Exists if job.verbosity <= 1 => format!("zstd: {target} already exists; not overwritten  "),
            // No terminal is available to confirm.
            Problem::Exists => format!("zstd: {target} already exists; overwrite (y/n) ? Not overwritten  \n "),
            Problem::Data(broken) => match broken {
                DataError::Read(errno) => format!("zstd: error 22 : Read error : {} ", errno.text()),
                DataError::Write(errno) => {
                    format!("zstd: error 70 : Write error : cannot write block : {} ", errno.text())
                }
                DataError::Unknown | DataError::Garbage => format!("zstd: {name}: unsupported format "),
                DataError::Ended => format!("{name} : Read error (39) : premature end "),
                DataError::Damaged("") => format!("{name} : Decoding error (36) : Data corruption detected "),
                DataError::Damaged(what) => format!("{name} : Decoding error (36) : {what} "),
            },
        };
        (1, text)
    }

    fn report(&mut self, job: &Job, passed: &Passed<'_>) {
        let (read, written) = (passed.read, passed.written);
        self.sums = (self.sums.0 + 1, self.sums.1 + read, self.sums.2 + written);
        if job.verbosity < 2 || job.several && job.verbosity < 3 {
            return;
        }
        let name = passed.name;
        if job.mode == Mode::Compress {
            let ((r, read_unit), (w, written_unit)) = (human(read), human(written));
            let share = percent(written, read);
            let target = passed.target;
            tidebox_gnu::eprint_line!("{name:<20} :{share:6.2}%   ({r}{read_unit} => {w}{written_unit}, {target}) ");
        } else {
            tidebox_gnu::eprint_line!("{name:<20}: {written} bytes ");
        }
    }

    fn finish(&mut self, job: &Job) {
        let (files, read, written) = self.sums;
        if !job.several || files == 0 || job.verbosity < 2 {
            return;
        }
        if job.mode == Mode::Compress {
            let ((r, read_unit), (w, written_unit)) = (human(read), human(written));
            let share = percent(written, read);
            tidebox_gnu::eprint_line!(
                "{files:3} files compressed : {share:.2}% ({r}{read_unit:>4} => {w}{written_unit:>4})"
            );
        } else {
            tidebox_gnu::eprint_line!("{files} files decompressed : {written:6} bytes total ");
        }
    }
}

fn percent(written: u64, read: u64) -> f64 {
    written as f64 / read.max(1) as f64 * 100.0
}

/// Formats a number of bytes with its unit for people.
fn human(bytes: u64) -> (String, &'static str) {
    let units = [" B", " KiB", " MiB", " GiB", " TiB"];
    let mut value = bytes as f64;
    let mut at = 0;
    while value >= 1024.0 && at + 1 < units.len() {
        value /= 1024.0;
        at += 1;
    }
    let digits = match value {
        _ if at == 0 => 0,
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value > 1.0 => 2,
        _ => 3,
    };
    (format!("{value:6.digits$}"), units.get(at).copied().unwrap_or(" B"))
}
