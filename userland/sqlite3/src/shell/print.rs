//! Output modes that write row by row.

use std::io::{self, Write};

use tidebox_gnu::escape::json;

use super::{quote, tables};
use crate::engine::{Cell, Refusal, Statement, Value};

/// Output modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    List,
    Csv,
    Tabs,
    Ascii,
    Json,
    Line,
    Html,
    Quote,
    Insert,
    Column,
    Markdown,
    Table,
    Box,
}

impl Mode {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "list" => Self::List,
            "csv" => Self::Csv,
            "tabs" => Self::Tabs,
            "ascii" => Self::Ascii,
            "json" => Self::Json,
            "line" | "lines" => Self::Line,
            "html" => Self::Html,
            "quote" => Self::Quote,
            "insert" => Self::Insert,
            "column" | "columns" => Self::Column,
            "markdown" => Self::Markdown,
            "table" => Self::Table,
            "box" => Self::Box,
            _ => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Csv => "csv",
            Self::Tabs => "tabs",
            Self::Ascii => "ascii",
            Self::Json => "json",
            Self::Line => "line",
            Self::Html => "html",
            Self::Quote => "quote",
            Self::Insert => "insert",
            Self::Column => "column",
            Self::Markdown => "markdown",
            Self::Table => "table",
            Self::Box => "box",
        }
    }
}

/// Mode and its settings. Unset ones have the default of the mode.
#[derive(Clone, Debug, Default)]
pub(super) struct Style {
    pub(super) mode: Option<Mode>,
    pub(super) headers: Option<bool>,
    pub(super) columns: Option<Vec<u8>>,
    pub(super) rows: Option<Vec<u8>>,
    pub(super) null: Option<Vec<u8>>,
    pub(super) widths: Vec<i64>,
    /// Wrap long values in tables; enabled by `.mode`, not by the command line.
    pub(super) wraps: bool,
    /// The table of `.mode insert`.
    pub(super) table: Option<Vec<u8>>,
}

impl Style {
    /// Changes the mode and its separators.
    pub(super) fn set_mode(&mut self, mode: Mode) {
        self.mode = Some(mode);
        let (columns, rows): (&[u8], &[u8]) = match mode {
            Mode::List => (b"|", b"\n"),
            Mode::Csv => (b",", b"\r\n"),
            Mode::Tabs => (b"\t", b"\n"),
            Mode::Ascii => (b"\x1f", b"\x1e"),
            Mode::Quote => (b",", b"\n"),
            _ => return,
        };
        self.columns = Some(columns.to_vec());
        self.rows = Some(rows.to_vec());
    }

    /// Applies the settings of another style.
    pub(super) fn overlay(&mut self, other: &Self) {
        let other = other.clone();
        self.mode = other.mode.or(self.mode);
        self.headers = other.headers.or(self.headers);
        self.columns = other.columns.or(self.columns.take());
        self.rows = other.rows.or(self.rows.take());
        self.null = other.null.or(self.null.take());
    }

    pub(super) fn mode(&self) -> Mode {
        self.mode.unwrap_or_default()
    }

    pub(super) fn columns(&self) -> &[u8] {
        self.columns.as_deref().unwrap_or(b"|")
    }

    pub(super) fn rows(&self) -> &[u8] {
        self.rows.as_deref().unwrap_or(b"\n")
    }

    pub(super) fn null(&self) -> &[u8] {
        self.null.as_deref().unwrap_or_default()
    }

    /// Returns whether column names are shown.
    pub(super) fn headers(&self) -> bool {
        match self.mode() {
            Mode::Markdown | Mode::Table | Mode::Box => true,
            Mode::Column => self.headers.unwrap_or(self.wraps),
            _ => self.headers.unwrap_or(false),
        }
    }

    /// The plain text of a value, which ends at a NUL.
    pub(super) fn plain<'a>(&'a self, cell: &'a Cell) -> &'a [u8] {
        match cell.value {
            Value::Null => self.null(),
            _ => cell.text.split(|byte| *byte == 0).next().unwrap_or_default(),
        }
    }
}

/// Handles a write error: a closed reader ends the shell.
pub(super) fn written(result: io::Result<()>) {
    if result.is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        std::process::exit(141);
    }
}

/// Runs a statement and shows its rows.
pub(super) fn rows(out: &mut impl Write, style: &Style, statement: &mut Statement<'_>) -> Result<(), Refusal> {
    if matches!(style.mode(), Mode::Column | Mode::Markdown | Mode::Table | Mode::Box) {
        let mut rows = Vec::new();
        while statement.step()? {
            rows.push(statement.cells());
        }
        if !rows.is_empty() {
            written(tables::show(out, style, &statement.names(), &rows));
        }
        return Ok(());
    }
    let mut count = 0_usize;
    while statement.step()? {
        let names = statement.names();
        let text = row(style, &names, &statement.cells(), count);
        written(out.write_all(&text));
        count += 1;
    }
    if style.mode() == Mode::Json && count > 0 {
        written(out.write_all(b"]\n"));
    }
    Ok(())
}

