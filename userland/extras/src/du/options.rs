//! The command line of `du`.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::choice::choose;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{cited, complain};

use crate::block_size::{Unit, block_size, of_environment, wrong_size};

const HELP: &str = "\
Usage: du [OPTION]... [FILE]...
Prints how much room each FILE takes, folders with everything in them.

  -a, --all             print files, too, not only folders
  -s, --summarize       print only a total for each FILE
  -d, --max-depth=N     print folders at most N levels down
  -c, --total           print a grand total
  -S, --separate-dirs   count no folders within folders
  -h, --human-readable  print sizes such as 1K, 234M, 2G
      --si              as -h, with powers of 1000
  -b, --bytes           print bytes as files are long
      --apparent-size   count how long files are, not the room they take
      --inodes          count files, not the room they take
  -k, -m                print units of 1 KiB (the default), 1 MiB
  -B, --block-size=SIZE print units of SIZE bytes; K, M, G may follow
  -l, --count-links     count a file once for each of its names
  -L, --dereference     follow links
  -D, -H                follow links that are a FILE
  -x                    has no effect: there is one file system
  -0, --null            end lines with a zero byte
      --exclude=GLOB    leave out files whose name fits GLOB
";

const APPARENT: char = '\u{e001}';
const SI: char = '\u{e002}';
const EXCLUDE: char = '\u{e003}';
const INODES: char = '\u{e014}';
const LIST: char = '\u{e015}';
const TIME: char = '\u{e016}';
const TIME_STYLE: char = '\u{e017}';
const BLOCK_SIZE: char = '\u{e018}';
const THRESHOLD: char = '\u{e019}';
const HELP_KEY: char = '\u{e004}';

const LONG: &[Long] = &[
    long("all", Takes::Nothing, 'a'),
    long("apparent-size", Takes::Nothing, APPARENT),
    long("block-size", Takes::Value, BLOCK_SIZE),
    long("bytes", Takes::Nothing, 'b'),
    long("count-links", Takes::Nothing, 'l'),
    long("dereference", Takes::Nothing, 'L'),
    long("dereference-args", Takes::Nothing, 'D'),
    long("exclude", Takes::Value, EXCLUDE),
    long("exclude-from", Takes::Value, 'X'),
    long("files0-from", Takes::Value, LIST),
    long("inodes", Takes::Nothing, INODES),
    long("threshold", Takes::Value, THRESHOLD),
    long("time", Takes::Maybe, TIME),
    long("time-style", Takes::Value, TIME_STYLE),
    long("help", Takes::Nothing, HELP_KEY),
    long("human-readable", Takes::Nothing, 'h'),
    long("max-depth", Takes::Value, 'd'),
    long("no-dereference", Takes::Nothing, 'P'),
    long("null", Takes::Nothing, '0'),
    long("one-file-system", Takes::Nothing, 'x'),
    long("separate-dirs", Takes::Nothing, 'S'),
    long("si", Takes::Nothing, SI),
    long("summarize", Takes::Nothing, 's'),
    long("total", Takes::Nothing, 'c'),
];

const LINE: CommandLine<'_> = CommandLine::core("du", "0abcd:hklmst:xB:DHLPSX:", LONG, HELP);

/// What `du` was asked for.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) all: bool,
    pub(super) most_depth: Option<usize>,
    pub(super) summarize: bool,
    pub(super) total: bool,
    pub(super) separate: bool,
    pub(super) apparent: bool,
    pub(super) count_links: bool,
    pub(super) follow: bool,
    pub(super) follow_arguments: bool,
    pub(super) unit: Unit,
    pub(super) end: u8,
    pub(super) exclude: Vec<Vec<u8>>,
    pub(super) inodes: bool,
    /// The least that is shown, or below zero the most.
    pub(super) threshold: Option<i64>,
    pub(super) list: Option<Vec<u8>>,
    /// Which time is shown: `m`, `c` or `u`.
    pub(super) time: Option<char>,
    time_style: Vec<u8>,
    pub(super) time_format: Vec<u8>,
}

