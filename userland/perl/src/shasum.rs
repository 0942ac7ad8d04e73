//! `shasum` of Perl, used on systems without `sha256sum`.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::Output;

use tidebox_coreutils::{Algorithm, CheckOptions, Form, Lines, check, print};

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

/// Runs `shasum`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut form, mut options) = (Form::default(), CheckOptions::default());
    let (mut algorithm, mut checks) = (Algorithm::Sha1, false);
    let files = SYNTAX.parse::<ToolResult>(arguments, |flag, value| {
        match flag {
            Flag::Algorithm => {
                let found = ALGORITHMS.iter().find(|(name, _)| name.as_bytes() == value);
                let Some((_, found)) = found else {
                    let message = "Unrecognized algorithm\nType shasum -h for help";
                    return Err(ToolResult::Failure(message.to_owned(), 1));
                };
                algorithm = *found;
            }
            Flag::Binary => form.binary = true,
            Flag::Text => form.binary = false,
            Flag::Check => checks = true,
            Flag::Tag => form.tag = true,
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
            true => check("shasum", Lines::Sha, file, options, &mut out),
            false => print("shasum", algorithm, file, form, &mut out),
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
