//! The command line of `ls`.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::quoted;

use super::order::{Key, Order};

const HELP: &str = include_str!("help.txt");

/// Columns of a line when nobody says.
const DEFAULT_WIDTH: usize = 80;

/// How files are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One on each line.
    Lines,
    /// In columns, downwards.
    Columns,
    /// In columns, across.
    Across,
    /// Separated by commas.
    Commas,
    /// One on each line, with its state.
    Long,
}

/// Which files are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// Those whose names do not begin with a dot.
    Visible,
    /// All but `.` and `..`.
    AlmostAll,
    All,
}

/// Which links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    Never,
    /// Those on the command line that lead to folders.
    Folders,
    /// Those on the command line.
    Named,
    Always,
}

/// What follows a name to tell what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Nothing,
    /// A slash after folders.
    Slash,
    /// As [`Self::Classify`] but for programs.
    FileType,
    /// A sign after everything but plain files.
    Classify,
}

/// How times are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TimeStyle {
    /// `Nov 21 10:50`, or `Jan  2  2024` when that is long ago.
    Locale,
    /// `2026-11-21 10:50`
    LongIso,
    /// `11-21 10:50`, or `2024-01-02`.
    Iso,
    /// `2026-11-21 10:50:14.102250708 +0000`
    FullIso,
    /// As `date` does it.
    Format(String),
}

/// Everything that the command line says.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) files: Vec<Vec<u8>>,
    pub(crate) layout: Layout,
    pub(crate) shows: Shows,
    pub(crate) follow: Follow,
    pub(crate) mark: Mark,
    pub(crate) order: Order,
    pub(crate) time_style: TimeStyle,
    pub(crate) folders_as_files: bool,
    pub(crate) recursive: bool,
    pub(crate) inodes: bool,
    pub(crate) blocks: bool,
    /// Sizes with a letter, in powers of this.
    pub(crate) human: Option<u64>,
    pub(crate) block_size: u64,
    pub(crate) numeric: bool,
    pub(crate) owner: bool,
    pub(crate) group: bool,
    pub(crate) quotes: bool,
    pub(crate) escapes: bool,
    pub(crate) color: bool,
    pub(crate) width: usize,
    pub(crate) end: u8,
    pub(crate) ignore: Vec<Vec<u8>>,
}

impl Default for Options {
    fn default() -> Self {
        let terminal = tidebox_rt::is_terminal(1);
        let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        Self {
            files: Vec::new(),
            layout: if terminal { Layout::Columns } else { Layout::Lines },
            shows: Shows::Visible,
            follow: Follow::Folders,
            mark: Mark::Nothing,
            order: Order::default(),
            time_style: TimeStyle::Locale,
            folders_as_files: false,
            recursive: false,
            inodes: false,
            blocks: false,
            human: None,
            block_size: 1024,
            numeric: false,
            owner: true,
            group: true,
            quotes: false,
            escapes: false,
            color: false,
            width: width.unwrap_or(DEFAULT_WIDTH),
            end: b'\n',
            ignore: Vec::new(),
        }
    }
}

