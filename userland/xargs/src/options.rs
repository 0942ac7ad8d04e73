//! The command line.

use tidebox_gnu::escape::control;
use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::complain;

const HELP: &str = include_str!("help.txt");

const VERSION: &str =
    "xargs (GNU findutils) 4.9.0\nTidebox's xargs does what that version does. It is free under MIT or Apache-2.0.\n";

/// Bytes of one command by default, as in GNU.
const DEFAULT_BYTES: usize = 128 * 1024;

/// Commands at a time at most, as in GNU.
pub(crate) const MOST_PARALLEL: u32 = 2_147_483_647;

/// What separates items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// Blanks and line ends; quotes and backslashes keep them together.
    Blanks,
    /// Line ends only; blanks at the beginning are left out, and quotes and backslashes still count.
    Lines,
    /// This byte.
    Byte(u8),
}

/// Everything that the command line says.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The command and its first arguments.
    pub(crate) command: Vec<Vec<u8>>,
    pub(crate) file: Option<Vec<u8>>,
    pub(crate) separator: Separator,
    /// An item that ends the input.
    pub(crate) end: Option<Vec<u8>>,
    /// What an item takes the place of.
    pub(crate) replace: Option<Vec<u8>>,
    pub(crate) most_items: Option<usize>,
    pub(crate) most_lines: Option<usize>,
    pub(crate) most_bytes: usize,
    /// A batch that gets too long for its items or lines is an error.
    pub(crate) exit_when_long: bool,
    /// Commands at a time; 0 is as many as there may be.
    pub(crate) parallel: usize,
    pub(crate) not_when_empty: bool,
    pub(crate) shows: bool,
    pub(crate) asks: bool,
    /// Commands read from the terminal.
    pub(crate) terminal: bool,
    /// A variable that gets the number of the command's place among those that run.
    pub(crate) slot_variable: Option<Vec<u8>>,
    pub(crate) warnings: Vec<String>,
    /// Tell how long commands may be.
    pub(crate) limits: bool,
}

/// What a command line asks for.
#[derive(Debug)]
pub(crate) enum Request {
    Run(Box<Options>),
    /// Only text is printed.
    Say(&'static str),
}

const SHORT: &str = "0a:d:E:e::I:i::L:l::n:oP:prs:tx";

const SLOT: char = '\u{e001}';
const HELP_KEY: char = '\u{e002}';
const LIMITS: char = '\u{e004}';
const VERSION_KEY: char = '\u{e003}';

const LONG: &[Long] = &[
    long("null", Takes::Nothing, '0'),
    long("arg-file", Takes::Value, 'a'),
    long("delimiter", Takes::Value, 'd'),
    long("eof", Takes::Maybe, 'e'),
    long("replace", Takes::Maybe, 'i'),
    long("max-lines", Takes::Maybe, 'l'),
    long("max-args", Takes::Value, 'n'),
    long("open-tty", Takes::Nothing, 'o'),
    long("interactive", Takes::Nothing, 'p'),
    long("no-run-if-empty", Takes::Nothing, 'r'),
    long("max-chars", Takes::Value, 's'),
    long("verbose", Takes::Nothing, 't'),
    long("exit", Takes::Nothing, 'x'),
    long("max-procs", Takes::Value, 'P'),
    long("process-slot-var", Takes::Value, SLOT),
    long("show-limits", Takes::Nothing, LIMITS),
    long("version", Takes::Nothing, VERSION_KEY),
    long("help", Takes::Nothing, HELP_KEY),
];

/// Why a command line cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is wrong; where to read more is said, too.
    Usage(String),
    /// A value is.
    Value(String),
}

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        Self::Usage(message)
    }
}

/// Reads the command line. The error is a message without the tool's name.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Result<Request, Wrong> {
    let mut options = Options {
        command: Vec::new(),
        file: None,
        separator: Separator::Blanks,
        end: None,
        replace: None,
        most_items: None,
        most_lines: None,
        most_bytes: DEFAULT_BYTES,
        exit_when_long: false,
        parallel: 1,
        not_when_empty: false,
        shows: false,
        asks: false,
        terminal: false,
        slot_variable: None,
        warnings: Vec::new(),
        limits: false,
    };
    let mut parser = Parser::new(Spec { short: SHORT, long: LONG, permute: false }, arguments);
    while let Some(item) = parser.next_item()? {
        match item {
            Item::Operand(word) => options.command.push(word),
            Item::Option(HELP_KEY, _) => return Ok(Request::Say(HELP)),
            Item::Option(VERSION_KEY, _) => return Ok(Request::Say(VERSION)),
            Item::Option(key, value) => options.option(key, value)?,
        }
    }
    if options.command.is_empty() {
        options.command.push(b"echo".to_vec());
    }
    if options.replace.is_some() && options.separator == Separator::Blanks {
        options.separator = Separator::Lines;
    }
    Ok(Request::Run(Box::new(options)))
}