/// Writes a row; before the first one, the header.
fn row(style: &Style, names: &[Vec<u8>], cells: &[Cell], count: usize) -> Vec<u8> {
    let first = count == 0;
    let head = first && style.headers();
    let mut out = Vec::new();
    match style.mode() {
        Mode::Line => {
            if !first {
                out.extend_from_slice(style.rows());
            }
            let width = names.iter().map(|name| tables::width(name)).max().unwrap_or(0).max(5);
            for (name, cell) in names.iter().zip(cells) {
                out.extend(std::iter::repeat_n(b' ', width - tables::width(name)));
                out.extend_from_slice(name);
                out.extend_from_slice(b" = ");
                out.extend_from_slice(style.plain(cell));
                out.extend_from_slice(style.rows());
            }
        }
        Mode::Json => json_row(&mut out, names, cells, first),
        Mode::Html => html_rows(&mut out, style, names, cells, head),
        Mode::Insert => insert_row(&mut out, style, names, cells),
        Mode::Quote => {
            if head {
                join(&mut out, style, names.iter().map(|name| quote::string(name)));
            }
            join(&mut out, style, cells.iter().map(quote::value));
        }
        Mode::Csv => {
            if head {
                join(&mut out, style, names.iter().map(|name| quote::csv(name, style.columns())));
            }
            join(
                &mut out,
                style,
                cells.iter().map(|cell| match cell.value {
                    Value::Null => style.null().to_vec(),
                    _ => quote::csv(style.plain(cell), style.columns()),
                }),
            );
        }
        _ => {
            if head {
                join(&mut out, style, names.iter().cloned());
            }
            join(&mut out, style, cells.iter().map(|cell| style.plain(cell).to_vec()));
        }
    }
    out
}

fn join(out: &mut Vec<u8>, style: &Style, fields: impl Iterator<Item = Vec<u8>>) {
    for (at, field) in fields.enumerate() {
        if at > 0 {
            out.extend_from_slice(style.columns());
        }
        out.extend_from_slice(&field);
    }
    out.extend_from_slice(style.rows());
}

fn json_row(out: &mut Vec<u8>, names: &[Vec<u8>], cells: &[Cell], first: bool) {
    out.extend_from_slice(if first { b"[{" } else { b",\n{" });
    for (at, (name, cell)) in names.iter().zip(cells).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&json(name));
        out.push(b':');
        match &cell.value {
            Value::Null => out.extend_from_slice(b"null"),
            Value::Integer(_) => out.extend_from_slice(&cell.text),
            Value::Real(number) if number.is_infinite() => {
                out.extend_from_slice(if *number > 0.0 { b"1e999" } else { b"-1e999" });
            }
            Value::Real(number) => out.extend_from_slice(quote::real(*number).as_bytes()),
            Value::Text(text) => out.extend_from_slice(&json(text)),
            Value::Blob(bytes) => out.extend_from_slice(&json(bytes)),
        }
    }
    out.push(b'}');
}

fn html_rows(out: &mut Vec<u8>, style: &Style, names: &[Vec<u8>], cells: &[Cell], head: bool) {
    let mut line = |tag: &str, fields: &mut dyn Iterator<Item = &[u8]>| {
        out.extend_from_slice(b"<TR>");
        for field in fields {
            out.extend_from_slice(format!("<{tag}>").as_bytes());
            out.extend_from_slice(&quote::html(field));
            out.extend_from_slice(format!("</{tag}>\n").as_bytes());
        }
        out.extend_from_slice(b"</TR>\n");
    };
    if head {
        line("TH", &mut names.iter().map(Vec::as_slice));
    }
    line("TD", &mut cells.iter().map(|cell| style.plain(cell)));
}

fn insert_row(out: &mut Vec<u8>, style: &Style, names: &[Vec<u8>], cells: &[Cell]) {
    out.extend_from_slice(b"INSERT INTO ");
    out.extend_from_slice(&quote::name(style.table.as_deref().unwrap_or(b"table")));
    if style.headers() {
        let names: Vec<Vec<u8>> = names.iter().map(|name| quote::name(name)).collect();
        out.push(b'(');
        out.extend_from_slice(&names.join(&b','));
        out.push(b')');
    }
    out.extend_from_slice(b" VALUES(");
    let values = cells.iter().map(|cell| match &cell.value {
        Value::Text(text) => quote::one_line(text),
        _ => quote::value(cell),
    });
    out.extend_from_slice(&values.collect::<Vec<_>>().join(&b','));
    out.extend_from_slice(b");\n");
}
