//! `md5sum` and its kin: sums of files, and their names.

use tidebox_gnu::getopt::{Long, Spec, Takes, long};
use tidebox_gnu::message::{path_label, print_error, quote_value};
use tidebox_gnu::stream::{Input, Output};
use tidebox_gnu::tool::{command_line, usage};

use crate::common::check::{self, Manner};
use crate::common::digest::Algorithm;
use crate::common::help;

const LONG: &[Long] = &[
    long("binary", Takes::Nothing, 'b'),
    long("check", Takes::Nothing, 'c'),
    long("ignore-missing", Takes::Nothing, 'i'),
    long("length", Takes::Value, 'l'),
    long("quiet", Takes::Nothing, 'q'),
    long("status", Takes::Nothing, 's'),
    long("strict", Takes::Nothing, 'S'),
    long("tag", Takes::Nothing, 'T'),
    long("text", Takes::Nothing, 't'),
    long("warn", Takes::Nothing, 'w'),
    long("zero", Takes::Nothing, 'z'),
    long("help", Takes::Nothing, 'H'),
    long("version", Takes::Nothing, 'V'),
];

/// How sums are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) tag: bool,
    /// `*` before the name
    pub(crate) binary: bool,
    pub(crate) zero: bool,
    /// Append the number of bits to the algorithm name.
    pub(crate) bits: Option<usize>,
}

/// Runs the tool of that name.
pub fn main(tool: &'static str, arguments: Vec<Vec<u8>>) -> i32 {
    let blake = tool == "b2sum";
    let short = if blake { "bctwzl:" } else { "bctwz" };
    let long: Vec<Long> = LONG.iter().copied().filter(|option| blake || option.name != "length").collect();
    let (options, files) = match command_line(Spec { short, long: &long, permute: true }, arguments) {
        Ok(read) => read,
        Err(message) => return usage(tool, &message, 1),
    };
    let mut algorithm = Algorithm::of_tool(tool);
    let mut form = Form { tag: false, binary: false, zero: false, bits: None };
    let mut mode = None;
    let mut manner = Manner::default();
    let mut checks = false;
    for (key, value) in options {
        match key {
            'b' => (mode, form.binary) = (Some('b'), true),
            't' => (mode, form.binary) = (Some('t'), false),
            'c' => checks = true,
            'i' => manner.ignore_missing = true,
            'q' => (manner.quiet, manner.status, manner.warn) = (true, false, false),
            's' => (manner.quiet, manner.status, manner.warn) = (false, true, false),
            'w' => (manner.quiet, manner.status, manner.warn) = (false, false, true),
            'S' => manner.strict = true,
            'T' => form.tag = true,
            'z' => form.zero = true,
            'H' => return help::say(&help::sum(tool, algorithm)),
            'V' => return help::version(tool),
            _ => match length(&value) {
                Ok(0) => algorithm = Algorithm::Blake2b(512),
                Ok(bits) => {
                    algorithm = Algorithm::Blake2b(bits);
                    form.bits = Some(bits).filter(|bits| *bits != 512);
                }
                Err(why) => {
                    print_error(tool, &format!("invalid length: {}", quote_value(&value)));
                    if let Some(why) = why {
                        print_error(tool, &why);
                    }
                    return 1;
                }
            },
        }
    }
    if let Some(mistake) = mistake(&form, mode, &manner, checks) {
        return usage(tool, mistake, 1);
    }
    form.binary |= form.tag;
    let mut out = Output::standard();
    let mut code = 0;
    let standard = [b"-".to_vec()];
    for file in if files.is_empty() { &standard } else { files.as_slice() } {
        code |= match checks {
            true => check::check(tool, Some(algorithm), file, manner, &mut out),
            false => print(tool, algorithm, file, form, &mut out),
        };
        if out.failure().is_some() {
            break;
        }
    }
    out.finish(tool, code)
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

/// Options that do not go together.
pub(crate) fn mistake(form: &Form, mode: Option<char>, manner: &Manner, checks: bool) -> Option<&'static str> {
    match checks {
        _ if form.tag && mode == Some('t') => Some("--tag does not support --text mode"),
        true if form.zero => Some("the --zero option is not supported when verifying checksums"),
        true if form.tag => Some("the --tag option is meaningless when verifying checksums"),
        true if mode.is_some() => Some("the --binary and --text options are meaningless when verifying checksums"),
        false if manner.ignore_missing => {
            Some("the --ignore-missing option is meaningful only when verifying checksums")
        }
        false if manner.status => Some("the --status option is meaningful only when verifying checksums"),
        false if manner.warn => Some("the --warn option is meaningful only when verifying checksums"),
        false if manner.quiet => Some("the --quiet option is meaningful only when verifying checksums"),
        false if manner.strict => Some("the --strict option is meaningful only when verifying checksums"),
        _ => None,
    }
}

/// The sum of a file, or a message about it.
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
pub(crate) fn print(tool: &str, algorithm: Algorithm, file: &[u8], form: Form, out: &mut Output) -> i32 {
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

/// A name with its line ends and backslashes escaped; `None` when it has none.
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
