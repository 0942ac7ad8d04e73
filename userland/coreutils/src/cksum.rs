//! `cksum` and `sum`: legacy checksums and cryptographic digests.

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::message::{path_label, print_error, quote_value};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::Errno;

use crate::common::check::{self, CheckOptions, Lines};
use crate::common::digest::Algorithm;
use crate::md5sum::{self, Form};

const USAGE: &str = "\
Usage: cksum [OPTION]... [FILE]...
Prints checksums of FILEs, or checks files against a list. Without FILE, or if FILE is -, reads standard input.

";

const SUM_USAGE: &str = "\
Usage: sum [OPTION]... [FILE]...
Prints a checksum and the number of blocks of each FILE.

";

tidebox_gnu::options! {
    /// Options of `sum`.
    enum SumFlag {
        Bsd = "-r", "BSD algorithm, with blocks of 1024 bytes (the default)";
        Sysv = "-s, --sysv", "System V algorithm, with blocks of 512 bytes";
    }
}

tidebox_gnu::options! {
    /// Options of `cksum`.
    enum Flag {
        Algorithm = "-a, --algorithm=TYPE",
            "sysv, bsd, crc (the default), md5, sha1, sha224, sha256, sha384, sha512, blake2b or sm3";
        Check = "-c, --check", "read checksums from the FILEs and check them";
        Length = "-l, --length=BITS", "digest length of blake2b in bits";
        Tag = "--tag", "print the name of the algorithm (the default)";
        Untagged = "--untagged", "do not print the name of the algorithm";
        Zero = "-z, --zero", "end lines with NUL";
        Debug = "--debug", "print the implementation used\n\nWith -c:";
        IgnoreMissing = "--ignore-missing", "ignore missing files";
        Quiet = "--quiet", "do not print OK for each file";
        Status = "--status", "print nothing; the exit code shows the result";
        Strict = "--strict", "fail if a line is improperly formatted";
        Warn = "-w, --warn", "warn about improperly formatted lines";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("cksum", USAGE, 24);

/// Legacy algorithms, which print numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Old {
    SystemV,
    Bsd,
    Crc,
}

#[derive(Debug)]
struct Args {
    /// Index into [`ALGORITHMS`].
    kind: Option<usize>,
    checks: bool,
    length: Option<Vec<u8>>,
    untagged: bool,
    form: Form,
    check_options: CheckOptions,
}

/// Keywords of `--algorithm`.
const ALGORITHMS: &[&[&str]] = &[
    &["bsd"],
    &["sysv"],
    &["crc"],
    &["md5"],
    &["sha1"],
    &["sha224"],
    &["sha256"],
    &["sha384"],
    &["sha512"],
    &["blake2b"],
    &["sm3"],
];

/// Runs `cksum`.
pub fn cksum(arguments: Vec<Vec<u8>>) -> i32 {
    run(arguments).unwrap_or_else(|code| code)
}

fn run(arguments: Vec<Vec<u8>>) -> Result<i32, i32> {
    let form = Form { tag: true, binary: true, zero: false, bits: None };
    let mut args =
        Args { kind: None, checks: false, length: None, untagged: false, form, check_options: CheckOptions::default() };
    let files = LINE.parse(arguments, |key, value| args.set(key, value))?;
    args.form.tag = !args.untagged;
    // Untagged lines are in text mode, without `*`.
    args.form.binary = args.form.tag;
    let fail = |message: &str| {
        print_error("cksum", message);
        1
    };
    let old = match args.kind {
        Some(0) => Some(Old::Bsd),
        Some(1) => Some(Old::SystemV),
        None | Some(2) => Some(Old::Crc),
        _ => None,
    };
    let mut algorithm = match args.kind.unwrap_or_default() {
        at @ 3..=8 => Algorithm::NAMED.get(at - 3).copied(),
        9 => Some(Algorithm::Blake2b(512)),
        10 => Some(Algorithm::Sm3),
        _ => None,
    };
    if let Some(length) = &args.length {
        if args.kind != Some(9) {
            return Err(fail("--length is only supported with --algorithm=blake2b"));
        }
        let bits = md5sum::length(length).map_err(|why| {
            print_error("cksum", &format!("invalid length: {}", quote_value(length)));
            why.map_or(1, |why| fail(&why))
        })?;
        algorithm = Some(Algorithm::Blake2b(if bits == 0 { 512 } else { bits }));
        args.form.bits = Some(bits).filter(|bits| *bits != 512 && *bits != 0);
    }
    if args.checks && args.kind.is_some() && old.is_some() {
        return Err(fail("--check is not supported with --algorithm={bsd,sysv,crc}"));
    }
    let plain = Form { tag: false, ..args.form };
    if let Some(message) = md5sum::conflict(&plain, None, &args.check_options, args.checks) {
        return Err(LINE.usage_error(message));
    }
    let mut out = Output::standard();
    let mut code = 0;
    let named = !files.is_empty();
    let standard = [b"-".to_vec()];
    for file in if named { files.as_slice() } else { &standard } {
        code |= match (args.checks, algorithm, old) {
            (true, ..) => {
                let lines = algorithm.map_or(Lines::Named, Lines::Of);
                check::check("cksum", lines, file, args.check_options, &mut out)
            }
            (_, Some(algorithm), _) => md5sum::print("cksum", algorithm, file, args.form, &mut out),
            (_, None, old) => {
                let form = if args.form.zero { b'\0' } else { b'\n' };
                numbers("cksum", old.unwrap_or(Old::Crc), file, named, form, &mut out)
            }
        };
        if out.failure().is_some() {
            break;
        }
    }
    Ok(out.finish("cksum", code))
}

impl Args {
    fn set(&mut self, key: Flag, value: Vec<u8>) -> Result<(), i32> {
        match key {
            Flag::Algorithm => {
                self.kind = Some(
                    parse_choice("--algorithm", &value, ALGORITHMS)
                        .map_err(|message| LINE.usage_error::<i32>(message))?,
                )
            }
            Flag::Check => self.checks = true,
            Flag::IgnoreMissing => self.check_options.ignore_missing = true,
            Flag::Length => self.length = Some(value),
            Flag::Quiet => {
                (self.check_options.quiet, self.check_options.status, self.check_options.warn) = (true, false, false)
            }
            Flag::Status => {
                (self.check_options.quiet, self.check_options.status, self.check_options.warn) = (false, true, false)
            }
            Flag::Warn => {
                (self.check_options.quiet, self.check_options.status, self.check_options.warn) = (false, false, true)
            }
            Flag::Strict => self.check_options.strict = true,
            Flag::Zero => self.form.zero = true,
            Flag::Tag => self.untagged = false,
            Flag::Untagged => self.untagged = true,
            _ => print_error("cksum", "using generic hardware support"),
        }
        Ok(())
    }
}

/// Runs `sum`.
pub fn sum(arguments: Vec<Vec<u8>>) -> i32 {
    let line = Syntax::core("sum", SUM_USAGE, 24);
    let mut old = Old::Bsd;
    let read = line.parse::<i32>(arguments, |key, _| {
        old = match key {
            SumFlag::Bsd => Old::Bsd,
            SumFlag::Sysv => Old::SystemV,
        };
        Ok(())
    });
    let files = match read {
        Ok(files) => files,
        Err(code) => return code,
    };
    let mut out = Output::standard();
    let named = !files.is_empty();
    let standard = [b"-".to_vec()];
    let files = if named { files.as_slice() } else { &standard };
    let code = files.iter().fold(0, |code, file| code | numbers("sum", old, file, named, b'\n', &mut out));
    out.finish("sum", code)
}

/// Prints a legacy checksum.
fn numbers(tool: &str, old: Old, file: &[u8], is_named: bool, end: u8, out: &mut Output) -> i32 {
    let summed = Input::open(file).and_then(|mut input| match old {
        Old::Crc => crc(&mut input),
        Old::Bsd => bsd(&mut input),
        Old::SystemV => system_v(&mut input),
    });
    let (sum, length) = match summed {
        Ok(summed) => summed,
        Err(errno) => {
            out.flush_now();
            print_error(tool, &format!("{}: {}", path_label(file), errno.text()));
            return 1;
        }
    };
    let text = match old {
        Old::Crc => format!("{sum} {length}"),
        Old::Bsd => format!("{sum:05} {:>5}", length.div_ceil(1024)),
        Old::SystemV => format!("{sum} {}", length.div_ceil(512)),
    };
    out.push(text.as_bytes());
    if is_named {
        out.push(b" ");
        out.push(file);
    }
    out.push(&[end]);
    0
}

/// Passes every byte of a file to `each` and returns the number of bytes.
fn bytes(input: &mut Input, mut each: impl FnMut(u8)) -> Result<u64, Errno> {
    let mut length: u64 = 0;
    loop {
        let chunk = input.chunk()?;
        let count = chunk.len();
        if count == 0 {
            return Ok(length);
        }
        chunk.iter().for_each(|byte| each(*byte));
        length += count as u64;
        input.consume(count);
    }
}

/// CRC table, indexed by the top byte of the register.
const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let mut value = (at as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 0x8000_0000 == 0 { value << 1 } else { value << 1 ^ 0x04c1_1db7 };
            bit += 1;
        }
        table[at] = value;
        at += 1;
    }
    table
};

