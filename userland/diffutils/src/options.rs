//! The command line of `diff`.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};

use crate::Failure;
use crate::script::{Rules, Space};

pub(crate) const HELP: &str = "\
Usage: diff [OPTION]... FILES
Compares FILES line by line: 'FILE1 FILE2', 'DIR1 DIR2', or a folder and a file to be found in it.

      --normal                  print normal output (the default)
  -q, --brief                   say only that files differ
  -s, --report-identical-files  say when files are the same
  -c, -C NUM, --context[=NUM]   print NUM (3) lines of copied context
  -u, -U NUM, --unified[=NUM]   print NUM (3) lines of unified context
  -p, --show-c-function         show which C function a change is in
  -L, --label=LABEL             use LABEL instead of file name and time
  -r, --recursive               compare folders in folders
  -N, --new-file                treat missing files as empty
  -x, --exclude=PATTERN         leave out files that match PATTERN
  -i, --ignore-case             ignore case
  -Z, --ignore-trailing-space   ignore white space at the ends of lines
  -b, --ignore-space-change     ignore the amount of white space
  -w, --ignore-all-space        ignore white space
  -B, --ignore-blank-lines      ignore changes that are all blank lines
  -a, --text                    take every file for text
      --strip-trailing-cr       ignore carriage returns before line ends
  -d, --minimal                 find the smallest set of changes

Exit code: 0 same, 1 different, 2 trouble.
";

/// What is printed of two files that differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    /// `2c2`, `<`, `>`.
    #[default]
    Normal,
    /// Lines of context around both versions.
    Context(usize),
    /// Lines of context around merged versions.
    Unified(usize),
}

/// What `diff` was asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) style: Style,
    pub(crate) rules: Rules,
    pub(crate) brief: bool,
    pub(crate) tells_same: bool,
    pub(crate) recursive: bool,
    pub(crate) new_file: bool,
    pub(crate) text: bool,
    pub(crate) shows_function: bool,
    pub(crate) labels: Vec<Vec<u8>>,
    pub(crate) excluded: Vec<Vec<u8>>,
    /// The options as they were given, to be shown before each pair of files of folders.
    pub(crate) given: Vec<Vec<u8>>,
}

/// A command line.
#[derive(Debug)]
pub(crate) enum Request {
    /// Print how to use it.
    Help,
    /// Compare two operands.
    Compare(Box<Options>, [Vec<u8>; 2]),
}

const HELP_KEY: char = '\u{e001}';
const NORMAL: char = '\u{e002}';
const STRIP: char = '\u{e003}';
const COLOR: char = '\u{e004}';
const IGNORED: char = '\u{e005}';
const CONTEXT: char = '\u{e006}';
const UNIFIED: char = '\u{e007}';
const UNSUPPORTED: char = '\u{e008}';

/// Letters of GNU's options that are refused by name rather than as unknown.
const REFUSED: &str = "DEFISTWXelnty";

const LONG: &[Long] = &[
    long("brief", Takes::Nothing, 'q'),
    long("color", Takes::Maybe, COLOR),
    long("colour", Takes::Maybe, COLOR),
    long("context", Takes::Maybe, CONTEXT),
    long("ed", Takes::Nothing, 'e'),
    long("exclude", Takes::Value, 'x'),
    long("exclude-from", Takes::Value, 'X'),
    long("expand-tabs", Takes::Nothing, 't'),
    long("from-file", Takes::Value, UNSUPPORTED),
    long("help", Takes::Nothing, HELP_KEY),
    long("horizon-lines", Takes::Value, IGNORED),
    long("ifdef", Takes::Value, 'D'),
    long("ignore-all-space", Takes::Nothing, 'w'),
    long("ignore-blank-lines", Takes::Nothing, 'B'),
    long("ignore-case", Takes::Nothing, 'i'),
    long("ignore-matching-lines", Takes::Value, 'I'),
    long("ignore-space-change", Takes::Nothing, 'b'),
    long("ignore-tab-expansion", Takes::Nothing, 'E'),
    long("ignore-trailing-space", Takes::Nothing, 'Z'),
    long("initial-tab", Takes::Nothing, 'T'),
    long("label", Takes::Value, 'L'),
    long("line-format", Takes::Value, UNSUPPORTED),
    long("minimal", Takes::Nothing, 'd'),
    long("new-file", Takes::Nothing, 'N'),
    long("no-dereference", Takes::Nothing, UNSUPPORTED),
    long("normal", Takes::Nothing, NORMAL),
    long("paginate", Takes::Nothing, 'l'),
    long("rcs", Takes::Nothing, 'n'),
    long("recursive", Takes::Nothing, 'r'),
    long("report-identical-files", Takes::Nothing, 's'),
    long("show-c-function", Takes::Nothing, 'p'),
    long("show-function-line", Takes::Value, 'F'),
    long("side-by-side", Takes::Nothing, 'y'),
    long("speed-large-files", Takes::Nothing, IGNORED),
    long("starting-file", Takes::Value, 'S'),
    long("strip-trailing-cr", Takes::Nothing, STRIP),
    long("text", Takes::Nothing, 'a'),
    long("to-file", Takes::Value, UNSUPPORTED),
    long("unified", Takes::Maybe, UNIFIED),
    long("width", Takes::Value, 'W'),
];

