//! The command line.

mod value;

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::{complain, unicode_locale};
use tidebox_gnu::regex::{self, Dialect};

use crate::walk::Filter;
use value::{context, max_count, read_file};

/// What stands after the message of a wrong command line.
pub(crate) const USAGE: &str = "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.";

const HELP: &str = include_str!("help.txt");

/// Scripts look at the first line, and whether it says GNU.
const VERSION: &str =
    "grep (GNU grep) 3.8\nTidebox's grep does what that version does. It is free under MIT or Apache-2.0.\n";

/// What is printed of each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// The selected lines.
    Lines,
    /// How many there are.
    Count,
    /// The file's name when there is one.
    Matching,
    /// The file's name when there is none.
    NotMatching,
}

/// What is done with a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directories {
    Read,
    Recurse,
    Skip,
}

/// What is done with a file that is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    /// It is said that it matches.
    Say,
    /// It is searched as text.
    Text,
    /// It does not match.
    Never,
}

/// Everything that the command line says.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) patterns: Vec<Vec<u8>>,
    pub(crate) regex: regex::Options,
    pub(crate) files: Vec<Vec<u8>>,
    pub(crate) filter: Filter,
    pub(crate) listing: Listing,
    pub(crate) directories: Directories,
    /// Devices and pipes that are named are not read.
    pub(crate) skips_devices: bool,
    pub(crate) follow_links: bool,
    pub(crate) binary: Binary,
    pub(crate) invert: bool,
    pub(crate) only_matching: bool,
    pub(crate) quiet: bool,
    pub(crate) no_messages: bool,
    /// Whether names are printed; `None` decides by the number of files.
    pub(crate) with_names: Option<bool>,
    pub(crate) line_numbers: bool,
    pub(crate) byte_offsets: bool,
    pub(crate) initial_tab: bool,
    pub(crate) null_after_name: bool,
    pub(crate) line_buffered: bool,
    pub(crate) color: bool,
    pub(crate) max_count: Option<u64>,
    pub(crate) before: Option<usize>,
    pub(crate) after: Option<usize>,
    pub(crate) separator: Option<Vec<u8>>,
    pub(crate) label: Option<Vec<u8>>,
}

impl Options {
    /// Whether lines are printed at all.
    pub(crate) fn prints_lines(&self) -> bool {
        self.listing == Listing::Lines && !self.quiet
    }
}

/// What a command line asks for.
#[derive(Debug)]
pub(crate) enum Request {
    Search(Box<Options>),
    /// Only text is printed.
    Say(String),
    /// An option has a word that is none of those to choose from.
    NoSuchChoice(String),
    /// The command line reads well but asks for what cannot be.
    Fail(String),
}

const SHORT: &str = "0123456789A:B:C:D:EFGHILPTUVX:abcd:e:f:hiLlm:noqRrsuvwxyZz";

// Keys of long options that have no letter.
const BINARY_FILES: char = '\u{e001}';
const COLOR: char = '\u{e002}';
const EXCLUDE: char = '\u{e003}';
const EXCLUDE_DIR: char = '\u{e004}';
const EXCLUDE_FROM: char = '\u{e005}';
const GROUP_SEPARATOR: char = '\u{e006}';
const HELP_KEY: char = '\u{e007}';
const INCLUDE: char = '\u{e008}';
const LABEL: char = '\u{e009}';
const LINE_BUFFERED: char = '\u{e00a}';
const NO_GROUP_SEPARATOR: char = '\u{e00b}';
const NO_IGNORE_CASE: char = '\u{e00c}';

