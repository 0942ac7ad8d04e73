//! `shasum` of Perl, used on systems without `sha256sum`.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Input, Output};

use tidebox_coreutils::{Algorithm, entry};

const USAGE: &str = "\
Usage: shasum [OPTION]... [FILE]...
Print or check SHA checksums.
With no FILE, or when FILE is -, read standard input.

";

tidebox_gnu::options! {
    /// Options of `shasum`.
    enum Flag {
        Algorithm = "-a, --algorithm=BITS", "1 (default), 224, 256, 384, 512, 512224, 512256";
        Binary = "-b, --binary", "read in binary mode";
        Check = "-c, --check", "read SHA sums from the FILEs and check them";
        Tag = "--tag", "create a BSD-style checksum";
        Text = "-t, --text", "read in text mode (default)\n\nThe following five options are useful only when verifying checksums:";
        IgnoreMissing = "--ignore-missing", "don't fail or report status for missing files";
        Quiet = "-q, --quiet", "don't print OK for each successfully verified file";
        Status = "-s, --status", "don't output anything, status code shows success";
        Strict = "--strict", "exit non-zero for improperly formatted checksum lines";
        Warn = "-w, --warn", "warn about improperly formatted checksum lines\n\n";
        Help = "-h, --help", "display this help and exit";
        Version = "-v, --version", "output version information and exit";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax { version: "6.02\n", ..Syntax::new("shasum", USAGE, 24) };

/// Algorithms by number.
const ALGORITHMS: &[(&str, Algorithm)] = &[
    ("1", Algorithm::Sha1),
    ("224", Algorithm::Sha224),
    ("256", Algorithm::Sha256),
    ("384", Algorithm::Sha384),
    ("512", Algorithm::Sha512),
    ("512224", Algorithm::Sha512_224),
    ("512256", Algorithm::Sha512_256),
];

#[derive(Debug, Default)]
struct Options {
    binary: bool,
    tag: bool,
    quiet: bool,
    status: bool,
    strict: bool,
    warn: bool,
    ignore_missing: bool,
}

/// Runs `shasum`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut options, mut algorithm, mut checks) = (Options::default(), None, false);
    let files = SYNTAX.parse::<ToolResult>(arguments, |flag, value| {
        match flag {
            Flag::Algorithm => {
                let found = ALGORITHMS.iter().find(|(name, _)| name.as_bytes() == value);
                let Some((_, found)) = found else {
                    let message = "Unrecognized algorithm\nType shasum -h for help";
                    return Err(ToolResult::Failure(message.to_owned(), 1));
                };
                algorithm = Some(*found);
            }
            Flag::Binary => options.binary = true,
            Flag::Text => options.binary = false,
            Flag::Check => checks = true,
            Flag::Tag => options.tag = true,
            Flag::Quiet => options.quiet = true,
            Flag::Status => options.status = true,
            Flag::Strict => options.strict = true,
            Flag::Warn => options.warn = true,
            Flag::IgnoreMissing => options.ignore_missing = true,
            Flag::Help | Flag::Version => {}
        }
        Ok(())
    });
    let files = match files {
        Ok(files) => files,
        Err(ToolResult::Usage(message, code)) => {
            tidebox_gnu::eprint_part!("{}\n{}", message_of_perl(&message), SYNTAX.help());
            return code;
        }
        Err(result) => return result.into_exit_code("shasum"),
    };
    let mut out = Output::standard();
    let mut code = 0;
    let standard = [b"-".to_vec()];
    for file in if files.is_empty() { &standard } else { files.as_slice() } {
        code |= match checks {
            true => check(file, &options, &mut out),
            false => print(file, algorithm.unwrap_or(Algorithm::Sha1), &options, &mut out),
        };
    }
    out.finish("shasum", code)
}

/// Returns the message of Getopt::Long for an error.
fn message_of_perl(message: &str) -> String {
    let name = |text: &str| text.trim_matches(|char| matches!(char, '\'' | '-')).to_owned();
    match message.split_once(" -- ").or_else(|| message.split_once("option ")) {
        Some((_, option)) => format!("Unknown option: {}", name(option)),
        None => message.to_owned(),
    }
}

fn fail_with(out: &mut Output, message: &str) -> i32 {
    out.flush_now();
    tidebox_gnu::eprint_line!("shasum: {message}");
    1
}

fn sum(algorithm: Algorithm, file: &[u8]) -> Result<String, tidebox_rt::Errno> {
    Input::open(file).and_then(|mut input| algorithm.sum(&mut input))
}

fn print(file: &[u8], algorithm: Algorithm, options: &Options, out: &mut Output) -> i32 {
    let name = String::from_utf8_lossy(file).into_owned();
    match sum(algorithm, file) {
        Err(tidebox_rt::Errno::ISDIR) => fail_with(out, &format!("{name}: Is a directory")),
        Err(error) => fail_with(out, &format!("{name}: {}", error.text())),
        Ok(sum) => {
            let line = match options.tag {
                true => [algorithm.name().as_bytes(), b" (", file, b") = ", sum.as_bytes(), b"\n"].concat(),
                false => [sum.as_bytes(), if options.binary { b" *" } else { b"  " }, file, b"\n"].concat(),
            };
            out.push(&line);
            0
        }
    }
}

fn check(list: &[u8], options: &Options, out: &mut Output) -> i32 {
    let shown = String::from_utf8_lossy(list).into_owned();
    let text = match tidebox_gnu::stream::read_all(list) {
        Ok(text) => text,
        Err(error) => return fail_with(out, &format!("{shown}: {}", error.text())),
    };
    let (mut proper, mut improper, mut unreadable, mut mismatched) = (0u64, 0u64, 0u64, 0u64);
    for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.starts_with(b"#") {
            continue;
        }
        // The length of a digest determines its algorithm.
        let found = ALGORITHMS.iter().take(5).find_map(|(_, algorithm)| entry(*algorithm, line, &mut None));
        let Some(found) = found else {
            improper += 1;
            if options.warn {
                fail_with(out, &format!("{shown}: {}: improperly formatted SHA checksum line", number + 1));
            }
            continue;
        };
        proper += 1;
        let result = match sum(found.algorithm, &found.name) {
            Err(tidebox_rt::Errno::NOENT) if options.ignore_missing => continue,
            Err(error) => {
                let name = String::from_utf8_lossy(&found.name).into_owned();
                fail_with(out, &format!("{name}: {}", error.text()));
                unreadable += 1;
                "FAILED open or read"
            }
            Ok(sum) if sum.as_bytes().eq_ignore_ascii_case(&found.sum) => "OK",
            Ok(_) => {
                mismatched += 1;
                "FAILED"
            }
        };
        if options.status || (options.quiet && result == "OK") {
            continue;
        }
        out.push(&[found.name.as_slice(), b": ", result.as_bytes(), b"\n"].concat());
    }
    if proper == 0 {
        return fail_with(out, &format!("{shown}: no properly formatted SHA checksum lines found"));
    }
    if !options.status {
        for (count, one, several) in [
            (improper, "line is improperly formatted", "lines are improperly formatted"),
            (unreadable, "listed file could not be read", "listed files could not be read"),
            (mismatched, "computed checksum did NOT match", "computed checksums did NOT match"),
        ] {
            if count > 0 {
                fail_with(out, &format!("WARNING: {count} {}", if count == 1 { one } else { several }));
            }
        }
    }
    i32::from(unreadable + mismatched > 0 || (options.strict && improper > 0))
}
