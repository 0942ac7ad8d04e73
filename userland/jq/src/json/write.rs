//! JSON output.

use std::fmt::Write as _;

use crate::value::Val;

/// Output format.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Indentation per level; `None` writes one line.
    pub(crate) indent: Option<String>,
    pub(crate) sort_keys: bool,
    /// Non-ASCII characters are escaped.
    pub(crate) ascii: bool,
    pub(crate) colored: bool,
}

/// The terminal escape sequence that starts a value.
fn color_of(value: &Val) -> &'static str {
    match value {
        Val::Null => "\x1b[1;30m",
        Val::Bool(_) | Val::Number(_) => "\x1b[0;39m",
        Val::String(_) => "\x1b[0;32m",
        Val::Array(_) | Val::Object(_) => "\x1b[1;39m",
    }
}

/// The terminal escape sequence that starts a key.
const KEY_COLOR: &str = "\x1b[34;1m";

/// Resets the colour.
const RESET: &str = "\x1b[0m";

/// A value on one line.
pub(crate) fn compact(value: &Val) -> String {
    let mut out = String::new();
    write(&mut out, value, &Layout::default());
    out
}

/// A partially written array or object.
struct Open<'a> {
    entries: Entries<'a>,
    color: &'a str,
    close: char,
    is_empty: bool,
}

enum Entries<'a> {
    Items(std::slice::Iter<'a, Val>),
    Pairs(Box<dyn Iterator<Item = (&'a str, &'a Val)> + 'a>),
}

/// Writes a value. Nesting uses the heap, not the stack.
pub(crate) fn write(out: &mut String, value: &Val, layout: &Layout) {
    let mut open: Vec<Open<'_>> = Vec::new();
    begin(out, value, layout, &mut open);
    while let Some(level) = open.last_mut() {
        let color = level.color;
        let next = match &mut level.entries {
            Entries::Items(items) => items.next().map(|item| (None, item)),
            Entries::Pairs(pairs) => pairs.next().map(|(key, value)| (Some(key), value)),
        };
        let first = std::mem::replace(&mut level.is_empty, false);
        match next {
            Some((key, value)) => {
                if !first {
                    separator(out, color);
                }
                line_break(out, open.len(), layout);
                if let Some(key) = key {
                    write_key(out, key, color, layout);
                }
                begin(out, value, layout, &mut open);
            }
            None => {
                let close = level.close;
                open.pop();
                end(out, close, color, open.len(), layout);
            }
        }
    }
}

/// The separator between entries.
fn separator(out: &mut String, color: &str) {
    out.push_str(color);
    out.push(',');
}

fn line_break(out: &mut String, depth: usize, layout: &Layout) {
    if let Some(indent) = &layout.indent {
        out.push('\n');
        for _ in 0..depth {
            out.push_str(indent);
        }
    }
}

fn write_key(out: &mut String, key: &str, color: &str, layout: &Layout) {
    match layout.colored {
        false => {
            write_string(out, key, layout.ascii);
            out.push(':');
            if layout.indent.is_some() {
                out.push(' ');
            }
        }
        true => {
            out.push_str(RESET);
            out.push_str(KEY_COLOR);
            write_string(out, key, layout.ascii);
            out.push_str(RESET);
            out.push_str(color);
            out.push(':');
            if layout.indent.is_some() {
                out.push(' ');
            }
            out.push_str(RESET);
        }
    }
}

/// Writes a value, or the start of one with entries.
fn begin<'a>(out: &mut String, value: &'a Val, layout: &'a Layout, open: &mut Vec<Open<'a>>) {
    let color = if layout.colored { color_of(value) } else { "" };
    out.push_str(color);
    match value {
        Val::Null => out.push_str("null"),
        Val::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Val::Number(number) => out.push_str(&number.text()),
        Val::String(text) => write_string(out, text, layout.ascii),
        Val::Array(array) if array.0.is_empty() => out.push_str("[]"),
        Val::Object(object) if object.0.is_empty() => out.push_str("{}"),
        Val::Array(array) => {
            out.push('[');
            open.push(Open { entries: Entries::Items(array.0.iter()), color, close: ']', is_empty: true });
            return;
        }
        Val::Object(object) => {
            out.push('{');
            let pairs = object.0.iter().map(|(key, value)| (&**key, value));
            let pairs: Box<dyn Iterator<Item = _>> = if layout.sort_keys {
                let mut pairs: Vec<_> = pairs.collect();
                pairs.sort_by(|left, right| left.0.cmp(right.0));
                Box::new(pairs.into_iter())
            } else {
                Box::new(pairs)
            };
            open.push(Open { entries: Entries::Pairs(pairs), color, close: '}', is_empty: true });
            return;
        }
    }
    if layout.colored {
        out.push_str(RESET);
    }
}

fn end(out: &mut String, close: char, color: &str, depth: usize, layout: &Layout) {
    out.push_str(color);
    line_break(out, depth, layout);
    out.push_str(color);
    out.push(close);
    if layout.colored {
        out.push_str(RESET);
    }
}

/// A text between quotes.
fn write_string(out: &mut String, text: &str, ascii: bool) {
    out.push('"');
    let mut plain = 0;
    for (at, char) in text.char_indices() {
        let is_plain = match char {
            '"' | '\\' => false,
            ' '..='~' => true,
            '\x7f' => false,
            char => char > '\x7f' && !ascii,
        };
        if is_plain {
            continue;
        }
        out.push_str(text.get(plain..at).unwrap_or_default());
        plain = at + char.len_utf8();
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            char => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push_str(text.get(plain..).unwrap_or_default());
    out.push('"');
}
