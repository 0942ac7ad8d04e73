//! `xxd`: hex dump and its reverse.

mod dump;
mod revert;

use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::Open;

use dump::Dump;

/// Dump format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Hex,
    Bits,
    LittleEndian,
    Plain,
    Include,
}

#[derive(Clone, Debug, Default)]
struct Options {
    form: Form,
    columns: Option<usize>,
    group: Option<usize>,
    upper: bool,
    autoskip: bool,
    capitals: bool,
    decimal: bool,
    revert: bool,
    length: Option<u64>,
    /// Start position: the offset, whether from the end, and whether relative to the current input position.
    seek: i64,
    from_end: bool,
    relative: bool,
    offset: i64,
    name: Option<Vec<u8>>,
}

const USAGE: &str = "\
Usage:
       xxd [options] [infile [outfile]]
    or
       xxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]
Options:
    -a          toggle autoskip: A single '*' replaces nul-lines. Default off.
    -b          binary digit dump (incompatible with -ps,-i,-r). Default hex.
    -C          capitalize variable names in C include file style (-i).
    -c cols     format <cols> octets per line. Default 16 (-i: 12, -ps: 30).
    -e          little-endian dump (incompatible with -ps,-i,-r).
    -g bytes    number of octets per group in normal output. Default 2 (-e: 4).
    -h          print this summary.
    -i          output in C include file style.
    -l len      stop after <len> octets.
    -n name     set the variable name used in C include output (-i).
    -o off      add <off> to the displayed file position.
    -ps         output in postscript plain hexdump style.
    -r          reverse operation: convert (or patch) hexdump into binary.
    -r -s off   revert with <off> added to file positions found in hexdump.
    -d          show offset in decimal instead of hex.
    -s [+][-]seek  start at <seek> bytes abs. (or +: rel.) infile offset.
    -u          use upper case hex letters.
    -v          show version: \"xxd 2022-01-14 by Juergen Weigert et al.\".
";

/// Reason to exit: a message and the exit code.
type Failure = (String, i32);

/// Runs `xxd`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    match parse(arguments) {
        Ok(Some((options, files))) => match work(&options, &files) {
            Ok(code) => code,
            Err((message, code)) => {
                tidebox_gnu::eprint_line!("xxd: {message}");
                code
            }
        },
        Ok(None) => 0,
        Err((message, code)) => {
            tidebox_gnu::eprint_part!("{message}");
            code
        }
    }
}

/// A C number: decimal, octal or hexadecimal.
fn number(text: &[u8]) -> i64 {
    let text = String::from_utf8_lossy(text);
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => (16, hex),
        None if digits.starts_with('0') => (8, digits),
        None => (10, digits),
    };
    let end = digits.find(|letter: char| !letter.is_digit(radix)).unwrap_or(digits.len());
    let value = i64::from_str_radix(digits.get(..end).unwrap_or_default(), radix).unwrap_or(0);
    if negative { -value } else { value }
}

type Parsed = Option<(Options, Vec<Vec<u8>>)>;

