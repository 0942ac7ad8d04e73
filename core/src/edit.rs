//! Replacing a string in a text, with the line ends that a model cannot see.

use crate::dialect::Dialect;
use crate::error::{FileError, FileErrorCode};

/// How much of a string a message repeats, in characters.
const QUOTED_CHARACTERS: usize = 500;

/// A text with its replacements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The new text.
    pub text: String,
    /// How many times `old` was there.
    pub occurrences: usize,
}

/// What to replace, and by which rules.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// What is there.
    pub old: &'a str,
    /// What shall be there.
    pub new: &'a str,
    /// Replace every occurrence instead of the only one.
    pub replace_all: bool,
    /// Whose rules.
    pub dialect: Dialect,
    /// How long the new text may be.
    pub max_bytes: u64,
}

/// Replaces `old` by `new` in `text`: the one occurrence, or all of them, from left to right without overlaps.
///
/// `old` is looked for as it is, then with CRLF line ends, then with LF. A model that was shown LF for CRLF, or whose JSON
/// lost the carriage returns, still finds its lines, and `new` gets the line ends of what it replaces.
///
/// # Errors
/// [`FileErrorCode::StringNotFound`], [`FileErrorCode::StringNotUnique`], and [`FileErrorCode::InvalidPattern`] for an
/// empty `old` (which fills an empty file where the dialect says so). [`FileErrorCode::TooLarge`] when the new text
/// would be longer than [`Edit::max_bytes`]: that is found out before the text is built, because a letter that is
/// replaced by a page everywhere is longer than any memory.
pub fn replace(text: &str, edit: &Edit<'_>) -> Result<Replaced, FileError> {
    let Edit { old, new, replace_all, dialect, max_bytes } = *edit;
    if old.is_empty() {
        if text.is_empty() && dialect.edit_fills_empty_file() {
            check_size(new.len() as u64, max_bytes)?;
            return Ok(Replaced { text: new.to_owned(), occurrences: 0 });
        }
        let message = "old_string cannot be empty. Provide the exact text to replace.";
        return Err(FileError::new(FileErrorCode::InvalidPattern, message));
    }
    let (old, new) = spelled_as_in(text, old, new);
    let occurrences = text.matches(&*old).count();
    match occurrences {
        0 => {
            let message = format!("String not found in file: '{}'", quoted(&old));
            Err(FileError::new(FileErrorCode::StringNotFound, message))
        }
        2.. if !replace_all => {
            let message = format!(
                "String '{}' appears multiple times. Use replace_all=True to replace all occurrences, \
                 or give more of the text around it.",
                quoted(&old)
            );
            Err(FileError::new(FileErrorCode::StringNotUnique, message))
        }
        _ => {
            let kept = (text.len() as u64).saturating_sub((old.len() as u64).saturating_mul(occurrences as u64));
            let added = (new.len() as u64).saturating_mul(occurrences as u64);
            check_size(kept.saturating_add(added), max_bytes)?;
            Ok(Replaced { text: text.replace(&*old, &new), occurrences })
        }
    }
}

fn check_size(bytes: u64, max_bytes: u64) -> Result<(), FileError> {
    if bytes <= max_bytes {
        return Ok(());
    }
    let message = format!("The edited file would have {bytes} bytes; the limit is {max_bytes}.");
    Err(FileError::new(FileErrorCode::TooLarge, message))
}

/// The spelling of line ends in which `old` is in `text`, else as it was given.
fn spelled_as_in(text: &str, old: &str, new: &str) -> (String, String) {
    let as_given = || (old.to_owned(), new.to_owned());
    if text.contains(old) {
        // A caller who knows of no carriage returns does not mean to bring bare line feeds into a file of CRLF.
        let unaware = !old.contains('\r') && !new.contains('\r');
        return if unaware && only_crlf(text) { (old.to_owned(), crlf(new)) } else { as_given() };
    }
    if old.contains('\n') {
        for spell in [crlf, lf] {
            let spelled = spell(old);
            if text.contains(&spelled) {
                return (spelled, spell(new));
            }
        }
    }
    as_given()
}

