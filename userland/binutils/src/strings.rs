//! `strings`: prints the printable strings of a file.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::Errno;

const USAGE: &str = "\
Usage: strings [OPTION]... [FILE]...
Prints the printable strings of each FILE, or of standard input.

";

tidebox_gnu::options! {
    /// Options of `strings`.
    enum Flag {
        All = "-a, --all", "the whole file (it always is)";
        // Sections are not distinguished.
        Data = "-d, --data", "", unsupported "the option -d is not supported";
        PrintFileName = "-f, --print-file-name", "the name of the file before each string";
        Bytes = "-n, --bytes=N", "strings of at least N characters (4)";
        Radix = "-t, --radix=o|d|x", "the position of each string in octal, decimal or hexadecimal";
        Octal = "-o", "like -t o";
        AllSpaces = "-w, --include-all-whitespace", "line ends and other white space are characters, too";
        Encoding = "-e, --encoding=s|S|b|l|B|L", "characters of 7 or 8 bits, of 16 or 32 with the high byte first or last";
        Separator = "-s, --output-separator=S", "S after each string";
        Unicode = "-U, --unicode=MODE", "", unsupported "the option -U is not supported";
        Target = "-T, --target=FORMAT", "", unsupported "the option -T is not supported";
        Help = "-h, --help", "show this help";
        Version = "-v, -V, --version", "show the version";
    }
}

const SYNTAX: Syntax<'_, Flag> =
    Syntax { version: "GNU strings (Tidebox) 2.40\n", ..Syntax::new("strings", USAGE, 32) };

#[derive(Clone)]
struct Options {
    least: usize,
    radix: Option<char>,
    names: bool,
    all_spaces: bool,
    encoding: u8,
    separator: Vec<u8>,
}

fn refuse(message: &str) -> ToolResult {
    ToolResult::Failure(message.to_owned(), 1)
}

/// Prints the help, which lists all choices of an option with an invalid value.
fn refuse_by_help() -> ToolResult {
    tidebox_gnu::eprint_line!("{}", SYNTAX.help().trim_end());
    ToolResult::Code(1)
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
    let files = SYNTAX.parse::<ToolResult>(arguments.collect(), |flag, value| options.set(flag, value));
    match files {
        Ok(mut files) => {
            // A lone dash is a synonym of `-a`.
            files.retain(|file| file != b"-");
            Ok((options, files))
        }
        Err(ToolResult::Usage(message, code)) => {
            tidebox_gnu::eprint_line!("strings: {message}\n{}", SYNTAX.help().trim_end());
            Err(code)
        }
        Err(result) => Err(result.into_exit_code("strings")),
    }
}

impl Options {
    /// Applies one option.
    fn set(&mut self, flag: Flag, value: Vec<u8>) -> Result<(), ToolResult> {
        match flag {
            Flag::Bytes => {
                let text = String::from_utf8_lossy(&value);
                self.least = match text.parse::<usize>() {
                    Ok(0) => return Err(refuse("invalid minimum string length 0")),
                    Ok(least) => least,
                    Err(_) => return Err(refuse(&format!("invalid integer argument {text}"))),
                };
            }
            Flag::Octal => self.radix = Some('o'),
            Flag::Radix => match value.as_slice() {
                [letter @ (b'o' | b'd' | b'x')] => self.radix = Some(char::from(*letter)),
                _ => return Err(refuse_by_help()),
            },
            Flag::PrintFileName => self.names = true,
            Flag::AllSpaces => self.all_spaces = true,
            Flag::Encoding => match value.as_slice() {
                [letter @ (b's' | b'S' | b'b' | b'l' | b'B' | b'L')] => self.encoding = *letter,
                _ => return Err(refuse_by_help()),
            },
            Flag::Separator => self.separator = value,
            _ => {}
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
    // Characters are buffered until they reach the minimum length, then printed as they are read.
    let (mut buffer, mut printing) = (Vec::new(), false);
    let (mut offset, mut unit) = (0u64, Vec::with_capacity(4));
    loop {
        let chunk = input.chunk()?;
        if chunk.is_empty() || out.failure().is_some() {
            break;
        }
        let count = chunk.len();
        let chunk = chunk.to_vec();
        input.consume(count);
        for byte in chunk {
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
                buffer.push(byte);
                if buffer.len() >= options.least {
                    let length = buffer.len().saturating_mul(units.size) as u64;
                    head(name, offset.saturating_sub(length), options, out);
                    out.push(&buffer);
                    buffer.clear();
                    printing = true;
                }
                continue;
            }
            // Wide characters may start at any byte.
            unit.remove(0);
            if std::mem::take(&mut printing) {
                out.push(&options.separator);
            }
            buffer.clear();
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