/// What a command line asks for.
#[derive(Debug)]
pub(crate) enum Request {
    List(Box<Options>),
    /// Only text is printed.
    Say(&'static str),
}

const COLOR: char = '\u{e001}';
const SORT: char = '\u{e002}';
const TIME: char = '\u{e003}';
const TIME_STYLE: char = '\u{e004}';
const FULL_TIME: char = '\u{e005}';
const FOLDERS_FIRST: char = '\u{e006}';
const FORMAT: char = '\u{e007}';
const SI: char = '\u{e008}';
const FILE_TYPE: char = '\u{e009}';
const INDICATOR: char = '\u{e00a}';
const HELP_KEY: char = '\u{e00b}';
const IGNORED: char = '\u{e00c}';
const HIDE: char = '\u{e00d}';
const ZERO: char = '\u{e00e}';
const FOLLOW_FOLDERS: char = '\u{e00f}';

const SHORT: &str = "aAbBcCdDfFgGhHiI:klLmnNopqQrRsStT:uUvw:xXZ1";

const LONG: &[Long] = &[
    long("all", Takes::Nothing, 'a'),
    long("almost-all", Takes::Nothing, 'A'),
    long("author", Takes::Nothing, IGNORED),
    long("block-size", Takes::Value, IGNORED),
    long("classify", Takes::Maybe, 'F'),
    long("color", Takes::Maybe, COLOR),
    long("colour", Takes::Maybe, COLOR),
    long("dereference", Takes::Nothing, 'L'),
    long("dereference-command-line", Takes::Nothing, 'H'),
    long("dereference-command-line-symlink-to-dir", Takes::Nothing, FOLLOW_FOLDERS),
    long("directory", Takes::Nothing, 'd'),
    long("escape", Takes::Nothing, 'b'),
    long("file-type", Takes::Nothing, FILE_TYPE),
    long("format", Takes::Value, FORMAT),
    long("full-time", Takes::Nothing, FULL_TIME),
    long("group-directories-first", Takes::Nothing, FOLDERS_FIRST),
    long("help", Takes::Nothing, HELP_KEY),
    long("hide", Takes::Value, HIDE),
    long("hide-control-chars", Takes::Nothing, 'q'),
    long("human-readable", Takes::Nothing, 'h'),
    long("ignore", Takes::Value, 'I'),
    long("ignore-backups", Takes::Nothing, 'B'),
    long("indicator-style", Takes::Value, INDICATOR),
    long("inode", Takes::Nothing, 'i'),
    long("kibibytes", Takes::Nothing, 'k'),
    long("literal", Takes::Nothing, 'N'),
    long("no-group", Takes::Nothing, 'G'),
    long("numeric-uid-gid", Takes::Nothing, 'n'),
    long("quote-name", Takes::Nothing, 'Q'),
    long("recursive", Takes::Nothing, 'R'),
    long("reverse", Takes::Nothing, 'r'),
    long("show-control-chars", Takes::Nothing, IGNORED),
    long("si", Takes::Nothing, SI),
    long("size", Takes::Nothing, 's'),
    long("sort", Takes::Value, SORT),
    long("tabsize", Takes::Value, 'T'),
    long("time", Takes::Value, TIME),
    long("time-style", Takes::Value, TIME_STYLE),
    long("width", Takes::Value, 'w'),
    long("zero", Takes::Nothing, ZERO),
];

/// Reads the command line over what holds by default. The error is a message without the tool's name.
pub(crate) fn parse(arguments: Vec<Vec<u8>>, defaults: Options) -> Result<Request, String> {
    let mut options = defaults;
    let mut parser = Parser::new(Spec { short: SHORT, long: LONG, permute: true }, arguments);
    while let Some(item) = parser.next_item()? {
        match item {
            Item::Operand(file) => options.files.push(file),
            Item::Option(HELP_KEY, _) => return Ok(Request::Say(HELP)),
            Item::Option(key, value) => {
                let value = value.map(|value| String::from_utf8_lossy(&value).into_owned()).unwrap_or_default();
                options.option(key, &value)?;
            }
        }
    }
    // Times of access and change order the list, too, unless they are shown.
    options.order.settle(options.layout == Layout::Long);
    if options.layout == Layout::Long && options.follow == Follow::Folders || options.mark == Mark::Classify {
        options.follow = if options.follow == Follow::Folders { Follow::Never } else { options.follow };
    }
    if options.folders_as_files && options.follow == Follow::Folders {
        options.follow = Follow::Never;
    }
    Ok(Request::List(Box::new(options)))
}

impl Options {
    fn option(&mut self, key: char, value: &str) -> Result<(), String> {
        match key {
            'a' => self.shows = Shows::All,
            'A' => self.shows = Shows::AlmostAll,
            'b' => self.escapes = true,
            'B' => self.ignore.extend([b"*~".to_vec(), b".*~".to_vec()]),
            'c' | 'u' => self.order.stamp = key,
            'C' => self.layout = Layout::Columns,
            'd' => self.folders_as_files = true,
            'f' => {
                self.shows = Shows::All;
                self.order.key = Some(Key::None);
            }
            'F' => self.mark = Mark::Classify,
            'g' => (self.layout, self.owner) = (Layout::Long, false),
            'G' => self.group = false,
            'h' => self.human = Some(1024),
            'H' => self.follow = Follow::Named,
            'i' => self.inodes = true,
            'I' | HIDE => self.ignore.push(value.as_bytes().to_vec()),
            'l' => self.layout = Layout::Long,
            'L' => self.follow = Follow::Always,
            'm' => self.layout = Layout::Commas,
            'n' => (self.layout, self.numeric) = (Layout::Long, true),
            'o' => (self.layout, self.group) = (Layout::Long, false),
            'p' => self.mark = Mark::Slash,
            'Q' => self.quotes = true,
            'r' => self.order.reverse = true,
            'R' => self.recursive = true,
            's' => self.blocks = true,
            'S' => self.order.key = Some(Key::Size),
            't' => self.order.key = Some(Key::Time),
            'U' => self.order.key = Some(Key::None),
            'v' => self.order.key = Some(Key::Version),
            'X' => self.order.key = Some(Key::Extension),
            'w' => {
                let width: u64 =
                    value.parse().map_err(|_| format!("invalid line width: {}", quoted(value.as_bytes())))?;
                // 0 is no limit.
                self.width = usize::try_from(width).ok().filter(|width| *width > 0).unwrap_or(usize::MAX);
            }
            'x' => self.layout = Layout::Across,
            '1' if self.layout != Layout::Long => self.layout = Layout::Lines,
            FOLLOW_FOLDERS => self.follow = Follow::Folders,
            SI => self.human = Some(1000),
            FILE_TYPE => self.mark = Mark::FileType,
            FOLDERS_FIRST => self.order.folders_first = true,
            FULL_TIME => (self.layout, self.time_style) = (Layout::Long, TimeStyle::FullIso),
            ZERO => (self.layout, self.end) = (Layout::Lines, 0),
            _ => return self.word(key, value),
        }
        Ok(())
    }

