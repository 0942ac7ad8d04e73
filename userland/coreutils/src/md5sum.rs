//! `md5sum` and related tools: prints and checks checksums of files.

use tidebox_gnu::message::{path_label, print_error, quote_value};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Input, Output};
use tidebox_gnu::tool::usage;

use crate::common::check::{self, CheckOptions, Lines};
use crate::common::digest::Algorithm;

tidebox_gnu::options! {
    /// Options of `md5sum` and related tools.
    enum Flag {
        Binary = "-b, --binary", "read in binary mode";
        Check = "-c, --check", "read checksums from the FILEs and check them";
        Length = "-l, --length=BITS",
            "digest length in bits; must not exceed the max for\n  the blake2 algorithm and must be a multiple of 8";
        Tag = "--tag", "create a BSD-style checksum";
        Text = "-t, --text", "read in text mode (default)";
        Zero = "-z, --zero", "end each output line with NUL, not newline,\n  and disable file name escaping\n\n\
            The following five options are useful only when verifying checksums:";
        IgnoreMissing = "--ignore-missing", "don't fail or report status for missing files";
        Quiet = "--quiet", "don't print OK for each successfully verified file";
        Status = "--status", "don't output anything, status code shows success";
        Strict = "--strict", "exit non-zero for improperly formatted checksum lines";
        Warn = "-w, --warn", "warn about improperly formatted checksum lines";
    }
}

const MANDATORY: &str = "\nMandatory arguments to long options are mandatory for short options too.\n";

const NOTES: &str = "
      --help        display this help and exit
      --version     output version information and exit
";

/// Output format of a sum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// Print the algorithm before the name, and the sum after it.
    pub tag: bool,
    /// Print `*` before the name.
    pub binary: bool,
    /// End the line with NUL.
    pub zero: bool,
    /// Append the number of bits to the algorithm name.
    pub bits: Option<usize>,
}

/// Runs the tool of that name.
pub fn main(tool: &'static str, arguments: Vec<Vec<u8>>) -> i32 {
    let mut algorithm = Algorithm::of_tool(tool);
    let usage_text = format!(
        "Usage: {tool} [OPTION]... [FILE]...\nPrint or check {} ({}-bit) checksums.\n\n\
         With no FILE, or when FILE is -, read standard input.\n{}",
        algorithm.name(),
        algorithm.bits(),
        if tool == "b2sum" { MANDATORY } else { "" },
    );
    let without: &[Flag] = if tool == "b2sum" { &[] } else { &[Flag::Length] };
    let line = Syntax { notes: NOTES, without, ..Syntax::core(tool, &usage_text, 24) };
    let mut form = Form::default();
    let mut mode = None;
    let mut check_options = CheckOptions::default();
    let mut checks = false;
    let files = line.parse(arguments, |flag, value| {
        match flag {
            Flag::Binary => (mode, form.binary) = (Some('b'), true),
            Flag::Text => (mode, form.binary) = (Some('t'), false),
            Flag::Check => checks = true,
            Flag::IgnoreMissing => check_options.ignore_missing = true,
            Flag::Quiet => (check_options.quiet, check_options.status, check_options.warn) = (true, false, false),
            Flag::Status => (check_options.quiet, check_options.status, check_options.warn) = (false, true, false),
            Flag::Warn => (check_options.quiet, check_options.status, check_options.warn) = (false, false, true),
            Flag::Strict => check_options.strict = true,
            Flag::Tag => form.tag = true,
            Flag::Zero => form.zero = true,
            Flag::Length => {
                let bits = length(&value).map_err(|reason| invalid_length(tool, &value, reason))?;
                algorithm = Algorithm::Blake2b(if bits == 0 { 512 } else { bits });
                if bits > 0 {
                    form.bits = Some(bits).filter(|bits| *bits != 512);
                }
            }
        }
        Ok(())
    });
    let files = match files {
        Ok(files) => files,
        Err(code) => return code,
    };
    if let Some(message) = conflict(&form, mode, &check_options, checks) {
        return usage(tool, message, 1);
    }
    form.binary |= form.tag;
    let mut out = Output::standard();
    let mut code = 0;
    let standard = [b"-".to_vec()];
    for file in if files.is_empty() { &standard } else { files.as_slice() } {
        code |= match checks {
            true => check::check(tool, Lines::Of(algorithm), file, check_options, &mut out),
            false => print(tool, algorithm, file, form, &mut out),
        };
        if out.failure().is_some() {
            break;
        }
    }
    out.finish(tool, code)
}

