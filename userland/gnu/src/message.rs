//! Error messages and quoting.

use std::io::{self, Write};
use std::path::Path;

use tidebox_rt::{FileKind, Stat};

/// Returns the POSIX text of an error, without its number.
pub fn error_text(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

/// Prints a line on standard error like `eprintln!`, which panics if standard error cannot be written.
#[macro_export]
macro_rules! eprint_line {
    ($($words:tt)*) => { $crate::message::eprint_all(format!($($words)*) + "\n") };
}

/// Like `eprint_line!`, but without a line end.
#[macro_export]
macro_rules! eprint_part {
    ($($words:tt)*) => { $crate::message::eprint_all(format!($($words)*)) };
}

/// Prints a text on standard error in one write.
pub fn eprint_all(text: String) {
    // A failure cannot be reported if standard error is closed or full.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints `tool: message` on standard error.
pub fn print_error(tool: &str, message: &str) {
    eprint_line!("{tool}: {message}");
}

/// The bytes of a path, which need not be UTF-8.
pub fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// A path from bytes.
pub fn bytes_path(bytes: &[u8]) -> &Path {
    #[cfg(unix)]
    use std::os::unix::ffi::OsStrExt;
    #[cfg(target_os = "wasi")]
    use std::os::wasi::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// The arguments of the process after its name, as bytes.
pub fn arguments() -> Vec<Vec<u8>> {
    std::env::args_os().skip(1).map(std::ffi::OsString::into_encoded_bytes).collect()
}

/// Returns the name under which the process was started, without directories.
pub fn program() -> String {
    let name = std::env::args_os().next().unwrap_or_default();
    Path::new(&name).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns whether the environment selects Unicode instead of the C locale.
pub fn unicode_locale() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .is_some_and(|value| {
            let value = value.to_ascii_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        })
}

/// Formats a name for a message, quoted only if it could be misread.
pub fn display_name(name: &[u8]) -> std::borrow::Cow<'_, str> {
    path_label(name).into()
}

/// Quotes user input (a number, a mode, an operand) with the quotes of the locale: ‘so’ for Unicode.
pub fn quote_value(text: &[u8]) -> String {
    let (open, close) = if unicode_locale() { ("\u{2018}", "\u{2019}") } else { ("'", "'") };
    let mut out = String::from(open);
    for chunk in text.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '\\' => out.push_str("\\\\"),
                '\'' if close == "'" => out.push_str("\\'"),
                char if char.is_control() => escape(char, &mut out),
                char => out.push(char),
            }
        }
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("\\{byte:03o}")));
    }
    out.push_str(close);
    out
}

/// Quotes a file name as one shell word.
pub fn quote_path(name: &[u8]) -> String {
    let plain = |byte: &u8| !byte.is_ascii_control() && *byte != b'\'';
    if std::str::from_utf8(name).is_ok() {
        if name.iter().all(plain) {
            return format!("'{}'", String::from_utf8_lossy(name));
        }
        let soft = |byte: &u8| !byte.is_ascii_control() && !b"\"$`\\!".contains(byte);
        if name.iter().all(soft) {
            return format!("\"{}\"", String::from_utf8_lossy(name));
        }
    }
    // Parts that a shell takes literally are written in '', the others in $''.
    let mut out = String::from("'");
    let mut escaped = false;
    let mut switch = |out: &mut String, to: bool| {
        if escaped != to {
            out.push_str(if to { "'$'" } else { "''" });
            escaped = to;
        }
    };
    for chunk in name.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '\'' => {
                    switch(&mut out, false);
                    out.push_str("'\\''");
                }
                char if char.is_control() => {
                    switch(&mut out, true);
                    escape(char, &mut out);
                }
                char => {
                    switch(&mut out, false);
                    out.push(char);
                }
            }
        }
        for byte in chunk.invalid() {
            switch(&mut out, true);
            out.push_str(&format!("\\{byte:03o}"));
        }
    }
    out.push('\'');
    out
}

/// Formats a file name at the start of a message: quoted only if it could be misread.
pub fn path_label(name: &[u8]) -> String {
    let harmless = |byte: &u8| !byte.is_ascii_control() && !b" !\"$&'()*;<=>?[\\^`|".contains(byte);
    let leads = name.first().is_some_and(|byte| !b"~#".contains(byte));
    match std::str::from_utf8(name) {
        Ok(text) if leads && name.iter().all(harmless) && text != "{" && text != "}" => text.to_owned(),
        _ => quote_path(name),
    }
}

/// Returns the file type.
pub fn kind(stat: &Stat) -> &'static str {
    match stat.kind() {
        FileKind::File if stat.size == 0 => "regular empty file",
        FileKind::File => "regular file",
        FileKind::Dir => "directory",
        FileKind::Symlink => "symbolic link",
        FileKind::CharDevice => "character special file",
        FileKind::BlockDevice => "block special file",
        FileKind::Pipe => "fifo",
        FileKind::Socket => "socket",
        FileKind::Unknown => "weird file",
    }
}

/// Quotes a text with single quotes for any shell.
pub fn in_single_quotes(word: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for byte in word {
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            byte => out.push(*byte),
        }
    }
    out.push(b'\'');
    out
}

/// Returns the C escape of a control character.
fn escape(char: char, out: &mut String) {
    match char {
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\u{b}' => out.push_str("\\v"),
        '\u{c}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        char => char.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("\\{byte:03o}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::{path_label, quote_path};

    #[test]
    fn a_quoted_name_is_one_word_of_a_shell() {
        for (name, wanted) in [
            (&b"a b"[..], "'a b'"),
            (b"", "''"),
            (b"it's", "\"it's\""),
            (b"it's $1", "'it'\\''s $1'"),
            (b"a\nb", "'a'$'\\n''b'"),
            (b"\xff", "''$'\\377'"),
            ("\u{e4}".as_bytes(), "'\u{e4}'"),
        ] {
            assert_eq!(quote_path(name), wanted);
        }
    }

    #[test]
    fn a_name_that_cannot_be_misread_stands_alone() {
        for (name, wanted) in [("a/b.c", "a/b.c"), ("", "''"), ("a b", "'a b'"), ("~x", "'~x'"), ("x~", "x~")] {
            assert_eq!(path_label(name.as_bytes()), wanted);
        }
    }
}