/// Reads a command line.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Result<Request, Failure> {
    let short = "0123456789aBbcC:D:dEeF:HI:iL:lNnpqrS:sTtuU:W:wX:x:yZ";
    let given = arguments.clone();
    let mut reader = Reader::default();
    let mut operands = Vec::new();
    let mut parser = Parser::new(Spec { short, long: LONG, permute: true }, arguments);
    while let Some(item) = parser.next_item().map_err(Failure::Usage)? {
        match item {
            Item::Operand(operand) => operands.push(operand),
            Item::Option(HELP_KEY, _) => return Ok(Request::Help),
            Item::Option(key, value) => reader.option(key, value)?,
        }
    }
    let given = without(given, &operands);
    let mut operands = operands.into_iter();
    let last = given.last().map_or(&b"diff"[..], Vec::as_slice);
    let (first, second) = match (operands.next(), operands.next()) {
        (Some(first), Some(second)) => (first, second),
        (first, _) => {
            let after = first.as_deref().unwrap_or(last);
            return Err(Failure::Usage(format!("missing operand after '{}'", String::from_utf8_lossy(after))));
        }
    };
    if let Some(extra) = operands.next() {
        return Err(Failure::Usage(format!("extra operand '{}'", String::from_utf8_lossy(&extra))));
    }
    let mut options = reader.finish()?;
    options.given = given;
    Ok(Request::Compare(Box::new(options), [first, second]))
}

/// The arguments that are no operands.
fn without(arguments: Vec<Vec<u8>>, operands: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut operands = operands.iter().peekable();
    arguments.into_iter().filter(|argument| operands.next_if_eq(&argument).is_none()).collect()
}

#[derive(Default)]
struct Reader {
    options: Options,
    /// The style asked for, its context aside.
    style: Option<char>,
    context: usize,
    /// Whether that number was given as such.
    explicit: bool,
    /// Digits given as options: `-u5` is an old way to write `-U5`.
    digits: String,
}

impl Reader {
    fn option(&mut self, key: char, value: Option<Vec<u8>>) -> Result<(), Failure> {
        let options = &mut self.options;
        match key {
            'a' => options.text = true,
            'B' => options.rules.ignore_blank_lines = true,
            'b' => options.rules.space = options.rules.space.max(Space::Some),
            'Z' => options.rules.space = options.rules.space.max(Space::NotAtEnd),
            'w' => options.rules.space = Space::Nothing,
            'd' => options.rules.minimal = true,
            'i' => options.rules.ignore_case = true,
            'L' => options.labels.push(value.unwrap_or_default()),
            'N' => options.new_file = true,
            'p' => options.shows_function = true,
            'q' => options.brief = true,
            'r' => options.recursive = true,
            's' => options.tells_same = true,
            'x' => options.excluded.push(value.unwrap_or_default()),
            'H' | IGNORED => {}
            '0'..='9' => self.digits.push(key),
            STRIP => options.rules.strip_return = true,
            COLOR => match value.as_deref() {
                Some(b"never" | b"auto") => {}
                _ => return Err(unsupported("--color other than =never and =auto")),
            },
            'c' | 'C' | CONTEXT => self.styled('c', value)?,
            'u' | 'U' | UNIFIED => self.styled('u', value)?,
            NORMAL => self.styled('n', None)?,
            key if REFUSED.contains(key) => return Err(unsupported(&format!("-{key}"))),
            _ => return Err(unsupported("an option given (--from-file, --to-file, --line-format, --no-dereference)")),
        }
        Ok(())
    }

    fn styled(&mut self, style: char, context: Option<Vec<u8>>) -> Result<(), Failure> {
        if self.style.is_some_and(|other| other != style) {
            return Err(Failure::Usage("conflicting output style options".to_owned()));
        }
        self.style = Some(style);
        let number = match context {
            Some(text) => {
                self.explicit = true;
                lines(&text)?
            }
            None => 3,
        };
        // The largest number wins.
        self.context = self.context.max(number);
        Ok(())
    }

    fn finish(mut self) -> Result<Options, Failure> {
        if self.options.labels.len() > 2 {
            return Err(Failure::Other("too many file label options".to_owned()));
        }
        let mut context = self.context;
        if !self.digits.is_empty() && self.style.is_some() {
            let number = lines(self.digits.as_bytes())?;
            context = if self.explicit { context.max(number) } else { number };
        }
        self.options.style = match self.style {
            Some('u') => Style::Unified(context),
            Some('c') => Style::Context(context),
            // As in GNU, -p alone asks for context.
            None if self.options.shows_function => Style::Context(3),
            _ => Style::Normal,
        };
        Ok(self.options)
    }
}

fn lines(text: &[u8]) -> Result<usize, Failure> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u32>().ok());
    number
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| Failure::Usage(format!("invalid context length '{}'", String::from_utf8_lossy(text))))
}

fn unsupported(what: &str) -> Failure {
    Failure::Usage(format!("{what} is not supported here; normal, -u and -c output are"))
}
