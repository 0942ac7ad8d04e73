//! `dos2unix` and `unix2dos`: convert line ends.

use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{read_all, write_file};
use tidebox_gnu::tool::print;

tidebox_gnu::options! {
    /// Options of `dos2unix` and `unix2dos`.
    enum Flag {
        Force = "-f, --force", "convert binary files too";
        KeepDate = "-k, --keepdate", "", unsupported "keeping the date (-k) is not supported";
        NewFile = "-n, --newfile", "write to new files: each input is followed by its output";
        OldFile = "-o, --oldfile", "write to the old files (default)";
        Quiet = "-q, --quiet", "no messages";
        Help = "-h, --help", "display this help";
    }
}

/// Runs `dos2unix`.
pub fn dos2unix(arguments: Vec<Vec<u8>>) -> i32 {
    run("dos2unix", "Unix", arguments, to_unix)
}

/// Runs `unix2dos`.
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
    let usage = format!("Usage: {tool} [options] [file ...] [-n infile outfile ...]\n");
    let (mut force, mut new_files, mut quiet) = (false, false, false);
    let syntax = Syntax::<Flag> { indent: 1, ..Syntax::new(tool, &usage, 23) };
    let files = syntax.parse(arguments, |flag, _| {
        force |= flag == Flag::Force;
        new_files |= flag == Flag::NewFile;
        quiet |= flag == Flag::Quiet;
        Ok(())
    });
    let files = match files {
        Ok(files) => files,
        Err(code) => return code,
    };
    if files.is_empty() {
        return match read_all(b"-") {
            Ok(text) => print(tool, &convert(&text)),
            Err(errno) => {
                print_error(tool, errno.text());
                1
            }
        };
    }
    let pairs: Vec<(&Vec<u8>, &Vec<u8>)> = if new_files {
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
        if text.contains(&0) && !force {
            print_error(tool, &format!("Binary symbol 0x00 found: skipping binary file {shown}"));
            continue;
        }
        if !quiet {
            print_error(tool, &format!("converting file {shown} to {format} format..."));
        }
        if let Err(errno) = write_file(to, &convert(&text)) {
            print_error(tool, &format!("{}: {}", String::from_utf8_lossy(to), errno.text()));
            code = 2;
        }
    }
    code
}
