//! Quoting of names.

use std::cell::{Cell, RefCell};

use tidebox_gnu::message;

/// Quoting style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Literal,
    /// Shell quotes; always or only if needed, and with or without escapes for unprintable characters.
    Shell {
        always: bool,
        escapes: bool,
    },
    /// C quotes; with `maybe` only if needed.
    C {
        maybe: bool,
    },
    Escape,
    /// Locale quotes; in the C locale they are `'` or, for `clocale`, C quotes.
    Locale {
        c: bool,
    },
}

thread_local! {
    static STYLE: Cell<Style> = const { Cell::new(Style::Escape) };
    /// Additional bytes to escape with a backslash.
    static MARKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Style {
    /// Parses the name of a style.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "literal" => Self::Literal,
            "shell" => Self::Shell { always: false, escapes: false },
            "shell-always" => Self::Shell { always: true, escapes: false },
            "shell-escape" => Self::Shell { always: false, escapes: true },
            "shell-escape-always" => Self::Shell { always: true, escapes: true },
            "c" => Self::C { maybe: false },
            "c-maybe" => Self::C { maybe: true },
            "escape" => Self::Escape,
            "locale" => Self::Locale { c: false },
            "clocale" => Self::Locale { c: true },
            _ => return None,
        })
    }
}

/// Sets the style.
pub(crate) fn set_style(style: Style) {
    STYLE.set(style);
}

/// Adds or removes escaped bytes.
pub(crate) fn mark(bytes: &[u8], marked: bool) {
    MARKED.with_borrow_mut(|all| {
        all.retain(|byte| !bytes.contains(byte));
        if marked {
            all.extend_from_slice(bytes);
        }
    });
}

/// Quotes a name. A colon is escaped if it would end the name.
pub(crate) fn escaped(name: &[u8], colon: bool) -> Vec<u8> {
    match STYLE.get() {
        Style::Literal => name.to_vec(),
        Style::Escape => with_escapes(name, colon, None),
        Style::C { maybe } => {
            let inner = with_escapes(name, colon && !maybe, Some(b'"'));
            // Backslashes alone do not need quotes.
            let plain = inner.len() == name.len() + name.iter().filter(|byte| **byte == b'\\').count();
            if maybe && plain && !(colon && name.contains(&b':')) {
                name.to_vec()
            } else {
                [b"\"", inner.as_slice(), b"\""].concat()
            }
        }
        Style::Locale { c: true } if !message::unicode_locale() => {
            [b"\"", with_escapes(name, colon, Some(b'"')).as_slice(), b"\""].concat()
        }
        Style::Locale { .. } => in_quotes(name, colon),
        Style::Shell { always, escapes } => {
            let misread = message::path_label(name) != String::from_utf8_lossy(name) || colon && name.contains(&b':');
            match (always || misread, escapes) {
                (false, _) => name.to_vec(),
                (true, true) => message::quote_path(name).into_bytes(),
                (true, false) if name.contains(&b'\'') && !name.iter().any(|byte| b"\"$`\\!".contains(byte)) => {
                    [b"\"", name, b"\""].concat()
                }
                (true, false) => message::in_single_quotes(name),
            }
        }
    }
}

/// Escapes bytes that could harm a terminal.
fn with_escapes(name: &[u8], colon: bool, quote: Option<u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.first() {
        let (step, shown) = match *first {
            b'\\' => (1, b"\\\\".to_vec()),
            b'\n' => (1, b"\\n".to_vec()),
            b'\t' => (1, b"\\t".to_vec()),
            b'\r' => (1, b"\\r".to_vec()),
            7 => (1, b"\\a".to_vec()),
            8 => (1, b"\\b".to_vec()),
            11 => (1, b"\\v".to_vec()),
            12 => (1, b"\\f".to_vec()),
            b':' if colon => (1, b"\\:".to_vec()),
            byte if Some(byte) == quote || is_marked(byte) => (1, vec![b'\\', byte]),
            b' '..=b'~' => (1, vec![*first]),
            byte @ (0..=31 | 127) => (1, format!("\\{byte:03o}").into_bytes()),
            byte => match char_of(rest) {
                Some(char) if message::unicode_locale() && !char.is_control() => {
                    (char.len_utf8(), char.to_string().into_bytes())
                }
                _ => (1, format!("\\{byte:03o}").into_bytes()),
            },
        };
        out.extend_from_slice(&shown);
        rest = rest.get(step..).unwrap_or_default();
    }
    out
}

fn is_marked(byte: u8) -> bool {
    MARKED.with_borrow(|all| all.contains(&byte))
}

fn char_of(bytes: &[u8]) -> Option<char> {
    (2..=4).find_map(|length| std::str::from_utf8(bytes.get(..length)?).ok()?.chars().next())
}

/// Quotes a name, with curly quotes if the locale has them.
pub(crate) fn quoted(name: &[u8]) -> Vec<u8> {
    in_quotes(name, false)
}

fn in_quotes(name: &[u8], colon: bool) -> Vec<u8> {
    let (open, close) = if message::unicode_locale() { ("‘", "’") } else { ("'", "'") };
    let quote = (close == "'").then_some(b'\'');
    [open.as_bytes(), &with_escapes(name, colon, quote), close.as_bytes()].concat()
}