impl Options {
    fn option(&mut self, key: char, value: Option<Vec<u8>>) -> Result<(), Wrong> {
        match key {
            '0' => self.separator = Separator::Byte(0),
            'd' => self.separator = Separator::Byte(delimiter(&value.unwrap_or_default()).map_err(Wrong::Value)?),
            'a' => self.file = value.filter(|name| name != b"-"),
            'E' | 'e' => self.end = value.filter(|end| !end.is_empty()),
            'I' | 'i' => {
                self.exclusive("--replace/-I/-i");
                self.replace = Some(value.unwrap_or_else(|| b"{}".to_vec()));
                self.exit_when_long = true;
            }
            'L' | 'l' => {
                self.exclusive(if key == 'L' { "-L" } else { "--max-lines/-l" });
                self.most_lines = Some(number(key, value.as_deref().unwrap_or(b"1"), 1)?);
            }
            'n' => {
                let count = number(key, &value.unwrap_or_default(), 1)?;
                // One item at a time is what -I does anyway.
                if !(count == 1 && self.replace.is_some()) {
                    self.exclusive("--max-args/-n");
                    self.most_items = Some(count);
                }
            }
            'o' => self.terminal = true,
            'P' => self.parallel = number(key, &value.unwrap_or_default(), 0)?,
            'p' => (self.asks, self.shows) = (true, true),
            'r' => self.not_when_empty = true,
            's' => self.most_bytes = command_bytes(&value.unwrap_or_default())?,
            't' => self.shows = true,
            'x' => self.exit_when_long = true,
            LIMITS => self.limits = true,
            SLOT => {
                let name = value.unwrap_or_default();
                if name.contains(&b'=') {
                    let message = "option --process-slot-var may not be set to a value which includes '='";
                    return Err(Wrong::Usage(message.to_owned()));
                }
                self.slot_variable = Some(name);
            }
            _ => {}
        }
        Ok(())
    }

    /// Forgets the other ways to say how much goes into a command; the last one counts.
    fn exclusive(&mut self, option: &str) {
        let others = [
            ("--replace", self.replace.take().is_some()),
            ("--max-lines", self.most_lines.take().is_some()),
            ("--max-args", self.most_items.take().is_some()),
        ];
        for (other, was_given) in others {
            if was_given && !option.starts_with(other) && !(option == "-L" && other == "--max-lines") {
                self.warnings.push(format!(
                    "options {other} and {option} are mutually exclusive, ignoring previous {other} value"
                ));
            }
        }
    }
}

/// Bytes of the environment, as they count for how long a command may be.
pub(crate) fn environment_bytes() -> usize {
    tidebox_rt::environ().iter().map(|entry| entry.len() + 1).sum()
}

/// Bytes that a command may have at most, as Linux has it with the environment that there is.
pub(crate) fn upper_bytes() -> usize {
    const LINUX: usize = 2 << 20;
    /// What POSIX wants to be left over.
    const HEADROOM: usize = 2048;
    (LINUX - HEADROOM).saturating_sub(environment_bytes())
}

/// The value of `-s`. One that cannot be is told of, and the nearest that can be counts.
fn command_bytes(value: &[u8]) -> Result<usize, String> {
    let upper = upper_bytes();
    match number('s', value, 1) {
        Ok(bytes) if bytes > upper => {
            let text = String::from_utf8_lossy(value);
            complain("xargs", &format!("value {} for -s option should be <= {upper}", text.trim()));
            Ok(upper)
        }
        Err(message) if !message.starts_with("invalid") => {
            complain("xargs", &message);
            Ok(1)
        }
        other => other,
    }
}

fn number(key: char, value: &[u8], least: usize) -> Result<usize, String> {
    let text = String::from_utf8_lossy(value);
    let text = text.trim();
    let parsed: i128 = text.parse().map_err(|_| format!("invalid number \"{text}\" for -{key} option"))?;
    if key == 'P' && parsed > i128::from(MOST_PARALLEL) {
        return Err(format!("value {text} for -P option should be <= {MOST_PARALLEL}"));
    }
    match usize::try_from(parsed) {
        Ok(number) if number >= least => Ok(number),
        Err(_) if parsed > 0 => Ok(usize::MAX),
        _ => Err(format!("value {text} for -{key} option should be >= {least}")),
    }
}

/// A delimiter: one byte, or an escape that stands for one.
fn delimiter(text: &[u8]) -> Result<u8, String> {
    let wrong = |reason: &str| format!("{reason} '{}' in input delimiter specification", String::from_utf8_lossy(text));
    match text {
        [byte] => Ok(*byte),
        [b'\\', b'\\'] => Ok(b'\\'),
        [b'\\', letter] if !letter.is_ascii_digit() => control(*letter).ok_or_else(|| wrong("Invalid escape sequence")),
        [b'\\', digits @ ..] => {
            let digits = String::from_utf8_lossy(digits);
            let parsed = match digits.strip_prefix('x') {
                Some(hexadecimal) => u8::from_str_radix(hexadecimal, 16),
                None => u8::from_str_radix(&digits, 8),
            };
            parsed.map_err(|_| wrong("Invalid escape sequence"))
        }
        _ => Err(format!(
            "Invalid input delimiter specification {}: the delimiter must be either a single character or an escape \
             sequence starting with \\.",
            String::from_utf8_lossy(text)
        )),
    }
}
