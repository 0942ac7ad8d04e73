//! The command line of `pr`, and the layout that follows from it.

use tidebox_gnu::getopt::Item;
use tidebox_gnu::options::Syntax;

use super::number::{begins_with_numbers, char_and_number, no_range, number, range, tabs, wrong_number};
use crate::common::Failure;

const USAGE: &str = "\
Usage: pr [OPTION]... [FILE]...
Paginate or columnate FILE(s) for printing.

";

tidebox_gnu::options! {
    /// Options of `pr`.
    enum Flag {
        Columns = "--columns=COLUMN", "print COLUMN columns, which are read down; -COLUMN does the same";
        Pages = "--pages=FIRST[:LAST]", "print these pages; +FIRST[:LAST] does the same";
        Across = "-a, --across", "read them across";
        ShowControlChars = "-c, --show-control-chars", "show control characters as ^X and \\NNN";
        DoubleSpace = "-d, --double-space", "an empty line after each line";
        DateFormat = "-D, --date-format=FORMAT", "the date in the header";
        ExpandTabs = "-e[CHAR[WIDTH]], --expand-tabs[=CHAR[WIDTH]]",
            "expand CHARs (tabs) to stops at every WIDTH (8)";
        FormFeed = "-F, -f, --form-feed", "form feeds in place of empty lines between pages";
        Header = "-h, --header=HEADER", "HEADER in place of the file's name";
        OutputTabs = "-i[CHAR[WIDTH]], --output-tabs[=CHAR[WIDTH]]", "CHARs (tabs) in place of spaces";
        JoinLines = "-J, --join-lines", "whole lines, without alignment of columns";
        Length = "-l, --length=LENGTH", "lines of a page (66); without header up to 10";
        Merge = "-m, --merge", "a file in each column";
        NumberLines = "-n[SEP[DIGITS]], --number-lines[=SEP[DIGITS]]",
            "number lines with DIGITS (5), then SEP (a tab)";
        FirstLineNumber = "-N, --first-line-number=NUMBER", "begin with NUMBER";
        Indent = "-o, --indent=MARGIN", "so many spaces before each line";
        NoFileWarnings = "-r, --no-file-warnings", "say nothing of files that cannot be opened";
        Separator = "-s[CHAR], --separator[=CHAR]", "CHAR (a tab) between columns, which are not aligned without -w";
        SepString = "-S[STRING], --sep-string[=STRING]", "STRING between columns";
        OmitHeader = "-t, --omit-header", "no headers and trailers";
        OmitPagination = "-T, --omit-pagination", "nor form feeds of the input";
        ShowNonprinting = "-v, --show-nonprinting", "show what is not printed as \\NNN";
        Width = "-w, --width=WIDTH", "columns of a page with several columns (72)";
        PageWidth = "-W, --page-width=WIDTH", "columns of every page; lines are cut";
        Digit = "-0 ... -9", "";
        Balanced = "-b", "";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("pr", USAGE, 29);

/// Lines of the header with what stands above and below it, and of the trailer.
const HEADER: usize = 5;
pub(super) const FOOTER: usize = 5;
/// The most columns, lines and characters that fit into memory.
pub(super) const MAX_VALUE: i64 = 1 << 24;

/// A character for tabs, and how far apart their stops are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tabs {
    pub(super) char: u8,
    pub(super) width: usize,
}

/// Parsed options.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) columns: Option<usize>,
    pub(super) across: bool,
    pub(super) parallel: bool,
    pub(super) carets: bool,
    pub(super) escapes: bool,
    pub(super) double_space: bool,
    pub(super) date_format: Option<Vec<u8>>,
    pub(super) expand: Option<Tabs>,
    pub(super) tabs: Option<Tabs>,
    pub(super) form_feed: bool,
    pub(super) header: Option<Vec<u8>>,
    pub(super) join: bool,
    pub(super) length: usize,
    /// What follows a number, and its digits.
    pub(super) numbers: Option<(u8, usize)>,
    pub(super) first_number: i64,
    /// Lines of pages that are not printed are counted.
    pub(super) counts_skipped: bool,
    pub(super) indent: usize,
    pub(super) quiet: bool,
    pub(super) separator: Option<Vec<u8>>,
    pub(super) separates: bool,
    pub(super) extremities: bool,
    pub(super) keeps_form_feeds: bool,
    pub(super) width: usize,
    pub(super) cuts: bool,
    pub(super) first_page: u64,
    pub(super) last_page: Option<u64>,
}

