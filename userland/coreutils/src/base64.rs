//! `base64`, `base32` and `basenc`.

pub(crate) mod alphabet;

use tidebox_gnu::message::{path_label, print_error, quote_value};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Input, Output};

use crate::base64::alphabet::Encoding;

tidebox_gnu::options! {
    /// Options of `base64`, `base32` and `basenc`.
    enum Flag {
        Base64 = "--base64", "same as 'base64' program (RFC4648 section 4)";
        Base64Url = "--base64url", "file- and url-safe base64 (RFC4648 section 5)";
        Base32 = "--base32", "same as 'base32' program (RFC4648 section 6)";
        Base32Hex = "--base32hex", "extended hex alphabet base32 (RFC4648 section 7)";
        Base16 = "--base16", "hex encoding (RFC4648 section 8)";
        Base2Msbf = "--base2msbf", "bit string with most significant bit (msb) first";
        Base2Lsbf = "--base2lsbf", "bit string with least significant bit (lsb) first";
        Decode = "-d, --decode", "decode data";
        IgnoreGarbage = "-i, --ignore-garbage", "when decoding, ignore non-alphabet characters";
        Wrap = "-w, --wrap=COLS",
            "wrap encoded lines after COLS character (default 76).\n  Use 0 to disable line wrapping";
        Z85 = "--z85", "ascii85-like encoding (ZeroMQ spec:32/Z85)";
    }
}

/// Options of `basenc` only.
const ENCODINGS: &[Flag] = &[
    Flag::Base64,
    Flag::Base64Url,
    Flag::Base32,
    Flag::Base32Hex,
    Flag::Base16,
    Flag::Base2Msbf,
    Flag::Base2Lsbf,
    Flag::Z85,
];

const NOTES: &str = "      --help        display this help and exit
      --version     output version information and exit
";

/// Default of `--wrap`, in columns.
const WRAP: usize = 76;

/// Parsed options.
#[derive(Debug)]
struct Args {
    tool: &'static str,
    encoding: Encoding,
    decode: bool,
    ignore_garbage: bool,
    wrap: usize,
}

/// Parses the wrap column; 0 disables wrapping.
fn columns(value: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(value).ok().filter(|text| !text.starts_with('+'))?;
    match text.parse::<u64>() {
        Ok(columns) => Some(usize::try_from(columns).unwrap_or(usize::MAX)),
        // No line is that long.
        Err(error) if *error.kind() == std::num::IntErrorKind::PosOverflow => Some(0),
        Err(_) => None,
    }
}

/// Runs the tool of that name.
pub fn main(tool: &'static str, arguments: Vec<Vec<u8>>) -> i32 {
    run(tool, arguments).unwrap_or_else(|code| code)
}

fn run(tool: &'static str, arguments: Vec<Vec<u8>>) -> Result<i32, i32> {
    let (args, operand) = Args::parse(tool, arguments)?;
    let name = operand.as_deref().unwrap_or(b"-");
    let mut input =
        Input::open(name).map_err(|error| fail(tool, &format!("{}: {}", path_label(name), error.text())))?;
    let mut out = Output::standard();
    let code =
        if args.decode { args.decode_input(&mut input, &mut out) } else { args.encode_input(&mut input, &mut out) };
    Ok(out.finish(tool, code))
}

fn fail(tool: &str, message: &str) -> i32 {
    print_error(tool, message);
    1
}

