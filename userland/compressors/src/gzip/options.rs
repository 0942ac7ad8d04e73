//! The command line.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::options::Syntax;

use super::Gzip;
use crate::words::{print_parts, show};

const USAGE: &str = "\
Usage: gzip [OPTION]... [FILE]...
Compress or uncompress FILEs (by default, compress FILES in-place).

Mandatory arguments to long options are mandatory for short options too.

";

const NOTES: &str = "\n\
With no FILE, or when FILE is -, read standard input.

Report bugs to <bug-gzip@gnu.org>.
";

tidebox_gnu::options! {
    /// Options of `gzip`.
    enum Flag {
        Stdout = "-c, --stdout | --to-stdout", "write on standard output, keep original files unchanged";
        Decompress = "-d, --decompress | --uncompress", "decompress";
        Force = "-f, --force", "force overwrite of output file and compress links";
        Help = "-h, --help | -H, -?", "give this help";
        Keep = "-k, --keep", "keep (don't delete) input files";
        List = "-l, --list", "list compressed file contents";
        License = "-L, --license", "display software license";
        NoName = "-n, --no-name", "do not save or restore the original name and timestamp";
        Name = "-N, --name", "save or restore the original name and timestamp";
        Quiet = "-q, --quiet | --silent", "suppress all warnings";
        Recursive = "-r, --recursive", "operate recursively on directories";
        Rsyncable = "--rsyncable", "make rsync-friendly archive";
        Suffix = "-S, --suffix=SUF", "use suffix SUF on compressed files";
        Synchronous = "--synchronous", "synchronous output (safer if system crashes, but slower)";
        Test = "-t, --test", "test compressed file integrity";
        Verbose = "-v, --verbose", "verbose mode";
        Version = "-V, --version", "display version number";
        Fast = "-1, --fast", "compress faster";
        Best = "-9, --best", "compress better";
        Level = "-2 ... -8", "";
        Ascii = "-a, --ascii, -m, -M", "";
        Bits = "-b, --bits=BITS", "";
        Lzw = "-Z, --lzw", "", unsupported "-Z not supported in this version";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, ..Syntax::new("gzip", USAGE, 20) };

const VERSION: &str = "gzip 1.12\nThis is the gzip of Tidebox, which does what GNU gzip 1.12 does.\n";
const LICENSE: &str = "This gzip is a part of Tidebox, under the terms of MIT or Apache-2.0, as you like.\n";

/// Runs the tool under one of its names.
pub fn main(name: &str, arguments: Vec<Vec<u8>>) -> i32 {
    let mut gzip = Gzip {
        to_stdout: name == "zcat",
        decompress: name != "gzip",
        force: false,
        keep: false,
        list: false,
        quiet: false,
        recursive: false,
        test: false,
        verbose: false,
        level: 6,
        suffix: b".gz".to_vec(),
        names: None,
        code: 0,
        listed: (0, 0, 0),
        overhead: 0,
    };
    if let Err(code) = from_environment(&mut gzip) {
        return code;
    }
    let mut files = Vec::new();
    let mut items = LINE.items(arguments);
    loop {
        match items.next_item() {
            Ok(None) => break,
            Ok(Some(Item::Operand(file))) => files.push(file),
            Ok(Some(Item::Option(flag, value))) => {
                if let Err(code) = set(&mut gzip, flag, items.letter(), value.unwrap_or_default()) {
                    return code;
                }
            }
            Err(answer) => return refuse(answer),
        }
    }
    if gzip.suffix.is_empty() || gzip.suffix.len() > 30 {
        gzip.error(&[b"invalid suffix '", &gzip.suffix.clone(), b"'"]);
        return 1;
    }
    gzip.run(files)
}

/// Parses the variable `GZIP`, which allows only some options.
fn from_environment(gzip: &mut Gzip) -> Result<(), i32> {
    let variables = tidebox_rt::environ();
    let Some(words) = variables.iter().find_map(|variable| variable.strip_prefix(b"GZIP=")) else {
        return Ok(());
    };
    let words: Vec<Vec<u8>> =
        words.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect();
    if words.is_empty() {
        return Ok(());
    }
    let mut items = LINE.items(words);
    loop {
        let item = items.next_item::<ToolResult>();
        let letter = items.letter();
        match item {
            Ok(None) => break,
            Ok(Some(Item::Option(
                flag @ (Flag::Fast
                | Flag::Best
                | Flag::Level
                | Flag::NoName
                | Flag::Name
                | Flag::Verbose
                | Flag::Quiet
                | Flag::Rsyncable),
                value,
            ))) => set(gzip, flag, letter, value.unwrap_or_default())?,
            _ => return Err(usage("option not valid in GZIP environment variable")),
        }
    }
    if !gzip.quiet {
        print_parts(&[b"gzip: warning: GZIP environment variable is deprecated; use an alias or script\n"]);
    }
    Ok(())
}

/// Applies one option. An error is the exit code.
fn set(gzip: &mut Gzip, flag: Flag, letter: Option<char>, value: Vec<u8>) -> Result<(), i32> {
    match flag {
        // No effect: line end conversion, bits, and rsync blocks.
        Flag::Ascii | Flag::Rsyncable | Flag::Synchronous | Flag::Help | Flag::Lzw => {}
        Flag::Bits if value.iter().all(u8::is_ascii_digit) => {}
        Flag::Bits => return Err(usage("-b operand is not an integer")),
        Flag::Stdout => gzip.to_stdout = true,
        Flag::Decompress => gzip.decompress = true,
        Flag::Force => gzip.force = true,
        Flag::Keep => gzip.keep = true,
        Flag::List => (gzip.list, gzip.decompress, gzip.to_stdout) = (true, true, true),
        Flag::NoName => gzip.names = Some(false),
        Flag::Name => gzip.names = Some(true),
        Flag::Quiet => (gzip.quiet, gzip.verbose) = (true, false),
        Flag::Recursive => gzip.recursive = true,
        Flag::Suffix => gzip.suffix = value,
        Flag::Test => (gzip.test, gzip.decompress, gzip.to_stdout) = (true, true, true),
        Flag::Verbose => (gzip.verbose, gzip.quiet) = (true, false),
        Flag::Fast => gzip.level = 1,
        Flag::Best => gzip.level = 9,
        Flag::Level => gzip.level = letter.and_then(|digit| digit.to_digit(10)).unwrap_or(6),
        Flag::Version => return Err(printed(VERSION)),
        Flag::License => return Err(printed(LICENSE)),
    }
    Ok(())
}

/// Exits with a command-line error.
fn refuse(answer: ToolResult) -> i32 {
    match answer {
        ToolResult::Print(text) | ToolResult::PrintAndCode(text, _) => i32::from(show(&text).is_err()),
        ToolResult::Usage(message, _) | ToolResult::Failure(message, _) => usage(&message),
        ToolResult::Code(code) => code,
    }
}

fn printed(text: &str) -> i32 {
    i32::from(show(text.as_bytes()).is_err())
}

fn usage(message: &str) -> i32 {
    print_parts(&[b"gzip: ", message.as_bytes(), b"\nTry `gzip --help' for more information.\n"]);
    1
}