fn invalid_length(tool: &str, value: &[u8], reason: Option<String>) -> i32 {
    print_error(tool, &format!("invalid length: {}", quote_value(value)));
    if let Some(reason) = reason {
        print_error(tool, &reason);
    }
    1
}

/// Parses `--length` in bits; the error is the message.
pub(crate) fn length(value: &[u8]) -> Result<usize, Option<String>> {
    let text = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let bits: usize = text.and_then(|text| text.parse().ok()).ok_or(None)?;
    match bits {
        bits if bits > 512 => Err(Some(format!("maximum digest length for {} is 512 bits", quote_value(b"BLAKE2b")))),
        bits if bits % 8 != 0 => Err(Some("length is not a multiple of 8".to_owned())),
        bits => Ok(bits),
    }
}

/// Returns the message for options that exclude each other.
pub(crate) fn conflict(
    form: &Form,
    mode: Option<char>,
    check_options: &CheckOptions,
    checks: bool,
) -> Option<&'static str> {
    match checks {
        _ if form.tag && mode == Some('t') => Some("--tag does not support --text mode"),
        true if form.zero => Some("the --zero option is not supported when verifying checksums"),
        true if form.tag => Some("the --tag option is meaningless when verifying checksums"),
        true if mode.is_some() => Some("the --binary and --text options are meaningless when verifying checksums"),
        false if check_options.ignore_missing => {
            Some("the --ignore-missing option is meaningful only when verifying checksums")
        }
        false if check_options.status => Some("the --status option is meaningful only when verifying checksums"),
        false if check_options.warn => Some("the --warn option is meaningful only when verifying checksums"),
        false if check_options.quiet => Some("the --quiet option is meaningful only when verifying checksums"),
        false if check_options.strict => Some("the --strict option is meaningful only when verifying checksums"),
        _ => None,
    }
}

/// Returns the sum of a file. Prints a message if it cannot be read.
pub(crate) fn sum_of(tool: &str, algorithm: Algorithm, file: &[u8], out: &mut Output) -> Option<String> {
    match Input::open(file).and_then(|mut input| algorithm.sum(&mut input)) {
        Ok(sum) => Some(sum),
        Err(error) => {
            out.flush_now();
            print_error(tool, &format!("{}: {}", path_label(file), error.text()));
            None
        }
    }
}

/// Prints the sum of a file.
pub fn print(tool: &str, algorithm: Algorithm, file: &[u8], form: Form, out: &mut Output) -> i32 {
    let Some(sum) = sum_of(tool, algorithm, file, out) else {
        return 1;
    };
    let escaped = if form.zero { None } else { escape(file) };
    if escaped.is_some() {
        out.push(b"\\");
    }
    let name = escaped.as_deref().unwrap_or(file);
    if form.tag {
        out.push(algorithm.name().as_bytes());
        if let Some(bits) = form.bits {
            out.push(format!("-{bits}").as_bytes());
        }
        out.push(&[b" (", name, b") = ", sum.as_bytes()].concat());
    } else {
        out.push(&[sum.as_bytes(), if form.binary { b" *" } else { b"  " }, name].concat());
    }
    out.push(if form.zero { b"\0" } else { b"\n" });
    0
}

/// Escapes line ends and backslashes of a name. Returns `None` if it has none.
pub(crate) fn escape(name: &[u8]) -> Option<Vec<u8>> {
    if !name.iter().any(|byte| matches!(byte, b'\n' | b'\r' | b'\\')) {
        return None;
    }
    let mut out = Vec::with_capacity(name.len() + 2);
    for byte in name {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            byte => out.push(*byte),
        }
    }
    Some(out)
}
