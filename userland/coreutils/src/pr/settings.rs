//! Command line and layout of `pr`.

use tidebox_gnu::getopt::Item;
use tidebox_gnu::message::quote_value;
use tidebox_gnu::options::Syntax;

use crate::common::Failure;

const USAGE: &str = "\
Usage: pr [OPTION]... [FILE]...
Paginate or columnate FILE(s) for printing.

";

tidebox_gnu::options! {
    /// Options of `pr`.
    enum Flag {
        Columns = "--columns=COLUMN", "print COLUMN columns, which are read down; -COLUMN does the same";
        Across = "-a, --across", "fill columns across instead of down";
        DoubleSpace = "-d, --double-space", "print an empty line after each line";
        Header = "-h, --header=HEADER", "print HEADER instead of the file name";
        Length = "-l, --length=LENGTH", "lines of a page (66); without header up to 10";
        Merge = "-m, --merge", "print the files in parallel, one in each column";
        NumberLines = "-n[SEP[DIGITS]], --number-lines[=SEP[DIGITS]]",
            "number lines with DIGITS (5), then SEP (a tab)";
        Indent = "-o, --indent=MARGIN", "indent each line by MARGIN spaces";
        Separator = "-s[CHAR], --separator[=CHAR]", "separate columns by CHAR (a tab), unaligned without -w";
        OmitHeader = "-t, --omit-header", "omit headers and trailers";
        OmitPagination = "-T, --omit-pagination", "same as -t, and omit form feeds of the input";
        Width = "-w, --width=WIDTH", "width of a page with several columns (72)";
        Digit = "-0 ... -9", "";
        Pages = "--pages=FIRST[:LAST]", "", unsupported "page ranges are not supported";
        ControlChars = "-c, --show-control-chars, -v, --show-nonprinting", "",
            unsupported "the options -c and -v are not supported; use cat -v";
        DateFormat = "-D, --date-format=FORMAT", "", unsupported "the option -D is not supported";
        ExpandTabs = "-e[CHAR[WIDTH]], --expand-tabs[=CHAR[WIDTH]]", "",
            unsupported "the option -e is not supported; use expand";
        FormFeed = "-F, -f, --form-feed", "", unsupported "the option -F is not supported";
        OutputTabs = "-i[CHAR[WIDTH]], --output-tabs[=CHAR[WIDTH]]", "",
            unsupported "the option -i is not supported; use unexpand";
        JoinLines = "-J, --join-lines", "", unsupported "the option -J is not supported; use -s";
        FirstLineNumber = "-N, --first-line-number=NUMBER", "", unsupported "the option -N is not supported";
        NoFileWarnings = "-r, --no-file-warnings", "", unsupported "the option -r is not supported";
        SepString = "-S[STRING], --sep-string[=STRING]", "", unsupported "the option -S is not supported; use -s";
        PageWidth = "-W, --page-width=WIDTH", "", unsupported "the option -W is not supported; use -w";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("pr", USAGE, 29);

/// Lines of the header, with the empty lines around it.
const HEADER: usize = 5;
/// Lines of the trailer.
pub(super) const FOOTER: usize = 5;
/// Maximum number of columns, lines and characters. Larger pages do not fit into memory.
const MAX_VALUE: usize = 1 << 24;

/// Parsed options.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) columns: Option<usize>,
    pub(super) across: bool,
    pub(super) parallel: bool,
    pub(super) double_space: bool,
    pub(super) header: Option<Vec<u8>>,
    pub(super) length: usize,
    /// Separator after a line number, and number of digits.
    pub(super) numbers: Option<(u8, usize)>,
    pub(super) indent: usize,
    /// Separator of `-s`; empty for the default.
    separator: Option<Vec<u8>>,
    /// Print headers and trailers.
    pub(super) headers: bool,
    pub(super) keeps_form_feeds: bool,
    pub(super) width: usize,
    has_width: bool,
}

/// Column layout.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) columns: usize,
    /// Lines of text on a page.
    pub(super) rows: usize,
    /// Characters in one column of text.
    pub(super) width: usize,
    /// Start of each column, before its separator; 0 for a column that is not aligned.
    pub(super) starts: Vec<usize>,
    pub(super) separator: Vec<u8>,
    /// Text is cut at the width of its column.
    pub(super) cuts: bool,
    /// Tabs of the input become spaces.
    pub(super) expands: bool,
    pub(super) number_width: usize,
}