/// Column layout.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) columns: usize,
    /// Lines of text on a page.
    pub(super) rows: usize,
    /// Columns of characters in one column of text.
    pub(super) width: usize,
    /// Where each begins, less its separator; 0 stands for anywhere.
    pub(super) starts: Vec<usize>,
    pub(super) separator: Vec<u8>,
    pub(super) separates: bool,
    pub(super) cuts: bool,
    pub(super) expands: Option<Tabs>,
    pub(super) tabs: Option<Tabs>,
    pub(super) number_width: usize,
}

const TAB: Tabs = Tabs { char: b'\t', width: 8 };

impl Layout {
    pub(super) fn new(settings: &Settings, files: usize) -> Result<Self, Failure> {
        let columns = if settings.parallel { files } else { settings.columns.unwrap_or(1) };
        let mut rows = settings.length;
        if settings.extremities {
            rows = rows.saturating_sub(HEADER + FOOTER);
        }
        if settings.double_space {
            rows = (rows / 2).max(1);
        }
        let mut layout = Self {
            columns,
            rows: rows.max(1),
            width: 0,
            starts: Vec::new(),
            separator: settings.separator.clone().unwrap_or_default(),
            separates: settings.separates,
            cuts: settings.cuts,
            expands: settings.expand,
            tabs: settings.tabs,
            number_width: 0,
        };
        if columns > 1 {
            if !settings.separates {
                layout.separator = if settings.join { b"\t".to_vec() } else { b" ".to_vec() };
                layout.separates = true;
            } else if !settings.join && layout.separator == b"\t" {
                layout.separator = b" ".to_vec();
            }
            layout.cuts = true;
            if layout.separator != b"\t" {
                layout.expands = layout.expands.or(Some(TAB));
            }
            layout.tabs = layout.tabs.or(Some(TAB));
        }
        layout.cuts &= !settings.join;
        if let Some((separator, digits)) = settings.numbers {
            layout.number_width = if separator == b'\t' { digits + 8 - digits % 8 } else { digits + 1 };
        }
        layout.place(settings)?;
        Ok(layout)
    }

    /// Gives every column its room.
    fn place(&mut self, settings: &Settings) -> Result<(), Failure> {
        let beside = if settings.parallel { self.number_width } else { 0 };
        let separators = (self.columns - 1) * self.separator.len();
        self.width = settings.width.saturating_sub(beside + separators) / self.columns;
        if self.width < 1 {
            return Err(Failure::Unsupported("page width too narrow".to_owned()));
        }
        self.starts.push(settings.indent);
        let mut end = settings.indent + self.width + beside;
        for _ in 1..self.columns {
            self.starts.push(if self.cuts { end } else { 0 });
            end += self.separator.len() + self.width;
        }
        Ok(())
    }
}

/// Reads a command line.
pub(super) fn read(arguments: Vec<Vec<u8>>) -> Result<(Settings, Vec<Vec<u8>>), Failure> {
    let mut reader = Reader::new();
    let mut files = Vec::new();
    let mut items = LINE.items(arguments);
    while let Some(item) = items.next_item::<Failure>()? {
        match item {
            Item::Operand(name) => {
                let pages = name.strip_prefix(b"+").filter(|_| reader.settings.first_page == 0);
                let wrong = pages.filter(|pages| !begins_with_numbers(pages));
                if let Some(pages) = wrong {
                    return Err(Failure::Unsupported(format!(
                        "invalid + argument '{}'",
                        String::from_utf8_lossy(pages)
                    )));
                }
                match pages.and_then(range) {
                    Some(pages) => (reader.settings.first_page, reader.settings.last_page) = pages,
                    None => files.push(name),
                }
                reader.end_digits()?;
            }
            Item::Option(Flag::Digit, _) => reader.digits.extend(items.letter()),
            Item::Option(flag, value) => {
                reader.end_digits()?;
                reader.option(flag, value)?;
            }
        }
    }
    reader.end_digits()?;
    Ok((reader.finish()?, files))
}

struct Reader {
    settings: Settings,
    /// Digits of `-COLUMN`.
    digits: String,
    /// `-s` and `-w` mean less than `-S` and `-W`.
    old_separator: bool,
    old_width: bool,
}

impl Reader {
    fn new() -> Self {
        let settings = Settings {
            columns: None,
            across: false,
            parallel: false,
            carets: false,
            escapes: false,
            double_space: false,
            date_format: None,
            expand: None,
            tabs: None,
            form_feed: false,
            header: None,
            join: false,
            length: 66,
            numbers: None,
            first_number: 1,
            counts_skipped: true,
            indent: 0,
            quiet: false,
            separator: None,
            separates: false,
            extremities: true,
            keeps_form_feeds: false,
            width: 72,
            cuts: false,
            first_page: 0,
            last_page: None,
        };
        Self { settings, digits: String::new(), old_separator: false, old_width: false }
    }

