//! The command line of `column`.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::options::Syntax;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Columns,
    Rows,
    Table,
}

#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) mode: Mode,
    pub(super) json: bool,
    pub(super) width: usize,
    pub(super) separators: Option<Vec<u8>>,
    pub(super) between: Vec<u8>,
    pub(super) names: Option<Vec<Vec<u8>>>,
    pub(super) table_name: Vec<u8>,
    pub(super) order: Vec<Vec<u8>>,
    pub(super) hidden: Vec<Vec<u8>>,
    pub(super) right: Vec<Vec<u8>>,
    pub(super) truncated: Vec<Vec<u8>>,
    pub(super) wrapped: Vec<Vec<u8>>,
    pub(super) limit: Option<usize>,
    pub(super) headings: bool,
    pub(super) keeps_empty: bool,
    pub(super) files: Vec<Vec<u8>>,
}

const USAGE: &str = "\
Usage: column [OPTION]... [FILE]...
Formats lines in columns or as a table.

";

tidebox_gnu::options! {
    /// Options of `column`.
    enum Flag {
        Table = "-t, --table", "print a table";
        Separator = "-s, --separator=CHARS", "separators of cells";
        OutputSeparator = "-o, --output-separator=TEXT", "text between columns (two blanks)";
        TableColumns = "-N, --table-columns=NAMES", "names of the columns";
        TableColumnsLimit = "-l, --table-columns-limit=N", "at most N columns; the last one has the rest of the line";
        TableNoHeadings = "-d, --table-noheadings", "do not print names of columns";
        TableHide = "-H, --table-hide=COLUMNS", "hide columns";
        TableOrder = "-O, --table-order=COLUMNS", "order of columns";
        TableRight = "-R, --table-right=COLUMNS", "align to the right";
        TableTruncate = "-T, --table-truncate=COLUMNS", "truncate if the table is too wide";
        TableWrap = "-W, --table-wrap=COLUMNS", "wrap if the table is too wide";
        KeepEmptyLines = "-L, --keep-empty-lines | --table-empty-lines", "keep empty lines";
        Json = "-J, --json", "print the table as JSON";
        TableName = "-n, --table-name=NAME", "name of the table in JSON";
        OutputWidth = "-c, --output-width=N | --columns=N", "width of the output";
        FillRows = "-x, --fillrows", "fill rows first";
        // Has no effect: output has no pages.
        TableHeaderRepeat = "-e, --table-header-repeat", "";
        TableNoExtreme = "-E, --table-noextreme=COLUMNS", "", unsupported "the option -E is not supported";
        Tree = "-r, --tree=COLUMN", "", unsupported "trees of rows (-r) are not supported";
        TreeId = "-i, --tree-id=COLUMN", "", unsupported "trees of rows (-i) are not supported";
        TreeParent = "-p, --tree-parent=COLUMN", "", unsupported "trees of rows (-p) are not supported";
        Help = "-h, --help", "show this help";
        Version = "-V, --version", "show the version";
    }
}

const SYNTAX: Syntax<'_, Flag> =
    Syntax { version: "column from util-linux 2.38.1\n", ..Syntax::new("column", USAGE, 33) };

/// Width in columns if `COLUMNS` is not set.
const WIDTH: usize = 80;

fn list(value: &[u8]) -> Vec<Vec<u8>> {
    value.split(|byte| *byte == b',').map(<[u8]>::to_vec).collect()
}

/// Parses the command line. The error is the early exit.
pub(super) fn parse(arguments: Vec<Vec<u8>>) -> Result<Options, ToolResult> {
    let mut options = Options::new();
    options.files = SYNTAX.parse(arguments, |flag, value| options.set(flag, value))?;
    if options.json && options.names.is_none() {
        return Err(failure("option --table-columns required for --json".to_owned()));
    }
    let selects = !(options.order.is_empty() && options.hidden.is_empty() && options.right.is_empty());
    let wraps = !(options.truncated.is_empty() && options.wrapped.is_empty());
    if options.mode != Mode::Table && (options.names.is_some() || selects || wraps || options.limit.is_some()) {
        return Err(failure("option --table required for all --table-*".to_owned()));
    }
    if options.files.is_empty() {
        options.files.push(b"-".to_vec());
    }
    Ok(options)
}

fn failure(message: String) -> ToolResult {
    ToolResult::Failure(message, 1)
}

impl Options {
    fn new() -> Self {
        let columns = std::env::var("COLUMNS").ok().and_then(|width| width.parse().ok()).filter(|width| *width > 0);
        Self {
            mode: Mode::Columns,
            json: false,
            width: columns.unwrap_or(WIDTH),
            separators: None,
            between: b"  ".to_vec(),
            names: None,
            table_name: b"table".to_vec(),
            order: Vec::new(),
            hidden: Vec::new(),
            right: Vec::new(),
            truncated: Vec::new(),
            wrapped: Vec::new(),
            limit: None,
            headings: true,
            keeps_empty: false,
            files: Vec::new(),
        }
    }

    fn set(&mut self, flag: Flag, value: Vec<u8>) -> Result<(), ToolResult> {
        let number = |what: &str| {
            let text = String::from_utf8_lossy(&value);
            text.parse::<usize>().map_err(|_| failure(format!("invalid {what} argument: '{text}'")))
        };
        match flag {
            Flag::OutputWidth => self.width = number("columns")?,
            Flag::TableColumnsLimit => match number("columns limit")? {
                0 => return Err(failure("columns limit must be greater than zero".to_owned())),
                limit => self.limit = Some(limit),
            },
            Flag::TableNoHeadings => self.headings = false,
            Flag::TableHide => self.hidden.extend(list(&value)),
            Flag::Json => (self.json, self.mode) = (true, Mode::Table),
            Flag::KeepEmptyLines => self.keeps_empty = true,
            Flag::TableColumns => self.names = Some(list(&value)),
            Flag::TableName => self.table_name = value,
            Flag::TableOrder => self.order.extend(list(&value)),
            Flag::OutputSeparator => self.between = value,
            Flag::TableRight => self.right.extend(list(&value)),
            Flag::Separator => self.separators = Some(value),
            Flag::TableTruncate => self.truncated.extend(list(&value)),
            Flag::Table => self.mode = Mode::Table,
            Flag::TableWrap => self.wrapped.extend(list(&value)),
            Flag::FillRows if self.mode != Mode::Table => self.mode = Mode::Rows,
            _ => {}
        }
        Ok(())
    }
}