    /// Options whose value is one of a few words.
    fn word(&mut self, key: char, value: &str) -> Result<(), String> {
        let wrong = |option: &str| format!("invalid argument {} for '--{option}'", quoted(value.as_bytes()));
        match (key, value) {
            (COLOR, "" | "always" | "yes" | "force") => self.color = true,
            (COLOR, "never" | "no" | "none") => self.color = false,
            (COLOR, "auto" | "tty" | "if-tty") => self.color = tidebox_rt::is_terminal(1),
            (COLOR, _) => return Err(wrong("color")),
            (SORT, "none") => self.order.key = Some(Key::None),
            (SORT, "size") => self.order.key = Some(Key::Size),
            (SORT, "time") => self.order.key = Some(Key::Time),
            (SORT, "version") => self.order.key = Some(Key::Version),
            (SORT, "extension") => self.order.key = Some(Key::Extension),
            (SORT, "name") => self.order.key = Some(Key::Name),
            (SORT, _) => return Err(wrong("sort")),
            (TIME, "atime" | "access" | "use") => self.order.stamp = 'u',
            (TIME, "ctime" | "status") => self.order.stamp = 'c',
            (TIME, "mtime" | "modification") => self.order.stamp = 'm',
            (TIME, _) => return Err(wrong("time")),
            (FORMAT, "long" | "verbose") => self.layout = Layout::Long,
            (FORMAT, "single-column") => self.layout = Layout::Lines,
            (FORMAT, "commas") => self.layout = Layout::Commas,
            (FORMAT, "vertical") => self.layout = Layout::Columns,
            (FORMAT, "across" | "horizontal") => self.layout = Layout::Across,
            (FORMAT, _) => return Err(wrong("format")),
            (INDICATOR, "none") => self.mark = Mark::Nothing,
            (INDICATOR, "slash") => self.mark = Mark::Slash,
            (INDICATOR, "file-type") => self.mark = Mark::FileType,
            (INDICATOR, "classify") => self.mark = Mark::Classify,
            (INDICATOR, _) => return Err(wrong("indicator-style")),
            (TIME_STYLE, "locale") => self.time_style = TimeStyle::Locale,
            (TIME_STYLE, "long-iso") => self.time_style = TimeStyle::LongIso,
            (TIME_STYLE, "iso") => self.time_style = TimeStyle::Iso,
            (TIME_STYLE, "full-iso") => self.time_style = TimeStyle::FullIso,
            (TIME_STYLE, _) => match value.strip_prefix('+') {
                Some(format) => self.time_style = TimeStyle::Format(format.to_owned()),
                None => return Err(wrong("time-style")),
            },
            // What is left concerns other file systems, terminals or terminals' tabs.
            _ => {}
        }
        Ok(())
    }
}
