//! The patterns of `csplit`: what GNU says of wrong ones, and its basic regular expressions as the crate `regex`, by which
//! uutils searches, reads them.

use std::ffi::OsString;

use tidebox_gnu::getopt::Item;
use tidebox_gnu::message::{quote_value, unicode_locale};
use tidebox_gnu::regex::{Dialect, Options, Regex, Subject};

use crate::grammar;
use crate::overrides::{Action, os_string};

/// Reads the patterns as GNU does, which looks at all of them before it splits anything.
pub(crate) fn prepare(mut arguments: Vec<OsString>) -> Action {
    let items = grammar::items("csplit", &arguments).unwrap_or_default();
    let operands = items.into_iter().filter_map(|(_, item)| match item {
        Item::Operand(operand) => Some(operand),
        Item::Option(..) => None,
    });
    let operands: Vec<Vec<u8>> = operands.collect();
    let Some((file, patterns)) = operands.split_first() else {
        return Action::Run(arguments);
    };
    // What cannot be opened is told of first, which uutils does.
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

/// `{N}` or `{*}`, which says how often the pattern before it is used again.
fn repetition(text: &[u8]) -> Result<(), String> {
    let Some(open) = text.strip_suffix(b"}") else {
        return Err(format!("{}: '}}' is required in repeat count", quote_value(text)));
    };
    let count = open.get(1..).unwrap_or_default();
    if count == b"*" || (!count.is_empty() && count.iter().all(u8::is_ascii_digit)) {
        return Ok(());
    }
    // GNU quotes the text without its end, which follows the quote.
    Err(format!("{}}}: integer required between '{{' and '}}'", quote_value(open)))
}

/// A basic regular expression as the crate `regex` writes it. An error is what is wrong with it.
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
    // Where an expression or a group begins, `*` is itself and `^` an anchor.
    let mut begins = true;
    while let Some(char) = rest.chars().next() {
        let after = rest.get(char.len_utf8()..).unwrap_or_default();
        rest = after;
        let began = std::mem::replace(&mut begins, false);
        match char {
            '\\' => {
                let escaped = after.chars().next().unwrap_or('\\');
                rest = after.get(escaped.len_utf8()..).unwrap_or_default();
                begins = matches!(escaped, '(' | '|');
                escape(escaped, &mut out)?;
            }
            '[' => rest = bracket(after, &mut out)?,
            '^' if began => {
                out.push('^');
                begins = true;
            }
            '$' if after.is_empty() || after.starts_with(r"\)") || after.starts_with(r"\|") => out.push('$'),
            '*' if !began => out.push('*'),
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
                // Between two characters it is a range, at either end itself.
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
    fn a_basic_expression_is_written_for_the_crate() {
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
    fn what_is_wrong_with_a_pattern_is_told() {
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