impl Layout {
    pub(super) fn new(settings: &Settings, files: usize) -> Result<Self, Failure> {
        let columns = if settings.parallel { files } else { settings.columns.unwrap_or(1) };
        let mut rows = settings.length;
        if settings.headers {
            rows = rows.saturating_sub(HEADER + FOOTER);
        }
        if settings.double_space {
            rows /= 2;
        }
        let joined = settings.separator.is_some() && !settings.has_width;
        let separator = match settings.separator.as_deref() {
            _ if columns == 1 => b"",
            None => b" ".as_slice(),
            Some(b"") if joined => b"\t",
            Some(b"\t") if !joined => b" ",
            Some(separator) => separator,
        };
        let cuts = if columns > 1 { !joined } else { settings.has_width && settings.has_columns() };
        let number_width = match settings.numbers {
            None => 0,
            Some((b'\t', digits)) => digits + 8 - digits % 8,
            Some((_, digits)) => digits + 1,
        };
        // Parallel columns share one number, which precedes the first column.
        let numbers = if settings.parallel { number_width } else { 0 };
        let width = settings.width.saturating_sub(numbers + (columns - 1) * separator.len()) / columns;
        if width < 1 {
            return Err(Failure::Unsupported("page width too narrow".to_owned()));
        }
        let start = |column: usize| match column {
            0 => settings.indent,
            _ if !cuts => 0,
            column => settings.indent + numbers + column * width + (column - 1) * separator.len(),
        };
        Ok(Self {
            columns,
            rows: rows.max(1),
            width,
            starts: (0..columns).map(start).collect(),
            separator: separator.to_vec(),
            cuts,
            expands: columns > 1 && separator != b"\t",
            number_width,
        })
    }
}

/// Parses a command line.
pub(super) fn read(arguments: Vec<Vec<u8>>) -> Result<(Settings, Vec<Vec<u8>>), Failure> {
    let mut settings = Settings {
        columns: None,
        across: false,
        parallel: false,
        double_space: false,
        header: None,
        length: 66,
        numbers: None,
        indent: 0,
        separator: None,
        headers: true,
        keeps_form_feeds: false,
        width: 72,
        has_width: false,
    };
    let mut files = Vec::new();
    let mut items = LINE.items(arguments);
    // Digits of `-COLUMN` that follow each other form one number.
    let mut digits = Vec::new();
    while let Some(item) = items.next_item::<Failure>()? {
        match item {
            Item::Option(Flag::Digit, _) => {
                digits.extend(items.letter().and_then(|letter| u8::try_from(letter).ok()));
                settings.set(Flag::Columns, digits.clone())?;
                continue;
            }
            Item::Operand(name) if matches!(name.as_slice(), [b'+', b'0'..=b'9', ..]) => {
                return Err(Failure::Unsupported("page ranges are not supported".to_owned()));
            }
            Item::Operand(name) => files.push(name),
            Item::Option(flag, value) => settings.set(flag, value.unwrap_or_default())?,
        }
        digits.clear();
    }
    settings.check()?;
    Ok((settings, files))
}

impl Settings {
    fn set(&mut self, flag: Flag, value: Vec<u8>) -> Result<(), Failure> {
        match flag {
            Flag::Columns => self.columns = Some(number(&value, 1, "invalid number of columns")?),
            Flag::Across => self.across = true,
            Flag::DoubleSpace => self.double_space = true,
            Flag::Header => self.header = Some(value),
            Flag::Length => self.length = number(&value, 1, "'-l PAGE_LENGTH' invalid number of lines")?,
            Flag::Merge => self.parallel = true,
            Flag::NumberLines => self.numbers = Some(separator_and_digits(&value)?),
            Flag::Indent => self.indent = number(&value, 0, "'-o MARGIN' invalid line offset")?,
            Flag::Separator => self.separator = Some(value),
            Flag::OmitHeader => (self.headers, self.keeps_form_feeds) = (false, true),
            Flag::OmitPagination => (self.headers, self.keeps_form_feeds) = (false, false),
            Flag::Width => {
                self.width = number(&value, 1, "'-w PAGE_WIDTH' invalid number of characters")?;
                self.has_width = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn has_columns(&self) -> bool {
        self.parallel || self.columns.is_some()
    }

    fn check(&mut self) -> Result<(), Failure> {
        let wrong = match self.parallel {
            true if self.columns.is_some() => "cannot specify number of columns when printing in parallel",
            true if self.across => "cannot specify both printing across and printing in parallel",
            _ => {
                if self.headers && self.length <= HEADER + FOOTER {
                    (self.headers, self.keeps_form_feeds) = (false, true);
                }
                return Ok(());
            }
        };
        Err(Failure::Unsupported(wrong.to_owned()))
    }
}

fn number(text: &[u8], min: usize, what: &str) -> Result<usize, Failure> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number
        .filter(|number| (min..=MAX_VALUE).contains(number))
        .ok_or_else(|| Failure::Unsupported(format!("{what}: {}", quote_value(text))))
}

/// Parses the value of `-n`, `[SEP][DIGITS]`.
fn separator_and_digits(text: &[u8]) -> Result<(u8, usize), Failure> {
    let (separator, digits) = match text.split_first() {
        Some((first, rest)) if !first.is_ascii_digit() => (*first, rest),
        _ => (b'\t', text),
    };
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<usize>().ok());
    match number.filter(|number| (1..=1 << 16).contains(number)) {
        Some(number) => Ok((separator, number)),
        None if digits.is_empty() => Ok((separator, 5)),
        None => {
            let what = "'-n' extra characters or invalid number in the argument";
            Err(Failure::Usage(format!("{what}: {}", quote_value(digits))))
        }
    }
}
