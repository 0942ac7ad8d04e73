//! `dos2unix` and `unix2dos`: line ends of one system for those of the other.

use tidebox_gnu::getopt::{Spec, Takes, long};
use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::{read_all, write_file};
use tidebox_gnu::tool::{command_line, usage};

use tidebox_gnu::tool::print;

const HELP: &str = "\
Usage: TOOL [options] [file ...] [-n infile outfile ...]
 -f, --force           convert binary files too
 -k, --keepdate        (not supported)
 -n, --newfile         write to new files: each input is followed by its output
 -o, --oldfile         write to the old files (default)
 -q, --quiet           no messages
 -h, --help            display this help
";

/// `dos2unix`.
pub fn dos2unix(arguments: Vec<Vec<u8>>) -> i32 {
    run("dos2unix", "Unix", arguments, to_unix)
}

/// `unix2dos`.
pub fn unix2dos(arguments: Vec<Vec<u8>>) -> i32 {
    run("unix2dos", "DOS", arguments, to_dos)
}

fn to_unix(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (at, byte) in text.iter().enumerate() {
        if *byte != b'\r' || text.get(at + 1) != Some(&b'\n') {
            out.push(*byte);
        }
    }
    out
}

fn to_dos(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut before = 0;
    for byte in text {
        if *byte == b'\n' && before != b'\r' {
            out.push(b'\r');
        }
        out.push(*byte);
        before = *byte;
    }
    out
}

fn run(tool: &str, format: &str, arguments: Vec<Vec<u8>>, convert: fn(&[u8]) -> Vec<u8>) -> i32 {
    let long = [
        long("force", Takes::Nothing, 'f'),
        long("newfile", Takes::Nothing, 'n'),
        long("oldfile", Takes::Nothing, 'o'),
        long("quiet", Takes::Nothing, 'q'),
        long("help", Takes::Nothing, 'h'),
    ];
    let (options, files) = match command_line(Spec { short: "fnoqh", long: &long, permute: true }, arguments) {
        Ok(line) => line,
        Err(message) => return usage(tool, &message, 1),
    };
    let has = |wanted| options.iter().any(|(key, _)| *key == wanted);
    if has('h') {
        return print(tool, HELP.replace("TOOL", tool).as_bytes());
    }
    if files.is_empty() {
        return match read_all(b"-") {
            Ok(text) => print(tool, &convert(&text)),
            Err(errno) => {
                print_error(tool, errno.text());
                1
            }
        };
    }
    let pairs: Vec<(&Vec<u8>, &Vec<u8>)> = if has('n') {
        files.chunks_exact(2).filter_map(|pair| Some((pair.first()?, pair.get(1)?))).collect()
    } else {
        files.iter().map(|file| (file, file)).collect()
    };
    let mut code = 0;
    for (from, to) in pairs {
        let shown = String::from_utf8_lossy(from);
        let text = match read_all(from) {
            Ok(text) => text,
            Err(errno) => {
                print_error(tool, &format!("{shown}: {}", errno.text()));
                code = 2;
                continue;
            }
        };
        if text.contains(&0) && !has('f') {
            print_error(tool, &format!("Binary symbol 0x00 found: skipping binary file {shown}"));
            continue;
        }
        if !has('q') {
            print_error(tool, &format!("converting file {shown} to {format} format..."));
        }
        if let Err(errno) = write_file(to, &convert(&text)) {
            print_error(tool, &format!("{}: {}", String::from_utf8_lossy(to), errno.text()));
            code = 2;
        }
    }
    code
}
