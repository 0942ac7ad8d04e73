//! `shasum` of Perl, used on systems without `sha256sum`.

use tidebox_gnu::getopt::{Long, Spec, Takes, long};
use tidebox_gnu::stream::{Input, Output};
use tidebox_gnu::tool::{command_line, print_and_exit_code};

use tidebox_coreutils::{Algorithm, entry};

const LONG: &[Long] = &[
    long("algorithm", Takes::Value, 'a'),
    long("binary", Takes::Nothing, 'b'),
    long("check", Takes::Nothing, 'c'),
    long("text", Takes::Nothing, 't'),
    long("tag", Takes::Nothing, 'g'),
    long("quiet", Takes::Nothing, 'q'),
    long("status", Takes::Nothing, 's'),
    long("strict", Takes::Nothing, 'S'),
    long("warn", Takes::Nothing, 'w'),
    long("ignore-missing", Takes::Nothing, 'i'),
    long("help", Takes::Nothing, 'h'),
    long("version", Takes::Nothing, 'v'),
];

const HELP: &str = "\
Usage: shasum [OPTION]... [FILE]...
Print or check SHA checksums.
With no FILE, or when FILE is -, read standard input.

  -a, --algorithm   1 (default), 224, 256, 384, 512, 512224, 512256
  -b, --binary      read in binary mode
  -c, --check       read SHA sums from the FILEs and check them
      --tag         create a BSD-style checksum
  -t, --text        read in text mode (default)

The following five options are useful only when verifying checksums:
      --ignore-missing  don't fail or report status for missing files
  -q, --quiet           don't print OK for each successfully verified file
  -s, --status          don't output anything, status code shows success
      --strict          exit non-zero for improperly formatted checksum lines
  -w, --warn            warn about improperly formatted checksum lines

  -h, --help        display this help and exit
  -v, --version     output version information and exit
";

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
struct Asked {
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
    let spec = Spec { short: "a:bchqstvw", long: LONG, permute: true };
    let (options, files) = match command_line(spec, arguments) {
        Ok(read) => read,
        Err(message) => {
            tidebox_gnu::eprint_part!("{}\n{HELP}", capitalised(&message));
            return 1;
        }
    };
    let (mut asked, mut algorithm, mut checks) = (Asked::default(), None, false);
    for (key, value) in options {
        match key {
            'a' => {
                let found = ALGORITHMS.iter().find(|(name, _)| name.as_bytes() == value);
                let Some((_, found)) = found else {
                    tidebox_gnu::eprint_line!("shasum: Unrecognized algorithm\nType shasum -h for help");
                    return 1;
                };
                algorithm = Some(*found);
            }
            'b' => asked.binary = true,
            't' => asked.binary = false,
            'c' => checks = true,
            'g' => asked.tag = true,
            'q' => asked.quiet = true,
            's' => asked.status = true,
            'S' => asked.strict = true,
            'w' => asked.warn = true,
            'i' => asked.ignore_missing = true,
            'v' => return print_and_exit_code("shasum", "6.02\n", 1),
            _ => return print_and_exit_code("shasum", HELP, 1),
        }
    }
    let mut out = Output::standard();
    let mut code = 0;
    let standard = [b"-".to_vec()];
    for file in if files.is_empty() { &standard } else { files.as_slice() } {
        code |= match checks {
            true => check(file, &asked, &mut out),
            false => print(file, algorithm.unwrap_or(Algorithm::Sha1), &asked, &mut out),
        };
    }
    out.finish("shasum", code)
}

/// Getopt::Long's message for this error.
fn capitalised(message: &str) -> String {
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

fn print(file: &[u8], algorithm: Algorithm, asked: &Asked, out: &mut Output) -> i32 {
    let name = String::from_utf8_lossy(file).into_owned();
    match sum(algorithm, file) {
        Err(tidebox_rt::Errno::ISDIR) => fail_with(out, &format!("{name}: Is a directory")),
        Err(error) => fail_with(out, &format!("{name}: {}", error.text())),
        Ok(sum) => {
            let line = match asked.tag {
                true => [algorithm.name().as_bytes(), b" (", file, b") = ", sum.as_bytes(), b"\n"].concat(),
                false => [sum.as_bytes(), if asked.binary { b" *" } else { b"  " }, file, b"\n"].concat(),
            };
            out.push(&line);
            0
        }
    }
}

fn check(list: &[u8], asked: &Asked, out: &mut Output) -> i32 {
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
            if asked.warn {
                fail_with(out, &format!("{shown}: {}: improperly formatted SHA checksum line", number + 1));
            }
            continue;
        };
        proper += 1;
        let result = match sum(found.algorithm, &found.name) {
            Err(tidebox_rt::Errno::NOENT) if asked.ignore_missing => continue,
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
        if asked.status || (asked.quiet && result == "OK") {
            continue;
        }
        out.push(&[found.name.as_slice(), b": ", result.as_bytes(), b"\n"].concat());
    }
    if proper == 0 {
        return fail_with(out, &format!("{shown}: no properly formatted SHA checksum lines found"));
    }
    if !asked.status {
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
    i32::from(unreadable + mismatched > 0 || (asked.strict && improper > 0))
}
