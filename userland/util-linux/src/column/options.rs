//! The command line of `column`.

use super::tree::Asked;
use tidebox_gnu::getopt::{Spec, Takes, long};
use tidebox_gnu::tool::command_line;

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
    pub(super) tree: Asked,
    pub(super) keeps_empty: bool,
    pub(super) files: Vec<Vec<u8>>,
}

pub(super) enum Request {
    Run(Box<Options>),
    Print(&'static str),
    Usage(String),
    Fail(String),
}

const HELP: &str = "\
Usage: column [OPTION]... [FILE]...
Arranges lines in columns, or their words in a table.

  -t, --table                    a table
  -s, --separator=CHARS          what stands between the cells of a line
  -o, --output-separator=TEXT    what is put between columns (two blanks)
  -N, --table-columns=NAMES      names of the columns
  -l, --table-columns-limit=N    at most N columns; the last takes the rest of the line
  -d, --table-noheadings         no line of names
  -H, --table-hide=COLUMNS       leave out
  -O, --table-order=COLUMNS      in this order
  -R, --table-right=COLUMNS      lean to the right
  -T, --table-truncate=COLUMNS   cut when the table is too wide
  -W, --table-wrap=COLUMNS       wrap when the table is too wide
  -L, --keep-empty-lines         empty lines, too
  -J, --json, -n, --table-name=NAME  the table as JSON
  -r, --tree=COLUMN, -i, --tree-id=COLUMN, -p, --tree-parent=COLUMN
                                 draw rows below their parents
  -c, --output-width=N           as wide as N characters
  -x, --fillrows                 fill rows first
  -h, --help, -V, --version
";

/// As wide as a terminal is when there is none.
const WIDTH: usize = 80;

fn list(value: &[u8]) -> Vec<Vec<u8>> {
    value.split(|byte| *byte == b',').map(<[u8]>::to_vec).collect()
}

pub(super) fn parse(arguments: Vec<Vec<u8>>) -> Request {
    let long = [
        long("columns", Takes::Value, 'c'),
        long("fillrows", Takes::Nothing, 'x'),
        long("help", Takes::Nothing, 'h'),
        long("json", Takes::Nothing, 'J'),
        long("keep-empty-lines", Takes::Nothing, 'L'),
        long("output-separator", Takes::Value, 'o'),
        long("output-width", Takes::Value, 'c'),
        long("separator", Takes::Value, 's'),
        long("table", Takes::Nothing, 't'),
        long("table-columns", Takes::Value, 'N'),
        long("table-columns-limit", Takes::Value, 'l'),
        long("table-hide", Takes::Value, 'H'),
        long("table-name", Takes::Value, 'n'),
        long("table-noextreme", Takes::Value, 'E'),
        long("table-noheadings", Takes::Nothing, 'd'),
        long("table-order", Takes::Value, 'O'),
        long("table-right", Takes::Value, 'R'),
        long("table-truncate", Takes::Value, 'T'),
        long("table-wrap", Takes::Value, 'W'),
        long("table-empty-lines", Takes::Nothing, 'L'),
        long("table-header-repeat", Takes::Nothing, 'e'),
        long("tree", Takes::Value, 'r'),
        long("tree-id", Takes::Value, 'i'),
        long("tree-parent", Takes::Value, 'p'),
        long("version", Takes::Nothing, 'V'),
    ];
    let spec = Spec { short: "c:dE:eH:hi:Jl:LN:n:O:o:p:R:r:s:T:tVW:x", long: &long, permute: true };
    let (given, files) = match command_line(spec, arguments) {
        Ok(line) => line,
        Err(message) => return Request::Usage(message),
    };
    let columns = std::env::var("COLUMNS").ok().and_then(|width| width.parse().ok()).filter(|width| *width > 0);
    let mut options = Options {
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
        tree: Asked::default(),
        files,
    };
    for (key, value) in given {
        let number = || {
            let text = String::from_utf8_lossy(&value).into_owned();
            text.parse::<usize>().map_err(|_| text)
        };
        match key {
            'c' => match number() {
                Ok(width) => options.width = width,
                Err(text) => return Request::Fail(format!("invalid columns argument: '{text}'")),
            },
            'd' => options.headings = false,
            // There are no pages.
            'e' => {}
            'H' => options.hidden.extend(list(&value)),
            'J' => (options.json, options.mode) = (true, Mode::Table),
            'l' => match number() {
                Ok(0) => return Request::Fail("columns limit must be greater than zero".to_owned()),
                Ok(limit) => options.limit = Some(limit),
                Err(text) => return Request::Fail(format!("invalid columns limit argument: '{text}'")),
            },
            'L' => options.keeps_empty = true,
            'N' => options.names = Some(list(&value)),
            'n' => options.table_name = value,
            'O' => options.order.extend(list(&value)),
            'o' => options.between = value,
            'R' => options.right.extend(list(&value)),
            's' => options.separators = Some(value),
            'T' => options.truncated.extend(list(&value)),
            't' => options.mode = Mode::Table,
            'W' => options.wrapped.extend(list(&value)),
            'x' if options.mode != Mode::Table => options.mode = Mode::Rows,
            'x' => {}
            'h' => return Request::Print(HELP),
            'V' => return Request::Print("column from util-linux 2.38.1\n"),
            'r' => (options.tree.drawn, options.mode) = (Some(value), Mode::Table),
            'i' => options.tree.id = Some(value),
            'p' => options.tree.parent = Some(value),
            letter => return Request::Fail(format!("the option -{letter} is not supported")),
        }
    }
    if options.json && options.names.is_none() {
        return Request::Fail("option --table-columns required for --json".to_owned());
    }
    let asks = !(options.order.is_empty() && options.hidden.is_empty() && options.right.is_empty());
    let wraps = !(options.truncated.is_empty() && options.wrapped.is_empty());
    if options.mode != Mode::Table && (options.names.is_some() || asks || wraps || options.limit.is_some()) {
        return Request::Fail("option --table required for all --table-*".to_owned());
    }
    if options.files.is_empty() {
        options.files.push(b"-".to_vec());
    }
    Request::Run(Box::new(options))
}