/// Reads a command line: options, and files.
pub(super) fn parse(arguments: Vec<Vec<u8>>) -> Result<(Options, Vec<Vec<u8>>), Answer> {
    let mut options = Options {
        all: false,
        most_depth: None,
        summarize: false,
        total: false,
        separate: false,
        apparent: false,
        count_links: false,
        follow: false,
        follow_arguments: false,
        unit: of_environment(&["DU_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE"]),
        end: b'\n',
        exclude: Vec::new(),
        inodes: false,
        threshold: None,
        list: None,
        time: None,
        time_style: b"long-iso".to_vec(),
        time_format: Vec::new(),
    };
    let mut files = LINE.read(arguments, |key, value| options.option(key, value))?;
    if options.time.is_some() {
        options.time_format = time_format(&options.time_style).map_err(|message| LINE.wrong::<Answer>(message))?;
    }
    if options.inodes && options.apparent {
        complain("du", "warning: options --apparent-size and -b are ineffective with --inodes");
    }
    if options.summarize && options.all {
        return Err(LINE.wrong("cannot both summarize and show all entries"));
    }
    if options.summarize && options.most_depth == Some(0) {
        complain("du", "warning: summarizing is the same as using --max-depth=0");
    }
    if options.summarize && options.most_depth.is_some_and(|depth| depth > 0) {
        let depth = options.most_depth.unwrap_or(0);
        return Err(LINE.wrong(format!("warning: summarizing conflicts with --max-depth={depth}")));
    }
    if options.summarize {
        options.most_depth = Some(0);
    }
    if let Some(extra) = files.first().filter(|_| options.list.is_some()) {
        let rest = "file operands cannot be combined with --files0-from";
        return Err(LINE.wrong(format!("extra operand {}\n{rest}", cited(extra))));
    }
    if files.is_empty() && options.list.is_none() {
        files.push(b".".to_vec());
    }
    Ok((options, files))
}

impl Options {
    fn option(&mut self, key: char, value: Vec<u8>) -> Result<(), Answer> {
        let wrong = |message: String| LINE.wrong::<Answer>(message);
        match key {
            'a' => self.all = true,
            's' => self.summarize = true,
            'c' => self.total = true,
            'S' => self.separate = true,
            'h' => self.unit = Unit::Human(1024),
            SI => self.unit = Unit::Human(1000),
            'b' => (self.apparent, self.unit) = (true, Unit::Bytes(1)),
            'k' => self.unit = Unit::Bytes(1024),
            'm' => self.unit = Unit::Bytes(1 << 20),
            APPARENT => self.apparent = true,
            'l' => self.count_links = true,
            'L' => self.follow = true,
            'P' => (self.follow, self.follow_arguments) = (false, false),
            'D' | 'H' => self.follow_arguments = true,
            '0' => self.end = 0,
            EXCLUDE => self.exclude.push(value),
            'X' => {
                let text = tidebox_gnu::stream::read_all(&value);
                let text =
                    text.map_err(|errno| wrong(format!("{}: {}", tidebox_gnu::message::named(&value), errno.text())))?;
                self.exclude
                    .extend(text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec));
            }
            INODES => (self.inodes, self.unit) = (true, Unit::Bytes(1)),
            LIST => self.list = Some(value),
            't' | THRESHOLD => {
                // Of a zero that is negative the long name is told.
                let is_zero = value.strip_prefix(b"-").is_some_and(|digits| digits.iter().all(|digit| *digit == b'0'));
                let option = if key == 't' && !is_zero { "-t" } else { "--threshold" };
                let wrong = || Answer::Failure(wrong_size(option, &value), 1);
                self.threshold = Some(threshold(&value).ok_or_else(wrong)?);
            }
            TIME => {
                let words: &[&[&str]] = &[&["atime", "access", "use"], &["ctime", "status"]];
                self.time = Some(match value.as_slice() {
                    b"" | b"mtime" | b"modification" => 'm',
                    _ if choose("--time", &value, words).map_err(wrong)? == 0 => 'u',
                    _ => 'c',
                });
            }
            TIME_STYLE => self.time_style = value,
            'd' => {
                let text = String::from_utf8_lossy(&value);
                let depth = text.parse().map_err(|_| wrong(format!("invalid maximum depth {}", cited(&value))))?;
                self.most_depth = Some(depth);
            }
            'B' | BLOCK_SIZE => {
                let option = if key == 'B' { "-B" } else { "--block-size" };
                let wrong = || Answer::Failure(wrong_size(option, &value), 1);
                self.unit = block_size(&String::from_utf8_lossy(&value)).ok_or_else(wrong)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// How `--time-style` writes times.
fn time_format(style: &[u8]) -> Result<Vec<u8>, String> {
    let words: &[&[&str]] = &[&["full-iso"], &["long-iso"], &["iso"]];
    Ok(match style.strip_prefix(b"+") {
        Some(format) => format.to_vec(),
        None => match choose("time style", style, words)? {
            0 => b"%Y-%m-%d %H:%M:%S.%N %z".to_vec(),
            1 => b"%Y-%m-%d %H:%M".to_vec(),
            _ => b"%Y-%m-%d".to_vec(),
        },
    })
}

/// The value of `-t`, which may be below zero.
fn threshold(value: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(value).into_owned();
    let (sign, size) = text.strip_prefix('-').map_or((1, text.as_str()), |size| (-1, size));
    let size = match block_size(size) {
        Some(Unit::Bytes(size) | Unit::Lettered(size, _)) => i64::try_from(size).ok(),
        _ if size == "0" && sign > 0 => Some(0),
        _ => None,
    };
    size.map(|size| sign * size)
}
