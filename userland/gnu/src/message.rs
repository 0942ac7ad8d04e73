//! The words of messages.

use std::io::{self, Write};
use std::path::Path;

use tidebox_rt::{FileKind, Stat};

/// What the system says about an error, in the words of POSIX and without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

/// Prints a line on standard error, written as for `eprintln!`, which panics where nobody takes it.
#[macro_export]
macro_rules! tell {
    ($($words:tt)*) => { $crate::message::tell(format!($($words)*) + "\n") };
}

/// The same without a line end.
#[macro_export]
macro_rules! tell_part {
    ($($words:tt)*) => { $crate::message::tell(format!($($words)*)) };
}

/// Prints a text on standard error, in one piece.
pub fn tell(text: String) {
    // Nobody is left to tell when standard error is closed or full.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints `tool: message` on standard error.
pub fn complain(tool: &str, message: &str) {
    tell!("{tool}: {message}");
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

/// The name under which the process was started, without folders.
pub fn program() -> String {
    let name = std::env::args_os().next().unwrap_or_default();
    Path::new(&name).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether the environment asks for Unicode rather than the C locale.
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

/// A name as a message shows it that quotes only where the name could be misread.
pub fn shown(name: &[u8]) -> std::borrow::Cow<'_, str> {
    named(name).into()
}

/// Cites what somebody wrote (a number, a mode, an operand), in the quotes of the locale: ‘so’ where it is Unicode.
pub fn cited(text: &[u8]) -> String {
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

/// Quotes a file's name so that a shell reads it as one word.
pub fn quoted(name: &[u8]) -> String {
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
    // Stretches that a shell takes literally stand in '', the others in $''.
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

/// A file's name as it stands at the head of a message: in quotes only where it could be misread.
pub fn named(name: &[u8]) -> String {
    let harmless = |byte: &u8| !byte.is_ascii_control() && !b" !\"$&'()*;<=>?[\\^`|".contains(byte);
    let leads = name.first().is_some_and(|byte| !b"~#".contains(byte));
    match std::str::from_utf8(name) {
        Ok(text) if leads && name.iter().all(harmless) && text != "{" && text != "}" => text.to_owned(),
        _ => quoted(name),
    }
}

/// What a file is.
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

/// A word between single quotes, as every shell reads it back.
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

/// A control character as C writes it.
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
    use super::{named, quoted};

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
            assert_eq!(quoted(name), wanted);
        }
    }

    #[test]
    fn a_name_that_cannot_be_misread_stands_alone() {
        for (name, wanted) in [("a/b.c", "a/b.c"), ("", "''"), ("a b", "'a b'"), ("~x", "'~x'"), ("x~", "x~")] {
            assert_eq!(named(name.as_bytes()), wanted);
        }
    }
}
