//! `strings`: printable text in a file.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::Errno;

const HELP: &str = "\
Usage: strings [OPTION]... [FILE]...
Prints what can be read in each FILE, or in standard input.

  -a, -, --all                the whole file (it always is)
  -f, --print-file-name       the name of the file before each string
  -n, --bytes=N, -N           strings of at least N characters (4)
  -t, --radix=o|d|x, -o       where each string is, as a number
  -w, --include-all-whitespace  line ends and their kin are characters, too
  -e, --encoding=s|S|b|l|B|L  characters of 7 or 8 bits, of 16 or 32 with the high byte first or last
  -s, --output-separator=S    S behind each string
  -h, --help, -v, -V, --version
";

const LONG: &[Long] = &[
    long("all", Takes::Nothing, 'a'),
    long("data", Takes::Nothing, 'd'),
    long("print-file-name", Takes::Nothing, 'f'),
    long("bytes", Takes::Value, 'n'),
    long("radix", Takes::Value, 't'),
    long("include-all-whitespace", Takes::Nothing, 'w'),
    long("encoding", Takes::Value, 'e'),
    long("unicode", Takes::Value, 'U'),
    long("output-separator", Takes::Value, 's'),
    long("target", Takes::Value, 'T'),
    long("help", Takes::Nothing, 'h'),
    long("version", Takes::Nothing, 'V'),
];

#[derive(Clone)]
struct Options {
    least: usize,
    radix: Option<char>,
    names: bool,
    all_spaces: bool,
    encoding: u8,
    separator: Vec<u8>,
}

fn refuse(message: &str) -> i32 {
    tidebox_gnu::eprint_line!("strings: {message}");
    1
}

/// For an invalid value, all choices are printed.
fn refuse_by_help() -> i32 {
    tidebox_gnu::eprint_line!("{}", HELP.trim_end());
    1
}

/// Runs `strings`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let (options, files) = match read(arguments) {
        Ok(read) => read,
        Err(code) => return code,
    };
    let mut out = Output::standard();
    let mut code = 0;
    if files.is_empty() {
        let result = scan(&mut Input::standard(), b"{standard input}", &options, &mut out);
        code = i32::from(result.is_err());
    }
    for name in &files {
        if let Err(message) = scan_file(name, &options, &mut out) {
            out.flush_now();
            tidebox_gnu::eprint_line!("strings: {message}");
            code = 1;
        }
    }
    out.finish("strings", code)
}

/// Parses the command line, or returns the exit code.
fn read(arguments: Vec<Vec<u8>>) -> Result<(Options, Vec<Vec<u8>>), i32> {
    let mut options =
        Options { least: 4, radix: None, names: false, all_spaces: false, encoding: b's', separator: b"\n".to_vec() };
    // `-8` is an obsolete form of `-n 8`.
    let is_number = |argument: &[u8]| argument.len() > 1 && argument.iter().skip(1).all(u8::is_ascii_digit);
    let arguments = arguments.into_iter().map(|argument| match argument.strip_prefix(b"-") {
        Some(digits) if is_number(&argument) => [b"-n".as_slice(), digits].concat(),
        _ => argument,
    });
    let mut files = Vec::new();
    let spec = Spec { short: "adfhn:wot:e:T:s:U:Vv", long: LONG, permute: true };
    let mut parser = Parser::new(spec, arguments.collect());
    loop {
        match parser.next_item() {
            Err(message) => {
                tidebox_gnu::eprint_line!("strings: {message}\n{}", HELP.trim_end());
                return Err(1);
            }
            Ok(None) => return Ok((options, files)),
            // A lone dash is a synonym of `-a`.
            Ok(Some(Item::Operand(file))) if file == b"-" => {}
            Ok(Some(Item::Operand(file))) => files.push(file),
            Ok(Some(Item::Option(key, value))) => options.set(key, value.unwrap_or_default())?,
        }
    }
}

