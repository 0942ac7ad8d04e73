//! The command line.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};

use super::Gzip;
use crate::words::{show, tell};

const HELP: &str = "\
Usage: gzip [OPTION]... [FILE]...
Compress or uncompress FILEs (by default, compress FILES in-place).

Mandatory arguments to long options are mandatory for short options too.

  -c, --stdout      write on standard output, keep original files unchanged
  -d, --decompress  decompress
  -f, --force       force overwrite of output file and compress links
  -h, --help        give this help
  -k, --keep        keep (don't delete) input files
  -l, --list        list compressed file contents
  -L, --license     display software license
  -n, --no-name     do not save or restore the original name and timestamp
  -N, --name        save or restore the original name and timestamp
  -q, --quiet       suppress all warnings
  -r, --recursive   operate recursively on directories
      --rsyncable   make rsync-friendly archive
  -S, --suffix=SUF  use suffix SUF on compressed files
      --synchronous synchronous output (safer if system crashes, but slower)
  -t, --test        test compressed file integrity
  -v, --verbose     verbose mode
  -V, --version     display version number
  -1, --fast        compress faster
  -9, --best        compress better

With no FILE, or when FILE is -, read standard input.

Report bugs to <bug-gzip@gnu.org>.
";

const VERSION: &str = "gzip 1.12\nThis is the gzip of Tidebox, which does what GNU gzip 1.12 does.\n";
const LICENSE: &str = "This gzip is a part of Tidebox, under the terms of MIT or Apache-2.0, as you like.\n";

const RSYNCABLE: char = '\u{e001}';
const SYNCHRONOUS: char = '\u{e002}';

const SHORT: &str = "ab:cdfhH?klLmMnNqrS:tvVZ123456789";

const LONG: &[Long] = &[
    long("ascii", Takes::Nothing, 'a'),
    long("to-stdout", Takes::Nothing, 'c'),
    long("stdout", Takes::Nothing, 'c'),
    long("decompress", Takes::Nothing, 'd'),
    long("uncompress", Takes::Nothing, 'd'),
    long("force", Takes::Nothing, 'f'),
    long("help", Takes::Nothing, 'h'),
    long("keep", Takes::Nothing, 'k'),
    long("list", Takes::Nothing, 'l'),
    long("license", Takes::Nothing, 'L'),
    long("no-name", Takes::Nothing, 'n'),
    long("name", Takes::Nothing, 'N'),
    long("quiet", Takes::Nothing, 'q'),
    long("silent", Takes::Nothing, 'q'),
    long("synchronous", Takes::Nothing, SYNCHRONOUS),
    long("recursive", Takes::Nothing, 'r'),
    long("suffix", Takes::Value, 'S'),
    long("test", Takes::Nothing, 't'),
    long("verbose", Takes::Nothing, 'v'),
    long("version", Takes::Nothing, 'V'),
    long("fast", Takes::Nothing, '1'),
    long("best", Takes::Nothing, '9'),
    long("lzw", Takes::Nothing, 'Z'),
    long("bits", Takes::Value, 'b'),
    long("rsyncable", Takes::Nothing, RSYNCABLE),
];

/// Runs the tool under one of its names.
pub(crate) fn main(name: &str, arguments: Vec<Vec<u8>>) -> i32 {
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
    let mut parser = Parser::new(Spec { short: SHORT, long: LONG, permute: true }, arguments);
    loop {
        match parser.next_item() {
            Ok(None) => break,
            Ok(Some(Item::Operand(file))) => files.push(file),
            Ok(Some(Item::Option(key, value))) => {
                if let Err(code) = set(&mut gzip, key, value.unwrap_or_default()) {
                    return code;
                }
            }
            Err(message) => return usage(&message),
        }
    }
    if gzip.suffix.is_empty() || gzip.suffix.len() > 30 {
        gzip.error(&[b"invalid suffix '", &gzip.suffix.clone(), b"'"]);
        return 1;
    }
    gzip.run(files)
}

/// What `GZIP` of the environment asks for, which may be little.
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
    let ends_options = words.iter().any(|word| word == b"--");
    let mut parser = Parser::new(Spec { short: SHORT, long: LONG, permute: true }, words);
    let invalid = |what: String| usage(&format!("{what}: option not valid in GZIP environment variable"));
    loop {
        match parser.next_item() {
            Ok(None) => break,
            Ok(Some(Item::Option(key, _))) if matches!(key, '1'..='9' | 'n' | 'N' | 'v' | 'q' | RSYNCABLE) => {
                set(gzip, key, Vec::new())?;
            }
            Ok(Some(Item::Option(SYNCHRONOUS, _))) => return Err(invalid("--synchronous".to_owned())),
            Ok(Some(Item::Option(key, _))) => return Err(invalid(format!("-{key}"))),
            Ok(Some(Item::Operand(word))) => {
                let word = String::from_utf8_lossy(&word).into_owned();
                return Err(usage(&format!("{word}: non-option in GZIP environment variable")));
            }
            Err(message) => return Err(usage(&message)),
        }
    }
    if ends_options {
        return Err(invalid("--".to_owned()));
    }
    if !gzip.quiet {
        tell(&[b"gzip: warning: GZIP environment variable is deprecated; use an alias or script\n"]);
    }
    Ok(())
}

/// Does what one option asks for. An error is the code to end with.
fn set(gzip: &mut Gzip, key: char, value: Vec<u8>) -> Result<(), i32> {
    match key {
        // Line ends are converted on systems that know others; bits are for a method that is not there any more.
        // A block that starts anew at certain bytes would help rsync only.
        'a' | 'm' | 'M' | RSYNCABLE | SYNCHRONOUS => {}
        'b' if value.iter().all(u8::is_ascii_digit) => {}
        'b' => return Err(usage("-b operand is not an integer")),
        'c' => gzip.to_stdout = true,
        'd' => gzip.decompress = true,
        'f' => gzip.force = true,
        'k' => gzip.keep = true,
        'l' => (gzip.list, gzip.decompress, gzip.to_stdout) = (true, true, true),
        'n' => gzip.names = Some(false),
        'N' => gzip.names = Some(true),
        'q' => (gzip.quiet, gzip.verbose) = (true, false),
        'r' => gzip.recursive = true,
        'S' => gzip.suffix = value,
        't' => (gzip.test, gzip.decompress, gzip.to_stdout) = (true, true, true),
        'v' => (gzip.verbose, gzip.quiet) = (true, false),
        '1'..='9' => gzip.level = key.to_digit(10).unwrap_or(6),
        'h' | 'H' | '?' => return Err(printed(HELP)),
        'V' => return Err(printed(VERSION)),
        'L' => return Err(printed(LICENSE)),
        key => return Err(usage(&format!("-{key} not supported in this version"))),
    }
    Ok(())
}

fn printed(text: &str) -> i32 {
    i32::from(show(text.as_bytes()).is_err())
}

fn usage(message: &str) -> i32 {
    tell(&[b"gzip: ", message.as_bytes(), b"\nTry `gzip --help' for more information.\n"]);
    1
}