fn parse(arguments: Vec<Vec<u8>>) -> Result<Parsed, Failure> {
    let mut options = Options::default();
    let usage = || (USAGE.to_owned(), 1);
    let mut rest = arguments.into_iter().peekable();
    while let Some(argument) = rest.next_if(|argument| argument.starts_with(b"-") && argument.len() > 1) {
        let letters = match argument.strip_prefix(b"--") {
            Some(b"") => break,
            Some(long) => long,
            None => argument.get(1..).unwrap_or_default(),
        };
        let Some((letter, attached)) = letters.split_first() else {
            break;
        };
        // A value is in the same argument or the next; the spelled-out option name does not contain a value.
        let mut value = |word: &[u8]| -> Result<Vec<u8>, Failure> {
            if !attached.is_empty() && (word.is_empty() || !attached.starts_with(word)) {
                return Ok(attached.to_vec());
            }
            rest.next().ok_or_else(usage)
        };
        match letter {
            b'a' => options.autoskip = !options.autoskip,
            b'b' => options.form = Form::Bits,
            b'e' => options.form = Form::LittleEndian,
            b'u' => options.upper = true,
            b'p' => options.form = Form::Plain,
            b'i' => options.form = Form::Include,
            b'C' => options.capitals = true,
            b'd' => options.decimal = true,
            b'r' => options.revert = true,
            b'E' => return Err(("xxd: EBCDIC (-E) is not supported\n".to_owned(), 1)),
            b'v' => {
                tidebox_gnu::eprint_line!("xxd 2022-01-14 by Juergen Weigert et al. (Tidebox)");
                return Ok(None);
            }
            b'c' if attached.starts_with(b"apitalize") => options.capitals = true,
            b'c' => options.columns = Some(usize::try_from(number(&value(b"ols")?)).unwrap_or(usize::MAX)),
            b'g' => options.group = Some(usize::try_from(number(&value(b"roup")?)).unwrap_or(0)),
            b'o' => options.offset = number(&value(b"ffset")?),
            b'n' => options.name = Some(value(b"ame")?),
            b'l' => options.length = u64::try_from(number(&value(b"en")?)).ok(),
            b's' => {
                let word: &[u8] = if attached.starts_with(b"eek") { b"eek" } else { b"kip" };
                let text = value(word)?;
                (options.relative, options.from_end) = (text.starts_with(b"+"), text.contains(&b'-'));
                options.seek = number(text.strip_prefix(b"+").unwrap_or(&text)).abs();
            }
            _ => return Err(usage()),
        }
    }
    let files: Vec<Vec<u8>> = rest.collect();
    if files.len() > 2 { Err(usage()) } else { Ok(Some((options, files))) }
}

/// The widest line of a dump in columns of bytes.
const MAX_WIDTH: usize = 256;

fn work(options: &Options, files: &[Vec<u8>]) -> Result<i32, Failure> {
    let named = files.first().filter(|name| *name != b"-");
    let mut input = match named {
        Some(name) => {
            Input::file(name).map_err(|errno| (format!("{}: {}", String::from_utf8_lossy(name), errno.text()), 2))?
        }
        None => Input::standard(),
    };
    let fd = match files.get(1).filter(|name| *name != b"-") {
        Some(name) => {
            let truncate = !options.revert;
            let how = Open { write: true, create: true, truncate, ..Open::default() };
            tidebox_rt::open(name, how)
                .map_err(|errno| (format!("{}: {}", String::from_utf8_lossy(name), errno.text()), 3))?
        }
        None => 1,
    };
    if options.revert {
        return revert::revert(options, &mut input, fd);
    }
    check(options)?;
    let begin = skip(options, &mut input)?;
    let name = options.name.as_ref().or(named);
    let dump = Dump::new(options, begin);
    let mut out = Output::to(fd);
    dump.write(&mut input, name.map(Vec::as_slice), &mut out).map_err(|errno| (errno.text().to_owned(), 2))?;
    Ok(out.finish("xxd", 0))
}

fn check(options: &Options) -> Result<(), Failure> {
    let bounded = matches!(options.form, Form::Hex | Form::Bits | Form::LittleEndian);
    if options.columns.is_some_and(|columns| bounded && columns > MAX_WIDTH) {
        return Err((format!("invalid number of columns (max. {MAX_WIDTH})."), 1));
    }
    if options.form == Form::LittleEndian && options.group.is_some_and(|group| !group.is_power_of_two()) {
        return Err(("number of octets per group must be a power of 2 with -e.".to_owned(), 1));
    }
    Ok(())
}

/// Seeks to the start of the dump and returns its offset.
fn skip(options: &Options, input: &mut Input) -> Result<u64, Failure> {
    let cannot = || ("Sorry, cannot seek.".to_owned(), 4);
    let mut count = u64::try_from(options.seek).unwrap_or(0);
    if options.from_end {
        let stat = tidebox_rt::fstat(input.fd()).map_err(|_| cannot())?;
        if stat.kind() != tidebox_rt::FileKind::File {
            return Err(cannot());
        }
        count = stat.size.checked_sub(count).ok_or_else(cannot)?;
    }
    let mut left = count;
    while left > 0 {
        let chunk = input.chunk().map_err(|errno| (errno.text().to_owned(), 2))?;
        if chunk.is_empty() {
            break;
        }
        let taken = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        input.consume(taken);
        left -= taken as u64;
    }
    Ok(count)
}