impl Options {
    /// Applies one option. The error is the exit code.
    fn set(&mut self, key: char, value: Vec<u8>) -> Result<(), i32> {
        match key {
            'n' => {
                let text = String::from_utf8_lossy(&value);
                self.least = match text.parse::<usize>() {
                    Ok(0) => return Err(refuse("invalid minimum string length 0")),
                    Ok(least) => least,
                    Err(_) => return Err(refuse(&format!("invalid integer argument {text}"))),
                };
            }
            'o' => self.radix = Some('o'),
            't' => match value.as_slice() {
                [letter @ (b'o' | b'd' | b'x')] => self.radix = Some(char::from(*letter)),
                _ => return Err(refuse_by_help()),
            },
            'f' => self.names = true,
            'w' => self.all_spaces = true,
            'e' => match value.as_slice() {
                [letter @ (b's' | b'S' | b'b' | b'l' | b'B' | b'L')] => self.encoding = *letter,
                _ => return Err(refuse_by_help()),
            },
            's' => self.separator = value,
            'a' => {}
            'h' | 'v' | 'V' => {
                let mut out = Output::standard();
                out.push(if key == 'h' { HELP.as_bytes() } else { b"GNU strings (as Tidebox speaks it) 2.40\n" });
                return Err(out.finish("strings", 0));
            }
            _ => return Err(refuse(&format!("the option -{key} is not supported"))),
        }
        Ok(())
    }
}

/// Prints the strings of a file. The error is the message.
fn scan_file(name: &[u8], options: &Options, out: &mut Output) -> Result<(), String> {
    let shown = String::from_utf8_lossy(name);
    if tidebox_rt::stat(name, true).is_ok_and(|stat| stat.kind() == tidebox_rt::FileKind::Dir) {
        return Err(format!("Warning: '{shown}' is a directory"));
    }
    let scanned = Input::file(name).and_then(|mut input| scan(&mut input, name, options, out));
    scanned.map_err(|errno| match errno {
        Errno::NOENT => format!("'{shown}': No such file"),
        errno => format!("{shown}: {}", errno.text()),
    })
}

/// Decodes characters of an encoding.
struct Units {
    size: usize,
    big: bool,
}

impl Units {
    fn of(encoding: u8) -> Self {
        match encoding {
            b'b' => Self { size: 2, big: true },
            b'l' => Self { size: 2, big: false },
            b'B' => Self { size: 4, big: true },
            b'L' => Self { size: 4, big: false },
            _ => Self { size: 1, big: false },
        }
    }

    fn value(&self, bytes: &[u8]) -> u32 {
        let join = |value: u32, byte: &u8| value << 8 | u32::from(*byte);
        if self.big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
    }
}

fn scan(input: &mut Input, name: &[u8], options: &Options, out: &mut Output) -> Result<(), Errno> {
    let units = Units::of(options.encoding);
    let is_shown = |value: u32| match value {
        9 | 32..=126 => true,
        10..=13 => options.all_spaces,
        128..=255 => options.encoding == b'S',
        _ => false,
    };
    // A string is printed once it reaches the minimum length; from then on, characters are printed as they are read.
    let (mut held, mut printing) = (Vec::new(), false);
    let (mut offset, mut unit) = (0u64, Vec::with_capacity(4));
    loop {
        let piece = input.chunk()?;
        if piece.is_empty() || out.failure().is_some() {
            break;
        }
        let count = piece.len();
        let piece = piece.to_vec();
        input.consume(count);
        for byte in piece {
            unit.push(byte);
            offset += 1;
            if unit.len() < units.size {
                continue;
            }
            let value = units.value(&unit);
            if is_shown(value) {
                unit.clear();
                let byte = u8::try_from(value).unwrap_or(b'?');
                if printing {
                    out.push(&[byte]);
                    continue;
                }
                held.push(byte);
                if held.len() >= options.least {
                    let length = held.len().saturating_mul(units.size) as u64;
                    head(name, offset.saturating_sub(length), options, out);
                    out.push(&held);
                    held.clear();
                    printing = true;
                }
                continue;
            }
            // Wide characters may start at any byte.
            unit.remove(0);
            if std::mem::take(&mut printing) {
                out.push(&options.separator);
            }
            held.clear();
        }
    }
    if printing {
        out.push(&options.separator);
    }
    Ok(())
}

fn head(name: &[u8], at: u64, options: &Options, out: &mut Output) {
    if options.names {
        out.push(&[name, b": "].concat());
    }
    let place = match options.radix {
        Some('o') => format!("{at:>7o} "),
        Some('d') => format!("{at:>7} "),
        Some(_) => format!("{at:>7x} "),
        None => return,
    };
    out.push(place.as_bytes());
}