    /// The digits of `-COLUMN` end here.
    fn end_digits(&mut self) -> Result<(), Failure> {
        let digits = std::mem::take(&mut self.digits);
        if digits.is_empty() { Ok(()) } else { self.columns(&digits) }
    }

    fn columns(&mut self, text: &str) -> Result<(), Failure> {
        self.settings.columns = Some(number(text.as_bytes(), 1, "invalid number of columns")?);
        Ok(())
    }

    fn option(&mut self, flag: Flag, value: Option<Vec<u8>>) -> Result<(), Failure> {
        let settings = &mut self.settings;
        let text = value.clone().unwrap_or_default();
        match flag {
            Flag::Columns => self.columns(&String::from_utf8_lossy(&text))?,
            Flag::Pages => {
                (settings.first_page, settings.last_page) = range(&text).ok_or_else(|| no_range(&text))?;
            }
            Flag::Across => settings.across = true,
            // Columns end equally far down in any case.
            Flag::Digit | Flag::Balanced => {}
            Flag::ShowControlChars => settings.carets = true,
            Flag::DoubleSpace => settings.double_space = true,
            Flag::DateFormat => settings.date_format = Some(text),
            Flag::ExpandTabs => settings.expand = Some(tabs('e', &text)?),
            Flag::FormFeed => settings.form_feed = true,
            Flag::Header => settings.header = Some(text),
            Flag::OutputTabs => settings.tabs = Some(tabs('i', &text)?),
            Flag::JoinLines => settings.join = true,
            Flag::Length => settings.length = number(&text, 1, "'-l PAGE_LENGTH' invalid number of lines")?,
            Flag::Merge => settings.parallel = true,
            Flag::NumberLines => {
                let (separator, digits) = char_and_number('n', &text)?;
                settings.numbers = Some((separator.unwrap_or(b'\t'), digits.unwrap_or(5)));
            }
            Flag::FirstLineNumber => {
                settings.counts_skipped = false;
                let wrong = || wrong_number("'-N NUMBER' invalid starting line number", &text, "");
                settings.first_number =
                    std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
            }
            Flag::Indent => settings.indent = number(&text, 0, "'-o MARGIN' invalid line offset")?,
            Flag::NoFileWarnings => settings.quiet = true,
            Flag::Separator => {
                self.old_separator = true;
                if !settings.separates && value.is_some() {
                    settings.separator = Some(text);
                }
            }
            Flag::SepString => {
                self.old_separator = false;
                settings.separator = Some(text);
                settings.separates = true;
            }
            Flag::OmitHeader => (settings.extremities, settings.keeps_form_feeds) = (false, true),
            Flag::OmitPagination => (settings.extremities, settings.keeps_form_feeds) = (false, false),
            Flag::ShowNonprinting => settings.escapes = true,
            Flag::Width => {
                self.old_width = true;
                let width = number(&text, 1, "'-w PAGE_WIDTH' invalid number of characters")?;
                if !settings.cuts {
                    settings.width = width;
                }
            }
            Flag::PageWidth => {
                self.old_width = false;
                settings.cuts = true;
                settings.width = number(&text, 1, "'-W PAGE_WIDTH' invalid number of characters")?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Settings, Failure> {
        let mut settings = self.settings;
        let several = settings.parallel || settings.columns.is_some();
        settings.first_page = settings.first_page.max(1);
        if settings.parallel && settings.columns.is_some() {
            return Err(Failure::Unsupported("cannot specify number of columns when printing in parallel".to_owned()));
        }
        if settings.parallel && settings.across {
            let both = "cannot specify both printing across and printing in parallel";
            return Err(Failure::Unsupported(both.to_owned()));
        }
        let given = settings.separator.as_ref().is_some_and(|separator| !separator.is_empty());
        if self.old_width {
            if several {
                settings.cuts = true;
                settings.separates |= self.old_separator;
            } else {
                settings.join = true;
            }
        } else if !settings.separates && self.old_separator && several {
            if settings.cuts {
                settings.separates = true;
            } else {
                settings.join = true;
                settings.separates = given;
            }
        }
        if settings.extremities && settings.length <= HEADER + FOOTER {
            (settings.extremities, settings.keeps_form_feeds) = (false, true);
        }
        Ok(settings)
    }
}