impl Args {
    /// Parses the options and the operand. The error is the exit code.
    fn parse(tool: &'static str, arguments: Vec<Vec<u8>>) -> Result<(Self, Option<Vec<u8>>), i32> {
        let (name, mut encoding) = match tool {
            "base32" => ("Base32", Some(Encoding::Base32)),
            "base64" => ("Base64", Some(Encoding::Base64)),
            _ => ("basenc", None),
        };
        let usage = format!(
            "Usage: {tool} [OPTION]... [FILE]\n\
             {name} encode or decode FILE, or standard input, to standard output.\n\n\
             With no FILE, or when FILE is -, read standard input.\n\n\
             Mandatory arguments to long options are mandatory for short options too.\n"
        );
        let without = if tool == "basenc" { &[] } else { ENCODINGS };
        let line = Syntax { notes: NOTES, without, ..Syntax::core(tool, &usage, 24) };
        let (mut decode, mut ignore_garbage, mut wrap) = (false, false, WRAP);
        let mut operands = line.parse(arguments, |flag, value| {
            match flag {
                Flag::Decode => decode = true,
                Flag::IgnoreGarbage => ignore_garbage = true,
                Flag::Wrap => {
                    let invalid = || fail(tool, &format!("invalid wrap size: {}", quote_value(&value)));
                    wrap = columns(&value).ok_or_else(invalid)?;
                }
                Flag::Base64 => encoding = Some(Encoding::Base64),
                Flag::Base64Url => encoding = Some(Encoding::Base64Url),
                Flag::Base32 => encoding = Some(Encoding::Base32),
                Flag::Base32Hex => encoding = Some(Encoding::Base32Hex),
                Flag::Base16 => encoding = Some(Encoding::Base16),
                Flag::Base2Msbf => encoding = Some(Encoding::Base2Msbf),
                Flag::Base2Lsbf => encoding = Some(Encoding::Base2Lsbf),
                Flag::Z85 => encoding = Some(Encoding::Z85),
            }
            Ok::<_, i32>(())
        })?;
        let encoding = encoding.ok_or_else(|| line.usage_error::<i32>("missing encoding type"))?;
        if let Some(extra) = operands.get(1) {
            return Err(line.usage_error(format!("extra operand {}", quote_value(extra))));
        }
        Ok((Self { tool, encoding, decode, ignore_garbage, wrap }, operands.pop()))
    }

    fn encode_input(&self, input: &mut Input, out: &mut Output) -> i32 {
        let together = self.encoding.bytes_together();
        let (mut pending, mut text, mut column) = (Vec::new(), Vec::new(), 0);
        loop {
            let chunk = match input.chunk() {
                Ok(chunk) => chunk,
                Err(error) => return self.failed(out, error.text()),
            };
            let ended = chunk.is_empty();
            pending.extend_from_slice(chunk);
            let count = chunk.len();
            input.consume(count);
            let whole = if ended { pending.len() } else { pending.len() - pending.len() % together };
            text.clear();
            let encoded = self.encoding.encode(pending.get(..whole).unwrap_or_default(), &mut text);
            pending.drain(..whole);
            self.wrap(&text, &mut column, out);
            if encoded.is_err() {
                return self.failed(out, "invalid input (length must be multiple of 4 characters)");
            }
            if ended {
                break;
            }
            if out.failure().is_some() {
                return 1;
            }
        }
        if self.wrap > 0 && column > 0 {
            out.push(b"\n");
        }
        0
    }

    fn wrap(&self, mut text: &[u8], column: &mut usize, out: &mut Output) {
        if self.wrap == 0 {
            out.push(text);
            return;
        }
        while !text.is_empty() {
            if *column == self.wrap {
                out.push(b"\n");
                *column = 0;
            }
            let count = text.len().min(self.wrap - *column);
            out.push(text.get(..count).unwrap_or_default());
            text = text.get(count..).unwrap_or_default();
            *column += count;
        }
    }

    fn decode_input(&self, input: &mut Input, out: &mut Output) -> i32 {
        let values = self.encoding.values();
        let together = self.encoding.characters_together();
        let (mut group, mut bytes) = (Vec::with_capacity(together), Vec::new());
        loop {
            let chunk = match input.chunk() {
                Ok(chunk) => chunk,
                Err(error) => return self.failed(out, error.text()),
            };
            let count = chunk.len();
            let ended = count == 0;
            let mut invalid = false;
            bytes.clear();
            for byte in chunk {
                if *byte == b'\n' || (self.ignore_garbage && !self.encoding.accepts(&values, *byte)) {
                    continue;
                }
                group.push(*byte);
                if group.len() == together {
                    invalid = self.encoding.decode(&values, &group, &mut bytes).is_err();
                    group.clear();
                    if invalid {
                        break;
                    }
                }
            }
            input.consume(count);
            if ended && !group.is_empty() {
                invalid = self.encoding.decode(&values, &group, &mut bytes).is_err();
            }
            out.push(&bytes);
            if invalid {
                return self.failed(out, "invalid input");
            }
            if ended {
                return 0;
            }
            if out.failure().is_some() {
                return 1;
            }
        }
    }

    /// Flushes the pending output, then prints the message.
    fn failed(&self, out: &mut Output, message: &str) -> i32 {
        out.flush_now();
        print_error(self.tool, message);
        1
    }
}
