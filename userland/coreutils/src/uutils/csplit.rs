//! Patterns of `csplit`: checks them with GNU's messages, and converts basic regular expressions to the syntax of the crate
//! `regex`, which uutils uses.

use std::ffi::OsString;

use tidebox_gnu::getopt::Item;
use tidebox_gnu::message::{quote_value, unicode_locale};
use tidebox_gnu::regex::{Dialect, Options, Regex, Subject};

use crate::option_specs;
use crate::overrides::{Action, os_string};

/// Checks and converts all patterns. GNU checks them before it splits the file.
pub(crate) fn prepare(mut arguments: Vec<OsString>) -> Action {
    let items = option_specs::items("csplit", &arguments).unwrap_or_default();
    let operands = items.into_iter().filter_map(|(_, item)| match item {
        Item::Operand(operand) => Some(operand),
        Item::Option(..) => None,
    });
    let operands: Vec<Vec<u8>> = operands.collect();
    let Some((file, patterns)) = operands.split_first() else {
        return Action::Run(arguments);
    };
    // An error of opening the file precedes those of patterns. uutils reports it.
    if file != b"-" && tidebox_rt::stat(file, true).is_err() {
        return Action::Run(arguments);
    }
    for pattern in patterns {
        match read(pattern) {
            Err(message) => return Action::Fail(message, 1),
            Ok(Some(other)) => {
                for argument in arguments.iter_mut().skip(1).filter(|argument| argument.as_encoded_bytes() == pattern) {
                    *argument = os_string(&other);
                }
            }
            Ok(None) => {}
        }
    }
    Action::Run(arguments)
}

/// Converts one pattern for uutils, if the form differs.
fn read(pattern: &[u8]) -> Result<Option<Vec<u8>>, String> {
    match pattern.first() {
        Some(delimiter @ (b'/' | b'%')) => {
            let end = pattern.iter().rposition(|byte| byte == delimiter).filter(|end| *end > 0).ok_or_else(|| {
                let delimiter = char::from(*delimiter);
                format!("{}: closing delimiter '{delimiter}' missing", String::from_utf8_lossy(pattern))
            })?;
            let (source, offset) =
                (pattern.get(1..end).unwrap_or_default(), pattern.get(end + 1..).unwrap_or_default());
            if !offset.is_empty() && !is_integer(offset) {
                return Err(format!("{}: integer expected after delimiter", quote_value(pattern)));
            }
            let wrong = |what: &str| format!("{}: invalid regular expression: {what}", quote_value(pattern));
            let searched = expression(source).map_err(|what| wrong(&what))?;
            let same = searched.as_bytes() == source;
            Ok((!same).then(|| [&[*delimiter], searched.as_bytes(), &[*delimiter], offset].concat()))
        }
        Some(b'{') => repetition(pattern).map(|()| None),
        _ => Ok(None),
    }
}

fn is_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"+").or(text.strip_prefix(b"-")).unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Checks `{N}` or `{*}`, the repeat count of the pattern before it.
fn repetition(text: &[u8]) -> Result<(), String> {
    let Some(open) = text.strip_suffix(b"}") else {
        return Err(format!("{}: '}}' is required in repeat count", quote_value(text)));
    };
    let count = open.get(1..).unwrap_or_default();
    if count == b"*" || (!count.is_empty() && count.iter().all(u8::is_ascii_digit)) {
        return Ok(());
    }
    // GNU's message has the last character after the quotes.
    Err(format!("{}}}: integer required between '{{' and '}}'", quote_value(open)))
}

