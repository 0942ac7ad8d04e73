//! Generation of scripts for any POSIX sh.

use std::fmt::Write as _;

/// Start of every script: sets the byte locale and defines the output format.
///
/// The output is a list of fields, each terminated by a NUL byte. The first is `ok`, or an error code as the only field.
const PRELUDE: &str = r#"LC_ALL=C; export LC_ALL
say() { printf '%s\0' "$@"; }
refuse() { say "$1"; exit 0; }
lost() {
  d=$1
  while [ "$d" != / ]; do
    d=${d%/*}; [ -n "$d" ] || d=/
    if [ -d "$d" ]; then [ -x "$d" ] || refuse permission_denied; refuse file_not_found; fi
    [ ! -e "$d" ] || refuse not_a_directory
  done
  refuse file_not_found
}
"#;

/// A script builder.
#[derive(Debug)]
pub(super) struct Script(String);

impl Script {
    pub(super) fn new() -> Self {
        Self(PRELUDE.to_owned())
    }

    /// Sets a variable to any bytes except NUL.
    pub(super) fn set(mut self, name: &str, value: &[u8]) -> Self {
        match plain(value) {
            Some(text) => {
                let _ = writeln!(self.0, "{name}={}", quote(text));
            }
            // A substitution drops trailing line feeds, so a dot is appended.
            None => {
                let _ = writeln!(self.0, "{name}=$(printf '{}.'); {name}=${{{name}%.}}", octal(value));
            }
        }
        self
    }

    /// Sets the positional parameters.
    pub(super) fn arguments<'a>(mut self, values: impl IntoIterator<Item = &'a [u8]>) -> Self {
        self.0.push_str("set --\n");
        for value in values {
            self = self.set("a", value);
            self.0.push_str("set -- \"$@\" \"$a\"\n");
        }
        self
    }

    /// Adds lines verbatim.
    pub(super) fn lines(mut self, lines: &str) -> Self {
        self.0.push_str(lines);
        if !lines.ends_with('\n') {
            self.0.push('\n');
        }
        self
    }

    /// Returns the script, with its messages discarded and its output in hexadecimal unless the transport is binary-safe.
    pub(super) fn finish(self, is_binary_safe: bool) -> String {
        let Self(script) = self;
        if is_binary_safe {
            format!("( {script}) 2>/dev/null")
        } else {
            format!("( {script}) 2>/dev/null | od -An -v -tx1 | tr -d ' \\n'")
        }
    }
}

/// Quotes a value as one word of the shell, whatever its content.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns text that can be part of a script verbatim. Control characters are excluded because the transport may change them.
fn plain(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok().filter(|text| !text.chars().any(char::is_control))
}

/// Encodes bytes as a format of `printf` between single quotes.
pub(super) fn octal(value: &[u8]) -> String {
    let mut format = String::with_capacity(value.len() + value.len() / 4);
    for chunk in value.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\n' => format.push_str("\\n"),
                '\'' => format.push_str("\\047"),
                '\\' => format.push_str("\\\\"),
                '%' => format.push_str("%%"),
                // Every control character is below 256, except those of C1, which are two bytes.
                control if control.is_control() => {
                    let mut bytes = [0; 4];
                    escape(&mut format, control.encode_utf8(&mut bytes).as_bytes());
                }
                other => format.push(other),
            }
        }
        escape(&mut format, chunk.invalid());
    }
    format
}

fn escape(format: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(format, "\\{byte:03o}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quote_keeps_quotes_in_a_word() {
        assert_eq!(quote("it's $HOME"), r"'it'\''s $HOME'");
    }

    #[test]
    fn octal_escapes_bytes_that_a_shell_could_change() {
        assert_eq!(octal(b"a\0'%\\\n\x7f\xff\xc3\xa9"), "a\\000\\047%%\\\\\\n\\177\\377é");
    }
}