const LONG: &[Long] = &[
    long("after-context", Takes::Value, 'A'),
    long("basic-regexp", Takes::Nothing, 'G'),
    long("before-context", Takes::Value, 'B'),
    long("binary", Takes::Nothing, 'U'),
    long("binary-files", Takes::Value, BINARY_FILES),
    long("byte-offset", Takes::Nothing, 'b'),
    long("context", Takes::Value, 'C'),
    long("color", Takes::Maybe, COLOR),
    long("colour", Takes::Maybe, COLOR),
    long("count", Takes::Nothing, 'c'),
    long("dereference-recursive", Takes::Nothing, 'R'),
    long("devices", Takes::Value, 'D'),
    long("directories", Takes::Value, 'd'),
    long("exclude", Takes::Value, EXCLUDE),
    long("exclude-dir", Takes::Value, EXCLUDE_DIR),
    long("exclude-from", Takes::Value, EXCLUDE_FROM),
    long("extended-regexp", Takes::Nothing, 'E'),
    long("file", Takes::Value, 'f'),
    long("files-with-matches", Takes::Nothing, 'l'),
    long("files-without-match", Takes::Nothing, 'L'),
    long("fixed-strings", Takes::Nothing, 'F'),
    long("group-separator", Takes::Value, GROUP_SEPARATOR),
    long("help", Takes::Nothing, HELP_KEY),
    long("ignore-case", Takes::Nothing, 'i'),
    long("include", Takes::Value, INCLUDE),
    long("initial-tab", Takes::Nothing, 'T'),
    long("invert-match", Takes::Nothing, 'v'),
    long("label", Takes::Value, LABEL),
    long("line-buffered", Takes::Nothing, LINE_BUFFERED),
    long("line-number", Takes::Nothing, 'n'),
    long("line-regexp", Takes::Nothing, 'x'),
    long("max-count", Takes::Value, 'm'),
    long("no-ignore-case", Takes::Nothing, NO_IGNORE_CASE),
    long("no-filename", Takes::Nothing, 'h'),
    long("no-group-separator", Takes::Nothing, NO_GROUP_SEPARATOR),
    long("no-messages", Takes::Nothing, 's'),
    long("null", Takes::Nothing, 'Z'),
    long("null-data", Takes::Nothing, 'z'),
    long("only-matching", Takes::Nothing, 'o'),
    long("perl-regexp", Takes::Nothing, 'P'),
    long("quiet", Takes::Nothing, 'q'),
    long("recursive", Takes::Nothing, 'r'),
    long("regexp", Takes::Value, 'e'),
    long("silent", Takes::Nothing, 'q'),
    long("text", Takes::Nothing, 'a'),
    long("unix-byte-offsets", Takes::Nothing, 'u'),
    long("version", Takes::Nothing, 'V'),
    long("with-filename", Takes::Nothing, 'H'),
    long("word-regexp", Takes::Nothing, 'w'),
];

/// Why reading stops before the end.
enum Stop {
    /// With the usage, and a message before it.
    Usage(Option<String>),
    /// With the usage after a message about a word that is none of those to choose from.
    NoSuchChoice(String),
    /// With a message only.
    Fail(String),
    /// With text on stdout.
    Say(String),
}

impl From<String> for Stop {
    fn from(message: String) -> Self {
        Self::Usage(Some(message))
    }
}

/// Reads the command line. The error is a message to print before the usage.
pub(crate) fn parse(program: &str, arguments: Vec<Vec<u8>>) -> Result<Request, Option<String>> {
    match Reader::new(program).read(arguments) {
        Ok(options) => Ok(Request::Search(Box::new(options))),
        Err(Stop::Usage(message)) => Err(message),
        Err(Stop::NoSuchChoice(message)) => Ok(Request::NoSuchChoice(message)),
        Err(Stop::Fail(message)) => Ok(Request::Fail(message)),
        Err(Stop::Say(text)) => Ok(Request::Say(text)),
    }
}

struct Reader {
    options: Options,
    /// Whether `-e` or `-f` was given, so that the first operand is a file.
    patterns_given: bool,
    /// Digits of `-NUM` so far.
    digits: String,
    /// How many arguments followed the one with the last digit.
    digits_at: Option<usize>,
    context: Option<usize>,
}

impl Reader {
    fn new(program: &str) -> Self {
        let dialect = match program {
            "egrep" => Dialect::Extended,
            "fgrep" => Dialect::Fixed,
            _ => Dialect::Basic,
        };
        let regex = regex::Options { unicode: unicode_locale(), ..regex::Options::of(dialect) };
        let options = Options {
            patterns: Vec::new(),
            regex,
            files: Vec::new(),
            filter: Filter::default(),
            listing: Listing::Lines,
            directories: Directories::Read,
            skips_devices: false,
            follow_links: false,
            binary: Binary::Say,
            invert: false,
            only_matching: false,
            quiet: false,
            no_messages: false,
            with_names: None,
            line_numbers: false,
            byte_offsets: false,
            initial_tab: false,
            null_after_name: false,
            line_buffered: false,
            color: false,
            max_count: None,
            before: None,
            after: None,
            separator: Some(b"--".to_vec()),
            label: None,
        };
        Self { options, patterns_given: false, digits: String::new(), digits_at: None, context: None }
    }

