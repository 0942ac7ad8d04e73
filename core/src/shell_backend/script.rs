//! Writing scripts that any POSIX sh understands.

use std::fmt::Write as _;

/// What every script begins with: bytes instead of characters, and how it answers.
///
/// An answer is a list of fields that end with a NUL byte. The first is `ok`, or the code of a refusal and nothing after it.
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

/// A script in the making.
#[derive(Debug)]
pub(super) struct Script(String);

impl Script {
    pub(super) fn new() -> Self {
        Self(PRELUDE.to_owned())
    }

    /// Sets a variable to any bytes but NUL.
    pub(super) fn set(mut self, name: &str, value: &[u8]) -> Self {
        match plain(value) {
            Some(text) => {
                let _ = writeln!(self.0, "{name}={}", quote(text));
            }
            // A substitution drops line feeds at its end, so a dot stands behind them.
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

    /// Adds lines as they are.
    pub(super) fn lines(mut self, lines: &str) -> Self {
        self.0.push_str(lines);
        if !lines.ends_with('\n') {
            self.0.push('\n');
        }
        self
    }

    /// The script, with its messages thrown away and its answer in hexadecimal where bytes do not arrive as they are.
    pub(super) fn finish(self, passes_bytes: bool) -> String {
        let Self(script) = self;
        if passes_bytes {
            format!("( {script}) 2>/dev/null")
        } else {
            format!("( {script}) 2>/dev/null | od -An -v -tx1 | tr -d ' \\n'")
        }
    }
}

/// A value as one word of the shell, whatever is in it.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Text that may stand in a script as it is: control characters may be changed on the way.
fn plain(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok().filter(|text| !text.chars().any(char::is_control))
}

/// Bytes as a format of `printf` between single quotes.
pub(super) fn octal(value: &[u8]) -> String {
    let mut format = String::with_capacity(value.len() + value.len() / 4);
    for chunk in value.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\n' => format.push_str("\\n"),
                '\'' => format.push_str("\\047"),
                '\\' => format.push_str("\\\\"),
                '%' => format.push_str("%%"),
                // Every control character has a number below 256 but those of C1, which are two bytes.
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
    fn a_quoted_word_keeps_its_quotes() {
        assert_eq!(quote("it's $HOME"), r"'it'\''s $HOME'");
    }

    #[test]
    fn bytes_that_a_shell_or_a_line_could_change_are_numbers() {
        assert_eq!(octal(b"a\0'%\\\n\x7f\xff\xc3\xa9"), "a\\000\\047%%\\\\\\n\\177\\377é");
    }
}