/// Converts a basic regular expression to the syntax of the crate `regex`. The error is the message.
fn expression(source: &[u8]) -> Result<String, String> {
    let options = Options {
        dialect: Dialect::Basic,
        ignore_case: false,
        whole_line: false,
        misplaced: Default::default(),
        whole_word: false,
        subject: Subject::Lines,
        terminator: b'\n',
        captures: false,
        unicode: unicode_locale(),
    };
    Regex::new(&[source.to_vec()], &options).map_err(|error| error.to_string())?;
    let text = std::str::from_utf8(source).map_err(|_| "Invalid character".to_owned())?;
    let mut out = String::new();
    let mut rest = text;
    // At the start of an expression or group, `*` is a literal and `^` an anchor.
    let mut at_start = true;
    while let Some(char) = rest.chars().next() {
        let after = rest.get(char.len_utf8()..).unwrap_or_default();
        rest = after;
        let was_at_start = std::mem::replace(&mut at_start, false);
        match char {
            '\\' => {
                let escaped = after.chars().next().unwrap_or('\\');
                rest = after.get(escaped.len_utf8()..).unwrap_or_default();
                at_start = matches!(escaped, '(' | '|');
                escape(escaped, &mut out)?;
            }
            '[' => rest = bracket(after, &mut out)?,
            '^' if was_at_start => {
                out.push('^');
                at_start = true;
            }
            '$' if after.is_empty() || after.starts_with(r"\)") || after.starts_with(r"\|") => out.push('$'),
            '*' if !was_at_start => out.push('*'),
            '.' => out.push('.'),
            char => literal(char, &mut out),
        }
    }
    Ok(out)
}

/// Writes a literal character.
fn literal(char: char, out: &mut String) {
    if r"\.+*?()|[]{}^$#&-~".contains(char) {
        out.push('\\');
    }
    out.push(char);
}

/// Translates an escape.
fn escape(char: char, out: &mut String) -> Result<(), String> {
    match char {
        '(' | ')' | '{' | '}' | '|' | '+' | '?' => out.push(char),
        'w' | 'W' | 's' | 'S' | 'b' | 'B' | '<' | '>' => out.extend(['\\', char]),
        '`' => out.push_str(r"\A"),
        '\'' => out.push_str(r"\z"),
        '1'..='9' => return Err("back-references are not supported here".to_owned()),
        char => literal(char, out),
    }
    Ok(())
}

/// Copies a bracket expression and returns the text after it.
fn bracket<'t>(text: &'t str, out: &mut String) -> Result<&'t str, String> {
    out.push('[');
    let mut rest = text;
    if let Some(after) = rest.strip_prefix('^') {
        out.push('^');
        rest = after;
    }
    let mut first = true;
    loop {
        if let Some(class) = rest.strip_prefix("[:") {
            let (name, after) = class.split_once(":]").ok_or("Invalid character class name")?;
            out.push_str(&format!("[:{name}:]"));
            rest = after;
        } else {
            let char = rest.chars().next().ok_or("Invalid regular expression")?;
            rest = rest.get(char.len_utf8()..).unwrap_or_default();
            match char {
                ']' if !first => {
                    out.push(']');
                    return Ok(rest);
                }
                // A dash between two characters is a range, otherwise a literal.
                '-' if !first && !rest.starts_with(']') => out.push('-'),
                char => literal(char, out),
            }
        }
        first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::{expression, read};

    #[test]
    fn basic_expressions_are_converted() {
        for (source, wanted) in [
            ("f(", r"f\("),
            (r"a\{2\}", "a{2}"),
            (r"^\(a\|b\)*$", "^(a|b)*$"),
            ("*a+b?", r"\*a\+b\?"),
            ("a^b$c", r"a\^b\$c"),
            ("[]a-c-]x", r"[\]a-c\-]x"),
            (r"[[:alpha:]\]", r"[[:alpha:]\\]"),
            (r"a\.b\/", r"a\.b/"),
        ] {
            assert_eq!(expression(source.as_bytes()).as_deref(), Ok(wanted), "{source}");
        }
    }

    #[test]
    fn invalid_patterns_are_reported() {
        for (pattern, beginning) in
            [("/a", "/a: closing delimiter '/' missing"), ("%x", "%x: closing delimiter '%' missing")]
        {
            assert_eq!(read(pattern.as_bytes()), Err(beginning.to_owned()));
        }
        for (pattern, end) in [
            ("/a/x", ": integer expected after delimiter"),
            ("{", ": '}' is required in repeat count"),
            ("{x}", "}: integer required between '{' and '}'"),
            (r"/\(/", r": invalid regular expression: Unmatched ( or \("),
        ] {
            let message = read(pattern.as_bytes()).expect_err("it is wrong");
            assert!(message.ends_with(end), "{pattern}: {message}");
        }
    }
}
