//! Quoting of names.

use tidebox_gnu::message;

/// Quoting style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// No quotes.
    Literal,
    /// Quotes for a shell if the name needs them.
    Shell,
    /// Quotes for a shell around all names.
    ShellAlways,
    /// Like [`Self::Shell`], with escapes for unprintable characters.
    ShellEscape,
    /// Like [`Self::ShellAlways`], with escapes.
    ShellEscapeAlways,
    /// A string literal of C.
    C,
    /// Like [`Self::C`] if the name needs an escape, otherwise no quotes.
    CMaybe,
    /// Escapes of C without quotes.
    Escape,
    /// Escapes of C between the quotes of the locale.
    Locale,
}

/// Values of `--quoting-style` in the order of its message. The last two have the same effect.
pub(crate) const WORDS: &[&[&str]] = &[
    &["literal"],
    &["shell"],
    &["shell-always"],
    &["shell-escape"],
    &["shell-escape-always"],
    &["c"],
    &["c-maybe"],
    &["escape"],
    &["locale"],
    &["clocale"],
];

/// Returns the style of an index in [`WORDS`].
pub(crate) fn style(at: usize) -> Style {
    match at {
        0 => Style::Literal,
        1 => Style::Shell,
        2 => Style::ShellAlways,
        3 => Style::ShellEscape,
        4 => Style::ShellEscapeAlways,
        5 => Style::C,
        6 => Style::CMaybe,
        7 => Style::Escape,
        _ => Style::Locale,
    }
}

/// Quotes a name. With `hides`, unprintable characters become question marks.
pub(crate) fn written(name: &[u8], style: Style, hides: bool) -> Vec<u8> {
    match style {
        Style::Literal if hides => hidden(name),
        Style::Literal => name.to_vec(),
        Style::Shell if !needs_quotes(name) => name.to_vec(),
        Style::Shell | Style::ShellAlways => {
            let text = plain_quotes(name);
            if hides { hidden(&text) } else { text }
        }
        Style::ShellEscape => message::path_label(name).into_bytes(),
        Style::ShellEscapeAlways => message::quote_path(name).into_bytes(),
        Style::C => [b"\"", escaped(name, Some(b'"')).as_slice(), b"\""].concat(),
        Style::CMaybe if escaped(name, Some(b'"')) == name => name.to_vec(),
        Style::CMaybe => written(name, Style::C, hides),
        Style::Escape => escaped(name, Some(b' ')),
        Style::Locale => {
            let (open, close) = if message::unicode_locale() { ("\u{2018}", "\u{2019}") } else { ("'", "'") };
            let quote = (open == close).then_some(b'\'');
            [open.as_bytes(), escaped(name, quote).as_slice(), close.as_bytes()].concat()
        }
    }
}

/// Quotes a name that precedes a colon. Colons in the name are quoted or escaped.
pub(crate) fn heading(name: &[u8], style: Style, hides: bool) -> Vec<u8> {
    match style {
        Style::Shell if name.contains(&b':') => written(name, Style::ShellAlways, hides),
        Style::ShellEscape if name.contains(&b':') => written(name, Style::ShellEscapeAlways, hides),
        Style::CMaybe if name.contains(&b':') => heading(name, Style::C, hides),
        Style::C | Style::Escape | Style::Locale => {
            let colons = written(name, style, hides);
            colons.split(|byte| *byte == b':').collect::<Vec<_>>().join(b"\\:".as_slice())
        }
        _ => written(name, style, hides),
    }
}

/// Returns whether a style quotes only some names. The others are then indented by one column, so that names are aligned.
pub(crate) fn varies(style: Style) -> bool {
    matches!(style, Style::Shell | Style::ShellEscape)
}

fn needs_quotes(name: &[u8]) -> bool {
    message::path_label(name).as_bytes() != name
        && (std::str::from_utf8(name).is_ok() || {
            let text = String::from_utf8_lossy(name);
            message::path_label(text.as_bytes()) != text
        })
}

/// Quotes a name without escapes.
fn plain_quotes(name: &[u8]) -> Vec<u8> {
    if name.contains(&b'\'') && !name.iter().any(|byte| b"\"$`\\!".contains(byte)) {
        return [b"\"", name, b"\""].concat();
    }
    message::in_single_quotes(name)
}

/// Escapes a name like C does, and the character `also`.
pub(crate) fn escaped(name: &[u8], also: Option<u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for char in chunk.valid().chars() {
            let letter = match char {
                '\u{7}' => b'a',
                '\u{8}' => b'b',
                '\t' => b't',
                '\n' => b'n',
                '\u{b}' => b'v',
                '\u{c}' => b'f',
                '\r' => b'r',
                '\\' => b'\\',
                char if also.is_some_and(|also| char == char::from(also)) => also.unwrap_or_default(),
                char => {
                    let mut bytes = [0; 4];
                    for byte in char.encode_utf8(&mut bytes).bytes() {
                        match char.is_control() {
                            true => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
                            false => out.push(byte),
                        }
                    }
                    continue;
                }
            };
            out.extend_from_slice(&[b'\\', letter]);
        }
        chunk.invalid().iter().for_each(|byte| out.extend_from_slice(format!("\\{byte:03o}").as_bytes()));
    }
    out
}

fn hidden(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for char in chunk.valid().chars() {
            let shown = if char.is_control() { '?' } else { char };
            out.extend_from_slice(shown.encode_utf8(&mut [0; 4]).as_bytes());
        }
        out.resize(out.len() + chunk.invalid().len(), b'?');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Style, written};

    #[test]
    fn each_style_quotes_names() {
        for (style, name, wanted) in [
            (Style::Shell, "a b", "'a b'"),
            (Style::Shell, "e'f", "\"e'f\""),
            (Style::Shell, "plain", "plain"),
            (Style::ShellEscape, "c\nd", "'c'$'\\n''d'"),
            (Style::C, "g\"h\t", "\"g\\\"h\\t\""),
            (Style::Escape, "a b\n", "a\\ b\\n"),
        ] {
            assert_eq!(String::from_utf8_lossy(&written(name.as_bytes(), style, false)), wanted);
        }
        assert_eq!(written(b"a\xffb", Style::C, false), b"\"a\\377b\"");
        assert_eq!(written(b"a\xff\nb", Style::Literal, true), b"a??b");
    }
}
