//! The command line.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::{bytes_path, reason, unicode_locale};

pub(crate) const HELP: &str = include_str!("help.txt");

/// Scripts look at the first line, and whether it says GNU.
const VERSION: &str =
    "sed (GNU sed) 4.9\nTidebox's sed does what that version does. It is free under MIT or Apache-2.0.\n";

/// Columns of the `l` command, as in GNU.
const DEFAULT_COLUMNS: usize = 70;

/// A piece of the script and where it is from.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) origin: Origin,
    pub(crate) text: Vec<u8>,
}

/// Where a piece of the script is from, for messages.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The expression of that number.
    Expression(usize),
    File(String),
}

/// Everything that the command line says.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) files: Vec<Vec<u8>>,
    pub(crate) quiet: bool,
    pub(crate) extended: bool,
    pub(crate) separate: bool,
    /// Files are changed; the suffix of the copies that are kept is empty when none are.
    pub(crate) in_place: Option<Vec<u8>>,
    pub(crate) follow_links: bool,
    pub(crate) unbuffered: bool,
    /// Commands that touch other files or run programs are refused.
    pub(crate) sandbox: bool,
    pub(crate) posix: bool,
    /// `N` without a next line prints nothing.
    pub(crate) strict_next: bool,
    /// The byte that ends lines.
    pub(crate) delimiter: u8,
    pub(crate) columns: usize,
    pub(crate) unicode: bool,
}

/// What a command line asks for.
#[derive(Debug)]
pub(crate) enum Request {
    Run(Box<Options>),
    /// Only text is printed.
    Say(&'static str),
}

const DEBUG: char = '\u{e001}';
const FOLLOW: char = '\u{e002}';
const POSIX: char = '\u{e003}';
const SANDBOX: char = '\u{e004}';
const HELP_KEY: char = '\u{e005}';
const VERSION_KEY: char = '\u{e006}';

const SHORT: &str = "bsnrzuEe:f:l:i::V:hs";

const LONG: &[Long] = &[
    long("binary", Takes::Nothing, 'b'),
    long("regexp-extended", Takes::Nothing, 'r'),
    long("debug", Takes::Nothing, DEBUG),
    long("in-place", Takes::Maybe, 'i'),
    long("expression", Takes::Value, 'e'),
    long("file", Takes::Value, 'f'),
    long("line-length", Takes::Value, 'l'),
    long("null-data", Takes::Nothing, 'z'),
    long("zero-terminated", Takes::Nothing, 'z'),
    long("quiet", Takes::Nothing, 'n'),
    long("posix", Takes::Nothing, POSIX),
    long("silent", Takes::Nothing, 'n'),
    long("sandbox", Takes::Nothing, SANDBOX),
    long("separate", Takes::Nothing, 's'),
    long("unbuffered", Takes::Nothing, 'u'),
    long("version", Takes::Nothing, VERSION_KEY),
    long("help", Takes::Nothing, HELP_KEY),
    long("follow-symlinks", Takes::Nothing, FOLLOW),
];

/// A message and an exit code; without one, how `sed` is used is printed.
type Refusal = Option<(String, i32)>;

/// Reads the command line.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Result<Request, Refusal> {
    let mut options = Options {
        pieces: Vec::new(),
        files: Vec::new(),
        quiet: false,
        extended: false,
        separate: false,
        in_place: None,
        follow_links: false,
        unbuffered: false,
        sandbox: false,
        posix: false,
        strict_next: std::env::var_os("POSIXLY_CORRECT").is_some(),
        delimiter: b'\n',
        columns: columns_of_environment(),
        unicode: unicode_locale(),
    };
    let mut parser = Parser::new(Spec { short: SHORT, long: LONG, permute: true }, arguments);
    loop {
        match parser.next_item() {
            Err(message) => return Err(Some((format!("{message}\n{HELP}").trim_end().to_owned(), 1))),
            Ok(None) => break,
            Ok(Some(Item::Operand(operand))) => options.files.push(operand),
            Ok(Some(Item::Option(HELP_KEY | 'h', _))) => return Ok(Request::Say(HELP)),
            Ok(Some(Item::Option(VERSION_KEY, _))) => return Ok(Request::Say(VERSION)),
            Ok(Some(Item::Option(key, value))) => options.option(key, value.unwrap_or_default())?,
        }
    }
    if options.pieces.is_empty() {
        if options.files.is_empty() {
            return Err(None);
        }
        let text = options.files.remove(0);
        options.pieces.push(Piece { origin: Origin::Expression(1), text });
    }
    Ok(Request::Run(Box::new(options)))
}

impl Options {
    fn option(&mut self, key: char, value: Vec<u8>) -> Result<(), Refusal> {
        match key {
            'n' => self.quiet = true,
            'E' | 'r' => self.extended = true,
            's' => self.separate = true,
            'i' => {
                self.separate = true;
                self.in_place = Some(value);
            }
            'e' => {
                let earlier = self.pieces.iter().filter(|piece| matches!(piece.origin, Origin::Expression(_))).count();
                self.pieces.push(Piece { origin: Origin::Expression(earlier + 1), text: value });
            }
            'f' => self.pieces.push(script_file(&value)?),
            'l' => {
                // As in GNU, what is no number is 0, and a line of one column is not broken.
                let digits: Vec<u8> = value.iter().copied().take_while(u8::is_ascii_digit).collect();
                self.columns = String::from_utf8_lossy(&digits).parse().unwrap_or(0);
                if self.columns == 1 {
                    self.columns = 0;
                }
            }
            'u' => self.unbuffered = true,
            'z' => self.delimiter = 0,
            POSIX => (self.posix, self.strict_next) = (true, true),
            SANDBOX => self.sandbox = true,
            FOLLOW => self.follow_links = true,
            DEBUG => return Err(Some(("--debug is not supported here".to_owned(), 1))),
            _ => {}
        }
        Ok(())
    }
}

/// The columns that `COLS` asks for.
fn columns_of_environment() -> usize {
    let asked = std::env::var("COLS").ok().and_then(|columns| columns.parse::<usize>().ok());
    asked.filter(|columns| *columns > 1).map_or(DEFAULT_COLUMNS, |columns| columns - 1)
}

fn script_file(name: &[u8]) -> Result<Piece, Refusal> {
    let shown = String::from_utf8_lossy(name).into_owned();
    let read = if name == b"-" {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut text).map(|_| text)
    } else {
        std::fs::read(bytes_path(name))
    };
    match read {
        Ok(mut text) => {
            // Behind a backslash the end of the last line is text.
            if text.ends_with(b"\n") && !text.ends_with(b"\\\n") {
                text.pop();
            }
            Ok(Piece { origin: Origin::File(shown), text })
        }
        Err(error) => Err(Some((format!("couldn't open file {shown}: {}", reason(&error)), 4))),
    }
}