    fn read(mut self, arguments: Vec<Vec<u8>>) -> Result<Options, Stop> {
        let mut parser = Parser::new(Spec { short: SHORT, long: LONG, permute: true }, arguments);
        while let Some(item) = parser.next_item()? {
            match item {
                Item::Operand(operand) => self.options.files.push(operand),
                Item::Option(key, value) => {
                    if key.is_ascii_digit() {
                        // Digits of one argument make a number; another argument makes another.
                        let left = parser.left();
                        if self.digits_at.replace(left) != Some(left) {
                            self.digits.clear();
                        }
                    }
                    self.option(key, value.unwrap_or_default())?;
                }
            }
        }
        if !self.digits.is_empty() {
            self.context = Some(context(self.digits.as_bytes())?);
        }
        self.options.before = self.options.before.or(self.context);
        self.options.after = self.options.after.or(self.context);
        if !self.patterns_given {
            if self.options.files.is_empty() {
                return Err(Stop::Usage(None));
            }
            let pattern = self.options.files.remove(0);
            self.add_patterns(&pattern);
        }
        Ok(self.options)
    }

    fn option(&mut self, key: char, value: Vec<u8>) -> Result<(), Stop> {
        let options = &mut self.options;
        match key {
            '0'..='9' => self.digits.push(key),
            'A' => options.after = Some(context(&value)?),
            'B' => options.before = Some(context(&value)?),
            'C' => self.context = Some(context(&value)?),
            'E' => return self.dialect(Dialect::Extended),
            'F' => return self.dialect(Dialect::Fixed),
            'G' => return self.dialect(Dialect::Basic),
            'P' => return self.dialect(Dialect::Perl),
            'X' => return self.matcher(&value),
            'H' => options.with_names = Some(true),
            'h' => options.with_names = Some(false),
            'I' => options.binary = Binary::Never,
            'a' => options.binary = Binary::Text,
            'L' => options.listing = Listing::NotMatching,
            'l' => options.listing = Listing::Matching,
            'c' if options.listing == Listing::Lines => options.listing = Listing::Count,
            'T' => options.initial_tab = true,
            'b' => options.byte_offsets = true,
            'n' => options.line_numbers = true,
            'e' => self.add_patterns(&value),
            'f' => return self.pattern_file(&value),
            'i' | 'y' => options.regex.ignore_case = true,
            'm' => options.max_count = max_count(&value)?,
            'o' => options.only_matching = true,
            'q' => options.quiet = true,
            'R' => (options.directories, options.follow_links) = (Directories::Recurse, true),
            'r' => (options.directories, options.follow_links) = (Directories::Recurse, false),
            's' => options.no_messages = true,
            'v' => options.invert = true,
            'w' => options.regex.whole_word = true,
            'x' => options.regex.whole_line = true,
            'Z' => options.null_after_name = true,
            'z' => options.regex.terminator = 0,
            'd' => return self.directories(&value),
            'D' if value != b"read" && value != b"skip" => {
                return Err(Stop::Fail("unknown devices method".to_owned()));
            }
            'V' => return Err(Stop::Say(VERSION.to_owned())),
            // `-U` concerns line ends of other systems.
            'D' => options.skips_devices = value == b"skip",
            'c' | 'U' => {}
            'u' => complain("grep", "warning: --unix-byte-offsets (-u) is obsolete"),
            _ => return self.long_option(key, value),
        }
        Ok(())
    }

    fn long_option(&mut self, key: char, value: Vec<u8>) -> Result<(), Stop> {
        let options = &mut self.options;
        match key {
            BINARY_FILES => {
                options.binary = match value.as_slice() {
                    b"binary" => Binary::Say,
                    b"text" => Binary::Text,
                    b"without-match" => Binary::Never,
                    _ => return Err(Stop::Fail("unknown binary-files type".to_owned())),
                }
            }
            COLOR => {
                options.color = match value.as_slice() {
                    b"always" | b"yes" | b"force" => true,
                    b"never" | b"no" | b"none" => false,
                    b"" | b"auto" | b"tty" | b"if-tty" => color_terminal(),
                    _ => return Err(Stop::Say(HELP.to_owned())),
                }
            }
            EXCLUDE => options.filter.add_exclude(value),
            EXCLUDE_DIR => options.filter.add_exclude_dir(value),
            INCLUDE => options.filter.add_include(value),
            EXCLUDE_FROM => {
                let text = read_file(&value)?;
                text.split(|byte| *byte == b'\n')
                    .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
                    .for_each(|line| options.filter.add_exclude(line.to_vec()));
            }
            GROUP_SEPARATOR => options.separator = Some(value),
            NO_GROUP_SEPARATOR => options.separator = None,
            NO_IGNORE_CASE => options.regex.ignore_case = false,
            LABEL => options.label = Some(value),
            LINE_BUFFERED => options.line_buffered = true,
            HELP_KEY => return Err(Stop::Say(HELP.to_owned())),
            _ => {}
        }
        Ok(())
    }
}

fn color_terminal() -> bool {
    tidebox_rt::is_terminal(1) && std::env::var("TERM").is_ok_and(|term| term != "dumb")
}
