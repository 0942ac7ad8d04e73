//! `base64`, `base32` and `basenc`.

pub(crate) mod alphabet;

use tidebox_gnu::getopt::{Long, Spec, Takes, long};
use tidebox_gnu::message::{path_label, print_error, quote_value};
use tidebox_gnu::stream::{Input, Output};
use tidebox_gnu::tool::{command_line, usage};

use crate::base64::alphabet::Encoding;
use crate::common::help;

const LONG: &[Long] = &[
    long("decode", Takes::Nothing, 'd'),
    long("wrap", Takes::Value, 'w'),
    long("ignore-garbage", Takes::Nothing, 'i'),
    long("help", Takes::Nothing, 'H'),
    long("version", Takes::Nothing, 'V'),
];

const BASENC_LONG: &[Long] = &[
    long("decode", Takes::Nothing, 'd'),
    long("wrap", Takes::Value, 'w'),
    long("ignore-garbage", Takes::Nothing, 'i'),
    long("base64", Takes::Nothing, '1'),
    long("base64url", Takes::Nothing, '2'),
    long("base32", Takes::Nothing, '3'),
    long("base32hex", Takes::Nothing, '4'),
    long("base16", Takes::Nothing, '5'),
    long("base2msbf", Takes::Nothing, '6'),
    long("base2lsbf", Takes::Nothing, '7'),
    long("z85", Takes::Nothing, '8'),
    long("help", Takes::Nothing, 'H'),
    long("version", Takes::Nothing, 'V'),
];

/// Columns before a line ends.
const WRAP: usize = 76;

/// Parsed options.
#[derive(Debug)]
struct Asked {
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
        // A number that is too large wraps nothing.
        Err(error) if *error.kind() == std::num::IntErrorKind::PosOverflow => Some(0),
        Err(_) => None,
    }
}

/// Runs the tool of that name.
pub fn main(tool: &'static str, arguments: Vec<Vec<u8>>) -> i32 {
    let long = if tool == "basenc" { BASENC_LONG } else { LONG };
    let (options, operands) = match command_line(Spec { short: "diw:", long, permute: true }, arguments) {
        Ok(read) => read,
        Err(message) => return usage(tool, &message, 1),
    };
    let asked = match Asked::read_options(tool, options) {
        Ok(asked) => asked,
        Err(code) => return code,
    };
    if let Some(extra) = operands.get(1) {
        return usage(tool, &format!("extra operand {}", quote_value(extra)), 1);
    }
    let name = operands.first().map_or(b"-".as_slice(), Vec::as_slice);
    let mut input = match Input::open(name) {
        Ok(input) => input,
        Err(error) => {
            print_error(tool, &format!("{}: {}", path_label(name), error.text()));
            return 1;
        }
    };
    let mut out = Output::standard();
    let code = if asked.decode { asked.read(&mut input, &mut out) } else { asked.write(&mut input, &mut out) };
    out.finish(tool, code)
}

impl Asked {
    /// Parses the options. The error is the exit code.
    fn read_options(tool: &'static str, options: Vec<(char, Vec<u8>)>) -> Result<Self, i32> {
        let mut encoding = match tool {
            "base32" => Some(Encoding::Base32),
            "base64" => Some(Encoding::Base64),
            _ => None,
        };
        let (mut decode, mut ignore_garbage, mut wrap) = (false, false, WRAP);
        for (key, value) in options {
            match key {
                'd' => decode = true,
                'i' => ignore_garbage = true,
                'w' => {
                    wrap = columns(&value).ok_or_else(|| {
                        print_error(tool, &format!("invalid wrap size: {}", quote_value(&value)));
                        1
                    })?;
                }
                'H' => return Err(help::say(&help::base(tool))),
                'V' => return Err(help::version(tool)),
                '1' => encoding = Some(Encoding::Base64),
                '2' => encoding = Some(Encoding::Base64Url),
                '3' => encoding = Some(Encoding::Base32),
                '4' => encoding = Some(Encoding::Base32Hex),
                '5' => encoding = Some(Encoding::Base16),
                '6' => encoding = Some(Encoding::Base2Msbf),
                '7' => encoding = Some(Encoding::Base2Lsbf),
                _ => encoding = Some(Encoding::Z85),
            }
        }
        match encoding {
            Some(encoding) => Ok(Self { tool, encoding, decode, ignore_garbage, wrap }),
            None => Err(usage(tool, "missing encoding type", 1)),
        }
    }

    fn write(&self, input: &mut Input, out: &mut Output) -> i32 {
        let together = self.encoding.bytes_together();
        let (mut held, mut text, mut column) = (Vec::new(), Vec::new(), 0);
        loop {
            let piece = match input.chunk() {
                Ok(piece) => piece,
                Err(error) => return self.failed(out, error.text()),
            };
            let ended = piece.is_empty();
            held.extend_from_slice(piece);
            let count = piece.len();
            input.consume(count);
            let whole = if ended { held.len() } else { held.len() - held.len() % together };
            text.clear();
            let encoded = self.encoding.encode(held.get(..whole).unwrap_or_default(), &mut text);
            held.drain(..whole);
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

    fn read(&self, input: &mut Input, out: &mut Output) -> i32 {
        let values = self.encoding.values();
        let together = self.encoding.characters_together();
        let (mut group, mut bytes) = (Vec::with_capacity(together), Vec::new());
        loop {
            let piece = match input.chunk() {
                Ok(piece) => piece,
                Err(error) => return self.failed(out, error.text()),
            };
            let count = piece.len();
            let ended = count == 0;
            let mut wrong = false;
            bytes.clear();
            if self.encoding == Encoding::Base64Url && piece.iter().any(|byte| matches!(byte, b'+' | b'/')) {
                // These belong to the other alphabet, and spoil what is read with them.
                return self.failed(out, "invalid input");
            }
            for byte in piece {
                if *byte == b'\n' || (self.ignore_garbage && !self.encoding.knows(&values, *byte)) {
                    continue;
                }
                group.push(*byte);
                if group.len() == together {
                    wrong = self.encoding.decode(&values, &group, &mut bytes).is_err();
                    group.clear();
                    if wrong {
                        break;
                    }
                }
            }
            input.consume(count);
            if ended && !group.is_empty() {
                wrong = self.encoding.decode(&values, &group, &mut bytes).is_err();
            }
            if wrong && self.encoding == Encoding::Z85 {
                bytes.clear();
            }
            out.push(&bytes);
            if wrong {
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

    /// Writes the output so far, then the message.
    fn failed(&self, out: &mut Output, why: &str) -> i32 {
        out.flush_now();
        print_error(self.tool, why);
        1
    }
}