/// Cyclic redundancy check of POSIX, which appends the length to the bytes.
fn crc(input: &mut Input) -> Result<(u32, u64), Errno> {
    let shift = |sum: u32, byte: u8| {
        let first = (sum >> 24) as u8 ^ byte;
        sum << 8 ^ CRC.get(usize::from(first)).copied().unwrap_or_default()
    };
    let mut sum = 0;
    let length = bytes(input, |byte| sum = shift(sum, byte))?;
    let mut left = length;
    while left > 0 {
        sum = shift(sum, (left & 0xff) as u8);
        left >>= 8;
    }
    Ok((!sum, length))
}

/// 16-bit checksum of BSD, rotated before each byte.
fn bsd(input: &mut Input) -> Result<(u32, u64), Errno> {
    let mut sum: u16 = 0;
    let length = bytes(input, |byte| sum = sum.rotate_right(1).wrapping_add(u16::from(byte)))?;
    Ok((u32::from(sum), length))
}

/// Sum of all bytes, folded to 16 bits.
fn system_v(input: &mut Input) -> Result<(u32, u64), Errno> {
    let mut sum: u32 = 0;
    let length = bytes(input, |byte| sum = sum.wrapping_add(u32::from(byte)))?;
    let folded = (sum & 0xffff) + (sum >> 16);
    Ok(((folded & 0xffff) + (folded >> 16), length))
}
