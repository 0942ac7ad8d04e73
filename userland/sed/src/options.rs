//! The command line.

use tidebox_gnu::command_line::FromEarlyExit;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{bytes_path, error_text, unicode_locale};
use tidebox_gnu::options::Syntax;

const USAGE: &str = "\
Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...

";

/// Scripts check the first line for `GNU`.
const VERSION: &str =
    "sed (GNU sed) 4.9\nTidebox's sed does what that version does. It is free under MIT or Apache-2.0.\n";

/// Columns of the `l` command, as in GNU sed.
const DEFAULT_COLUMNS: usize = 70;

/// A script fragment and its origin.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) origin: Origin,
    pub(crate) text: Vec<u8>,
}

/// Origin of a script fragment, for messages.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The expression of that number.
    Expression(usize),
    File(String),
}

/// All options.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) files: Vec<Vec<u8>>,
    pub(crate) quiet: bool,
    pub(crate) extended: bool,
    pub(crate) separate: bool,
    /// Edit the files themselves (`-i`); the backup suffix is empty if no backups are kept.
    pub(crate) in_place: Option<Vec<u8>>,
    pub(crate) follow_links: bool,
    pub(crate) unbuffered: bool,
    /// Reject commands that access other files or run programs.
    pub(crate) sandbox: bool,
    pub(crate) posix: bool,
    /// `N` without a next line prints nothing.
    pub(crate) strict_next: bool,
    /// The line terminator.
    pub(crate) delimiter: u8,
    pub(crate) columns: usize,
    pub(crate) unicode: bool,
}

/// Action of a command line.
#[derive(Debug)]
pub(crate) enum Request {
    Run(Box<Options>),
    /// Only text is printed.
    Print(String),
}

tidebox_gnu::options! {
    /// Options of `sed`.
    pub(crate) enum Flag {
        Quiet = "-n, --quiet, --silent", "do not print the pattern space at the end of a cycle";
        Expression = "-e, --expression=SCRIPT", "add SCRIPT to the commands";
        File = "-f, --file=FILE", "add the commands in FILE";
        RegexpExtended = "-E, -r, --regexp-extended", "read extended regular expressions";
        InPlace = "-i[SUFFIX], --in-place[=SUFFIX]", "change files; with SUFFIX keep a copy";
        FollowSymlinks = "--follow-symlinks", "with -i, change what a link leads to";
        Separate = "-s, --separate", "files are not one long stream";
        NullData = "-z, --null-data | --zero-terminated", "lines end in a zero byte";
        LineLength = "-l, --line-length=N", "columns of the l command";
        Unbuffered = "-u, --unbuffered", "write each line at once";
        Posix = "--posix", "no GNU operators in patterns; N prints nothing at the end";
        Sandbox = "--sandbox", "refuse e, r and w";
        Binary = "-b | --binary", "has no effect";
        Help = "--help | -h", "print this help";
        Version = "--version", "print the version";
        Ignored = "-V VALUE", "";
        Debug = "--debug", "", unsupported "--debug is not supported here";
    }
}

/// A message and an exit code; without a message, the usage is printed.
type Refusal = Option<(String, i32)>;

/// Reason to stop parsing.
enum Stop {
    /// The command line is handled.
    Answered(ToolResult),
    /// An option is rejected.
    Refused(Refusal),
}

impl FromEarlyExit for Stop {
    fn from_early_exit(_: &str, answer: ToolResult) -> Self {
        Self::Answered(answer)
    }
}

pub(crate) const LINE: Syntax<'_, Flag> = Syntax { version: VERSION, ..Syntax::new("sed", USAGE, 29) };

/// Parses the command line.
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
    let files = LINE.parse(arguments, |key, value| options.option(key, value).map_err(Stop::Refused));
    options.files = match files {
        Ok(files) => files,
        Err(Stop::Refused(refusal)) => return Err(refusal),
        Err(Stop::Answered(ToolResult::Usage(message, code))) => {
            return Err(Some((format!("{message}\n{}", LINE.help()).trim_end().to_owned(), code)));
        }
        Err(Stop::Answered(ToolResult::Failure(message, code))) => return Err(Some((message, code))),
        Err(Stop::Answered(ToolResult::Print(text) | ToolResult::PrintAndCode(text, _))) => {
            return Ok(Request::Print(String::from_utf8_lossy(&text).into_owned()));
        }
        Err(Stop::Answered(ToolResult::Code(_))) => return Err(None),
    };
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
    fn option(&mut self, key: Flag, value: Vec<u8>) -> Result<(), Refusal> {
        match key {
            Flag::Quiet => self.quiet = true,
            Flag::RegexpExtended => self.extended = true,
            Flag::Separate => self.separate = true,
            Flag::InPlace => {
                self.separate = true;
                self.in_place = Some(value);
            }
            Flag::Expression => {
                let earlier = self.pieces.iter().filter(|piece| matches!(piece.origin, Origin::Expression(_))).count();
                self.pieces.push(Piece { origin: Origin::Expression(earlier + 1), text: value });
            }
            Flag::File => self.pieces.push(script_file(&value)?),
            Flag::LineLength => {
                // As in GNU sed, an invalid number is 0, and a line length of one disables wrapping.
                let digits: Vec<u8> = value.iter().copied().take_while(u8::is_ascii_digit).collect();
                self.columns = String::from_utf8_lossy(&digits).parse().unwrap_or(0);
                if self.columns == 1 {
                    self.columns = 0;
                }
            }
            Flag::Unbuffered => self.unbuffered = true,
            Flag::NullData => self.delimiter = 0,
            Flag::Posix => (self.posix, self.strict_next) = (true, true),
            Flag::Sandbox => self.sandbox = true,
            Flag::FollowSymlinks => self.follow_links = true,
            _ => {}
        }
        Ok(())
    }
}

/// The number of columns in `COLS`.
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
            // After a backslash, the end of the last line is text.
            if text.ends_with(b"\n") && !text.ends_with(b"\\\n") {
                text.pop();
            }
            Ok(Piece { origin: Origin::File(shown), text })
        }
        Err(error) => Err(Some((format!("couldn't open file {shown}: {}", error_text(&error)), 4))),
    }
}