fn only_crlf(text: &str) -> bool {
    let ends = text.matches('\n').count();
    ends > 0 && text.matches("\r\n").count() == ends
}

fn lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn crlf(text: &str) -> String {
    lf(text).replace('\n', "\r\n")
}

fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(text: &str, old: &str, new: &str, all: bool, dialect: Dialect) -> Result<Replaced, FileError> {
        super::replace(text, &Edit { old, new, replace_all: all, dialect, max_bytes: 1000 })
    }

    fn once(text: &str, old: &str, new: &str) -> Result<String, FileErrorCode> {
        replace(text, old, new, false, Dialect::Js).map(|done| done.text).map_err(|error| error.code)
    }

    #[test]
    fn one_occurrence_is_replaced_literally() {
        assert_eq!(once("Price: $100 [a-z]*", "$100 [a-z]*", "$&\\1").unwrap(), "Price: $&\\1");
        assert_eq!(once("Hello 👋 世界", "👋", "🌍").unwrap(), "Hello 🌍 世界");
        assert_eq!(once("same", "same", "same").unwrap(), "same");
    }

    #[test]
    fn a_string_that_is_missing_or_not_unique_is_refused() {
        assert_eq!(once("abc", "x", "y"), Err(FileErrorCode::StringNotFound));
        assert_eq!(once("aXbX", "X", "y"), Err(FileErrorCode::StringNotUnique));
        let all = replace("aXbX", "X", "y", true, Dialect::Js).unwrap();
        assert_eq!((all.text.as_str(), all.occurrences), ("ayby", 2));
    }

    #[test]
    fn messages_have_the_words_that_the_test_suites_look_for() {
        let missing = replace("abc", "x", "y", false, Dialect::Js).unwrap_err();
        assert_eq!(missing.message, "String not found in file: 'x'");
        let twice = replace("xx", "x", "y", false, Dialect::Js).unwrap_err();
        assert!(twice.message.starts_with("String 'x' appears multiple times. Use replace_all=True"));
        let long = replace("abc", &"é".repeat(9000), "y", false, Dialect::Js).unwrap_err();
        assert!(long.message.len() < 1100);
    }

    #[test]
    fn lines_are_found_whatever_their_ends_and_keep_them() {
        assert_eq!(once("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n").unwrap(), "x\r\ny\r\nc\r\n");
        assert_eq!(once("a\nb\nc\n", "a\r\nb\r\n", "x\r\n").unwrap(), "x\nc\n");
        assert_eq!(once("a\r\nb\r\n", "b", "x\ny").unwrap(), "a\r\nx\r\ny\r\n");
    }

    #[test]
    fn a_caller_who_names_carriage_returns_can_change_line_ends() {
        assert_eq!(once("a\r\nb\r\n", "a\r\nb", "a\nb").unwrap(), "a\nb\r\n");
        assert_eq!(once("a\r\nb\n", "b", "x\ny").unwrap(), "a\r\nx\ny\n");
    }

    #[test]
    fn an_empty_old_string_fills_an_empty_file_in_js_only() {
        let filled = replace("", "", "new", false, Dialect::Js).unwrap();
        assert_eq!((filled.text.as_str(), filled.occurrences), ("new", 0));
        let refused = |text, dialect| replace(text, "", "new", true, dialect).unwrap_err().code;
        assert_eq!(refused("", Dialect::Python), FileErrorCode::InvalidPattern);
        assert_eq!(refused("text", Dialect::Js), FileErrorCode::InvalidPattern);
    }

    #[test]
    fn a_result_that_is_too_long_is_refused_before_it_is_built() {
        let edit = Edit { old: "a", new: &"x".repeat(100), replace_all: true, dialect: Dialect::Js, max_bytes: 500 };
        assert_eq!(super::replace("aaaaa", &edit).unwrap().text.len(), 500);
        assert_eq!(super::replace("aaaaaa", &edit).unwrap_err().code, FileErrorCode::TooLarge);
        assert_eq!(
            super::replace("", &Edit { old: "", max_bytes: 99, ..edit }).unwrap_err().code,
            FileErrorCode::TooLarge
        );
    }
}
